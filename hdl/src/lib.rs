//! The deformation engine as hardware.
//!
//! [`config`] names what is built, [`resources`] says what it takes, [`target`] what a device has.
#![forbid(unsafe_code)]

pub mod config;
pub mod resources;
pub mod target;
