//! nendo's model of the deformation engine.
//!
//! - [`scene`]: what is simulated, in SI units ([`mesh`], [`material`], scene files, built-in scenes);
//! - [`reference`](mod@reference): the f64 reference, and [`stability`] of a scene's step;
//! - [`cpu`]: the f32 engine, for speed; [`extras`]: laws ([`law`]) and forces
//!   ([`internal`], [`contact`]) beyond plain edges, for both;
//! - [`numbers`]: the number contract of each profile, [`scaling`] and [`image`]: a scene in raw words;
//! - [`tem`], [`mpm`], [`blocks`]: the hardware's modules, integer for integer; [`engine`] runs them;
//! - [`classify`]: which kind of deformation a run shows;
//! - [`cycles`]: how many clocks the hardware takes.
//!
//! ```
//! use nendo_model::{blocks::Inverse, engine::Model, image::Image, numbers::Profile, scene::Scene};
//! let scene = Scene::open("box:3x3x3")?;
//! let mut engine = Model::new(Image::new(&scene, Profile::Wide, Inverse::Table)?, 1);
//! engine.advance(100);
//! assert!(!engine.overflow().any());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod blocks;
pub mod classify;
pub mod contact;
pub mod cpu;
pub mod cycles;
pub mod digest;
pub mod engine;
pub mod extras;
pub mod forces;
pub mod image;
pub mod internal;
pub mod law;
pub mod material;
pub mod mesh;
pub mod mpm;
pub mod numbers;
mod order;
pub mod overflow;
pub mod partition;
pub mod real;
pub mod reference;
pub mod scaling;
pub mod scene;
pub mod schedule;
pub mod stability;
mod swap;
mod team;
pub mod tem;
#[cfg(feature = "testing")]
pub mod testing;
mod vectors;
