//! The f32 engine.

use super::{Engine, Probe};
use nendo_model::{engine::cpu::Cpu, force::contact::wall::Hand, mesh::Vec3, scene::Scene};

impl Engine for Cpu {
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
        Ok(Self::extensions(self).into_iter().map(f64::from).collect())
    }

    fn pull(&mut self, particle: u32, force: Vec3) -> anyhow::Result<()> {
        Self::pull(self, particle, force);
        Ok(())
    }

    fn touch(&mut self, scene: &Scene, hand: Option<&Hand>) -> anyhow::Result<()> {
        Self::touch(self, scene, hand);
        Ok(())
    }

    fn state_digest(&mut self) -> anyhow::Result<String> {
        Ok(Self::state_digest(self))
    }

    fn trouble(&self) -> Option<String> {
        self.has_diverged().then(|| super::DIVERGED.to_owned())
    }

    fn probe(&mut self, edge: usize) -> anyhow::Result<Probe> {
        Ok(Probe::unrounded(edge, &self.element(edge)))
    }
}
