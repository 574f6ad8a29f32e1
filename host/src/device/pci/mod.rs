//! PCI boards: a BAR mapped through sysfs, the XDMA driver or VFIO.
//!
//! All three end in the same thing, a mapping of the engine's registers ([`Mapping`]); they differ in how it is
//! come by, in who must permit it, and in how the board is reset.

pub mod address;
pub mod backends;
pub mod dma;
pub mod sysfs;
mod vfio;

use super::{Device, DeviceError, Waited, identity::identify};
use crate::{
    output,
    sys::{self, mapping::Mapping},
};
use address::PciAddress;
use nendo_model::contract::map::{Map, Reg};
use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use sysfs::Sysfs;

/// Enough of a board to read its identity.
const IDENTITY_BYTES: usize = 4096;
/// The clock to assume where a board does not say.
const ASSUMED_KHZ: u32 = 100_000;
/// An interrupt is waited for at least so long: simulated boards are slower than their clock says.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

/// How to reset a board.
enum Reset {
    /// By writing to this file (sysfs).
    File(PathBuf),
    /// By asking VFIO.
    Vfio(vfio::Vfio),
    /// Not at all.
    None,
}

/// Files through which the XDMA driver moves many words at once.
struct Channels {
    to_card: File,
    from_card: File,
}

/// A board on the PCI bus.
pub struct Pci {
    name: String,
    mapping: Mapping,
    reset: Reset,
    channels: Option<Channels>,
    interrupt: Option<vfio::Interrupt>,
    dma: Option<dma::Dma>,
    dma_on: bool,
    clock_khz: u32,
    reads: u64,
}

impl Pci {
    /// Opens BAR `bar` of a device through sysfs.
    pub fn sysfs(sysfs: &Sysfs, address: PciAddress, bar: usize) -> Result<Self, DeviceError> {
        let device = sysfs.device(address)?;
        let path = device.usable_bar(bar)?;
        let file = open(&path)?;
        let available = device.bar_bytes(bar);
        let reset = Reset::File(device.path.join("reset"));
        Self::new(format!("pci:{address}"), &file, 0, available, reset)
    }

    /// Opens a board behind the XDMA driver, whose files are in `folder` (usually `/dev`).
    pub fn xdma(folder: &Path, number: u32) -> Result<Self, DeviceError> {
        let path = |part: &str| folder.join(format!("xdma{number}_{part}"));
        let file = open(&path("user"))?;
        // The driver does not tell the BAR's size; what is mapped beyond it fails, and says so.
        let mut board = Self::new(format!("xdma:{number}"), &file, 0, u64::MAX, Reset::None)?;
        if let (Ok(to_card), Ok(from_card)) = (open(&path("h2c_0")), open(&path("c2h_0"))) {
            board.use_channels(Channels { to_card, from_card })?;
        }
        Ok(board)
    }

    /// Opens BAR 0 of a device through VFIO.
    pub fn vfio(sysfs: &Sysfs, address: PciAddress) -> Result<Self, DeviceError> {
        let (vfio, region) = vfio::open(sysfs, address)?;
        let file = vfio.device.try_clone().map_err(DeviceError::io(format!("vfio:{address}")))?;
        let name = format!("vfio:{address}");
        let interrupt = vfio::Interrupt::new(&file).map_err(DeviceError::io(format!("{name}: interrupt")))?;
        let dma = dma::Dma::open(&vfio, &name)?;
        let board = Self::new(name, &file, region.offset, region.size, Reset::Vfio(vfio))?;
        Ok(Self { interrupt, dma, ..board })
    }

    /// Whether the board fetches many words by itself: on where it can, unless it is told not to.
    pub fn has_dma(&self) -> bool {
        self.dma.is_some()
    }

    /// Has many words fetched by the board, where it can, or written through BAR 0.
    pub fn use_dma(&mut self, on: bool) {
        self.dma_on = on;
    }

    /// Words read from BAR 0 so far.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// The time that so many of the engine's clocks take.
    fn time(&self, clocks: u64) -> Duration {
        Duration::from_nanos(clocks.saturating_mul(1_000_000) / u64::from(self.clock_khz))
    }

