//! The bit-accurate model of the hardware as an engine.

use super::{EngineError, Failure, InProcess, Probe, Snapshot, SnapshotError, no_contact, words};
use crate::{
    contract::{overflow::Overflow, scaling::Headroom},
    force::contact::wall::Hand,
    mesh::Vec3,
    plan::schedule::Schedule,
    scene::{Scene, sense::Sensed},
    twin::{engine::Model, words::Words},
};
use std::cell::OnceCell;

/// The model of an engine with so many modules. They do not show in any result but the clocks of a step.
pub struct ModelEngine {
    model: Model,
    modules: usize,
    /// Made when somebody asks: for a large object it takes a while.
    plan: OnceCell<Schedule>,
}

impl ModelEngine {
    /// A model, as hardware of so many modules.
    pub fn new(model: Model, modules: usize) -> Self {
        Self { model, modules, plan: OnceCell::new() }
    }

    fn words(&self) -> Words {
        let model = &self.model;
        Words::of(model.step(), &model.particles(), model.extensions(), model.overflow())
    }
}

impl InProcess for ModelEngine {
    fn advance(&mut self, steps: u64) -> Result<(), Failure> {
        self.model.advance(steps);
        self.failure().map_or(Ok(()), Err)
    }

    fn step(&self) -> u64 {
        self.model.step()
    }

    fn positions(&self) -> Vec<Vec3> {
        self.model.positions()
    }

    fn velocities(&self) -> Vec<Vec3> {
        self.model.velocities()
    }

    fn extensions(&self) -> Vec<f64> {
        self.model.extensions().into_iter().map(|u| self.model.image().extension(u)).collect()
    }

    fn sense(&self) -> Sensed {
        self.words().sense(self.model.image())
    }

    fn save(&self) -> Snapshot {
        words::save(self.words(), self.model.image())
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let words = words::restore(snapshot, self.model.image())?;
        self.model.set(&words);
        Ok(())
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> Result<(), EngineError> {
        Ok(self.model.pull(particle, force)?)
    }

    fn touch(&mut self, _scene: &Scene, hand: Option<&Hand>) -> Result<(), EngineError> {
        no_contact(hand)
    }

    fn state_digest(&self) -> String {
        self.model.state_digest()
    }

    fn overflow(&self) -> Overflow {
        self.model.overflow()
    }

    fn failure(&self) -> Option<Failure> {
        Failure::of(self.model.overflow())
    }

    fn probe(&self, edge: usize) -> Probe {
        Probe::of_words(self.model.image(), edge, &self.model.element(edge))
    }

    fn modules(&self) -> Option<u64> {
        Some(self.modules as u64)
    }

    /// The one that a board would follow, if there can be one.
    fn plan(&self) -> Option<&Schedule> {
        let image = self.model.image();
        image.profile.in_hardware().ok()?;
        Some(self.plan.get_or_init(|| Schedule::of(image, self.modules)))
    }

    fn headroom(&self, scene: &Scene) -> Option<Headroom> {
        Some(self.model.image().scaling.headroom(scene, self.model.image().numbers()))
    }
}
