//! The bit-accurate model as an engine.

use super::{Engine, Probe, overflow_trouble, probe_of};
use nendo_model::{
    cycles::Depths, engine::Model, mesh::Vec3, overflow::Overflow, scaling::Headroom, scene::Scene,
};

impl Engine for Model {
    fn advance(&mut self, steps: u64) -> anyhow::Result<()> {
        Self::advance(self, steps);
        Ok(())
    }

    fn step(&self) -> u64 {
        Self::step(self)
    }

    fn positions(&mut self) -> anyhow::Result<Vec<Vec3>> {
        Ok(Self::positions(self))
    }

    fn motion(&mut self) -> anyhow::Result<(Vec<Vec3>, Vec<Vec3>)> {
        Ok((Self::positions(self), self.velocities()))
    }

    fn extensions(&mut self) -> anyhow::Result<Vec<f64>> {
        Ok(Self::extensions(self).into_iter().map(|u| self.image().extension(u)).collect())
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> anyhow::Result<()> {
        Ok(Self::pull(self, particle, force)?)
    }

    fn state_digest(&mut self) -> anyhow::Result<String> {
        Ok(Self::state_digest(self))
    }

    fn overflow(&self) -> Overflow {
        Self::overflow(self)
    }

    fn trouble(&self) -> Option<String> {
        overflow_trouble(Self::overflow(self))
    }

    fn cycles_per_step(&self) -> Option<u64> {
        let image = self.image();
        let depths = Depths::of(image.profile, image.inverse);
        Some(depths.cycles_per_step(image.particles.len() as u64, image.edges.len() as u64))
    }

    fn headroom(&self, scene: &Scene) -> Option<Headroom> {
        Some(self.image().scaling.headroom(scene, self.image().numbers()))
    }

    fn probe(&mut self, edge: usize) -> anyhow::Result<Probe> {
        Ok(probe_of(self.image(), edge, &self.element(edge)))
    }
}
