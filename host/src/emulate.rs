//! The card without hardware: a vfio-user server with any device behind it.
//!
//! ```text
//!  guest kernel --> QEMU's vfio-user-pci --> socket --> Server --> Card: configuration space, BAR 0 --> Device
//! ```
//! What comes over the socket is untrusted: whatever it asks for, the answer is a value or an error. A refused read
//! gives all ones, as a host bridge does after a target abort. The card is no bus master and has no interrupt.

use crate::device::{Device, DeviceError};
use nendo_hdl::{bus::pci::config_space as space, map::Reg};
use std::{
    fs::File,
    io,
    os::unix::net::UnixStream,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::Instant,
};
use vfio_bindings::bindings::vfio;
use vfio_user::{DmaMapFlags, DmaUnmapFlags, IrqInfo, Server, ServerBackend, ServerRegion};

/// Bytes of configuration space.
const SPACE_BYTES: usize = 256;
/// The engine's clock is taken for this fast when time passes between two accesses.
const CLOCK_HZ: f64 = 33.0e6;
/// Clocks that pass at most before the engine is asked whether it is done: a Verilated engine needs a tenth of a
/// second for them.
const CLOCKS_TO_STATUS: u64 = 200_000;
/// Clocks that pass at most before any other access: simulated hardware is slower than the guest's clock, and who
/// does not wait for the engine should not wait for its simulation.
const CLOCKS_TO_OTHERS: u64 = 64;

/// What the card says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// Vendor number.
    pub vendor: u16,
    /// Device number.
    pub device: u16,
    /// Bytes of BAR 0: a power of two.
    pub bar_bytes: u32,
}

impl Card {
    /// The card as it is built.
    pub fn new(bar_bytes: u32) -> Self {
        Self { vendor: space::VENDOR, device: space::DEVICE, bar_bytes }
    }
}

/// Why a card cannot be emulated.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// Somebody else has the socket.
    #[error("{} is in use by another server; choose another path", .0.display())]
    InUse(PathBuf),
    /// The BAR cannot have this size.
    #[error("a BAR has a power of two of bytes, at least 4096; not {0}")]
    Size(u32),
    /// The socket or the client.
    #[error("{}: {error}", path.display())]
    Server {
        /// The socket.
        path: PathBuf,
        /// What happened.
        error: vfio_user::Error,
    },
    /// A stale socket cannot be removed.
    #[error("{}: {error}", path.display())]
    File {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A client broke the protocol in a way the server could not answer.
    #[error("a client sent what is no vfio-user message; its connection was ended")]
    Nonsense,
}

/// A listening card.
pub struct Emulator {
    server: Server,
    backend: Backend,
    path: PathBuf,
}

impl Emulator {
    /// Listens on a socket. A socket that nobody listens on any more is replaced.
    pub fn new(path: &Path, card: Card, device: Box<dyn Device>) -> Result<Self, EmulateError> {
        if !card.bar_bytes.is_power_of_two() || card.bar_bytes < 4096 {
            return Err(EmulateError::Size(card.bar_bytes));
        }
        remove_stale(path)?;
        let server = Server::new(path, true, interrupts(), regions(card))
            .map_err(|error| EmulateError::Server { path: path.to_owned(), error })?;
        Ok(Self { server, backend: Backend::new(card, device), path: path.to_owned() })
    }

    /// Serves one client until it goes.
    pub fn serve(&mut self) -> Result<Counts, EmulateError> {
        let (server, backend) = (&self.server, &mut self.backend);
        backend.counts = Counts::default();
        // The server's own reading of messages panics on some that are malformed.
        let result = catch_unwind(AssertUnwindSafe(|| server.run(backend)));
        let result = result.map_err(|_| EmulateError::Nonsense)?;
        result.map_err(|error| EmulateError::Server { path: self.path.clone(), error })?;
        Ok(self.backend.counts)
    }
}

/// Removes a socket that its server has left behind.
fn remove_stale(path: &Path) -> Result<(), EmulateError> {
    match UnixStream::connect(path) {
        Ok(_) => Err(EmulateError::InUse(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(|error| EmulateError::File { path: path.to_owned(), error })
        }
        Err(_) => Ok(()),
    }
}

fn interrupts() -> Vec<IrqInfo> {
    (0..vfio::VFIO_PCI_NUM_IRQS).map(|index| IrqInfo { index, flags: 0, count: 0 }).collect()
}

fn regions(card: Card) -> Vec<ServerRegion> {
    let both = vfio::VFIO_REGION_INFO_FLAG_READ | vfio::VFIO_REGION_INFO_FLAG_WRITE;
    (0..vfio::VFIO_PCI_NUM_REGIONS)
        .map(|index| {
            let (size, flags) = match index {
                vfio::VFIO_PCI_BAR0_REGION_INDEX => (card.bar_bytes.into(), both),
                vfio::VFIO_PCI_CONFIG_REGION_INDEX => (SPACE_BYTES as u64, both),
                _ => (0, 0),
            };
            let region_info = vfio::vfio_region_info {
                argsz: size_of::<vfio::vfio_region_info>() as u32,
                flags,
                index,
                size,
                ..Default::default()
            };
            ServerRegion { region_info, sparse_areas: Vec::new(), mmap_fd: None }
        })
        .collect()
}

/// What a client did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Words read from BAR 0.
    pub read: u64,
    /// Words written to it.
    pub written: u64,
    /// Accesses that were refused.
    pub refused: u64,
}

