//! The bit-accurate model as an engine.

use super::{Engine, Probe, overflow_trouble, probe_of};
use nendo_model::{
    contract::{overflow::Overflow, scaling::Headroom},
    mesh::Vec3,
    plan::schedule::Schedule,
    scene::Scene,
    twin::engine::Model,
};
use std::cell::OnceCell;

/// The model of an engine with so many modules. They do not show in any result but the clocks of a step.
pub struct ModelEngine {
    model: Model,
    modules: usize,
    cycles: OnceCell<u64>,
}

impl ModelEngine {
    /// A model, as hardware of so many modules.
    pub fn new(model: Model, modules: usize) -> Self {
        Self { model, modules, cycles: OnceCell::new() }
    }
}

impl Engine for ModelEngine {
    fn advance(&mut self, steps: u64) -> anyhow::Result<()> {
        self.model.advance(steps);
        Ok(())
    }

    fn step(&self) -> u64 {
        self.model.step()
    }

    fn positions(&mut self) -> anyhow::Result<Vec<Vec3>> {
        Ok(self.model.positions())
    }

    fn motion(&mut self) -> anyhow::Result<(Vec<Vec3>, Vec<Vec3>)> {
        Ok((self.model.positions(), self.model.velocities()))
    }

    fn extensions(&mut self) -> anyhow::Result<Vec<f64>> {
        Ok(self.model.extensions().into_iter().map(|u| self.model.image().extension(u)).collect())
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> anyhow::Result<()> {
        Ok(self.model.pull(particle, force)?)
    }

    fn state_digest(&mut self) -> anyhow::Result<String> {
        Ok(self.model.state_digest())
    }

    fn overflow(&self) -> Overflow {
        self.model.overflow()
    }

    fn trouble(&self) -> Option<String> {
        overflow_trouble(self.model.overflow())
    }

    fn modules(&self) -> Option<u64> {
        Some(self.modules as u64)
    }

    /// Predicted: those of the plan that a board would follow.
    fn cycles_per_step(&self) -> Option<u64> {
        let predicted = || Schedule::of(self.model.image(), self.modules).cycles_per_step();
        Some(*self.cycles.get_or_init(predicted))
    }

    fn headroom(&self, scene: &Scene) -> Option<Headroom> {
        Some(self.model.image().scaling.headroom(scene, self.model.image().numbers()))
    }

    fn probe(&mut self, edge: usize) -> anyhow::Result<Probe> {
        Ok(probe_of(self.model.image(), edge, &self.model.element(edge)))
    }
}
