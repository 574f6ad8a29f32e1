//! The next particle to be moved: particles are moved in the order of their numbers.
//!
//! ```text
//!  a slot that moves, unless halted --+
//!  a clock of particle mode ----------+--> [ moved ] + 1 --> the particle's number, at SLOT
//!  a clock of clearing ---------------+       |
//!       no more than there are particles <----+
//! ```

use super::{
    mark::Mark,
    ports::{Inputs, RunConstants},
    slots::SlotNets,
    stages::SLOT,
};
use crate::circuit::{Build, Net};

/// What is moved.
pub(super) struct Moves {
    /// The particle's number, at [`SLOT`].
    pub(super) particle: Net,
    /// It is moved.
    pub(super) moving: Mark,
    /// It is moved in a slot: read by the owners' port.
    pub(super) in_slot: Mark,
    /// It is moved in particle mode: read by the others' port.
    pub(super) left: Mark,
    /// Its sums of forces are taken, or only cleared.
    pub(super) taking: Mark,
}

impl Moves {
    /// The counter of particles.
    pub(super) fn place(b: &mut Build, inputs: &Inputs, slot: &SlotNets) -> Self {
        b.comment("the next particle to be moved");
        let Inputs { control, constants: RunConstants { halt, particles, .. }, .. } = inputs;
        let moved = b.state("moved", particles.bits());
        let all_moved = b.eq(moved.value(), particles);
        let some_left = b.not(&all_moved);
        let free = b.not(halt);
        let may = b.and(&free, &some_left);
        let wanted = [&slot.in_element, &slot.parts.moves.as_static()];
        let in_slot = wanted.into_iter().fold(may, |all, net| b.and(&all, net));
        let left = Mark::new(&control.particle_valid, 0).at(b, SLOT);
        let left = b.and(&left, &some_left);
        let clearing = Mark::new(&control.clear_valid, 0).at(b, SLOT);
        let moving = b.or(&in_slot, &left);
        let taking = b.or(&moving, &clearing);
        let next_moved = b.increment(moved.value(), &taking);
        let none_moved = b.constant(0, particles.bits());
        let next_moved = b.mux(&slot.resting, &none_moved, &next_moved);
        let particle = b.slice(moved.value(), 0, particles.bits() - 1).at_stage(SLOT);
        b.set(moved, &next_moved);
        let [moving, in_slot, left, taking] =
            [moving, in_slot, left, taking].map(|valid| Mark::new(&valid, SLOT));
        Self { particle, moving, in_slot, left, taking }
    }
}
