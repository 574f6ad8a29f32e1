//! A device whose traffic is checked: what one side sums up, the other must have summed up, too.
//!
//! The engine sums up every word it takes and gives. The link does the same, and compares after each transfer:
//! a word that was changed, lost or repeated on its way, in either direction, makes the sums differ. Nothing is
//! believed before they agree.

use super::BoardError;
use crate::device::{Device, DeviceError, IdentityError};
use nendo_model::contract::{
    map::{self, Reg},
    words::{Refused, RegisterWord},
};

/// How often a transfer is tried before the link is given up.
pub(super) const ATTEMPTS: u32 = 3;

/// A sum of addresses and words, and the sum of those sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    low: u32,
    high: u32,
}

impl Sum {
    fn add(&mut self, address: u32, value: u32) {
        self.low = self.low.wrapping_add(value).wrapping_add(address);
        self.high = self.high.wrapping_add(self.low);
    }
}

/// A device with sums of its traffic.
pub struct CheckedLink<D: Device> {
    device: D,
    written: Sum,
    read: Sum,
    retries: u64,
}

impl<D: Device> CheckedLink<D> {
    /// A link to a device, beginning with the sums it has now. So many transfers have been repeated before.
    pub fn new(device: D, retries: u64) -> Result<Self, BoardError> {
        let mut link = Self { device, written: Sum::default(), read: Sum::default(), retries };
        link.resync()?;
        Ok(link)
    }

    /// The device, past the sums: see [`Self::resync`].
    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }

    /// What to call the device.
    pub fn name(&self) -> String {
        self.device.name()
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.device
    }

    /// Transfers that had to be repeated.
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// Reads consecutive words.
    pub fn read_block(&mut self, address: u32, values: &mut [u32]) -> Result<(), DeviceError> {
        self.device.read_block(address, values)?;
        for (&mut value, address) in values.iter_mut().zip((address..).step_by(4)) {
            self.read.add(address, value);
        }
        Ok(())
    }

    /// Writes consecutive words.
    pub fn write_block(&mut self, address: u32, values: &[u32]) -> Result<(), DeviceError> {
        self.device.write_block(address, values)?;
        for (&value, address) in values.iter().zip((address..).step_by(4)) {
            self.written.add(address, value);
        }
        Ok(())
    }

    /// Reads a register.
    pub fn get(&mut self, register: Reg) -> Result<u32, DeviceError> {
        let mut value = [0];
        self.read_block(register.address(), &mut value)?;
        Ok(value[0])
    }

    /// Writes a register.
    pub fn set(&mut self, register: Reg, value: u32) -> Result<(), DeviceError> {
        self.write_block(register.address(), &[value])
    }

    /// Reads until what was read is what the device gave.
    pub fn reading<T>(
        &mut self,
        doing: &str,
        mut transfer: impl FnMut(&mut Self) -> Result<T, DeviceError>,
    ) -> Result<T, BoardError> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match transfer(self) {
                Ok(value) if self.agrees()? => return Ok(value),
                Ok(_) => {}
                Err(error) if error.is_transient() => last = Some(error),
                Err(error) => return Err(error.into()),
            }
            self.retries += 1;
            self.resync()?;
        }
        Err(self.given_up(doing, last))
    }

    /// Writes. A transfer that was lost as a whole is repeated; if anything but what was sent has arrived,
    /// the device is in a state nobody knows, which is an error.
    pub fn writing(
        &mut self,
        doing: &str,
        mut transfer: impl FnMut(&mut Self) -> Result<(), DeviceError>,
    ) -> Result<(), BoardError> {
        let before = self.written;
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let result = transfer(self);
            let (sent, expected) = (result.is_ok(), self.written);
            match result {
                Ok(()) if self.agrees()? => return Ok(()),
                Ok(()) => {}
                Err(error) if error.is_transient() => last = Some(error),
                Err(error) => return Err(error.into()),
            }
            self.retries += 1;
            self.resync()?;
            if sent && self.written == expected {
                return Ok(());
            }
            if self.written != before {
                return Err(self.damaged(doing));
            }
        }
        Err(self.given_up(doing, last))
    }

    /// Why a transfer never came to pass. The engine says whether it was too busy for it, which not every bus tells
    /// whoever writes: a word that is refused is missing in the sums, as a lost one is.
    fn given_up(&mut self, doing: &str, last: Option<DeviceError>) -> BoardError {
        if matches!(last, None | Some(DeviceError::Refused { .. })) && self.was_busy().unwrap_or(false) {
            return BoardError::InUse { device: self.device.name(), doing: doing.to_owned() };
        }
        last.map_or_else(|| self.damaged(doing), BoardError::Device)
    }

    /// Whether an access was refused because the engine was busy; that is acknowledged.
    fn was_busy(&mut self) -> Result<bool, DeviceError> {
        let busy = Refused { access: true, ..Refused::default() };
        let found = Refused::from_bits(self.get(Reg::Refused)?);
        self.set(Reg::Refused, busy.bits())?;
        Ok(found.access)
    }

    fn damaged(&self, doing: &str) -> BoardError {
        BoardError::Damaged { device: self.device.name(), doing: doing.to_owned() }
    }

    fn device_sums(&mut self) -> Result<(Sum, Sum), DeviceError> {
        let mut sum = |low: Reg, high: Reg| {
            let (low, high) = (self.device.read(low.address())?, self.device.read(high.address())?);
            Ok::<_, DeviceError>(Sum { low, high })
        };
        Ok((sum(Reg::WriteSumLow, Reg::WriteSumHigh)?, sum(Reg::ReadSumLow, Reg::ReadSumHigh)?))
    }

    /// Whether both sides have summed up the same.
    fn agrees(&mut self) -> Result<bool, BoardError> {
        match self.device_sums() {
            Ok(sums) => Ok(sums == (self.written, self.read)),
            Err(error) if error.is_transient() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the device's sums for ours: at the beginning, after a damaged transfer, and after going past
    /// the link. Finds out whether anybody is there at all.
    pub fn resync(&mut self) -> Result<(), BoardError> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let twice = [0; 2].map(|_| {
                let magic = self.device.read(Reg::Magic.address())?;
                Ok::<_, DeviceError>((magic, self.device_sums()?))
            });
            match twice {
                [Ok((magic, (written, mut read))), Ok((again, sums))] if magic == again => {
                    let device = self.device.name();
                    match magic {
                        map::MAGIC => {}
                        u32::MAX => return Err(DeviceError::LinkLost { device }.into()),
                        found => return Err(DeviceError::from(IdentityError::Magic { device, found }).into()),
                    }
                    // The second look at the magic word has been summed up, too.
                    read.add(Reg::Magic.address(), again);
                    if sums == (written, read) {
                        (self.written, self.read) = sums;
                        return Ok(());
                    }
                }
                [Ok(_), Ok(_)] => {}
                [Err(error), _] | [_, Err(error)] if error.is_transient() => last = Some(error),
                [Err(error), _] | [_, Err(error)] => return Err(error.into()),
            }
            self.retries += 1;
        }
        Err(last.map_or_else(|| self.damaged("comparing sums"), BoardError::Device))
    }
}
