//! What is built: number contract, inverse form, number of modules and memory sizes.

use nendo_model::{blocks::Inverse, numbers::Profile};
use serde::Serialize;

/// Words of a block memory as the engine counts them: 1024 of 18 bits.
pub const BLOCK_WORDS: u64 = 1024;

/// A configuration of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Config {
    /// Number contract.
    pub profile: Profile,
    /// Circuit of the inverse length.
    pub inverse: Inverse,
    /// Particles the memories hold, a multiple of [`BLOCK_WORDS`].
    pub particles: u64,
    /// Edges the memories hold, a multiple of [`BLOCK_WORDS`].
    pub edges: u64,
}

impl Config {
    /// The seed's minimal set: 1024 particles and five times as many edges.
    pub const fn minimal(profile: Profile, inverse: Inverse) -> Self {
        Self { profile, inverse, particles: BLOCK_WORDS, edges: 5 * BLOCK_WORDS }
    }

    /// The smallest memories that hold a scene.
    pub const fn for_scene(profile: Profile, inverse: Inverse, particles: u64, edges: u64) -> Self {
        let (particles, edges) =
            (particles.next_multiple_of(BLOCK_WORDS), edges.next_multiple_of(BLOCK_WORDS));
        Self { profile, inverse, particles, edges }
    }
}