    /// Maps the identity, then as much as the configuration it names needs.
    fn new(
        name: String,
        file: &File,
        offset: u64,
        available: u64,
        reset: Reset,
    ) -> Result<Self, DeviceError> {
        let small = usize::try_from(available).map_or(IDENTITY_BYTES, |a| a.min(IDENTITY_BYTES));
        let mut identity = Mapping::new(file, offset, small, &name)?;
        let config = identify(&mut |register| Ok(identity.read(register.address())?), &name)?;
        let needed = Map::new(&config).size as usize;
        if available < needed as u64 {
            return Err(DeviceError::Unusable(format!(
                "{name}: its BAR has {available} bytes, but the engine in it needs {needed}; \
                 rebuild the bitstream with a larger BAR"
            )));
        }
        drop(identity);
        let mapping = Mapping::new(file, offset, needed, &name)?;
        let clock_khz = if config.clock_khz == 0 { ASSUMED_KHZ } else { config.clock_khz };
        let (channels, interrupt, dma) = (None, None, None);
        Ok(Self { name, mapping, reset, channels, interrupt, dma, dma_on: true, clock_khz, reads: 0 })
    }

    /// Moves many words at once through these files, if they lead to the same engine. Where the bitstream
    /// connects them to something else, or nothing, words go one by one.
    fn use_channels(&mut self, channels: Channels) -> Result<(), DeviceError> {
        let address = Reg::Magic.address();
        let expected = [self.mapping.read(address)?, self.mapping.read(address + 4)?];
        let mut found = [0; 8];
        let read = channels.from_card.read_exact_at(&mut found, address.into());
        if read.is_ok() && found[..] == expected.map(u32::to_le_bytes).concat() {
            self.channels = Some(channels);
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<File, DeviceError> {
    OpenOptions::new().read(true).write(true).open(path).map_err(|error| refusal(path, error))
}

/// Why a device's file cannot be opened, and what to do.
fn refusal(path: &Path, error: io::Error) -> DeviceError {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => DeviceError::Unusable(format!(
            "no permission for {path}: run as root, or give yourself access (sudo chown $USER {path})"
        )),
        io::ErrorKind::NotFound => {
            DeviceError::Unusable(format!("{path} is not there; see `nendo board list`"))
        }
        _ => DeviceError::Io { what: path.to_string(), error },
    }
}

impl Device for Pci {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        self.reads += 1;
        Ok(self.mapping.read(address)?)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        Ok(self.mapping.write(address, value)?)
    }

    fn write_block(&mut self, address: u32, values: &[u32]) -> Result<(), DeviceError> {
        if let Some(dma) = self.dma.as_mut().filter(|_| self.dma_on && values.len() >= dma::WORTH_IT) {
            return dma.write(address, values);
        }
        let Some(Channels { to_card, .. }) = &self.channels else {
            return values
                .iter()
                .zip((address..).step_by(4))
                .try_for_each(|(&v, a)| Ok(self.mapping.write(a, v)?));
        };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        to_card
            .write_all_at(&bytes, address.into())
            .map_err(DeviceError::io(format!("{}: to card", self.name)))
    }

    fn read_block(&mut self, address: u32, values: &mut [u32]) -> Result<(), DeviceError> {
        let Some(Channels { from_card, .. }) = &self.channels else {
            for (value, address) in values.iter_mut().zip((address..).step_by(4)) {
                *value = self.mapping.read(address)?;
            }
            self.reads += values.len() as u64;
            return Ok(());
        };
        let mut bytes = vec![0; 4 * values.len()];
        from_card
            .read_exact_at(&mut bytes, address.into())
            .map_err(DeviceError::io(format!("{}: from card", self.name)))?;
        for (value, word) in values.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *value = u32::from_le_bytes(*word);
        }
        Ok(())
    }

    fn pause(&mut self, clocks: u64) {
        let wait = self.time(clocks);
        // Sleeping is too coarse for short waits.
        if wait > Duration::from_micros(200) {
            std::thread::sleep(wait);
        } else {
            let until = Instant::now() + wait;
            while Instant::now() < until {
                std::hint::spin_loop();
            }
        }
    }

    fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
        // Nothing to wait for is nothing to wait long for: zero clocks only ask whether it could be waited for.
        let time = if clocks == 0 { Duration::ZERO } else { self.time(clocks).max(SHORTEST_WAIT) };
        let Some(interrupt) = &mut self.interrupt else { return Ok(Waited::Unsupported) };
        let came = interrupt.wait(time);
        let came = came.map_err(DeviceError::io(format!("{}: waiting for its interrupt", self.name)))?;
        Ok(if came { Waited::Came } else { Waited::TimedOut })
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        match &self.reset {
            Reset::File(path) => output::tell(path, "1")
                .map_err(DeviceError::io(format!("resetting through {}", path.display()))),
            Reset::Vfio(vfio) => {
                sys::vfio::reset(&vfio.device).map_err(DeviceError::io(format!("resetting {}", self.name)))
            }
            Reset::None => {
                Err(DeviceError::Unusable(format!("{} has no reset this program could use", self.name)))
            }
        }
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

#[cfg(test)]
mod tests;
