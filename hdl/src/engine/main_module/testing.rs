//! How a section is tried on its own: a circuit around it, whose inputs are the nets it takes from other sections.

use super::{Context, mark::Mark, moves::Moves, owner::Owner, slots::SlotNets, stages::SLOT};
use crate::circuit::Build;
use nendo_model::{
    contract::{
        config::{Config, address_bits},
        numbers::{Inverse, Profile},
        words::{Item, Slot},
    },
    plan::schedule::Schedule,
    scene::Scene,
};

/// Clocks by which the sequencer's signals come late.
pub(super) const LATE: u64 = 1;

/// A configuration of so many modules; its memories are small, so that synthesis is quick.
pub(super) fn context(modules: u64) -> Context {
    let config = Config::minimal(Profile::Wide, Inverse::Table);
    Context::new(&Config { modules, particles: 64, edges: 512, ..config })
}

/// The plan of a small object on a configuration's modules.
pub(super) fn schedule(context: &Context) -> Schedule {
    let mesh = Scene::open("box:3x3x3").unwrap().mesh;
    let (modules, depths) = (context.config.modules as usize, context.stages.depths());
    Schedule::new(&mesh.particles, &mesh.edges, modules, depths)
}

/// A slot: inputs `slot_NAME` for its parts, `in_element`, `resting`, and `edge_here`; all at [`SLOT`].
pub(super) fn slot_inputs(b: &mut Build, context: &Context) -> SlotNets {
    let mut part = |name: &str, bits: u32| b.input(&format!("slot_{name}"), bits.max(1)).at_stage(SLOT);
    let parts = Slot::layout(&context.config).map(|field| part(field.name, field.bits));
    let [in_element, resting, edge] = ["in_element", "resting", "edge_here"].map(|name| b.input(name, 1));
    SlotNets { parts, in_element, resting, edges: Mark::new(&edge, SLOT) }
}

/// An owner: inputs `owner_number`, when it is at the memories, `owner_first`, at [`SLOT`], and `odd`.
pub(super) fn owner_inputs(b: &mut Build, context: &Context) -> Owner {
    Owner {
        number: b.input("owner_number", address_bits(context.config.particles)),
        first: b.input("owner_first", 1).at_stage(SLOT),
        odd: b.input("odd", 1),
    }
}

/// A particle that is moved: inputs `moves_NAME`, all at [`SLOT`].
pub(super) fn moves_inputs(b: &mut Build, context: &Context) -> Moves {
    let particle = b.input("moves_particle", address_bits(context.config.particles)).at_stage(SLOT);
    let mut mark = |name: &str| Mark::new(&b.input(&format!("moves_{name}"), 1), SLOT);
    Moves {
        particle,
        moving: mark("moving"),
        in_slot: mark("in_slot"),
        left: mark("left"),
        taking: mark("taking"),
    }
}

/// An item as its memory holds it.
pub(super) fn memory_word<I: Item>(context: &Context, item: I) -> i128 {
    let placed = I::fields(&context.config).into_iter().zip(item.numbers()).rev();
    placed.fold(0, |word, (f, n)| word << f.bits | i128::from(n) & ((1 << f.bits) - 1))
}

/// Three components in a word, the first lowest.
pub(super) fn vector_word(components: [i64; 3], bits: u32) -> i128 {
    components.into_iter().rev().fold(0, |word, c| word << bits | i128::from(c) & ((1 << bits) - 1))
}
