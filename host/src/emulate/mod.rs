//! The card without hardware: a vfio-user server with any device behind it.
//!
//! ```text
//!  guest kernel --> QEMU's vfio-user-pci --> socket --> Server --> Card: configuration space, BAR 0 --> Device
//! ```
//! What comes over the socket is untrusted: whatever it asks for, the answer is a value or an error. A refused read
//! gives all ones, as a host bridge does after a target abort. Between requests the engine stands still, unless it may
//! interrupt: then a thread lets its time pass. The card is bus master only where it is asked to be, by a BAR 1 of its
//! own ([`crate::device::pci::dma`]), since the PCI target is none.

mod backend;
mod dma;
mod interrupt;
mod shared;

use crate::{
    device::{Device, pci::dma::BAR_BYTES as DMA_BYTES},
    output::{SocketError, SocketPlace},
};
use backend::{Backend, SPACE_BYTES};
use nendo_hdl::bus::pci::config_space as space;
use shared::Shared;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    thread,
};
use vfio_bindings::bindings::vfio;
use vfio_user::{IrqInfo, Server, ServerRegion};

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
    /// There can be no socket where it is to be.
    #[error(transparent)]
    Socket(#[from] SocketError),
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
    /// A client broke the protocol in a way the server could not answer.
    #[error("a client sent what is no vfio-user message; its connection was ended")]
    Nonsense,
}

/// A listening card.
pub struct Emulator {
    server: Server,
    shared: Shared,
    path: PathBuf,
    place: SocketPlace,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.place.remove();
    }
}

impl Emulator {
    /// Listens on a socket. One of this user's that nobody listens on any more is replaced.
    pub fn new(path: &Path, card: Card, device: Box<dyn Device>) -> Result<Self, EmulateError> {
        if !card.bar_bytes.is_power_of_two() || card.bar_bytes < 4096 {
            return Err(EmulateError::Size(card.bar_bytes));
        }
        let (place, listener) = SocketPlace::listen(path)?;
        let server = Server::from_owned_fd(listener.into(), true, interrupts(), regions(card));
        let shared = Shared::new(Backend::new(card, device));
        Ok(Self { server, shared, path: path.to_owned(), place })
    }

    /// Where it listens.
    pub fn place(&self) -> SocketPlace {
        self.place.clone()
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

#[cfg(test)]
mod tests;
