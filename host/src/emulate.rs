//! The card without hardware: a vfio-user server with any device behind it.
//!
//! ```text
//!  guest kernel --> QEMU's vfio-user-pci --> socket --> Server --> Card: configuration space, BAR 0 --> Device
//! ```
//! What comes over the socket is untrusted: whatever it asks for, the answer is a value or an error. A refused read
//! gives all ones, as a host bridge does after a target abort. Between requests the engine stands still, unless it may
//! interrupt: then a thread lets its time pass. The card is bus master only where it is asked to be, by a BAR 1 of its
//! own ([`crate::device::pci::dma`]), since the PCI target is none.

mod dma;
mod interrupt;

use crate::device::{
    Device, DeviceError, Waited,
    pci::dma::{BAR_BYTES as DMA_BYTES, Status},
};
use dma::{Dma, Memory};
use interrupt::Line;
use nendo_hdl::{bus::pci::config_space as space, map::Reg};
use std::{
    fs::File,
    io,
    os::unix::net::UnixStream,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
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
/// Command: the card may read memory. The PCI target has no such bit.
const BUS_MASTER: u32 = 1 << 2;
/// Clocks that pass at most at a time while the engine may interrupt, so that no request waits long.
const CLOCKS_AT_A_TIME: u64 = 256;
/// With fewer clocks to pass than this, there is time to rest.
const CLOCKS_WORTH_IT: u64 = 128;
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
    /// Whether it reads the guest's memory by itself.
    pub dma: bool,
}

impl Card {
    /// The card as it is built.
    pub fn new(bar_bytes: u32) -> Self {
        Self { vendor: space::VENDOR, device: space::DEVICE, bar_bytes, dma: false }
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
    shared: Shared,
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
        Ok(Self { server, shared: Shared::new(Backend::new(card, device)), path: path.to_owned() })
    }

