//! The card, between the server's thread and the one that lets time pass.

use super::{Counts, backend::Backend, interrupt::Line};
use std::{
    fs::File,
    io,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use vfio_bindings::bindings::vfio;
use vfio_user::{DmaMapFlags, DmaUnmapFlags, ServerBackend};

/// The card behind a lock.
pub(super) struct Shared {
    card: Mutex<Backend>,
    /// The engine may have become busy, or the client has gone.
    news: Condvar,
    /// A request waits for the card.
    wanted: AtomicBool,
}

impl Shared {
    pub(super) fn new(card: Backend) -> Self {
        Self { card: Mutex::new(card), news: Condvar::new(), wanted: AtomicBool::new(false) }
    }

    pub(super) fn card(&self) -> MutexGuard<'_, Backend> {
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

    pub(super) fn begin(&self) {
        let mut card = self.card();
        (card.counts, card.serving) = (Counts::default(), true);
    }

    pub(super) fn end(&self) {
        let mut card = self.card();
        card.counts.interrupts = card.line.signalled;
        card.line = Line::default();
        card.memory.clear();
        (card.serving, card.running) = (false, false);
        self.news.notify_all();
    }

    /// Lets time pass while the engine may interrupt.
    pub(super) fn keep_time(&self) {
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
