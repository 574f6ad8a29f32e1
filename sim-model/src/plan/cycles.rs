//! Clock cycles per step, predicted.
//!
//! All pipelines take one item per clock and never stall: a step takes as many clocks as its plan
//! ([`crate::plan::schedule`]) has slots, plus those of the particles that are left when the last edge has been taken, plus
//! two pauses: TEM must drain before these particles are moved, and MPM before the next step.

use crate::contract::numbers::{Inverse, Profile};

/// Clocks from a module to any other: in each, one of four is chosen.
const fn hops(modules: u64) -> u32 {
    match modules {
        0..=4 => 1,
        5..=16 => 2,
        17..=64 => 3,
        _ => 4,
    }
}

/// The pauses of a step in clocks. The hardware refuses to be elaborated with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depths {
    /// From the last edge to the first particle that is left: also from an edge to its force in the sums.
    pub element: u32,
    /// From the last particle to the first edge of the next step: also from a particle to its writing.
    pub particle: u32,
    /// From an edge to the reading of a particle that begins to move with it, less that of the edge's owner. It and
    /// `particle` are one even and one odd, so that particles read and particles written do not meet at the memory.
    pub read: u32,
}

impl Depths {
    /// The pauses of a configuration with so many modules.
    pub const fn of(profile: Profile, inverse: Inverse, modules: u64) -> Self {
        let root = match inverse {
            Inverse::Table => 4,
            Inverse::Cordic => 29,
        };
        let (element, particle, read) = match profile {
            Profile::Paper2003 => (25, 13, 4),
            // No circuit is made for the plain one: its steps are planned like those it is compared with.
            Profile::Paper2005 | Profile::Paper2005Plain => (29, 13, 4),
            Profile::Wide => (23, 10, 5),
        };
        // To the owner, and with the force to the other: what is more than a clock each way.
        let far = 2 * (hops(modules) - 1);
        Self { element: element + root + far, particle, read }
    }

    /// Clocks of a step with so many slots and particles left after them.
    pub const fn cycles_per_step(self, slots: u32, left: u32) -> u64 {
        slots as u64 + self.element as u64 + left as u64 + self.particle as u64
    }
}
