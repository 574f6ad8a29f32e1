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
