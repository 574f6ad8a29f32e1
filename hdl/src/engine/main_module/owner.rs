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
