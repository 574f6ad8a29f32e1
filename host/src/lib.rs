//! nendo's host side: engines behind one trait, and the command line.
#![deny(unsafe_code)]

pub mod bench;
pub mod board;
pub mod cli;
pub mod cosim;
pub mod device;
pub mod emulate;
pub mod engine;
pub mod export;
mod interrupt;
pub mod live;
pub mod output;
pub mod picture;
pub mod plot;
mod progress;
pub mod synth;
pub mod sys;
pub mod view;
