//! The hardware's modules, integer for integer, each under the name of its block in `nendo-hdl`.
//!
//! - [`tem`], [`mpm`]: one edge, one particle; [`blocks`]: what they are made of;
//! - [`engine`]: all of them, as fast as this machine does them; [`register_bus`]: the same behind its registers.

pub mod blocks;
pub mod engine;
pub mod mpm;
pub mod register_bus;
pub mod tem;
pub mod words;
