//! System calls that the standard library does not offer: the only `unsafe` code of this crate.
#![allow(unsafe_code)]

pub(crate) mod event;
pub mod mapping;
pub(crate) mod schedule;
#[cfg(feature = "cli")]
pub(crate) mod user;
pub(crate) mod vfio;
