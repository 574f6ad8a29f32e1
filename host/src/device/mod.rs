//! Devices: whatever answers the engine's register map.
//!
//! One trait, several back ends: the model ([`model`]), the Verilated hardware ([`rtl`], and over a
//! simulated PCI bus: [`pci_sim`]), a PCI board ([`pci`]), and a recording of any of them ([`record`]). What is built on a device cannot tell them apart.

pub mod backend;
mod identity;
pub mod model;
pub mod pci;
#[cfg(feature = "rtl")]
pub mod pci_sim;
pub mod record;
pub mod registry;
#[cfg(feature = "rtl")]
pub mod rtl;
#[cfg(feature = "rtl")]
pub mod traffic;
#[cfg(feature = "rtl")]
mod waveforms;

pub use backend::{Making, SpecError};
pub use identity::{IdentityError, identify};
pub use pci::address::PciAddress;
pub use registry::DeviceSpec;

use crate::sys::mapping::MappingError;
use std::io;

/// Why a device did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The engine refused the access.
    #[error("the engine refused to {} {address:#x}", if *write { "write" } else { "read" })]
    Refused {
        /// The byte address.
        address: u32,
        /// Whether it was a write.
        write: bool,
    },
    /// No answer in time.
    #[error("no answer from {device} while {doing}")]
    Timeout {
        /// The name of the device.
        device: String,
        /// What was going on.
        doing: String,
    },
    /// Everything reads as ones: nobody is there any more.
    #[error(
        "the link to {device} is lost: it reads all ones. Is the board still powered, and its bitstream loaded?"
    )]
    LinkLost {
        /// The name of the device.
        device: String,
    },
    /// An address outside the device, or not a multiple of four.
    #[error("address {address:#x} is outside {device} ({size:#x} bytes) or not a multiple of 4")]
    Address {
        /// The name of the device.
        device: String,
        /// The address.
        address: u32,
        /// How large it is.
        size: u64,
    },
    /// The system does not let us.
    #[error("{what}: {error}")]
    Io {
        /// File or call.
        what: String,
        /// What the system says.
        error: io::Error,
    },
    /// Not an engine this program can use.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A board that cannot be used as it is, with what to do about it.
    #[error("{0}")]
    Unusable(String),
    /// A recording that does not go on like this.
    #[error("{file}:{line}: {message}")]
    Replay {
        /// The recording.
        file: String,
        /// Its line.
        line: usize,
        /// What is different.
        message: String,
    },
    /// The circuit cannot be run.
    #[cfg(feature = "rtl")]
    #[error(transparent)]
    Verilated(#[from] nendo_hdl::sim::verilated::VerilatedError),
}

impl From<MappingError> for DeviceError {
    fn from(error: MappingError) -> Self {
        match error {
            MappingError::Io { what, error } => Self::Io { what, error },
            MappingError::Address { device, address, size } => Self::Address { device, address, size },
        }
    }
}

impl DeviceError {
    /// A system error with its context.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }

    /// Whether trying again may help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Timeout { .. })
    }
}

/// What became of a wait for a device's interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It came, or had come before.
    Came,
    /// It did not come in time.
    TimedOut,
    /// The device has none that this program could wait for.
    Unsupported,
}

/// Something that answers the engine's register map.
pub trait Device: Send {
    /// Reads a word at a byte address.
    fn read(&mut self, address: u32) -> Result<u32, DeviceError>;

    /// Writes a word at a byte address.
    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError>;

    /// Writes consecutive words.
    fn write_block(&mut self, address: u32, values: &[u32]) -> Result<(), DeviceError> {
        values.iter().zip((address..).step_by(4)).try_for_each(|(&value, address)| self.write(address, value))
    }

    /// Reads consecutive words.
    fn read_block(&mut self, address: u32, values: &mut [u32]) -> Result<(), DeviceError> {
        for (value, address) in values.iter_mut().zip((address..).step_by(4)) {
            *value = self.read(address)?;
        }
        Ok(())
    }

    /// Lets about so many of the engine's clocks pass.
    fn pause(&mut self, clocks: u64);

    /// Waits until the interrupt line is asserted, for about so many of the engine's clocks; hardware is given a
    /// second at least.
    fn wait_interrupt(&mut self, _clocks: u64) -> Result<Waited, DeviceError> {
        Ok(Waited::Unsupported)
    }

    /// Brings the device back to its state after power-on, as far as it can.
    fn reset(&mut self) -> Result<(), DeviceError>;

    /// What to call it.
    fn name(&self) -> String;

    /// Ends the use of it: what has been recorded is written.
    fn close(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}

/// What points to a device is one.
macro_rules! pointer {
    ($pointer:ty) => {
        impl<D: Device + ?Sized> Device for $pointer {
            fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
                (**self).read(address)
            }
            fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
                (**self).write(address, value)
            }
            fn write_block(&mut self, address: u32, values: &[u32]) -> Result<(), DeviceError> {
                (**self).write_block(address, values)
            }
            fn read_block(&mut self, address: u32, values: &mut [u32]) -> Result<(), DeviceError> {
                (**self).read_block(address, values)
            }
            fn pause(&mut self, clocks: u64) {
                (**self).pause(clocks);
            }
            fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
                (**self).wait_interrupt(clocks)
            }
            fn reset(&mut self) -> Result<(), DeviceError> {
                (**self).reset()
            }
            fn name(&self) -> String {
                (**self).name()
            }
            fn close(&mut self) -> Result<(), DeviceError> {
                (**self).close()
            }
        }
    };
}

pointer!(Box<D>);
pointer!(&mut D);
