//! System calls that the standard library does not offer: the only `unsafe` code of this crate.
#![allow(unsafe_code)]

pub(crate) mod event;
pub mod mapping;
pub(crate) mod schedule;
pub(crate) mod vfio;
