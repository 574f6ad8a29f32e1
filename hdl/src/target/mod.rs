//! Devices the engine is built for: a target is a folder, and its `target.toml` says all that tells it from others.
//!
//! ```text
//!  bitstreams/NAME/  --build.rs-->  built in  \
//!                                               Files --> Target --> flows, estimates, clocks
//!  path/to/folder    ------------>  on disk   /
//! ```

mod check;
mod clock;
mod error;
mod files;
mod keys;

pub use clock::{Clock, NoClock, NotTimed, RoutedClock};
pub use error::TargetError;
pub use files::Files;
pub use keys::{Board, Budget, Estimate, Flow, Luts, Papers, Place, Simulation, Synthesis, Top, Yosys};

use crate::circuit::delay::ShiftRegisters;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::BTreeMap, path::Path};

/// The file that makes a folder a target.
const KEYS: &str = "target.toml";

/// A device, its capacities, and how its tools are called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name of its folder.
    #[serde(skip_deserializing)]
    pub name: String,
    /// The vendor's part number.
    pub part: String,
    /// Its package.
    pub package: String,
    /// Device family, for people.
    pub family: String,
    /// The tools that make its bitstream.
    pub flow: Flow,
    /// What the engine is placed in.
    pub top: Top,
    /// The file with pins and clocks, for the tools.
    pub constraints: String,
    /// Clock the design is built for; a routed report says what was reached.
    pub clock_mhz: f64,
    /// Slower devices, whose routed reports stand for this one's where it has none.
    #[serde(default)]
    pub slower: Vec<String>,
    /// Block memories of 18 Kbit.
    pub brams: u64,
    /// Multipliers of 18 x 18 or more.
    pub multipliers: u64,
    /// Flip-flops.
    pub flip_flops: u64,
    /// Look-up tables.
    pub luts: u64,
    /// What one module of profile `wide` may take.
    #[serde(default)]
    pub budget: Budget,
    /// Verilog around the generated top, if there is any.
    pub board: Option<Board>,
    /// How Yosys is called.
    pub synthesis: Synthesis,
    /// How place and route is called.
    #[serde(default)]
    pub place: Place,
    /// The netlist is read again and simulated.
    pub simulation: Option<Simulation>,
    /// What synthesis makes of the circuit, as measured.
    pub estimate: Estimate,
    /// The papers' engine on the same part, whole (`all`) and by module.
    #[serde(default)]
    pub papers: BTreeMap<String, Papers>,
    /// Where its files are.
    #[serde(skip)]
    files: Files,
}

impl Target {
    /// A built-in target by its name, or else a user's own by its folder.
    pub fn open(target: &str) -> Result<Self, TargetError> {
        match Self::by_name(target) {
            Err(TargetError::Unknown { .. }) if Path::new(target).is_dir() => {
                Self::read(Files::folder(Path::new(target)))
            }
            result => result,
        }
    }

    /// A built-in target.
    pub fn by_name(name: &str) -> Result<Self, TargetError> {
        let files = Files::built_in(name).ok_or_else(|| TargetError::Unknown {
            name: name.to_owned(),
            known: Self::names().collect::<Vec<_>>().join(", "),
        })?;
        Self::read(files)
    }

    /// The names of all built-in targets, in alphabetical order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        files::names()
    }

    /// All built-in targets, in alphabetical order.
    ///
    /// # Panics
    /// If a target file in this repository is malformed, which its test would have shown.
    pub fn all() -> Vec<Self> {
        Self::names().map(|name| Self::by_name(name).unwrap_or_else(|e| panic!("{e}"))).collect()
    }

    fn read(files: Files) -> Result<Self, TargetError> {
        let text = files.read(KEYS)?;
        Self::parse(&text, files)
    }

    fn parse(text: &str, files: Files) -> Result<Self, TargetError> {
        let mut target: Self =
            toml::from_str(text).map_err(|e| TargetError::toml(files.place(KEYS), text, &e))?;
        target.name = files.name()?;
        target.files = files;
        target.check()?;
        Ok(target)
    }

    /// A file that its `target.toml` names: of its folder, or else of those all targets share.
    pub fn file(&self, name: &str) -> Result<Cow<'static, str>, TargetError> {
        self.files.read_or_shared(name)
    }

    /// All its files.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// How its delay lines must be written.
    pub fn shift_registers(&self) -> ShiftRegisters {
        self.synthesis.shift_registers
    }
}

#[cfg(test)]
mod tests;
