//! What model, hardware and host agree on: every word, its scale and its place.
//!
//! - [`numbers`]: widths, binary points and roundings of each profile;
//! - [`scaling`]: units that fit a scene into them; [`image`]: a scene in raw words;
//! - [`overflow`]: what can go out of range; [`digest`]: what "bit-exact" compares.

pub mod digest;
pub mod image;
pub mod numbers;
pub mod overflow;
pub mod scaling;
