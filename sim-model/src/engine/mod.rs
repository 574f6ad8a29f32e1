//! What computes a scene.
//!
//! - [`reference`](mod@reference): f64, and [`stability`] of a scene's step; [`cpu`]: f32, for speed.

pub mod cpu;
pub mod reference;
pub mod stability;
