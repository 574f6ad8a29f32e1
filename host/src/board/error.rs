//! What can be wrong with a board.

use crate::device::DeviceError;
use nendo_model::contract::{
    config::Config,
    numbers::{Inverse, Profile},
};
use nendo_model::engine::EngineError;

/// Why a device cannot be used as a board, or does not do what a board does.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The device itself.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Another number contract.
    #[error(
        "{device} computes with profile {found} ({found_inverse}), but {expected} ({expected_inverse}) is asked for: \
         use --profile {found} --inverse {found_inverse}, or load the other bitstream"
    )]
    Profile {
        /// The name of the device.
        device: String,
        /// Its profile.
        found: Profile,
        /// Its inverse form.
        found_inverse: Inverse,
        /// The profile wanted.
        expected: Profile,
        /// The inverse form wanted.
        expected_inverse: Inverse,
    },
    /// A scene that does not fit.
    #[error(
        "the scene needs {particles} particles and {slots} slots in each module; {device} has {}",
        config.modules_text()
    )]
    TooLarge {
        /// The name of the device.
        device: String,
        /// The engine it holds.
        config: Config,
        /// Of the scene's largest part.
        particles: u32,
        /// Of the scene's plan.
        slots: u32,
    },
    /// A plan for another engine.
    #[error(
        "what is to be loaded was planned for another engine than {device} has ({}): plan it again",
        config.modules_text()
    )]
    OtherPlan {
        /// The name of the device.
        device: String,
        /// The engine it holds.
        config: Config,
    },
    /// What arrived is not what was sent.
    #[error("{doing}: what {device} took or gave is not what was sent or received; the link is damaged")]
    Damaged {
        /// The name of the device.
        device: String,
        /// What was going on.
        doing: String,
    },
    /// A command that was taken more than once.
    #[error("{device} took a command {times} times that was given once; its state is unknown: load again")]
    Repeated {
        /// The name of the device.
        device: String,
        /// How often.
        times: u32,
    },
    /// It has nothing to compute with.
    #[error(
        "{device} did not start: what it is to compute with is not there (particles, slots or left are zero, or more \
         than it holds); load a scene first, and again after a reset or another program"
    )]
    NothingLoaded {
        /// The name of the device.
        device: String,
    },
    /// What is for an idle engine was asked of a busy one.
    #[error(
        "{doing}: {device} refused, because it is computing; stop it first, or wait until it is done. If this program \
         did not start it, another one is using it: `nendo board reset` ends that"
    )]
    InUse {
        /// The name of the device.
        device: String,
        /// What was going on.
        doing: String,
    },
    /// The engine does not come to an end.
    #[error("{device} is still busy {doing} after {waited} clocks, where {expected} were expected; reset it")]
    Busy {
        /// The name of the device.
        device: String,
        /// What it was to do.
        doing: &'static str,
        /// How long it was given.
        waited: u64,
        /// How long it should have taken.
        expected: u64,
    },
    /// Nothing to wait for.
    #[error(
        "{device} gives this program no interrupt: use --completion poll, or a device that does (for a PCI board \
         vfio:ADDRESS, with the board bound to vfio-pci)"
    )]
    NoInterrupt {
        /// The name of the device.
        device: String,
    },
    /// The engine is done, but did not say so.
    #[error(
        "{device} is done {doing}, but its interrupt did not come; see /proc/interrupts whether it arrives at all, \
         or use --completion poll"
    )]
    LostInterrupt {
        /// The name of the device.
        device: String,
        /// What it was doing.
        doing: &'static str,
    },
    /// Another number of steps than asked for.
    #[error("{device} took {done} steps instead of {asked}")]
    Steps {
        /// The name of the device.
        device: String,
        /// Steps it took.
        done: u32,
        /// What it was told.
        asked: u32,
    },
}

impl From<BoardError> for EngineError {
    fn from(error: BoardError) -> Self {
        Self::Device(Box::new(error))
    }
}
