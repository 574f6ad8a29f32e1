//! The deformation engine as hardware.
//!
//! [`config`] names what is built, [`resources`] says what it takes, [`target`] what a device has.
#![deny(unsafe_code)]

pub mod blocks;
pub mod bus;
pub mod config;
pub mod design;
pub mod engine;
pub mod exchange;
pub mod main_module;
pub mod map;
pub mod mpm;
pub mod pci_sim;
pub mod resources;
pub mod rtl;
pub mod sequencer;
pub mod target;
pub mod tem;
#[cfg(test)]
mod testing;
pub mod verilated;
