//! Frames as GIF: one palette for all, and of each frame only what has changed.

use super::{Draw, Film, rgb};
use crate::output::Whole;
use ::gif::{DisposalMethod, Encoder, Frame, Repeat};
use std::{collections::HashMap, io::Write};

/// Frames whose colours are taken for the colours of all.
const LOOKED_AT: usize = 5;
/// The quantiser looks at about so many pixels.
const PIXELS: usize = 200_000;
/// A GIF has so many colours; one of them is "as before".
const COLOURS: usize = 255;

/// Writes frames; how many.
pub(super) fn write(film: &Film, frames: usize, draw: &mut Draw<'_>) -> anyhow::Result<usize> {
    let (width, height) = (film.size.0 as u16, film.size.1 as u16);
    let Some(mut palette) = Palette::of(film, frames, draw)? else { return Ok(0) };
    let mut file = Whole::begin(&film.file)?;
    let mut encoder = Encoder::new(&mut file, width, height, &palette.colours.concat())?;
    encoder.set_repeat(Repeat::Infinite)?;
    let (mut shown, mut count) = (Vec::new(), 0);
    while count < frames {
        let Some(pixels) = draw(count)? else { break };
        let now: Vec<u8> = pixels.data().chunks_exact(4).map(|p| palette.index([p[0], p[1], p[2]])).collect();
        let mut frame = changed(&shown, &now, usize::from(width), palette.as_before());
        // Hundredths of a second, so that none are lost in the sum.
        let at = |n: usize| (100 * n + usize::from(film.fps) / 2) / usize::from(film.fps);
        frame.delay = (at(count + 1) - at(count)) as u16;
        encoder.write_frame(&frame)?;
        (shown, count) = (now, count + 1);
    }
    drop(encoder);
    file.flush()?;
    file.finish()?;
    Ok(count)
}

/// The part of a picture that differs from the one before.
fn changed(before: &[u8], now: &[u8], width: usize, as_before: u8) -> Frame<'static> {
    let differs = |k: usize| before.get(k) != Some(&now[k]);
    let rows = now.len() / width;
    let row = |y: usize| (0..width).any(|x| differs(y * width + x));
    let column = |x: usize| (0..rows).any(|y| differs(y * width + x));
    // One pixel at least, even if nothing has changed.
    let (top, bottom) = ((0..rows).find(|y| row(*y)).unwrap_or(0), (0..rows).rfind(|y| row(*y)).unwrap_or(0));
    let (left, right) =
        ((0..width).find(|x| column(*x)).unwrap_or(0), (0..width).rfind(|x| column(*x)).unwrap_or(0));
    let pixel = |k: usize| if differs(k) { now[k] } else { as_before };
    Frame {
        left: left as u16,
        top: top as u16,
        width: (right - left + 1) as u16,
        height: (bottom - top + 1) as u16,
        buffer: (top..=bottom).flat_map(|y| (left..=right).map(move |x| pixel(y * width + x))).collect(),
        transparent: Some(as_before),
        dispose: DisposalMethod::Keep,
        ..Frame::default()
    }
}

/// The colours of a movie.
struct Palette {
    colours: Vec<[u8; 3]>,
    known: HashMap<[u8; 3], u8>,
}

impl Palette {
    /// Those of some frames from first to last, none if there are no frames.
    fn of(film: &Film, frames: usize, draw: &mut Draw<'_>) -> anyhow::Result<Option<Self>> {
        let last = frames.saturating_sub(1);
        let mut looked_at: Vec<usize> = (0..LOOKED_AT).map(|k| last * k / (LOOKED_AT - 1)).collect();
        looked_at.dedup();
        let mut seen = Vec::new();
        for frame in looked_at.into_iter().take(frames) {
            let Some(pixels) = draw(frame)? else { break };
            seen.extend(rgb(&pixels));
        }
        if seen.is_empty() {
            return Ok(None);
        }
        // Of the quantiser only its palette is used: as a picture, the frames may be too high for it.
        let count = seen.len() / 3;
        let width = usize::from(u16::MAX).min(film.size.0 as usize);
        let height = (count / width).min(usize::from(u16::MAX));
        let pace = (count / PIXELS).clamp(1, 30) as i32;
        let all = Frame::from_rgb_speed(width as u16, height as u16, &seen[..3 * width * height], pace);
        let flat = all.palette.unwrap_or_default();
        let mut colours: Vec<[u8; 3]> = flat.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
        while colours.len() > COLOURS {
            let (_, spare) = (0..colours.len())
                .flat_map(|k| (0..k).map(move |j| (j, k)))
                .map(|(j, k)| (apart(colours[j], colours[k]), k))
                .min()
                .unwrap_or_default();
            colours.swap_remove(spare);
        }
        // What follows the colours stands for none.
        Ok(Some(Self { colours: [&colours[..], &[[0; 3]]].concat(), known: HashMap::new() }))
    }

    /// Stands for what was there before.
    fn as_before(&self) -> u8 {
        (self.colours.len() - 1) as u8
    }

    fn index(&mut self, colour: [u8; 3]) -> u8 {
        let real = &self.colours[..self.colours.len() - 1];
        let nearest = || (0..real.len()).min_by_key(|&k| apart(real[k], colour)).unwrap_or(0) as u8;
        *self.known.entry(colour).or_insert_with(nearest)
    }
}

/// How different two colours are.
fn apart(a: [u8; 3], b: [u8; 3]) -> u32 {
    (0..3).map(|k| u32::from(a[k].abs_diff(b[k])).pow(2)).sum()
}
