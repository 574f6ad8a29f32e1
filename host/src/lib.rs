//! nendo's host side: the driver of a board, and the command `nendo` on top of it.
//!
//! | room | what | feature |
//! |---|---|---|
//! | [`device`] | whatever answers the register map: PCI, XDMA, VFIO, model, recordings, Verilated hardware | |
//! | [`board`] | the driver: a scene's words on a device, every transfer checked | |
//! | [`engine`] | engines of `nendo-model`, and a board as one of them | |
//! | [`live`] | a board in a control loop at 1 kHz; [`selftest`]: is a board sound? | |
//! | [`sys`] | what the kernel is asked for: mappings, interrupts, VFIO, scheduling | |
//! | `cosim` | model and hardware in lock step | `rtl` |
//! | `cli` | the command line, one file per verb | `cli` |
//! | `view`, `picture`, `film`, `plot`, `export` | what people see: the page, drawings, movies, files for other programs | `cli` |
//! | `around` | boundaries as surfaces to draw | `cli` |
//! | `quantity` | numbers with units, for people | `cli` |
//! | `sample` | what is taken of a run at a step | `cli` |
//! | `output` | the one way to write files | `cli` |
//! | `synth` | from a configuration to a bitstream | `cli` |
//! | `emulate` | the card for a virtual machine | `cli` |
//! | `bench` | how fast every engine is here | `cli` |
//!
//! Without default features this is the driver alone: no command line, no viewer, no hardware generator.
//!
//! ```
//! use nendo_host::{board::Board, device::{DeviceSpec, Making}, engine::{BoardEngine, Engine}};
//! use nendo_model::{contract::{image::Image, numbers::Profile}, plan::loaded::Loaded, scene::Scene};
//! let (scene, profile) = (Scene::open("box:3x3x3")?, Profile::Wide);
//! let loaded = Loaded::new(Image::new(&scene, profile, profile.usual_inverse())?, 1)?;
//! // Any device will do: pci:0000:03:00.0, xdma:0, vfio:0000:03:00.0, or this one, which every machine has.
//! let device: DeviceSpec = "model".parse()?;
//! let board = Board::open(device.open(&Making { config: &loaded.config, threads: 1 })?)?;
//! let mut engine = BoardEngine::with(board, loaded, None)?;
//! engine.advance(100)?;
//! println!("{} after {} steps", engine.state_digest()?, engine.step());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

#[cfg(feature = "cli")]
pub mod around;
#[cfg(feature = "cli")]
pub mod bench;
pub mod board;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "rtl")]
pub mod cosim;
pub mod device;
#[cfg(feature = "cli")]
pub mod emulate;
pub mod engine;
#[cfg(feature = "cli")]
pub mod export;
#[cfg(feature = "cli")]
pub mod film;
#[cfg(feature = "cli")]
mod interrupt;
pub mod live;
pub mod output;
#[cfg(feature = "cli")]
pub mod picture;
#[cfg(feature = "cli")]
pub mod plot;
#[cfg(feature = "cli")]
mod progress;
#[cfg(feature = "cli")]
pub mod quantity;
#[cfg(feature = "cli")]
pub mod sample;
pub mod selftest;
#[cfg(feature = "cli")]
pub mod synth;
pub mod sys;
#[cfg(feature = "cli")]
pub mod testbench;
#[cfg(feature = "cli")]
pub mod view;
