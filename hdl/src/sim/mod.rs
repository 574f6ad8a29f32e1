//! Circuits that run: compiled by Verilator ([`verilated`]), and a PCI bus around them ([`pci`]).

pub mod pci;
pub mod verilated;
