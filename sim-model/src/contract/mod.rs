//! What model, hardware and host agree on: every word, its scale and its place.
//!
//! - [`numbers`]: widths, binary points and roundings of each profile;
//! - [`scaling`]: units that fit a scene into them; [`image`]: a scene in raw words;
//! - [`config`]: what an engine is built with; [`map`](mod@map): where its registers and memories are on the bus, and
//!   [`words`] what is in them;
//! - [`overflow`]: what can go out of range; [`digest`]: what "bit-exact" compares.

pub mod config;
pub mod digest;
pub mod image;
pub mod map;
pub mod numbers;
pub mod overflow;
pub mod scaling;
pub mod words;
