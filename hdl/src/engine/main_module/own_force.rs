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
