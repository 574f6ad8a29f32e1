//! A kind of device: how users name it, what it is, how it is opened and found.

use super::{Device, DeviceError};
use nendo_model::contract::config::Config;
use std::fmt;

/// What a device is made as, where it is made.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// The engine; a device that is there already holds what it holds.
    pub config: &'a Config,
    /// Threads to compute on.
    pub threads: usize,
}

/// A device on this machine.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its name, as users give it.
    pub name: String,
    /// What it is.
    pub description: String,
    /// What keeps it from being used, and what to do about it.
    pub hindrance: Option<String>,
    /// What else its backend knows of it, for programs.
    pub detail: Option<serde_json::Value>,
}

/// Opens a device by what follows its prefix.
pub type Open = fn(&str, &Making<'_>) -> Result<Box<dyn Device>, DeviceError>;

/// A kind of device.
pub struct Backend {
    /// Its name, or what its names begin with.
    pub prefix: &'static str,
    /// An example of what follows the prefix and a colon, if anything does.
    pub argument: Option<&'static str>,
    /// What it is, in a few words.
    pub help: &'static str,
    /// Whether it is made for a scene, rather than being there already.
    pub made_to_measure: bool,
    /// Whether it computes on threads of this program.
    pub threads: bool,
    /// Refuses an argument that names no such device.
    pub check: fn(&str) -> Result<(), SpecError>,
    /// Opens it.
    pub open: Open,
    /// Those on this machine.
    pub list: fn() -> Result<Vec<Found>, DeviceError>,
}

impl Backend {
    /// For those that have no argument.
    pub(super) fn no_argument(argument: &str) -> Result<(), SpecError> {
        if argument.is_empty() {
            return Ok(());
        }
        Err(SpecError::new(argument, "follows a device that takes nothing behind its name"))
    }

    /// For those that nobody can find.
    pub(super) fn none_listed() -> Result<Vec<Found>, DeviceError> {
        Ok(Vec::new())
    }

    /// How users name it.
    pub fn example(&self) -> String {
        match self.argument {
            Some(argument) => format!("{}:{argument}", self.prefix),
            None => self.prefix.to_owned(),
        }
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix)
    }
}

/// Text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` {reason}")]
pub struct SpecError {
    text: String,
    reason: String,
}

impl SpecError {
    /// A text, and what is wrong with it.
    pub(super) fn new(text: &str, reason: impl Into<String>) -> Self {
        Self { text: text.to_owned(), reason: reason.into() }
    }
}
