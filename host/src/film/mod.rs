//! Moving pictures: frames as GIF, as a series of PNG files, or through ffmpeg as MP4 or WebM.
//!
//! Frames are made one at a time. What ends early leaves a whole file of the frames it came to.

mod gif;
mod video;

use crate::output::{remove, try_file, try_folder, write_whole};
use anyhow::{Context, anyhow, bail};
use resvg::tiny_skia::Pixmap;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What is made of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One file that every browser and mail program shows.
    Gif,
    /// One file by ffmpeg.
    Video,
    /// A folder with a file for each frame.
    Series,
}

impl Kind {
    /// By the name of what is to be written, or as a series because that is asked for.
    pub fn of(file: &Path, series: bool) -> anyhow::Result<Self> {
        let named = match file.extension().and_then(|e| e.to_str()) {
            _ if file.as_os_str().as_encoded_bytes().ends_with(b"/") => Some(Self::Series),
            Some("gif") => Some(Self::Gif),
            Some("mp4" | "webm") => Some(Self::Video),
            _ => None,
        };
        match (named, series) {
            (None | Some(Self::Series), true) => Ok(Self::Series),
            (Some(kind), false) => Ok(kind),
            (Some(_), true) => bail!(
                "--png makes a folder: {} is the name of a file; leave --png out, or give a folder",
                file.display()
            ),
            (None, false) => bail!(
                "{}: a movie's name ends in .gif, .mp4 or .webm, or in / for a folder of PNG files",
                file.display()
            ),
        }
    }
}

/// What is to be written, and how.
#[derive(Clone, Debug)]
pub struct Film {
    /// What.
    pub kind: Kind,
    /// Where.
    pub file: PathBuf,
    /// Frames shown in a second.
    pub fps: u16,
    /// Pixels of a frame.
    pub size: (u32, u32),
}

/// Makes a frame by its number; none to end before the last one.
pub type Draw<'a> = dyn FnMut(usize) -> anyhow::Result<Option<Pixmap>> + 'a;

impl Film {
    /// Whether it can be written: asked before long work.
    pub fn check(&self) -> anyhow::Result<()> {
        let tried = match self.kind {
            Kind::Series => try_folder(&self.file),
            Kind::Gif => try_file(&self.file),
            Kind::Video => {
                video::ffmpeg()?;
                try_file(&self.file)
            }
        };
        tried.with_context(|| format!("{} cannot be written", self.file.display()))
    }

    /// Writes so many frames, or those before the end; how many. Some may be asked for twice.
    pub fn write(&self, frames: usize, draw: &mut Draw<'_>) -> anyhow::Result<usize> {
        let written = match self.kind {
            Kind::Gif => gif::write(self, frames, draw),
            Kind::Video => video::write(self, frames, draw),
            Kind::Series => self.write_series(frames, draw),
        };
        written.with_context(|| format!("writing {}", self.file.display()))
    }

    fn write_series(&self, frames: usize, draw: &mut Draw<'_>) -> anyhow::Result<usize> {
        let mut count = 0;
        while count < frames {
            let Some(pixels) = draw(count)? else { break };
            let bytes = pixels.encode_png().map_err(|e| anyhow!("encoding a frame: {e}"))?;
            write_whole(&self.file.join(name(count)), &bytes)?;
            count += 1;
        }
        // None of an earlier, longer one is taken for this one's.
        for entry in fs::read_dir(&self.file)?.flatten() {
            let number = entry.file_name().to_str().and_then(number);
            if number.is_some_and(|number| number >= count) {
                remove(&entry.path())?;
            }
        }
        Ok(count)
    }
}

fn name(frame: usize) -> String {
    format!("frame-{frame:05}.png")
}

fn number(file: &str) -> Option<usize> {
    let digits = file.strip_prefix("frame-")?.strip_suffix(".png")?;
    (digits.len() >= 5).then(|| digits.parse().ok()).flatten()
}

/// The colours of a frame without what is seen through, of which there is none.
fn rgb(pixels: &Pixmap) -> Vec<u8> {
    pixels.data().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect()
}

#[cfg(test)]
mod tests;
