//! Clock cycles per step, predicted.
//!
//! All pipelines take one item per clock and never stall, so a step takes as many clocks as there are edges
//! and particles, plus the depths of the two pipelines: TEM must drain before MPM may start.

use crate::{blocks::Inverse, numbers::Profile};

/// Depths of the two pipelines in clocks, memories included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depths {
    /// Element mode: from an edge's address to its force in the accumulator.
    pub element: u32,
    /// Particle mode: from a particle's address to its new state in memory.
    pub particle: u32,
}

impl Depths {
    /// Depths of a configuration. These are design figures until the hardware confirms them.
    pub const fn of(profile: Profile, inverse: Inverse) -> Self {
        let inverse_depth = match inverse {
            Inverse::Table => 6,
            Inverse::Cordic => 31,
        };
        let euler = if profile.numbers().unit_step { 0 } else { 3 };
        Self { element: 36 + inverse_depth, particle: 12 + euler }
    }

    /// Clocks of a step with one module.
    pub const fn cycles_per_step(self, particles: u64, edges: u64) -> u64 {
        edges + self.element as u64 + particles + self.particle as u64
    }
}
