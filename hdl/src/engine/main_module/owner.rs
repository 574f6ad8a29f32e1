//! Whose edges the slots hold, and whose turn it is at the force memories.
//!
//! ```text
//!  advance --> + --> [ owner ] --> its number, at the memories' addresses
//!              ^---------|
//!  [ odd_turn ] --> not --> ...    even in the first clock of a step
//! ```
//! Before a step the owner is -1: the first advance makes it a particle. Latency: the stage `number`.

use super::{Context, slots::SlotNets, stages::SLOT};
use crate::circuit::{Build, Net};
use nendo_model::contract::config::address_bits;

/// The owner of a slot's edge.
pub(super) struct Owner {
    /// Its number, when the memories read it.
    pub(super) number: Net,
    /// This is its first edge, at [`SLOT`].
    pub(super) first: Net,
    /// The odd memory's turn to take others' forces, when the numbers are at the memories.
    pub(super) odd: Net,
}

impl Owner {
    /// The counter of owners and of turns.
    pub(super) fn place(b: &mut Build, Context { config, stages, .. }: &Context, slot: &SlotNets) -> Self {
        b.comment("the owner's number, and whose turn it is: even in the first clock of a step");
        let SlotNets { parts, in_element, resting, .. } = slot;
        let particle_bits = address_bits(config.particles);
        let owner = b.state("owner", particle_bits);
        let further = b.zero_extend(&parts.advance.as_static(), particle_bits);
        let next_owner = b.add(owner.value(), &further);
        let next_owner = b.mux(in_element, &next_owner, owner.value());
        let before_first = b.constant(-1, particle_bits);
        let next_owner = b.mux(resting, &before_first, &next_owner);
        let number = b.until(&owner.value().at_stage(SLOT + 1), stages.number).as_static();
        b.set(owner, &next_owner);
        let first = b.any(&parts.advance);
        let turn = b.state("odd_turn", 1);
        let (other_turn, awake) = (b.not(turn.value()), b.not(resting));
        let next_turn = b.and(&other_turn, &awake);
        // The turn of the slot whose number is at the memories.
        let odd = b.state_reg("odd_now", turn.value());
        let odd = (1..stages.hops).fold(odd, |turn, _| b.reg(&turn));
        b.set(turn, &next_turn);
        Self { number, first, odd }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{context, schedule, slot_inputs},
        *,
    };
    use crate::{
        circuit::Module,
        testing::{Timeline, synthesise},
    };

    fn circuit(context: &Context) -> Module {
        let mut b = Build::new("owner", "Owners and turns.");
        let slot = slot_inputs(&mut b, context);
        let Owner { number, first, odd } = Owner::place(&mut b, context, &slot);
        b.output("number", &number);
        b.output("first", &first.as_static());
        b.output("odd", &odd);
        b.finish()
    }

    /// Against a loop over the slots of a plan: two steps, with a pause after each in which there are none.
    #[test]
    fn owners_and_turns_are_the_plans() {
        for modules in [1, 3, 7] {
            let context = context(modules);
            let (plan, later) = (schedule(&context), u64::from(context.stages.number - SLOT));
            for slots in &plan.modules {
                let (mut timeline, mut clock) = (Timeline::default(), 0);
                for _step in 0..2 {
                    (clock..clock + 3).for_each(|rest| timeline.set(rest, "resting", 1));
                    clock += 3;
                    let mut rank = -1;
                    for (number, slot) in slots.iter().enumerate() {
                        rank += i64::from(slot.advance);
                        timeline.set(clock, "in_element", 1);
                        timeline.set(clock, "slot_advance", slot.advance);
                        timeline.expect(clock, "first", i128::from(slot.advance > 0));
                        timeline.expect(clock + later, "odd", number as i128 % 2);
                        if slot.edge.is_some() {
                            timeline.expect(clock + later, "number", rank);
                        }
                        clock += 1;
                    }
                    clock += 7;
                }
                assert!(timeline.play(&circuit(&context)) > 4 * slots.len());
            }
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(&context(7)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
