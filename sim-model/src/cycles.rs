//! Clock cycles per step, predicted.
//!
//! All pipelines take one item per clock and never stall, so a step takes as many clocks as there are edges
//! and particles, plus two pauses: TEM must drain before MPM may start, and MPM before the next step.

use crate::{blocks::Inverse, numbers::Profile};

/// The pauses of a step in clocks. The hardware refuses to be elaborated with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depths {
    /// From the last edge to the first particle.
    pub element: u32,
    /// From the last particle to the first edge of the next step.
    pub particle: u32,
}

impl Depths {
    /// The pauses of a configuration.
    pub const fn of(profile: Profile, inverse: Inverse) -> Self {
        let root = match inverse {
            Inverse::Table => 4,
            Inverse::Cordic => 29,
        };
        let (element, particle) = match profile {
            Profile::Paper2003 => (25, 10),
            Profile::Paper2005 => (29, 10),
            Profile::Wide => (23, 7),
        };
        Self { element: element + root, particle }
    }

    /// Clocks of a step with one module.
    pub const fn cycles_per_step(self, particles: u64, edges: u64) -> u64 {
        edges + self.element as u64 + particles + self.particle as u64
    }
}
