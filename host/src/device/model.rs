//! The model of the engine behind its register port, as a device.

use super::{Device, DeviceError, Waited, backend::Backend};
use nendo_model::{contract::config::Config, twin::register_bus::RegisterModel};

/// As users name it.
pub const BACKEND: Backend = Backend {
    prefix: "model",
    argument: None,
    help: "the bit-accurate model behind the register map",
    made_to_measure: true,
    threads: true,
    check: Backend::no_argument,
    open: |_, making| Ok(Box::new(ModelDevice::new(making.config, making.threads))),
    list: Backend::none_listed,
};

/// A board in software.
pub struct ModelDevice(RegisterModel);

impl ModelDevice {
    /// A board of a configuration, computing on so many threads.
    pub fn new(config: &Config, threads: usize) -> Self {
        Self(RegisterModel::new(config, threads))
    }
}

impl Device for ModelDevice {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        self.0.read(address).map_err(|_| DeviceError::Refused { address, write: false })
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.0.write(address, value).map_err(|_| DeviceError::Refused { address, write: true })
    }

    fn pause(&mut self, clocks: u64) {
        self.0.advance(clocks);
    }

    fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
        Ok(if self.0.wait_interrupt(clocks) { Waited::Came } else { Waited::TimedOut })
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.0.reset();
        Ok(())
    }

    fn name(&self) -> String {
        "model".to_owned()
    }
}
