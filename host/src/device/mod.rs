//! Devices: whatever answers the engine's register map.

pub mod rtl;

/// Why a device did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The engine refused the access.
    #[error("the engine refused to {} {address:#x}", if *write { "write" } else { "read" })]
    Refused {
        /// Where.
        address: u32,
        /// Whether it was a write.
        write: bool,
    },
    /// No answer in time.
    #[error("no answer from {device} while {doing}")]
    Timeout {
        /// Which device.
        device: String,
        /// What was going on.
        doing: String,
    },
    /// The circuit cannot be run.
    #[error(transparent)]
    Verilated(#[from] nendo_hdl::verilated::VerilatedError),
}

/// Something that answers the engine's register map.
pub trait Device {
    /// Reads a word at a byte address.
    fn read(&mut self, address: u32) -> Result<u32, DeviceError>;
    /// Writes a word at a byte address.
    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError>;
    /// Lets about so many of the engine's clocks pass.
    fn pause(&mut self, clocks: u64);
    /// What to call it.
    fn name(&self) -> String;
}
