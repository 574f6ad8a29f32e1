//! The words of a main module's memories, and their parts.

use crate::{
    blocks::parts::in_memory,
    circuit::{Build, Net},
};
use nendo_model::contract::{
    config::Config,
    numbers::State,
    words::{Position, Velocity},
};

/// A particle's words as the memories put them out.
pub(super) struct Stored {
    pub(super) x: Net,
    pub(super) v: Net,
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
fn cut(b: &mut Build, stored: [Net; 3], state: State) -> Net {
    let parts = stored.map(|c| b.slice(&c, state.residual, state.operand_bits()));
    joined(b, &parts)
}

/// The operands of a stored position: what is displayed.
pub(super) fn shown(b: &mut Build, config: &Config, word: &Net) -> Net {
    let stored = Position::layout(config).map(in_memory(b, word)).into_array();
    cut(b, stored, config.profile.numbers().x)
}

/// What an edge reads of a particle: position and velocity operands in one word.
pub(super) fn operands(b: &mut Build, config: &Config, Stored { x, v }: &Stored) -> Net {
    let x = shown(b, config, x);
    let stored = Velocity::layout(config).map(in_memory(b, v)).into_array();
    let v = cut(b, stored, config.profile.numbers().v);
    b.concat(&[&v, &x])
}

/// A vector, or its complement: with a carry, what is to be subtracted.
pub(super) fn complemented(b: &mut Build, vector: &Net, complement: &Net) -> Net {
    let inverted = b.not(vector);
    b.mux(complement, &inverted, vector)
}
