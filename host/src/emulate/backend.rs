//! The card as the bus sees it: configuration space and BARs, with a device behind them.

use super::{
    Card, Counts,
    dma::{Dma, Memory},
    interrupt::Line,
};
use crate::device::{
    Device, DeviceError, Waited,
    pci::dma::{BAR_BYTES as DMA_BYTES, Status},
};
use nendo_hdl::bus::pci::config_space as space;
use nendo_model::contract::map::Reg;
use std::{
    io,
    time::{Duration, Instant},
};
use vfio_bindings::bindings::vfio;

/// Bytes of configuration space.
pub(super) const SPACE_BYTES: usize = 256;
/// The engine's clock is taken for this fast when time passes between two accesses.
const CLOCK_HZ: f64 = 33.0e6;
/// Clocks that pass at most before the engine is asked whether it is done: a Verilated engine needs a tenth of a
/// second for them.
const CLOCKS_TO_STATUS: u64 = 200_000;
/// Command: the card may read memory. The PCI target has no such bit.
pub(super) const BUS_MASTER: u32 = 1 << 2;
/// Clocks that pass at most at a time while the engine may interrupt, so that no request waits long.
const CLOCKS_AT_A_TIME: u64 = 256;
/// With fewer clocks to pass than this, there is time to rest.
const CLOCKS_WORTH_IT: u64 = 128;
/// Clocks that pass at most before any other access: simulated hardware is slower than the guest's clock, and who
/// does not wait for the engine should not wait for its simulation.
const CLOCKS_TO_OTHERS: u64 = 64;

/// Configuration space and BARs.
pub(super) struct Backend {
    pub(super) card: Card,
    space: [u8; SPACE_BYTES],
    pub(super) device: Box<dyn Device>,
    pub(super) counts: Counts,
    last: Instant,
    pub(super) line: Line,
    /// The client has switched the engine's interrupt on.
    enabled: bool,
    /// The engine was given a command, and will interrupt.
    pub(super) running: bool,
    /// There is a client.
    pub(super) serving: bool,
    dma: Dma,
    pub(super) memory: Memory,
}

impl Backend {
    pub(super) fn new(card: Card, device: Box<dyn Device>) -> Self {
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

    pub(super) fn power_on(&mut self) {
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
    pub(super) fn signal(&mut self) {
        if self.line.is_open() {
            let level = matches!(self.device.wait_interrupt(0), Ok(Waited::Came));
            self.line.update(level);
        }
    }

    /// Lets the time pass that has passed, until the engine interrupts: whether there is time to rest.
    pub(super) fn run(&mut self) -> bool {
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
    pub(super) fn read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
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

    pub(super) fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
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
