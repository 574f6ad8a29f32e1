//! What an edge's force is for its two particles: the other's part goes away, the owner's is summed up.
//!
//! ```text
//!  force --+--> complemented if reversed ----------> given, to the exchange
//!          +--> complemented if not --> + --> [ own_sum ] --> ... --> force memories
//!                                       ^---------|     zero before an owner's first edge
//! ```
//! A force is the end's, and its opposite the start's: the complement, and one more where it is added. Latency from the
//! force: a clock, and one per hop further than the first, as late as the other's force is at its module.

use super::{
    Context,
    owner::Owner,
    slots::SlotNets,
    words::{complemented, thirds},
};
use crate::circuit::{Build, Net};

/// The sum of an owner's forces so far, by component, when others' forces arrive.
pub(super) fn own_force(
    b: &mut Build,
    Context { config, stages, .. }: &Context,
    slot: &mut SlotNets,
    owner: &Owner,
    force: &Net,
) -> [Net; 3] {
    b.comment("a force is the end's, and its opposite the start's");
    let owner_is_end = b.until(&slot.parts.reversed, stages.tem_force);
    let given = complemented(b, force, &owner_is_end);
    b.output("given", &given.as_static());
    b.output("given_complement", &owner_is_end.as_static());
    let owner_is_start = b.not(&owner_is_end);
    let kept = complemented(b, force, &owner_is_start).as_static();
    let kept = thirds(b, &kept);
    let first = b.until(&owner.first, stages.tem_force).as_static();
    let valid = slot.edges.at(b, stages.tem_force);
    let sum_bits = config.profile.numbers().force_sum.bits;
    std::array::from_fn(|k| {
        let sum = b.state(&format!("own_sum{k}"), sum_bits);
        let none = b.constant(0, sum_bits);
        let before = b.mux(&first, &none, sum.value());
        let value = b.sign_extend(&kept[k], sum_bits);
        let next = b.add_carry(&before, &value, &owner_is_start.as_static());
        let next = b.mux(&valid, &next, sum.value());
        let now = sum.value().clone();
        b.set(sum, &next);
        // As late as the other's force is at its module.
        (1..stages.hops).fold(now, |sum, _| b.reg(&sum))
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            stages::SLOT,
            testing::{context, owner_inputs, slot_inputs, vector_word},
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
        let mut b = Build::new("own_force", "The sum of an owner's forces.");
        let mut slot = slot_inputs(&mut b, context);
        let owner = owner_inputs(&mut b, context);
        let bits = 3 * context.config.profile.numbers().edge_force.bits;
        let force = b.input("edge_force", bits).at_stage(context.stages.tem_force);
        let sum = own_force(&mut b, context, &mut slot, &owner, &force);
        b.output3("sum", &sum.map(|net| net.as_static()));
        b.finish()
    }

    /// Against sums: owners of a few edges each, with bubbles between them that must change nothing.
    #[test]
    fn an_owners_forces_are_summed_and_the_others_given() {
        let mut runner = runner();
        for modules in [1, 7] {
            let context = context(modules);
            let n = context.config.profile.numbers();
            let (bits, most) = (n.edge_force.bits, n.edge_force.max());
            let forced = u64::from(context.stages.tem_force - SLOT);
            let force = prop_oneof![3 => -1000i64..1000, 1 => -most - 1..=most];
            let edge = (prop::array::uniform3(force), any::<bool>(), 0u64..3);
            let owners = prop::collection::vec(prop::collection::vec(edge, 1..9), 60);
            let (mut timeline, mut clock) = (Timeline::default(), 0);
            for edges in sample(owners, &mut runner) {
                let mut sum = [0; 3];
                for (k, (force, reversed, bubbles)) in edges.into_iter().enumerate() {
                    // A bubble may have the words of an edge; only that there is one is missing.
                    (clock..clock + bubbles).for_each(|at| timeline.set(at, "slot_reversed", 1));
                    clock += bubbles;
                    timeline.set(clock, "edge_here", 1);
                    timeline.set(clock, "owner_first", i128::from(k == 0));
                    timeline.set(clock, "slot_reversed", i128::from(reversed));
                    timeline.set(clock + forced, "edge_force", vector_word(force, bits));
                    // The complement, and one more where it is added, is the opposite.
                    let given = force.map(|f| if reversed { -f - 1 } else { f });
                    timeline.expect(clock + forced, "given", vector_word(given, bits));
                    timeline.expect(clock + forced, "given_complement", i128::from(reversed));
                    sum = std::array::from_fn(|k| sum[k] + if reversed { force[k] } else { -force[k] });
                    for (k, sum) in sum.into_iter().enumerate() {
                        let after = u64::from(context.stages.hops);
                        timeline.expect(clock + forced + after, &format!("sum{k}"), sum);
                    }
                    clock += 1;
                }
            }
            timeline.play(&circuit(&context));
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(&context(1)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
