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
    ports::Inputs,
    slots::SlotNets,
    stages::Stages,
    words::Stored,
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

#[cfg(test)]
mod tests {
    use super::{
        super::{
            stages::SLOT,
            testing::{memory_word, owner_inputs, slot_inputs, vector_word},
        },
        *,
    };
    use crate::{
        circuit::Module,
        engine::tem::OVERFLOWS,
        testing::{Timeline, synthesise},
    };
    use nendo_model::{
        contract::{
            config::Config,
            image::Image,
            numbers::{Inverse, Profile},
            words::{Position, RegisterWord, TableEntry, Velocity},
        },
        plan::schedule::Schedule,
        testing::{images_of, runner, sample},
        twin::{
            blocks::{cordic::Cordic, table::Table},
            tem as twin,
        },
    };

    fn circuit(context: &Context) -> Module {
        let mut b = Build::new("element", "TEM and what goes into it.");
        let inputs = Inputs::place(&mut b, context);
        let slot = slot_inputs(&mut b, context);
        let owner = owner_inputs(&mut b, context);
        let n = context.config.profile.numbers();
        let own = Stored { x: b.input("own_x", 3 * n.x.bits), v: b.input("own_v", 3 * n.v.bits) };
        let Element { force, u_next, overflow } =
            Element::place(&mut b, context, &inputs, &slot, &owner, &own);
        b.output("edge_force", &force.as_static());
        b.output("u_next", &u_next.as_static());
        b.output("overflow", &overflow.as_static());
        b.finish()
    }

    /// The constants of an image, loaded in the first clocks; the clock after them.
    fn load(timeline: &mut Timeline, image: &Image) -> u64 {
        let k = &image.constants;
        timeline.hold("step_constant", TableEntry::from(k.step).bits());
        timeline.hold("extension_shift", k.extension_shift);
        timeline.hold("force_limit", k.force_limit);
        timeline.hold("element_table_write", 0);
        let mut clock = 0;
        for (class, e) in (0..).zip(&k.elements) {
            for (table, constant) in [e.extension, e.rate, e.damper].into_iter().enumerate() {
                timeline.set(clock, "element_table_write", 1 << table);
                timeline.set(clock, "element_table_class", class);
                timeline.set(clock, "element_table_d", TableEntry::from(constant).bits());
                clock += 1;
            }
        }
        clock
    }

    /// The twin's results, of the edges of an image in the order of its plan. An owner's words are there at its first edge
    /// only.
    fn check(context: &Context, circuit: &Module, image: &Image) {
        let (n, stages) = (image.numbers(), &context.stages);
        let plan = Schedule::of(image, 1);
        let mut timeline = Timeline::default();
        let mut clock = load(&mut timeline, image);
        let at = |clock: u64, stage: u32| clock + u64::from(stage - SLOT);
        for slot in &plan.modules[0] {
            let Some(number) = slot.edge else {
                clock += 1;
                continue;
            };
            let edge = image.edges[number as usize];
            let reversed = plan.partition.owned(number, [edge.start, edge.end]).reversed;
            let [start, end] = [edge.start, edge.end].map(|p| image.particles[p as usize]);
            let (own, other) = if reversed { (end, start) } else { (start, end) };
            timeline.set(clock, "slot_u", edge.u);
            timeline.set(clock, "slot_class", edge.class);
            timeline.set(clock, "slot_reversed", i128::from(reversed));
            timeline.set(clock, "owner_first", i128::from(slot.advance > 0));
            if slot.advance > 0 {
                let read = at(clock, stages.number + READ_LATENCY);
                timeline.set(read, "own_x", memory_word(context, Position::from(own.x)));
                timeline.set(read, "own_v", memory_word(context, Velocity::from(own.v)));
            }
            let x = |p: [i32; 3]| p.map(|c| n.x.operand(c.into()));
            let v = |p: [i32; 3]| p.map(|c| n.v.operand(c.into()));
            let words = vector_word(v(other.v), n.v.operand_bits()) << (3 * n.x.operand_bits())
                | vector_word(x(other.x), n.x.operand_bits());
            timeline.set(at(clock, stages.element), "other", words);
            let input = twin::Input {
                x_start: x(start.x),
                v_start: v(start.v),
                x_end: x(end.x),
                v_end: v(end.v),
                u: edge.u.into(),
            };
            let (k, class) = (&image.constants, &image.constants.elements[usize::from(edge.class)]);
            let out = match image.inverse {
                Inverse::Cordic => twin::tem(n, Cordic, k, class, &input),
                Inverse::Table => twin::tem(n, Table, k, class, &input),
            };
            let force = vector_word(out.force, n.edge_force.bits);
            timeline.expect(at(clock, stages.tem_force), "edge_force", force);
            timeline.expect(at(clock, stages.extension), "u_next", out.u);
            let flag = |source: &_| i128::from(out.overflow.sources().any(|s| s == *source));
            let flags = OVERFLOWS.iter().rev().fold(0, |flags, source| flags << 1 | flag(source));
            timeline.expect(at(clock, stages.flags), "overflow", flags);
            clock += 1;
        }
        timeline.play(circuit);
    }

    #[test]
    fn edges_are_the_twins() {
        let mut runner = runner();
        for (profile, inverse, modules) in [
            (Profile::Wide, Inverse::Table, 1),
            (Profile::Wide, Inverse::Table, 7),
            (Profile::Paper2003, Inverse::Cordic, 1),
        ] {
            let config = Config { modules, particles: 64, edges: 512, ..Config::minimal(profile, inverse) };
            let context = Context::new(&config);
            let circuit = circuit(&context);
            for round in 0..20 {
                let image = sample(images_of(profile, inverse, round % 2 == 0), &mut runner);
                check(&context, &circuit, &image);
            }
        }
    }

    #[test]
    fn it_synthesises() {
        let config = Config::minimal(Profile::Wide, Inverse::Table);
        synthesise(&circuit(&Context::new(&config)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
