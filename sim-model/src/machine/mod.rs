//! This machine: its threads, its vector instructions, and its memory.

pub mod memory;
pub(crate) mod pace;
pub(crate) mod swap;
pub(crate) mod team;
pub(crate) mod vectors;
