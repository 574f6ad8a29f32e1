//! The engine's bus: an AXI4-Lite slave in front of a register bus that is generated from the map.
//!
//! ```text
//!  AXI4-Lite --> axi --> request, write, address, d, strobe --> register_bus --> registers, windows
//!                    <-- done, q, error ------------------------
//! ```
//! PCI ([`pci`]) and a serial line ([`serial`]) are other front ends to the same engine.

pub mod axi;
pub mod pci;
pub mod register_bus;
pub mod serial;
