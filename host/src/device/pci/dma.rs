//! Uploads by a card that reads the host's memory itself.
//!
//! The PCI target is no bus master, so no card does this yet; the emulated card can (`nendo board emulate --dma`), and
//! shows it by a BAR 1 of its own:
//!
//! ```text
//!  00  "dma1"             0c  words               14  go: any write; the transfer is over when status can be read
//!  04  address, low       10  destination         18  status
//!  08  address, high          (byte in BAR 0)
//! ```

use super::vfio::Vfio;
use crate::{
    device::DeviceError,
    sys::{mapping::Mapping, vfio},
};

/// What the first word of BAR 1 reads.
pub const MAGIC: u32 = 0x646d_6131;
/// Bytes of BAR 1.
pub const BAR_BYTES: u32 = 4096;

/// A register of BAR 1, by its byte address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Register {
    /// [`MAGIC`].
    Magic = 0x00,
    /// Low half of the address that the card reads from.
    AddressLow = 0x04,
    /// High half of it.
    AddressHigh = 0x08,
    /// How many words.
    Words = 0x0c,
    /// Where in BAR 0 they go, in bytes.
    To = 0x10,
    /// Any write begins.
    Go = 0x14,
    /// What became of it: see [`Status`].
    Status = 0x18,
}

/// What became of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// None was asked for yet.
    None = 0,
    /// All words are in the engine.
    Done = 1,
    /// The engine refused a word.
    Refused = 2,
    /// The memory is not the card's to read: not mapped, or it is no bus master.
    Unreachable = 3,
    /// Not a number of words that BAR 0 has there.
    Invalid = 4,
}

/// The most words of one transfer by this driver.
const BUFFER_WORDS: usize = 4096;
/// Fewer words go faster through BAR 0.
pub(super) const WORTH_IT: usize = 8;
/// Where the card finds the buffer.
const ADDRESS: u64 = 0x10_0000;

/// The card's own way to memory, and a buffer that it may read.
pub(super) struct Dma {
    registers: Mapping,
    buffer: Mapping,
    name: String,
}

impl Dma {
    /// The way to memory of a card that has one.
    pub(super) fn open(card: &Vfio, name: &str) -> Result<Option<Self>, DeviceError> {
        let fail = |what: &str| DeviceError::io(format!("{name}: {what}"));
        let region = vfio::region(&card.device, 1).map_err(fail("asking for BAR 1"))?;
        if !region.mappable || region.size < u64::from(BAR_BYTES) {
            return Ok(None);
        }
        let mut registers = Mapping::new(&card.device, region.offset, BAR_BYTES as usize, name)?;
        if registers.read(Register::Magic as u32)? != MAGIC {
            return Ok(None);
        }
        let buffer = Mapping::memory(4 * BUFFER_WORDS, name)?;
        vfio::map_for_reading(&card.container, &buffer, ADDRESS).map_err(fail("giving the card a buffer"))?;
        card.make_master().map_err(fail("making the card bus master"))?;
        Ok(Some(Self { registers, buffer, name: name.to_owned() }))
    }

    /// Has the card fetch these words.
    pub(super) fn write(&mut self, address: u32, values: &[u32]) -> Result<(), DeviceError> {
        for (part, at) in values.chunks(BUFFER_WORDS).zip((address..).step_by(4 * BUFFER_WORDS)) {
            for (&value, at) in part.iter().zip((0..).step_by(4)) {
                self.buffer.write(at, value)?;
            }
            for (register, value) in [
                (Register::AddressLow, ADDRESS as u32),
                (Register::AddressHigh, (ADDRESS >> 32) as u32),
                (Register::Words, part.len() as u32),
                (Register::To, at),
                (Register::Go, 1),
            ] {
                self.registers.write(register as u32, value)?;
            }
            match self.registers.read(Register::Status as u32)? {
                done if done == Status::Done as u32 => {}
                refused if refused == Status::Refused as u32 => {
                    return Err(DeviceError::Refused { address: at, write: true });
                }
                u32::MAX => return Err(DeviceError::LinkLost { device: self.name.clone() }),
                status => {
                    return Err(DeviceError::Unusable(format!(
                        "{}: the card did not read {} words of memory (status {status}); use pci: instead, whose \
                         words go through the BAR",
                        self.name,
                        part.len()
                    )));
                }
            }
        }
        Ok(())
    }
}
