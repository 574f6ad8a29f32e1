//! Contact: forces that keep things out of each other, and friction.
//!
//! - [`law`]: the penalty and the time-integrated penalty, and kinetic friction, as functions of numbers;
//! - [`wall`]: rigid boundaries: floors, conveyors, rollers, bars, balls, also moving;
//! - [`pairs`]: surfaces with each other, corner and face, edge and edge, in the plane corner and edge;
//! - [`grid`]: finds what is near without asking every pair.

pub mod grid;
pub mod law;
pub mod pairs;
pub mod wall;