    /// Serves one client until it goes.
    pub fn serve(&mut self) -> Result<Counts, EmulateError> {
        let (server, shared) = (&self.server, &self.shared);
        shared.begin();
        let result = thread::scope(|scope| {
            scope.spawn(|| shared.keep_time());
            // The server's own reading of messages panics on some that are malformed.
            let result = catch_unwind(AssertUnwindSafe(|| server.run(&mut &*shared)));
            shared.end();
            result
        });
        let result = result.map_err(|_| EmulateError::Nonsense)?;
        result.map_err(|error| EmulateError::Server { path: self.path.clone(), error })?;
        Ok(self.shared.card().counts)
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
    let level = vfio::VFIO_IRQ_INFO_EVENTFD | vfio::VFIO_IRQ_INFO_MASKABLE | vfio::VFIO_IRQ_INFO_AUTOMASKED;
    let info = |index| match index {
        vfio::VFIO_PCI_INTX_IRQ_INDEX => IrqInfo { index, flags: level, count: 1 },
        _ => IrqInfo { index, flags: 0, count: 0 },
    };
    (0..vfio::VFIO_PCI_NUM_IRQS).map(info).collect()
}

fn regions(card: Card) -> Vec<ServerRegion> {
    let both = vfio::VFIO_REGION_INFO_FLAG_READ | vfio::VFIO_REGION_INFO_FLAG_WRITE;
    (0..vfio::VFIO_PCI_NUM_REGIONS)
        .map(|index| {
            let (size, flags) = match index {
                vfio::VFIO_PCI_BAR0_REGION_INDEX => (card.bar_bytes.into(), both),
                vfio::VFIO_PCI_BAR1_REGION_INDEX if card.dma => (DMA_BYTES.into(), both),
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
    /// Words that the card fetched from memory.
    pub fetched: u64,
    /// Interrupts.
    pub interrupts: u64,
}

/// The card, between the server's thread and the one that lets time pass.
struct Shared {
    card: Mutex<Backend>,
    /// The engine may have become busy, or the client has gone.
    news: Condvar,
    /// A request waits for the card.
    wanted: AtomicBool,
}

impl Shared {
    fn new(card: Backend) -> Self {
        Self { card: Mutex::new(card), news: Condvar::new(), wanted: AtomicBool::new(false) }
    }

    fn card(&self) -> MutexGuard<'_, Backend> {
        // A panic on the way is reported by whoever panicked; the card is as sound as its device.
        self.card.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The card, for a request.
    fn request(&self) -> MutexGuard<'_, Backend> {
        self.wanted.store(true, Ordering::Release);
        let card = self.card();
        self.wanted.store(false, Ordering::Release);
        card
    }

    fn begin(&self) {
        let mut card = self.card();
        (card.counts, card.serving) = (Counts::default(), true);
    }

    fn end(&self) {
        let mut card = self.card();
        card.counts.interrupts = card.line.signalled;
        card.line = Line::default();
        card.memory.clear();
        (card.serving, card.running) = (false, false);
        self.news.notify_all();
    }

    /// Lets time pass while the engine may interrupt.
    fn keep_time(&self) {
        let mut card = self.card();
        while card.serving {
            if !card.running {
                card = self.news.wait(card).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let rest = card.run();
            drop(card);
            if rest {
                thread::sleep(Duration::from_micros(20));
            }
            while self.wanted.load(Ordering::Acquire) {
                thread::yield_now();
            }
            card = self.card();
        }
    }
}

/// Configuration space and BARs.
struct Backend {
    card: Card,
    space: [u8; SPACE_BYTES],
    device: Box<dyn Device>,
    counts: Counts,
    last: Instant,
    line: Line,
    /// The client has switched the engine's interrupt on.
    enabled: bool,
    /// The engine was given a command, and will interrupt.
    running: bool,
    /// There is a client.
    serving: bool,
    dma: Dma,
    memory: Memory,
}

impl Backend {
    fn new(card: Card, device: Box<dyn Device>) -> Self {
        let mut backend = Self {
            card,
            space: [0; SPACE_BYTES],
            device,
            counts: Counts::default(),
            last: Instant::now(),
            line: Line::default(),
            enabled: false,
            running: false,
            serving: false,
            dma: Dma::default(),
            memory: Memory::default(),
        };
        backend.power_on();
        backend
    }

    fn power_on(&mut self) {
        let Card { vendor, device, .. } = self.card;
        let id = u32::from(device) << 16 | u32::from(vendor);
        let status = space::MEDIUM_DEVSEL | space::FAST_BACK_TO_BACK;
        self.space = [0; SPACE_BYTES];
        for (place, word) in
            [(0x00, id), (0x04, status), (0x08, space::CLASS), (0x2c, id), (0x3c, space::INTERRUPT_PIN)]
        {
            self.space[place..place + 4].copy_from_slice(&word.to_le_bytes());
        }
        (self.enabled, self.running, self.dma) = (false, false, Dma::default());
    }

    /// Bits of a byte of configuration space that can be written.
    fn writable(&self, place: usize) -> u8 {
        let word = match place & !3 {
            0x04 => {
                let master = if self.card.dma { BUS_MASTER } else { 0 };
                space::MEMORY_ENABLE | space::PARITY_RESPONSE | space::SERR_ENABLE | master
            }
            0x10 => !(self.card.bar_bytes - 1),
            0x14 if self.card.dma => !(DMA_BYTES - 1),
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
        if address == Reg::InterruptEnable.address() {
            self.enabled = value & 1 == 1;
        }
        self.running |= address == Reg::Command.address() && self.enabled;
    }

    /// Tells the client of the interrupt line.
    fn signal(&mut self) {
        if self.line.is_open() {
            let level = matches!(self.device.wait_interrupt(0), Ok(Waited::Came));
            self.line.update(level);
        }
    }

    /// Lets the time pass that has passed, until the engine interrupts: whether there is time to rest.
    fn run(&mut self) -> bool {
        let clocks = (self.last.elapsed().as_secs_f64() * CLOCK_HZ) as u64;
        if clocks < CLOCKS_WORTH_IT {
            return true;
        }
        let clocks = clocks.min(CLOCKS_AT_A_TIME);
        self.last += Duration::from_secs_f64(clocks as f64 / CLOCK_HZ);
        self.running = matches!(self.device.wait_interrupt(clocks), Ok(Waited::TimedOut));
        self.signal();
        false
    }

    fn write_dma(&mut self, at: u32, value: u32) {
        let master = self.space[4] & BUS_MASTER as u8 != 0;
        let memory = master.then_some(&self.memory);
        let Some((to, words)) = self.dma.write(at, value, self.card.bar_bytes, memory) else { return };
        let status = match self.device.write_block(to, &words) {
            Ok(()) => Status::Done,
            Err(error) => {
                self.refuse(&error);
                Status::Refused
            }
        };
        self.counts.fetched += words.len() as u64;
        self.dma.finish(status);
    }

    fn refuse(&mut self, error: &DeviceError) {
        self.counts.refused += 1;
        // Refusals are the engine's business; anything else the user wants to know, once.
        if self.counts.refused == 1 && !matches!(error, DeviceError::Refused { .. }) {
            eprintln!("the device behind the socket: {error}");
        }
    }

    /// The first address of an access to a BAR of this size, if all of it is whole words inside.
    fn words(size: u32, offset: u64, bytes: usize) -> io::Result<u32> {
        let end = offset.checked_add(bytes as u64).filter(|end| *end <= u64::from(size));
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

impl Backend {
    fn read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => {
                let first = Self::words(self.card.bar_bytes, offset, data.len())?;
                self.catch_up(first);
                for (word, address) in data.as_chunks_mut::<4>().0.iter_mut().zip((first..).step_by(4)) {
                    *word = self.read_word(address).to_le_bytes();
                }
                self.last = Instant::now();
                Ok(())
            }
            vfio::VFIO_PCI_BAR1_REGION_INDEX if self.card.dma => {
                let first = Self::words(DMA_BYTES, offset, data.len())?;
                for (word, address) in data.as_chunks_mut::<4>().0.iter_mut().zip((first..).step_by(4)) {
                    *word = self.dma.read(address).to_le_bytes();
                }
                Ok(())
            }
            vfio::VFIO_PCI_CONFIG_REGION_INDEX => {
                data.copy_from_slice(&self.space[Self::config_range(offset, data.len())?]);
                Ok(())
            }
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => {
                let first = Self::words(self.card.bar_bytes, offset, data.len())?;
                self.catch_up(first);
                for (word, address) in data.as_chunks::<4>().0.iter().zip((first..).step_by(4)) {
                    self.write_word(address, u32::from_le_bytes(*word));
                }
                self.last = Instant::now();
                Ok(())
            }
            vfio::VFIO_PCI_BAR1_REGION_INDEX if self.card.dma => {
                let first = Self::words(DMA_BYTES, offset, data.len())?;
                for (word, address) in data.as_chunks::<4>().0.iter().zip((first..).step_by(4)) {
                    self.write_dma(address, u32::from_le_bytes(*word));
                }
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
}

impl ServerBackend for &Shared {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let mut card = self.request();
        let result = card.read(region, offset, data);
        card.signal();
        result
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut card = self.request();
        let result = card.write(region, offset, data);
        card.signal();
        if card.running {
            self.news.notify_all();
        }
        result
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        file: Option<File>,
    ) -> io::Result<()> {
        let mut card = self.request();
        // A card that never reaches into the guest's memory need not know where that is.
        if !card.card.dma {
            return Ok(());
        }
        let file = file.filter(|_| flags.contains(DmaMapFlags::READ)).map(|file| (file, offset));
        card.memory.map(address, size, file)
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        let memory = &mut self.request().memory;
        if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
            memory.clear();
        } else {
            memory.unmap(address, size);
        }
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        let mut card = self.request();
        card.power_on();
        card.device.reset().map_err(io::Error::other)
    }

    fn set_irqs(&mut self, index: u32, flags: u32, _: u32, count: u32, files: Vec<File>) -> io::Result<()> {
        // There are no others, and switching off what is not there is no mistake.
        if index != vfio::VFIO_PCI_INTX_IRQ_INDEX {
            return Ok(());
        }
        let mut card = self.request();
        card.line.set(flags, count, files)?;
        card.signal();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
