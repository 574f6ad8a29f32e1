//! From features to frames: the last step before a 7-series bitstream.
//!
//! ```text
//!  INT_L_X0Y1.WW2BEG0.LOGIC_OUTS_L0 --> tile grid: base address, offset --> frame 0x00400123, word 4, bit 7
//!                                       segbits:   22_07 !23_07
//! ```
//! nextpnr writes FASM: lines that name what is switched on, tile by tile. Project X-Ray's database says which
//! bits that is. Two features that disagree about a bit are an error, as is a feature nobody knows. What has
//! been encoded is decoded again, and must be the same features.

mod database;
mod encode;
mod lines;

pub use database::Database;
pub use encode::{Frames, WORDS};

use std::path::{Path, PathBuf};

/// Why there are no frames.
#[derive(Debug, thiserror::Error)]
pub enum FasmError {
    /// A line that is not FASM.
    #[error("line {line}: {reason}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The database cannot be read.
    #[error("{}: {reason}", path.display())]
    Database {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A feature that the database has not.
    #[error("the database knows no {0}")]
    Unknown(String),
    /// A feature outside the tile it belongs to.
    #[error("{0} has a bit outside its tile")]
    Outside(String),
    /// Two features that cannot both be.
    #[error("{feature} contradicts another feature about bit {bit} of word {word} in frame {frame:#010x}")]
    Conflict {
        /// The second one.
        feature: String,
        /// Frame address.
        frame: u32,
        /// Word of the frame.
        word: usize,
        /// Bit of the word.
        bit: u32,
    },
    /// The frames say something else than was meant: a fault of this program or of the database.
    #[error("decoding the frames gives other features: {0}")]
    Decoded(String),
}

/// The frames of a design, checked by decoding them.
pub fn frames(database: &Path, part: &str, fasm: &str) -> Result<Frames, FasmError> {
    let features = lines::parse(fasm)?;
    let mut database = Database::open(database, part)?;
    let frames = encode::encode(&mut database, &features)?;
    encode::verify(&mut database, &features, &frames)?;
    Ok(frames)
}

#[cfg(test)]
mod tests;
