//! What computes a scene.
//!
//! | engine | what | for |
//! |---|---|---|
//! | [`reference`](mod@reference) | f64, the same equations without rounding to speak of | comparison |
//! | [`cpu`] | f32 on vectors and threads | speed |
//! | [`hybrid`] | elements in f64, particles in the hardware's words | what the particles' words cost |
//! | [`model`] | the hardware's words, bit for bit ([`crate::twin`]) | what a board will compute |
//!
//! All are an [`Engine`]; the host adds the hardware itself. [`stability`] tells whether a scene's step is short enough.
//!
//! ```
//! use nendo_model::{engine::{self, Engine, Kind, Options}, scene::Scene};
//! let scene = Scene::open("box:3x3x3")?;
//! let mut engine = engine::open(&scene, &Options { kind: Kind::F32, ..Options::default() })?;
//! engine.advance(100)?; // an error, too, if numbers overflow or particles fly apart
//! assert_eq!(engine.step(), 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cpu;
pub mod hybrid;
mod in_process;
pub mod memory;
pub mod model;
mod open;
mod probe;
pub mod reference;
pub mod snapshot;
pub mod stability;
pub mod words;

pub use in_process::InProcess;
pub use open::{Kind, OpenError, Options, open};
pub use probe::Probe;
pub use snapshot::{Snapshot, SnapshotError};

use crate::{
    contract::{image::ImageError, overflow::Overflow, scaling::Headroom},
    force::contact::wall::Hand,
    mesh::Vec3,
    plan::schedule::Schedule,
    scene::{Scene, sense::Sensed},
};
use std::fmt;

/// Why an engine did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A value that its words cannot hold.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Something this kind of engine does not have.
    #[error("this engine has no {what}: choose {instead}")]
    Unsupported {
        /// What it does not have.
        what: &'static str,
        /// Which engines have it.
        instead: &'static str,
    },
    /// A state that is not of this engine and scene.
    #[error(transparent)]
    State(#[from] SnapshotError),
    /// The state after the steps is useless; it can be looked at all the same.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// What it runs on does not work.
    #[error(transparent)]
    Device(Box<dyn std::error::Error + Send + Sync>),
}

/// Why a state is useless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Particles fly apart.
    Diverged,
    /// Words went out of range.
    Overflow(Overflow),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged => f.write_str("the simulation diverged: particles fly apart; shorten `step`"),
            Self::Overflow(overflow) => {
                let advice: Vec<String> = overflow
                    .sources()
                    .map(|source| {
                        let (name, remedy) = source.advice();
                        format!("overflow in {name}: {remedy}")
                    })
                    .collect();
                f.write_str(&advice.join("\n"))
            }
        }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// The failure that overflows are, if there were any.
    pub fn of(overflow: Overflow) -> Option<Self> {
        overflow.any().then_some(Self::Overflow(overflow))
    }
}

/// Whether steps left a useless state, apart from errors that are none of the state's.
pub fn outcome(advanced: Result<(), EngineError>) -> Result<Option<Failure>, EngineError> {
    match advanced {
        Ok(()) => Ok(None),
        Err(EngineError::Failed(failure)) => Ok(Some(failure)),
        Err(error) => Err(error),
    }
}

/// The answer of an engine without contact to a hand.
fn no_contact(hand: Option<&Hand>) -> Result<(), EngineError> {
    match hand {
        None => Ok(()),
        Some(_) => {
            Err(EngineError::Unsupported { what: "contact", instead: "f32 or f64 to touch the object" })
        }
    }
}

/// Something that computes a scene.
pub trait Engine: Send {
    /// Takes `steps` steps. Words that went out of range and particles that flew apart are an error, of these steps or of
    /// earlier ones.
    fn advance(&mut self, steps: u64) -> Result<(), EngineError>;
    /// Steps taken so far.
    fn step(&self) -> u64;
    /// Particle positions in metres.
    fn positions(&mut self) -> Result<Vec<Vec3>, EngineError>;
    /// Particle positions in metres and velocities in m/s.
    fn motion(&mut self) -> Result<(Vec<Vec3>, Vec<Vec3>), EngineError>;
    /// Voigt extensions of the edges in metres.
    fn extensions(&mut self) -> Result<Vec<f64>, EngineError>;
    /// Forces of elements, on particles and of contacts, as the next step will compute them.
    fn sense(&mut self) -> Result<Sensed, EngineError>;
    /// Everything that the next steps depend on.
    fn save(&mut self) -> Result<Snapshot, EngineError>;
    /// Goes on from what was saved of the same scene by an engine with the same numbers.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EngineError>;
    /// From the next step on, a force in newtons on a particle, besides the scene's own; zero ends it.
    fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), EngineError>;
    /// From the next step on, a ball in somebody's hand that the object touches; none takes it away.
    fn touch(&mut self, _scene: &Scene, hand: Option<&Hand>) -> Result<(), EngineError> {
        no_contact(hand)
    }
    /// SHA-256 of the state words.
    fn state_digest(&mut self) -> Result<String, EngineError>;
    /// What has overflowed.
    fn overflow(&self) -> Overflow {
        Overflow::NONE
    }
    /// Why the state is useless, if it is.
    fn failure(&self) -> Option<Failure>;
    /// Main modules, for engines that are or model hardware.
    fn modules(&self) -> Option<u64> {
        None
    }
    /// What the hardware does in each clock of a step, for engines that are or model hardware.
    fn plan(&self) -> Option<&Schedule> {
        None
    }
    /// Clock cycles per step, for engines that are or model hardware.
    fn cycles_per_step(&self) -> Option<u64> {
        self.plan().map(Schedule::cycles_per_step)
    }
    /// Ratio of what words hold to what the scene is expected to need.
    fn headroom(&self, _scene: &Scene) -> Option<Headroom> {
        None
    }
    /// What one element computes in the present state.
    fn probe(&mut self, edge: usize) -> Result<Probe, EngineError>;
    /// Transfers that had to be repeated, for engines behind a bus.
    fn link_retries(&self) -> Option<u64> {
        None
    }
    /// Ends the use of it.
    fn close(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}
