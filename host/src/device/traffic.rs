//! Bus traffic, recorded on one device to be replayed on another.

use super::{Device, DeviceError};
use std::fmt::Write;

/// An access or a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Let so many clocks pass.
    Pause(u32),
    /// Write a word at an address.
    Write(u32, u32),
    /// Read this word at an address.
    Read(u32, u32),
}

/// Clocks added to every pause.
const MARGIN: u64 = 100;

/// A device that remembers what was done to it.
pub struct TrafficRecorder<D: Device> {
    device: D,
    operations: Vec<Operation>,
}

impl<D: Device> TrafficRecorder<D> {
    /// Nothing recorded yet.
    pub fn new(device: D) -> Self {
        Self { device, operations: Vec::new() }
    }

    /// The accesses, in their order.
    pub fn operations(self) -> Vec<Operation> {
        self.operations
    }
}

impl<D: Device> Device for TrafficRecorder<D> {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        let value = self.device.read(address)?;
        self.operations.push(Operation::Read(address, value));
        Ok(value)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.device.write(address, value)?;
        self.operations.push(Operation::Write(address, value));
        Ok(())
    }

    fn pause(&mut self, clocks: u64) {
        // Long enough that one look finds the engine idle: how often it is looked at goes into its sums.
        let clocks = clocks + MARGIN;
        self.device.pause(clocks);
        self.operations.push(Operation::Pause(u32::try_from(clocks).unwrap_or(u32::MAX)));
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.device.reset()
    }

    fn name(&self) -> String {
        self.device.name()
    }
}

/// Operations as `$readmemh` reads them: kind, address, word.
pub fn hexadecimal(operations: &[Operation]) -> String {
    let mut text = String::new();
    for operation in operations {
        let (kind, address, word) = match *operation {
            Operation::Pause(clocks) => (0, 0, clocks),
            Operation::Write(address, word) => (1, address, word),
            Operation::Read(address, word) => (2, address, word),
        };
        let _ = writeln!(text, "{kind:02x}{address:08x}{word:08x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts up with every read.
    struct Counter(u32);

    impl Device for Counter {
        fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
            self.0 += 1;
            if address == 8 { Err(DeviceError::Refused { address, write: false }) } else { Ok(self.0) }
        }
        fn write(&mut self, _: u32, _: u32) -> Result<(), DeviceError> {
            Ok(())
        }
        fn pause(&mut self, _: u64) {}
        fn reset(&mut self) -> Result<(), DeviceError> {
            Ok(())
        }
        fn name(&self) -> String {
            "counter".to_owned()
        }
    }

    #[test]
    fn what_succeeded_is_recorded() {
        let mut device = TrafficRecorder::new(Counter(0));
        device.write(16, 0xabc).unwrap();
        device.read(4).unwrap();
        assert!(device.read(8).is_err());
        device.read(12).unwrap();
        device.pause(9);
        assert_eq!(device.name(), "counter");
        let list = device.operations();
        use Operation::{Pause, Read, Write};
        assert_eq!(list, [Write(16, 0xabc), Read(4, 1), Read(12, 3), Pause(109)]);
        assert!(hexadecimal(&list).starts_with("010000001000000abc\n020000000400000001\n"));
    }
}
