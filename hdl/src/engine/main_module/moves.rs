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

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Context,
            testing::{LATE, context, slot_inputs},
        },
        *,
    };
    use crate::{
        circuit::Module,
        testing::{Timeline, synthesise},
    };
    use nendo_model::testing::{runner, sample};
    use proptest::prelude::*;

    fn circuit(context: &Context) -> Module {
        let mut b = Build::new("moves", "Which particle is moved.");
        let inputs = Inputs::place(&mut b, context);
        let slot = slot_inputs(&mut b, context);
        let mut moves = Moves::place(&mut b, &inputs, &slot);
        b.output("particle", &moves.particle.as_static());
        for (name, mark) in [
            ("moving", &mut moves.moving),
            ("moving_in_slot", &mut moves.in_slot),
            ("moving_left", &mut moves.left),
            ("taking", &mut moves.taking),
        ] {
            let now = mark.at(&mut b, SLOT);
            b.output(name, &now);
        }
        b.finish()
    }

    /// A clock at the counter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Clock {
        Rest,
        Slot { moves: bool },
        Pause,
        Particle,
        Clear,
    }

    /// Against a loop that counts: steps, halted steps that are gone on with, and clearing.
    fn check(circuit: &Module, particles: u64, halt: bool, clocks: &[Clock]) {
        let mut timeline = Timeline::default();
        timeline.hold("halt", i128::from(halt));
        timeline.hold("particles", particles);
        let (mut moved, begin) = (0, LATE + u64::from(SLOT));
        for (at, &clock) in (begin..).zip(clocks) {
            let some = moved < particles;
            let in_slot = clock == Clock::Slot { moves: true } && some && !halt;
            let left = clock == Clock::Particle && some;
            let taking = in_slot || left || clock == Clock::Clear;
            match clock {
                Clock::Rest => timeline.set(at, "resting", 1),
                Clock::Slot { moves } => {
                    timeline.set(at, "in_element", 1);
                    timeline.set(at, "slot_moves", i128::from(moves));
                }
                // What is no slot moves nothing, whatever its word says.
                Clock::Pause => timeline.set(at, "slot_moves", 1),
                Clock::Particle => timeline.set(at - begin, "particle_valid", 1),
                Clock::Clear => timeline.set(at - begin, "clear_valid", 1),
            }
            let marks = [
                ("moving", in_slot || left),
                ("moving_in_slot", in_slot),
                ("moving_left", left),
                ("taking", taking),
            ];
            marks.into_iter().for_each(|(name, is)| timeline.expect(at, name, i128::from(is)));
            if taking {
                timeline.expect(at, "particle", moved);
            }
            moved = if clock == Clock::Rest { 0 } else { moved + u64::from(taking) };
        }
        timeline.play(circuit);
    }

    #[test]
    fn particles_are_moved_in_order() {
        let (circuit, mut runner) = (circuit(&context(1)), runner());
        let slots = prop::collection::vec(any::<bool>().prop_map(|moves| Clock::Slot { moves }), 1..120);
        let lengths = (1u64..=64, 0usize..70, any::<bool>());
        for _ in 0..20 {
            let ((particles, left, halt), slots) = sample((lengths.clone(), slots.clone()), &mut runner);
            let step =
                [vec![Clock::Rest; 2], slots, vec![Clock::Pause; 5], vec![Clock::Particle; left]].concat();
            let clear = [vec![Clock::Rest; 2], vec![Clock::Clear; 64], vec![Clock::Rest]].concat();
            check(&circuit, particles, halt, &[step.clone(), step.clone(), clear, step].concat());
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(&context(1)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
