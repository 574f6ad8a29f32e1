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

#[cfg(test)]
mod tests {
    use super::{
        super::{
            stages::SLOT,
            testing::{LATE, context, moves_inputs, owner_inputs, slot_inputs, vector_word},
        },
        *,
    };
    use crate::{
        blocks::accumulator::LOOP,
        circuit::Module,
        testing::{Timeline, synthesise},
    };
    use nendo_model::testing::{runner, sample};
    use proptest::prelude::*;

    fn circuit(context: &Context) -> Module {
        let mut b = Build::new("forces", "Two memories of sums.");
        let inputs = Inputs::place(&mut b, context);
        let mut slot = slot_inputs(&mut b, context);
        let owner = owner_inputs(&mut b, context);
        let mut moves = moves_inputs(&mut b, context);
        let bits = context.config.profile.numbers().force_sum.bits;
        let own_sum = std::array::from_fn(|k| b.input(&format!("own_sum{k}"), bits));
        let Forces { even, odd } =
            Forces::place(&mut b, context, &inputs, &mut slot, &owner, &mut moves, own_sum);
        b.output3("even", &even.map(|net| net.as_static()));
        b.output3("odd_part", &odd.map(|net| net.as_static()));
        b.finish()
    }

    /// What may happen in two clocks, an odd one and an even one: another's force in each; an owner's sum in each, or a
    /// particle is taken.
    #[derive(Clone, Debug)]
    struct Pair {
        added: [Option<(usize, [i64; 3], bool)>; 2],
        own: [Option<(usize, [i64; 3])>; 2],
        taken: Option<usize>,
    }

    fn pairs() -> impl Strategy<Value = Vec<Pair>> {
        // Few particles, so that they meet each other on their way.
        let number = || 0usize..6;
        let force = || prop::array::uniform3(-32_768i64..32_768);
        let added = prop::option::of((number(), force(), any::<bool>()));
        let own = prop::option::of((number(), force()));
        let pair = (prop::array::uniform2(added), prop::array::uniform2(own), prop::option::of(number()));
        let pair = pair.prop_map(|(added, own, taken)| {
            let own = if taken.is_some() { [None, None] } else { own };
            Pair { added, own, taken }
        });
        prop::collection::vec(pair, 400)
    }

    /// The two parts of every particle's sum, and when they come out.
    struct Sums<'a> {
        context: &'a Context,
        timeline: Timeline,
        parts: [[[i64; 3]; 64]; 2],
    }

    impl Sums<'_> {
        /// A clock in which something with this stage is at an address.
        fn begins(&self, clock: u64, stage: u32) -> u64 {
            clock - u64::from(self.context.stages.add - stage)
        }

        fn add(&mut self, clock: u64, (number, force, complement): (usize, [i64; 3], bool)) {
            let n = self.context.config.profile.numbers();
            let (asked, value) =
                (self.begins(clock, self.context.stages.number), clock + u64::from(READ_LATENCY));
            self.timeline.set(asked, "asked", 1);
            self.timeline.set(asked, "asked_number", number as i128);
            self.timeline.set(value, "added", vector_word(force, n.edge_force.bits));
            self.timeline.set(value, "added_complement", i128::from(complement));
            // In the clock of its turn.
            let part = &mut self.parts[clock as usize % 2][number];
            *part = std::array::from_fn(|k| part[k] + force[k] + i64::from(complement));
        }

        fn add_own(&mut self, clock: u64, (number, sum): (usize, [i64; 3])) {
            let (slot, owner) = (self.begins(clock, SLOT), self.begins(clock, self.context.stages.number));
            self.timeline.set(slot, "edge_here", 1);
            self.timeline.set(slot, "slot_last", 1);
            self.timeline.set(owner, "owner_number", number as i128);
            for (k, sum) in sum.iter().enumerate() {
                self.timeline.set(clock + u64::from(READ_LATENCY), &format!("own_sum{k}"), *sum);
            }
            let part = &mut self.parts[(clock as usize + 1) % 2][number];
            *part = std::array::from_fn(|k| part[k] + sum[k]);
        }

        /// A memory's part comes out so many clocks after its address was there.
        fn expect(&mut self, clock: u64, port: &str, memory: usize, number: usize) {
            for (k, part) in self.parts[memory][number].into_iter().enumerate() {
                self.timeline.expect(clock + u64::from(LOOP), &format!("{port}{k}"), part);
            }
        }
    }

    fn check(context: &Context, circuit: &Module, pairs: &[Pair]) {
        let mut sums = Sums { context, timeline: Timeline::default(), parts: [[[0; 3]; 64]; 2] };
        let before = u64::from(context.stages.number - SLOT);
        // All sums are cleared first, one per clock.
        for particle in 0..64 {
            sums.timeline.set(particle, "moves_taking", 1);
            sums.timeline.set(particle, "moves_particle", particle);
        }
        let mut clock = (64 + u64::from(context.stages.add)) | 1;
        for Pair { added, own, taken } in pairs {
            if let Some(number) = *taken {
                sums.timeline.set(clock - before, "moves_taking", 1);
                sums.timeline.set(clock - before, "moves_particle", number as i128);
                // The even memory's part in the odd clock.
                sums.expect(clock, "even", 0, number);
                sums.parts[0][number] = [0; 3];
            }
            for (clock, (added, own)) in (clock..).zip(added.iter().zip(own)) {
                if let Some(number) = taken.filter(|_| clock % 2 == 0) {
                    sums.expect(clock, "odd_part", 1, number);
                    sums.parts[1][number] = [0; 3];
                }
                added.iter().for_each(|added| sums.add(clock, *added));
                match own {
                    Some(own) => sums.add_own(clock, *own),
                    // An edge that is not its owner's last adds nothing yet.
                    None => sums.timeline.set(sums.begins(clock, SLOT), "edge_here", 1),
                }
            }
            clock += 2;
        }
        (0..clock).for_each(|at| sums.timeline.set(at, "odd", i128::from(at % 2)));
        // The bus reads both parts.
        clock += u64::from(LOOP);
        for particle in 0..64 {
            sums.timeline.set(clock - LATE, "idle", 1);
            sums.timeline.set(clock, "force_item", particle as i128);
            sums.expect(clock, "even", 0, particle);
            sums.expect(clock, "odd_part", 1, particle);
            clock += 1;
        }
        sums.timeline.play(circuit);
    }

    #[test]
    fn both_parts_are_plain_sums() {
        let mut runner = runner();
        for modules in [1, 7] {
            let context = context(modules);
            let circuit = circuit(&context);
            (0..10).for_each(|_| check(&context, &circuit, &sample(pairs(), &mut runner)));
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(&context(1)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
