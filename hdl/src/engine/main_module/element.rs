//! The element side: an edge's two particles at TEM.
//!
//! ```text
//!  the owner's words, at its first edge --> [ held ] --+--> start --> TEM --> force
//!  the other's words, from the exchange ---------------+--> end   -->     --> u_next
//!                                   swapped if reversed               --> overflow
//! ```
//! Latency: that of TEM, from the stage `element` on.

use super::{
    Context,
    owner::Owner,
    particles::Stored,
    ports::Inputs,
    slots::SlotNets,
    stages::Stages,
    words::{joined, operands, thirds},
};
use crate::{
    blocks::ram::READ_LATENCY,
    circuit::{Build, Net},
    engine::tem::tem,
};
use std::rc::Rc;

/// What TEM makes of a slot's edge.
pub(super) struct Element {
    /// The force on its end.
    pub(super) force: Net,
    /// Its new extension.
    pub(super) u_next: Net,
    /// What overflowed.
    pub(super) overflow: Net,
}

impl Element {
    /// TEM and what goes into it.
    pub(super) fn place(
        b: &mut Build,
        Context { config, stages, .. }: &Context,
        Inputs { constants, bus, received, .. }: &Inputs,
        slot: &SlotNets,
        owner: &Owner,
        own: &Stored,
    ) -> Self {
        b.comment("TEM: the owner's words, held for all its edges, and the other's, as start and end");
        let own = operands(b, config, own);
        let own = held(b, stages, &own, &owner.first);
        let reversed = b.until(&slot.parts.reversed, stages.element);
        let other = &received.other;
        let start = b.mux(&reversed, other, &own);
        let end = b.mux(&reversed, &own, other);
        let mut inputs = bus.element_tables.connected();
        inputs.extend([
            ("step_mantissa".into(), constants.step.mantissa.clone()),
            ("step_shift".into(), constants.step.shift.clone()),
            ("extension_shift".into(), constants.extension_shift.clone()),
            ("force_limit".into(), constants.force_limit.clone()),
            ("u".into(), b.until(&slot.parts.u, stages.element)),
            ("class_number".into(), b.until(&slot.parts.class, stages.element)),
        ]);
        let x_bits = 3 * config.profile.numbers().x.operand_bits();
        for (x, v, word) in [("x_start", "v_start", start), ("x_end", "v_end", end)] {
            for (name, low, bits) in [(x, 0, x_bits), (v, x_bits, word.bits() - x_bits)] {
                let vector = b.slice(&word, low, bits);
                let parts = thirds(b, &vector);
                inputs.extend(parts.into_iter().enumerate().map(|(k, net)| (format!("{name}{k}"), net)));
            }
        }
        let inputs: Vec<(&str, &Net)> = inputs.iter().map(|(name, net)| (name.as_str(), net)).collect();
        let out = b.instance("tem", &Rc::new(tem(config.profile, config.inverse)), &inputs);
        let force = joined(b, &out.get3("force"));
        Self { force, u_next: out.get("u_next"), overflow: out.get("overflow") }
    }
}

/// An owner's words at its first edge, held for the others.
fn held(b: &mut Build, stages: &Stages, own: &Net, first: &Net) -> Net {
    let own = b.until(&own.at_stage(stages.number + READ_LATENCY), stages.element - 1).as_static();
    let first = b.until(first, stages.element - 1).as_static();
    let held = b.state("held", own.bits());
    let own = b.mux(&first, &own, held.value());
    let value = held.value().at_stage(stages.element);
    b.set(held, &own);
    value
}
