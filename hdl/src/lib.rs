//! The deformation engine as hardware.
//!
//! [`resources`] says what it takes, [`target`] what a device has.
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
