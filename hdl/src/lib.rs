//! The deformation engine as hardware, generated with rust-hdl.
//!
//! | room | what |
//! |---|---|
//! | [`circuit`] | a strict front end to rust-hdl: nets with widths and pipeline stages, modules, their Verilog |
//! | [`blocks`] | what circuits are made of: multipliers, memories, accumulators, tables, CORDIC |
//! | [`engine`] | TEM, MPM, main modules, exchange, sequencer, and the register bus in front of them |
//! | [`bus`] | what is in front of the engine's register port: AXI4-Lite, PCI, a serial line |
//! | [`sim`] | circuits that run: compiled by Verilator, and a PCI bus around them |
//! | [`target`] | the devices it is built for: folders of `bitstreams` |
//! | [`tools`] | other programs, and where they may come from |
//! | [`design`], [`resources`] | a configuration's files; what it takes, without running a tool |
//!
//! Each block has its model under the same name in `nendo_model::twin`; number formats, words and the register map
//! are `nendo_model::contract`'s.
//!
//! ```
//! use nendo_hdl::design::Design;
//! use nendo_model::contract::{config::Config, numbers::Profile};
//! let design = Design::new(&Config::minimal(Profile::Wide, Profile::Wide.usual_inverse()));
//! assert!(design.verilog.contains("module nendo_tem"));
//! assert_eq!(design.files().len(), 5);
//! ```
#![deny(unsafe_code)]

pub mod blocks;
pub mod bus;
pub mod circuit;
pub mod design;
pub mod engine;
pub mod resources;
pub mod sim;
pub mod target;
#[cfg(test)]
mod testing;
pub mod tools;
