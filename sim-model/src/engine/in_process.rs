//! Engines that compute in this process, where nothing can fail but what they are told.

use super::{Engine, EngineError, Failure, Probe, Snapshot, SnapshotError};
use crate::{
    contract::{overflow::Overflow, scaling::Headroom},
    force::contact::wall::Hand,
    mesh::Vec3,
    plan::schedule::Schedule,
    scene::{Scene, sense::Sensed},
};

/// Such an engine; every one is an [`Engine`], too.
pub trait InProcess: Send {
    /// Takes `steps` steps. Words that went out of range and particles that flew apart are an error, of these steps or of
    /// earlier ones.
    fn advance(&mut self, steps: u64) -> Result<(), Failure>;
    /// Steps taken so far.
    fn step(&self) -> u64;
    /// Particle positions in metres.
    fn positions(&self) -> Vec<Vec3>;
    /// Particle velocities in m/s.
    fn velocities(&self) -> Vec<Vec3>;
    /// Voigt extensions of the edges in metres.
    fn extensions(&self) -> Vec<f64>;
    /// Forces of elements, on particles and of contacts, as the next step will compute them.
    fn sense(&self) -> Sensed;
    /// Everything that the next steps depend on.
    fn save(&self) -> Snapshot;
    /// Goes on from what was saved of the same scene by an engine with the same numbers.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError>;
    /// From the next step on, a force in newtons on a particle, besides the scene's own; zero ends it.
    fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), EngineError>;
    /// From the next step on, a ball in somebody's hand that the object touches; none takes it away.
    fn touch(&mut self, scene: &Scene, hand: Option<&Hand>) -> Result<(), EngineError>;
    /// SHA-256 of the state words.
    fn state_digest(&self) -> String;
    /// What has overflowed.
    fn overflow(&self) -> Overflow {
        Overflow::NONE
    }
    /// Why the state is useless, if it is.
    fn failure(&self) -> Option<Failure>;
    /// What one element computes in the present state.
    fn probe(&self, edge: usize) -> Probe;
    /// Main modules, if it models hardware.
    fn modules(&self) -> Option<u64> {
        None
    }
    /// The hardware's plan of a step, if it models hardware.
    fn plan(&self) -> Option<&Schedule> {
        None
    }
    /// Ratio of what words hold to what the scene is expected to need.
    fn headroom(&self, _scene: &Scene) -> Option<Headroom> {
        None
    }
}

impl<E: InProcess> Engine for E {
    fn advance(&mut self, steps: u64) -> Result<(), EngineError> {
        Ok(InProcess::advance(self, steps)?)
    }

    fn step(&self) -> u64 {
        InProcess::step(self)
    }

    fn positions(&mut self) -> Result<Vec<Vec3>, EngineError> {
        Ok(InProcess::positions(self))
    }

    fn motion(&mut self) -> Result<(Vec<Vec3>, Vec<Vec3>), EngineError> {
        Ok((InProcess::positions(self), self.velocities()))
    }

    fn extensions(&mut self) -> Result<Vec<f64>, EngineError> {
        Ok(InProcess::extensions(self))
    }

    fn sense(&mut self) -> Result<Sensed, EngineError> {
        Ok(InProcess::sense(self))
    }

    fn save(&mut self) -> Result<Snapshot, EngineError> {
        Ok(InProcess::save(self))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EngineError> {
        Ok(InProcess::restore(self, snapshot)?)
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), EngineError> {
        InProcess::pull(self, particle, force)
    }

    fn touch(&mut self, scene: &Scene, hand: Option<&Hand>) -> Result<(), EngineError> {
        InProcess::touch(self, scene, hand)
    }

    fn state_digest(&mut self) -> Result<String, EngineError> {
        Ok(InProcess::state_digest(self))
    }

    fn overflow(&self) -> Overflow {
        InProcess::overflow(self)
    }

    fn failure(&self) -> Option<Failure> {
        InProcess::failure(self)
    }

    fn modules(&self) -> Option<u64> {
        InProcess::modules(self)
    }

    fn plan(&self) -> Option<&Schedule> {
        InProcess::plan(self)
    }

    fn headroom(&self, scene: &Scene) -> Option<Headroom> {
        InProcess::headroom(self, scene)
    }

    fn probe(&mut self, edge: usize) -> Result<Probe, EngineError> {
        Ok(InProcess::probe(self, edge))
    }
}
