//! Frames through ffmpeg, where that is installed.

use super::{Draw, Film, rgb};
use crate::output::Whole;
use anyhow::{Context, anyhow, bail};
use nendo_hdl::tools;
use std::{
    fs::File,
    io::{self, Read, Write},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::Stdio,
    thread,
};

/// Where ffmpeg is.
pub(super) fn ffmpeg() -> anyhow::Result<PathBuf> {
    tools::find("ffmpeg").ok_or_else(|| {
        anyhow!(
            "MP4 and WebM need ffmpeg, which is not on PATH: install it (Debian: apt-get install ffmpeg), \
             or write a .gif, or a folder of PNG files with -o NAME/ or --png"
        )
    })
}

/// Writes frames; how many.
pub(super) fn write(film: &Film, frames: usize, draw: &mut Draw<'_>) -> anyhow::Result<usize> {
    let Some(first) = draw(0)? else { return Ok(0) };
    let webm = film.file.extension().is_some_and(|e| e == "webm");
    let folder = tempfile::tempdir().context("a folder for ffmpeg")?;
    let made = folder.path().join(if webm { "movie.webm" } else { "movie.mp4" });
    let encoding: &[&str] = match webm {
        true => &["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0"],
        false => &["-c:v", "libx264", "-crf", "20", "-movflags", "+faststart"],
    };
    let mut child = tools::command(&ffmpeg()?)
        .args(["-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"])
        .args([
            "-s",
            &format!("{}x{}", film.size.0, film.size.1),
            "-r",
            &film.fps.to_string(),
            "-i",
            "-",
            "-an",
        ])
        // Players want even sides.
        .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
        .args(encoding)
        .arg(&made)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // Ctrl-C is ours: what is written is brought to an end.
        .process_group(0)
        .spawn()
        .context("starting ffmpeg")?;
    let mut complaints = child.stderr.take().context("ffmpeg's stderr")?;
    let listener = thread::spawn(move || {
        let mut said = Vec::new();
        // No more is kept than can be read.
        let kept = (&mut complaints).take(4000).read_to_end(&mut said);
        let rest = io::copy(&mut complaints, &mut io::sink());
        kept.and(rest).map(|_| String::from_utf8_lossy(&said).trim().to_owned()).unwrap_or_default()
    });
    let mut input = child.stdin.take().context("ffmpeg's stdin")?;
    let (mut next, mut count) = (Some(first), 0);
    let mut fed: anyhow::Result<()> = Ok(());
    while let (Some(pixels), Ok(())) = (next.take(), &fed) {
        // Why it takes no more it says itself.
        if input.write_all(&rgb(&pixels)).is_err() {
            break;
        }
        count += 1;
        if count < frames {
            match draw(count) {
                Ok(pixels) => next = pixels,
                Err(error) => fed = Err(error),
            }
        }
    }
    drop(input);
    let status = child.wait().context("ffmpeg")?;
    let said = listener.join().unwrap_or_default();
    fed?;
    if !status.success() {
        bail!("ffmpeg failed ({status}): {said}");
    }
    let mut file = Whole::begin(&film.file)?;
    io::copy(
        &mut File::open(&made).with_context(|| format!("ffmpeg made no {}", made.display()))?,
        &mut file,
    )?;
    file.finish()?;
    Ok(count)
}
