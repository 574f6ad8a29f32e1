//! Slots: read by number, written back with the new extension.
//!
//! ```text
//!  slot number --> edge memory --> word: u, class, other, advance, reversed, last, present, moves, module
//!                    ^   ^                       |
//!        bus, idle --+   +-- u_next, the rest ---+--> ask_valid, ask_number, ask_module
//! ```
//! A slot's word is there [`SLOT`] clocks after its number, and asks for the edge's other particle at once.

use super::{
    Context,
    mark::Mark,
    ports::{Inputs, MemoryPort},
    stages::SLOT,
};
use crate::{
    blocks::parts::in_memory,
    circuit::{Build, Net},
};
use nendo_model::contract::words::{Slot, SlotParts};

/// A slot as its word comes, at [`SLOT`].
pub(super) struct SlotNets {
    pub(super) parts: SlotParts<Net>,
    /// There is a slot.
    pub(super) in_element: Net,
    /// No step is under way.
    pub(super) resting: Net,
    /// There is an edge.
    pub(super) edges: Mark,
}

/// Slots, one per clock.
pub(super) struct Slots {
    pub(super) slot: SlotNets,
    /// What the bus reads.
    pub(super) q: Net,
    word: Net,
    back: MemoryPort,
}

impl Slots {
    /// The memory and what is in a slot.
    pub(super) fn place(b: &mut Build, Context { config, .. }: &Context, inputs: &Inputs) -> Self {
        let (control, bus) = (&inputs.control, &inputs.bus.edge);
        b.comment("slots: read by number, written back with the new extension");
        // The word that is written back comes out of TEM far below; declared here, connected there.
        let back = MemoryPort {
            address: b.forward("back_address", bus.address.bits()),
            write: b.forward("back_write", 1),
            d: b.forward("back_d", bus.d.bits()),
        };
        let port = bus.shared(b, &control.idle, &back);
        let memory = port.memory(b, "edge_memory", &control.element_index, config.edges);
        let word = memory.get("a_q").at_stage(SLOT);
        let parts = Slot::layout(config).map(in_memory(b, &word));
        let in_element = Mark::new(&control.element_valid, 0).at(b, SLOT);
        let resting = Mark::new(&control.restart, 0).at(b, SLOT);
        let valid = b.and(&in_element, &parts.present.as_static());
        b.output("ask_valid", &valid);
        b.output("ask_number", &parts.other.as_static());
        if config.modules > 1 {
            b.output("ask_module", &parts.module.as_static());
        }
        let slot = SlotNets { parts, in_element, resting, edges: Mark::new(&valid, SLOT) };
        Self { slot, q: memory.get("b_q"), word, back }
    }

    /// An edge's new extension; the rest of its slot's word as it was.
    pub(super) fn write_back(&mut self, b: &mut Build, context: &Context, inputs: &Inputs, u_next: &Net) {
        b.comment("an edge's new extension; the rest of its slot's word as it was");
        let stage = context.stages.extension;
        let done = self.slot.edges.at(b, stage);
        let index = b.until(&inputs.control.element_index.at_stage(0), stage);
        // The extension is the lowest part.
        let u_bits = self.slot.parts.u.bits();
        let rest = b.slice(&self.word, u_bits, self.word.bits() - u_bits);
        let rest = b.until(&rest, stage);
        let word = b.concat(&[&rest, u_next]);
        b.drive(&self.back.write, &done);
        b.drive(&self.back.address, &index);
        b.drive(&self.back.d, &word);
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{LATE, context, memory_word},
        *,
    };
    use crate::{
        blocks::ram::READ_LATENCY,
        circuit::Module,
        testing::{Timeline, synthesise},
    };
    use nendo_model::{
        contract::words::{Item, Word},
        testing::{runner, sample},
    };
    use proptest::prelude::*;

    fn circuit(context: &Context) -> Module {
        let mut b = Build::new("slots", "Slots and their memory.");
        let inputs = Inputs::place(&mut b, context);
        let mut slots = Slots::place(&mut b, context, &inputs);
        let u_next = b.input("u_next", slots.slot.parts.u.bits()).at_stage(context.stages.extension);
        slots.write_back(&mut b, context, &inputs, &u_next);
        let parts = Slot::layout(&context.config).into_array();
        for (field, net) in parts.iter().zip(slots.slot.parts.into_array()).filter(|(f, _)| f.bits > 0) {
            b.output(&format!("slot_{}", field.name), &net.as_static());
        }
        b.output("q", &slots.q);
        b.finish()
    }

    /// Against a list of slots: loaded by the bus, read one per clock, written back, read by the bus.
    #[test]
    fn slots_come_apart_and_are_written_back() {
        let mut runner = runner();
        for modules in [1, 3] {
            let context = context(modules);
            let fields = Slot::fields(&context.config);
            let number = prop::collection::vec(any::<i64>(), fields.len());
            let numbers = sample(prop::collection::vec((number, any::<i32>()), 200), &mut runner);
            let (mut timeline, mut clock) = (Timeline::default(), LATE);
            (0..200 + LATE).for_each(|at| timeline.set(at, "idle", 1));
            let mut slots: Vec<Slot> = Vec::new();
            for (index, (numbers, _)) in (0..).zip(&numbers) {
                let slot = Slot::from_numbers(fields.iter().zip(numbers).map(|(f, n)| f.keep(*n)));
                timeline.set(clock, "edge_item", index);
                timeline.set(clock, "edge_write", 1);
                timeline.set(clock, "edge_d", memory_word(&context, slot));
                slots.push(slot);
                clock += 1;
            }
            let extension = u64::from(context.stages.extension);
            for ((index, slot), (_, u_next)) in (0..).zip(&mut slots).zip(&numbers) {
                timeline.set(clock, "element_valid", 1);
                timeline.set(clock, "element_index", index);
                let there = clock + LATE + u64::from(SLOT);
                for (field, number) in fields.iter().zip(slot.numbers()) {
                    timeline.expect(there, &format!("slot_{}", field.name), number);
                }
                timeline.expect(there, "ask_valid", i128::from(slot.present));
                timeline.expect(there, "ask_number", slot.other);
                if modules > 1 {
                    timeline.expect(there, "ask_module", slot.module);
                }
                timeline.set(clock + LATE + extension, "u_next", *u_next);
                if slot.present {
                    slot.u = fields[0].keep(i64::from(*u_next)) as i32;
                }
                clock += 1;
            }
            // Until the last is written; what is asked for then is nothing.
            timeline.expect(clock + LATE + u64::from(SLOT), "ask_valid", 0);
            clock += LATE + extension + 1;
            (clock - LATE..clock + 200).for_each(|at| timeline.set(at, "idle", 1));
            for (index, slot) in (0..).zip(&slots) {
                timeline.set(clock, "edge_item", index);
                timeline.expect(clock + u64::from(READ_LATENCY), "q", memory_word(&context, *slot));
                clock += 1;
            }
            timeline.play(&circuit(&context));
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&circuit(&context(3)), "synth_xilinx -family xc2v -flatten -top block");
    }
}
