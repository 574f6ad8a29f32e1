//! What is built: number contract, inverse form and memory sizes.

use nendo_model::{blocks::Inverse, digest::hex_digest, numbers::Profile};
use serde::Serialize;

/// Words of a block memory as the engine counts them: 1024 of 18 bits.
pub const BLOCK_WORDS: u64 = 1024;

/// A configuration of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Config {
    /// Number contract.
    pub profile: Profile,
    /// Circuit of the inverse length.
    pub inverse: Inverse,
    /// Particles the memories hold, a multiple of [`BLOCK_WORDS`].
    pub particles: u64,
    /// Edges the memories hold, a multiple of [`BLOCK_WORDS`].
    pub edges: u64,
    /// Clock in kHz where it is known, else 0. Not part of the hash: the same circuit at another speed.
    pub clock_khz: u32,
}

impl Config {
    /// The most particles an edge's numbers can name.
    pub const MAX_PARTICLES: u64 = 1 << 16;

    /// The most edges a map has room for.
    pub const MAX_EDGES: u64 = 1 << 20;

    /// The seed's minimal set: 1024 particles and five times as many edges.
    pub const fn minimal(profile: Profile, inverse: Inverse) -> Self {
        Self { profile, inverse, particles: BLOCK_WORDS, edges: 5 * BLOCK_WORDS, clock_khz: 0 }
    }

    /// The smallest memories that hold a scene.
    pub const fn for_scene(profile: Profile, inverse: Inverse, particles: u64, edges: u64) -> Self {
        let (particles, edges) =
            (particles.next_multiple_of(BLOCK_WORDS), edges.next_multiple_of(BLOCK_WORDS));
        Self { profile, inverse, particles, edges, clock_khz: 0 }
    }

    /// A number that tells configurations apart: everything a host relies on, and the map's version.
    pub fn hash(&self) -> u64 {
        let words = (self.profile.numbers(), crate::map::VERSION);
        let text = format!("{}|{}|{}|{}|{words:?}", self.profile, self.inverse, self.particles, self.edges);
        u64::from_str_radix(&hex_digest(text.as_bytes())[..16], 16).unwrap_or_default()
    }

    /// The hash as it is written in reports.
    pub fn hash_text(&self) -> String {
        format!("{:016x}", self.hash())
    }
}
