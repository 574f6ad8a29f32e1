//! A PCI 2.2 target, 32 bits at 33 MHz, and the board top with the engine behind it.
//!
//! ```text
//!  PCI --> target: address phase, configuration space, parity --> posted writes --> request --> engine
//!      <-- DEVSEL#, TRDY#, STOP#, AD, PAR, PERR#, SERR# <------------------------ done, q, error
//!      <-- INTA# <--------------------------------------------------------------- irq
//! ```
//! Memory writes are posted, 16 words deep, in bursts without wait states. Memory reads give one word and then
//! disconnect, because every read counts in the engine's sums: nothing is fetched that nobody asked for. Timing
//! diagrams are in `docs/pci.md`.

pub mod config_space;
mod defect;
mod posted;
mod target;

pub use defect::Defect;
pub use posted::POSTED_WORDS;
pub use target::pci_target;

use super::with_engine;
use crate::{
    circuit::{Build, Module},
    engine::register_bus::READ_CLOCKS,
};
use nendo_model::contract::{config::Config, map::Map};

/// Clocks from FRAME# to the first data that the standard allows (PCI 2.2, 3.5.1.1).
pub const INITIAL_LATENCY: u32 = 16;
/// Clocks of a read besides those of the register bus: decoding, the request, TRDY#.
const AROUND_READ: u32 = 3;

/// The board top of a configuration: target and engine. Lines of the bus that go both ways are three ports each
/// (in, out, enable); the target's own file joins them at the pads.
/// A configuration whose reads could take longer than the standard allows does not compile.
pub fn pci_board(config: &Config) -> Module {
    const { assert!(READ_CLOCKS + AROUND_READ < INITIAL_LATENCY, "reads take too long for the PCI bus") };
    let mut b = Build::new("pci_board", "The engine behind a PCI 2.2 target.");
    with_engine(&mut b, config, "target", pci_target(Map::new(config).size, false));
    b.finish()
}
