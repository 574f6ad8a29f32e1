use super::*;
use resvg::tiny_skia::Color;

/// Frames of one colour each, with a dot that wanders.
fn frame(k: usize, (width, height): (u32, u32)) -> Pixmap {
    let mut pixels = Pixmap::new(width, height).unwrap();
    pixels.fill(Color::from_rgba8(200, 180, 160, 255));
    let at = ((3 + k as u32) * width + 2 * k as u32) as usize;
    pixels.data_mut()[4 * at..4 * at + 4].copy_from_slice(&[20, 30, 40, 255]);
    pixels
}

fn film(kind: Kind, file: PathBuf) -> Film {
    Film { kind, file, fps: 30, size: (40, 30) }
}

/// What a GIF shows, by a decoder that composes what it keeps; hundredths of a second.
fn shown(file: &Path) -> (Vec<Vec<u8>>, Vec<u16>) {
    let mut options = ::gif::DecodeOptions::new();
    options.set_color_output(::gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(fs::File::open(file).unwrap()).unwrap();
    let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
    let mut canvas = vec![0; width * height * 4];
    let (mut all, mut delays) = (Vec::new(), Vec::new());
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        let (left, top, across) = (usize::from(frame.left), usize::from(frame.top), usize::from(frame.width));
        for (k, pixel) in frame.buffer.chunks(4).enumerate().filter(|(_, pixel)| pixel[3] > 0) {
            let at = 4 * ((top + k / across) * width + left + k % across);
            canvas[at..at + 4].copy_from_slice(pixel);
        }
        delays.push(frame.delay);
        all.push(canvas.clone());
    }
    (all, delays)
}

#[test]
fn a_gif_shows_every_frame_as_it_was_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let film = film(Kind::Gif, folder.path().join("a.gif"));
    let written = film.write(7, &mut |k| Ok(Some(frame(k, film.size)))).unwrap();
    let (all, delays) = shown(&film.file);
    assert_eq!((written, all.len()), (7, 7));
    for (k, picture) in all.iter().enumerate() {
        assert!(picture == frame(k, film.size).data(), "frame {k}");
    }
    // 7 / 30 s.
    assert_eq!(delays.iter().sum::<u16>(), 23);
}

/// More colours than a GIF has: each is near its own.
#[test]
fn colours_of_a_gif_are_near_those_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let film = film(Kind::Gif, folder.path().join("a.gif"));
    let many = |k: usize| {
        let mut pixels = frame(k, film.size);
        for (n, pixel) in pixels.data_mut().chunks_mut(4).enumerate() {
            pixel.copy_from_slice(&[(n % 40 * 6) as u8, (n / 40 * 8) as u8, 90, 255]);
        }
        pixels
    };
    film.write(2, &mut |k| Ok(Some(many(k)))).unwrap();
    let (all, _) = shown(&film.file);
    let apart: Vec<u8> = all[1].iter().zip(many(1).data()).map(|(a, b)| a.abs_diff(*b)).collect();
    // Evenly laid over 240 by 240 shades, 255 colours are off by 3.75 in red and green, and right in the other two.
    let mean = apart.iter().map(|&a| f64::from(a)).sum::<f64>() / apart.len() as f64;
    assert!(mean < 2.0 * 3.75 / 2.0 && apart.iter().all(|&a| a < 64), "{mean}");
}

#[test]
fn what_ends_early_is_a_whole_movie_of_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    for kind in [Kind::Gif, Kind::Series] {
        let film = film(kind, folder.path().join(if kind == Kind::Gif { "a.gif" } else { "series/" }));
        // An earlier one was longer.
        film.write(9, &mut |k| Ok(Some(frame(k, film.size)))).unwrap();
        let written = film.write(9, &mut |k| Ok((k < 4).then(|| frame(k, film.size)))).unwrap();
        assert_eq!(written, 4);
        match kind {
            Kind::Gif => assert_eq!(shown(&film.file).0.len(), 4),
            _ => {
                let mut names: Vec<_> =
                    fs::read_dir(&film.file).unwrap().map(|e| e.unwrap().file_name()).collect();
                names.sort();
                assert_eq!(names, (0..4).map(|k| name(k).into()).collect::<Vec<std::ffi::OsString>>());
                let png = Pixmap::load_png(film.file.join(name(2))).unwrap();
                assert!(png == frame(2, film.size));
            }
        }
    }
    // Without a frame there is no file.
    let none = film(Kind::Gif, folder.path().join("none.gif"));
    assert_eq!(none.write(3, &mut |_| Ok(None)).unwrap(), 0);
    assert!(!none.file.exists());
}

#[test]
fn movies_are_known_by_their_names() {
    for (name, series, kind) in [
        ("a.gif", false, Some(Kind::Gif)),
        ("a.mp4", false, Some(Kind::Video)),
        ("b/a.webm", false, Some(Kind::Video)),
        ("a/", false, Some(Kind::Series)),
        ("a.gif/", false, Some(Kind::Series)),
        ("a", true, Some(Kind::Series)),
        ("a/", true, Some(Kind::Series)),
        ("a", false, None),
        ("a.avi", false, None),
        ("a.gif", true, None),
    ] {
        assert_eq!(Kind::of(Path::new(name), series).ok(), kind, "{name} {series}");
    }
}
