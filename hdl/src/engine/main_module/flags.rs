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