/// Configuration space and BAR 0.
struct Backend {
    card: Card,
    space: [u8; SPACE_BYTES],
    device: Box<dyn Device>,
    counts: Counts,
    last: Instant,
}

impl Backend {
    fn new(card: Card, device: Box<dyn Device>) -> Self {
        let mut backend =
            Self { card, space: [0; SPACE_BYTES], device, counts: Counts::default(), last: Instant::now() };
        backend.power_on();
        backend
    }

    fn power_on(&mut self) {
        let Card { vendor, device, .. } = self.card;
        let id = u32::from(device) << 16 | u32::from(vendor);
        let status = space::MEDIUM_DEVSEL | space::FAST_BACK_TO_BACK;
        self.space = [0; SPACE_BYTES];
        for (place, word) in [(0x00, id), (0x04, status), (0x08, space::CLASS), (0x2c, id)] {
            self.space[place..place + 4].copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Bits of a byte of configuration space that can be written.
    fn writable(&self, place: usize) -> u8 {
        let word = match place & !3 {
            0x04 => space::MEMORY_ENABLE | space::PARITY_RESPONSE | space::SERR_ENABLE,
            0x10 => !(self.card.bar_bytes - 1),
            0x3c => 0xff,
            _ => 0,
        };
        word.to_le_bytes()[place % 4]
    }

    /// Lets the time pass that has passed since the last access.
    fn catch_up(&mut self, address: u32) {
        let asked = address == Reg::Status.address();
        let clocks = (self.last.elapsed().as_secs_f64() * CLOCK_HZ) as u64;
        self.device.pause(clocks.min(if asked { CLOCKS_TO_STATUS } else { CLOCKS_TO_OTHERS }));
    }

    fn read_word(&mut self, address: u32) -> u32 {
        self.counts.read += 1;
        self.device.read(address).unwrap_or_else(|error| {
            self.refuse(&error);
            u32::MAX
        })
    }

    fn write_word(&mut self, address: u32, value: u32) {
        self.counts.written += 1;
        if let Err(error) = self.device.write(address, value) {
            self.refuse(&error);
        }
    }

    fn refuse(&mut self, error: &DeviceError) {
        self.counts.refused += 1;
        // Refusals are the engine's business; anything else the user wants to know, once.
        if self.counts.refused == 1 && !matches!(error, DeviceError::Refused { .. }) {
            eprintln!("the device behind the socket: {error}");
        }
    }

    /// The first address of an access to BAR 0, if all of it is whole words inside.
    fn words(&self, offset: u64, bytes: usize) -> io::Result<u32> {
        let end = offset.checked_add(bytes as u64).filter(|end| *end <= u64::from(self.card.bar_bytes));
        let whole = offset.is_multiple_of(4) && bytes.is_multiple_of(4);
        match (end, u32::try_from(offset)) {
            (Some(_), Ok(offset)) if whole => Ok(offset),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn config_range(offset: u64, bytes: usize) -> io::Result<std::ops::Range<usize>> {
        let start = usize::try_from(offset).ok().filter(|start| *start <= SPACE_BYTES);
        let end = start.and_then(|start| start.checked_add(bytes)).filter(|end| *end <= SPACE_BYTES);
        start.zip(end).map(|(start, end)| start..end).ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => {
                let first = self.words(offset, data.len())?;
                self.catch_up(first);
                for (word, address) in data.as_chunks_mut::<4>().0.iter_mut().zip((first..).step_by(4)) {
                    *word = self.read_word(address).to_le_bytes();
                }
                self.last = Instant::now();
                Ok(())
            }
            vfio::VFIO_PCI_CONFIG_REGION_INDEX => {
                data.copy_from_slice(&self.space[Self::config_range(offset, data.len())?]);
                Ok(())
            }
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => {
                let first = self.words(offset, data.len())?;
                self.catch_up(first);
                for (word, address) in data.as_chunks::<4>().0.iter().zip((first..).step_by(4)) {
                    self.write_word(address, u32::from_le_bytes(*word));
                }
                self.last = Instant::now();
                Ok(())
            }
            vfio::VFIO_PCI_CONFIG_REGION_INDEX => {
                for (place, new) in Self::config_range(offset, data.len())?.zip(data) {
                    let mask = self.writable(place);
                    self.space[place] = self.space[place] & !mask | new & mask;
                }
                Ok(())
            }
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    // The card never reaches into the guest's memory, so it need not know where that is.
    fn dma_map(&mut self, _: DmaMapFlags, _: u64, _: u64, _: u64, _: Option<File>) -> io::Result<()> {
        Ok(())
    }

    fn dma_unmap(&mut self, _: DmaUnmapFlags, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.power_on();
        self.device.reset().map_err(io::Error::other)
    }

    fn set_irqs(&mut self, _: u32, _: u32, _: u32, _: u32, _: Vec<File>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
