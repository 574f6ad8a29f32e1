//! The two memories of sums of forces.
//!
//! ```text
//!  clock          even memory                          odd memory
//!  even           others' forces                       an owner's sum, or a particle's is taken
//!  odd            an owner's sum, or one is taken      others' forces
//! ```
//! A particle's force is what both hold together. Taking a sum clears it. Latency: that of the accumulator, twice, as the
//! odd memory gives its part a clock after the even one.

use super::{Context, mark::Mark, moves::Moves, owner::Owner, ports::Inputs, slots::SlotNets, words::thirds};
use crate::{
    blocks::{accumulator::accumulator, ram::READ_LATENCY},
    circuit::{Build, Net},
};
use std::rc::Rc;

/// What each memory gives of a particle that is taken, or of one that the bus reads.
pub(super) struct Forces {
    pub(super) even: [Net; 3],
    pub(super) odd: [Net; 3],
}

/// What is added to the sums, and when.
struct Additions {
    /// There is another's force, for this number.
    adding: Net,
    number: Net,
    /// There is an owner's sum, for this number.
    own_adding: Net,
    own_number: Net,
    /// The values of both, which come as late as the memory has read.
    added: [Net; 3],
    carry: Net,
    own_sum: [Net; 3],
    /// The odd memory's turn, at addresses and at values.
    odd: Net,
    odd_value: Net,
}

impl Additions {
    fn place(
        b: &mut Build,
        Context { stages, .. }: &Context,
        Inputs { received, .. }: &Inputs,
        slot: &mut SlotNets,
        owner: &Owner,
        own_sum: [Net; 3],
    ) -> Self {
        let adding = Mark::new(&received.asked, stages.number).at(b, stages.add).as_static();
        let number = b.until(&received.asked_number, stages.add).as_static();
        let own_number = b.until(&owner.number.at_stage(stages.number), stages.add).as_static();
        let own_adding = slot.edges.at(b, stages.add);
        let is_last = b.until(&slot.parts.last, stages.add).as_static();
        let own_adding = b.and(&own_adding, &is_last);
        // Values come as late as the memory has read: by then the turn is over.
        let odd_value = (0..READ_LATENCY).fold(owner.odd.clone(), |turn, _| b.reg(&turn));
        let added = thirds(b, &received.added.as_static());
        let added = added.map(|part| b.sign_extend(&part, own_sum[0].bits()));
        let (odd, carry) = (owner.odd.clone(), received.added_complement.as_static());
        Self { adding, number, own_adding, own_number, added, carry, own_sum, odd, odd_value }
    }

    /// One of the memories: what it gives.
    fn memory(
        &self,
        b: &mut Build,
        Context { config, stages, .. }: &Context,
        Inputs { control, bus, .. }: &Inputs,
        moves: &mut Moves,
        is_odd: bool,
    ) -> [Net; 3] {
        let (my_turn, my_value) = if is_odd {
            (self.odd.clone(), self.odd_value.clone())
        } else {
            (b.not(&self.odd), b.not(&self.odd_value))
        };
        let taken_at = stages.number + u32::from(is_odd);
        let taking = moves.taking.at(b, taken_at);
        let taken = b.until(&moves.particle, taken_at).as_static();
        let add = b.mux(&my_turn, &self.adding, &self.own_adding);
        let valid = b.or(&taking, &add);
        let address = b.mux(&my_turn, &self.number, &self.own_number);
        let address = b.mux(&control.idle, &bus.force_item, &address);
        let address = b.mux(&taking, &taken, &address);
        let values: [Net; 3] = std::array::from_fn(|k| b.mux(&my_value, &self.added[k], &self.own_sum[k]));
        let carry = b.and(&my_value, &self.carry);
        let inputs = [
            ("valid", &valid),
            ("clear", &taking),
            ("address", &address),
            ("value0", &values[0]),
            ("value1", &values[1]),
            ("value2", &values[2]),
            ("carry", &carry),
        ];
        let bits = values[0].bits();
        let name = if is_odd { "force_odd_memory" } else { "force_even_memory" };
        b.instance(name, &Rc::new(accumulator(config.particles, bits, bits)), &inputs).get3("old")
    }
}

impl Forces {
    /// Both memories.
    pub(super) fn place(
        b: &mut Build,
        context: &Context,
        inputs: &Inputs,
        slot: &mut SlotNets,
        owner: &Owner,
        moves: &mut Moves,
        own_sum: [Net; 3],
    ) -> Self {
        b.comment("forces: the other's in turn, the owner's and a particle's out of turn");
        let additions = Additions::place(b, context, inputs, slot, owner, own_sum);
        let mut memory = |is_odd: bool| additions.memory(b, context, inputs, moves, is_odd);
        Self { even: memory(false), odd: memory(true) }
    }
}
