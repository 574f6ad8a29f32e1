//! Overflow flags: those of an element when it is one, those of a particle when it is one.
//!
//! ```text
//!  TEM's flags, if there is an edge ----+
//!  MPM's flags, if there is a particle -+--> by source --> [ overflow_found ] --> overflow
//! ```

use super::{Context, mark::Mark};
use crate::{
    circuit::{Build, Net},
    engine::{mpm, tem},
};
use nendo_model::contract::overflow::Source;

/// The flags of an item, and whether there is one.
pub(super) struct ItemFlags<'a> {
    pub(super) valid: &'a Net,
    pub(super) flags: &'a Net,
}

/// A bit per source, a clock late.
///
/// # Panics
/// If a source has no circuit.
pub(super) fn flags(
    b: &mut Build,
    Context { stages, .. }: &Context,
    edges: &mut Mark,
    element: &Net,
    particle: &ItemFlags<'_>,
) -> Net {
    b.comment("overflow flags of items, one bit per source");
    let element = &ItemFlags { valid: &edges.at(b, stages.flags), flags: element };
    let flag = |source: &Source| {
        let of_element = tem::OVERFLOWS.iter().position(|s| s == source).map(|bit| (element, bit));
        let of_particle = mpm::OVERFLOWS.iter().position(|s| s == source).map(|bit| (particle, bit));
        let found = of_element.or(of_particle);
        let (ItemFlags { valid, flags }, bit) = found.unwrap_or_else(|| panic!("{source:?} has no circuit"));
        let flag = b.bit(&flags.as_static(), bit as u32);
        b.and(&valid.as_static(), &flag)
    };
    let flags: Vec<Net> = Source::ALL.iter().map(flag).collect();
    let overflow = b.concat(&flags.iter().rev().collect::<Vec<_>>());
    b.state_reg("overflow_found", &overflow)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{stages::SLOT, testing::context},
        *,
    };
    use crate::{
        circuit::Module,
        testing::{Timeline, synthesise},
    };
    use nendo_model::{
        contract::overflow::Overflow,
        testing::{runner, sample},
    };
    use proptest::prelude::*;

    fn circuit(context: &Context) -> Module {
        let mut b = Build::new("flags", "Overflow flags by source.");
        let edge = b.input("edge_here", 1);
        let element = b.input("element_flags", tem::OVERFLOWS.len() as u32).at_stage(context.stages.flags);
        let (valid, particle) = (b.input("done", 1), b.input("particle_flags", mpm::OVERFLOWS.len() as u32));
        let mut edges = Mark::new(&edge, SLOT);
        let particle = ItemFlags { valid: &valid, flags: &particle };
        let overflow = flags(&mut b, context, &mut edges, &element, &particle);
        b.output("overflow", &overflow);
        b.finish()
    }

    /// Against the model's set of sources: every flag of an item that is one, and none of what is none.
    #[test]
    fn flags_are_of_items_only() {
        let (context, mut runner) = (context(1), runner());
        let item = |flags: usize| (any::<bool>(), 0u32..1 << flags);
        let clocks = prop::collection::vec((item(tem::OVERFLOWS.len()), item(mpm::OVERFLOWS.len())), 2000);
        let mut timeline = Timeline::default();
        let late = u64::from(context.stages.flags - SLOT);
        for (clock, (element, particle)) in (0..).zip(sample(clocks, &mut runner)) {
            timeline.set(clock, "edge_here", i128::from(element.0));
            timeline.set(clock + late, "element_flags", element.1);
            timeline.set(clock + late, "done", i128::from(particle.0));
            timeline.set(clock + late, "particle_flags", particle.1);
            let mut expected = Overflow::NONE;
            for ((valid, flags), sources) in [(element, &tem::OVERFLOWS[..]), (particle, &mpm::OVERFLOWS)] {
                for (bit, source) in sources.iter().enumerate() {
                    expected.check(*source, !valid || flags >> bit & 1 == 0);
                }
            }
            timeline.expect(clock + late + 1, "overflow", expected.bits());
        }
        timeline.play(&circuit(&context));
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(&context(1)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
