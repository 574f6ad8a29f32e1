//! nendo's model of the deformation engine.
//!
//! | room | what |
//! |---|---|
//! | [`machine`] | threads, vector instructions and memory of the machine this runs on |
//! | [`mesh`] | particles, edges, tetrahedra; files of other programs |
//! | [`trajectory`] | how rigid things move over time |
//! | [`force`] | what acts between particles: element laws, topology, volume, links, contact |
//! | [`scene`] | what is simulated, in SI units: scene files and built-in scenes |
//! | [`contract`] | every word the hardware has: number formats, units, a scene as raw words |
//! | [`plan`] | what the hardware does in each clock of a step |
//! | [`twin`] | the hardware's modules, integer for integer, under the names of their blocks |
//! | [`engine`] | what computes a scene: f64 reference, f32, and the twin |
//!
//! Each room uses those above it only.
//!
//! ```
//! use nendo_model::{contract::{image::Image, numbers::{Inverse, Profile}}, scene::Scene, twin::engine::Model};
//! let scene = Scene::open("box:3x3x3")?;
//! let mut engine = Model::new(Image::new(&scene, Profile::Wide, Inverse::Table)?, 1);
//! engine.advance(100);
//! assert!(!engine.overflow().any());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

/// What the page for Rust programmers prints is run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
mod page {}

pub mod contract;
pub mod engine;
pub mod force;
pub mod machine;
pub mod mesh;
pub mod plan;
pub mod reader;
pub mod scene;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod trajectory;
pub mod twin;
