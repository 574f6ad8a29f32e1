//! The words of a main module's memories, and their parts.

use crate::circuit::{Build, Net};
use nendo_model::contract::{
    map::{Map, WindowName},
    numbers::State,
};

/// The fields of a memory word, in the map's order.
pub(super) fn fields(b: &mut Build, map: &Map, window: WindowName, word: &Net) -> Vec<Net> {
    let window = map.window(window);
    (0..window.fields.len()).map(|k| b.slice(word, window.memory_low(k), window.fields[k].bits)).collect()
}

/// A field of a slot's word.
pub(super) fn slot_field(b: &mut Build, map: &Map, word: &Net, name: &str) -> Net {
    let window = map.window(WindowName::Edge);
    let k = window.fields.iter().position(|f| f.name == name).unwrap_or_else(|| panic!("no field {name}"));
    b.slice(word, window.memory_low(k), window.fields[k].bits)
}

/// The first three.
pub(super) fn three(nets: &[Net]) -> [Net; 3] {
    std::array::from_fn(|k| nets[k].clone())
}

/// Three parts of a word, the first lowest.
pub(super) fn thirds(b: &mut Build, word: &Net) -> [Net; 3] {
    let bits = word.bits() / 3;
    std::array::from_fn(|k| b.slice(word, k as u32 * bits, bits))
}

/// Three parts as one word, the first lowest.
pub(super) fn joined(b: &mut Build, [x, y, z]: &[Net; 3]) -> Net {
    b.concat(&[z, y, x])
}

/// The operands of a stored vector.
pub(super) fn cut(b: &mut Build, map: &Map, window: WindowName, word: &Net, state: State) -> Net {
    let stored = three(&fields(b, map, window, word));
    let parts = stored.map(|c| b.slice(&c, state.residual, state.operand_bits()));
    joined(b, &parts)
}

/// What an edge reads of a particle: position and velocity operands in one word.
pub(super) fn operands(b: &mut Build, map: &Map, x: &Net, v: &Net) -> Net {
    let n = map.config.profile.numbers();
    let (x, v) = (cut(b, map, WindowName::Position, x, n.x), cut(b, map, WindowName::Velocity, v, n.v));
    b.concat(&[&v, &x])
}

/// A vector, or its complement: with a carry, what is to be subtracted.
pub(super) fn complemented(b: &mut Build, vector: &Net, complement: &Net) -> Net {
    let inverted = b.not(vector);
    b.mux(complement, &inverted, vector)
}
