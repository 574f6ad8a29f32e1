//! This machine: its threads and its vector instructions.

pub(crate) mod pace;
pub(crate) mod swap;
pub(crate) mod team;
pub(crate) mod vectors;
