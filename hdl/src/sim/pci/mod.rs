//! A PCI bus to try targets on: wires, a master, and a monitor that checks every clock.
//!
//! ```text
//!  Master --> Bus: resolves who drives what --> the Verilated target
//!                  |
//!                  +--> Monitor: the rules of PCI 2.2, each with its section
//! ```
//! Written from the standard, not from the target: nothing here knows how the target works.

#[cfg(test)]
mod broken;
mod bus;
mod master;
mod monitor;
mod rules;
#[cfg(test)]
mod tests;
mod wires;

pub use bus::{Backend, Bus, Inside};
pub use master::{End, Master, Outcome, Transfer, Word};
pub use monitor::Monitor;
pub use rules::{Rule, Violation};
pub use wires::{Command, Drive, Drivers, Wires};
