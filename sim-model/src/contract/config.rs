//! What is built: number contract, inverse form and memory sizes.

use super::{
    digest::hex_digest,
    numbers::{Inverse, Profile},
};
use serde::Serialize;

/// Version of the register map: changes when anything in it changes its place or meaning.
pub const MAP_VERSION: u32 = 3;

/// Words of a block memory as the engine counts them: 1024 of 18 bits.
pub const BLOCK_WORDS: u64 = 1024;

/// Bits of an address into `depth` words.
pub fn address_bits(depth: u64) -> u32 {
    depth.next_power_of_two().ilog2().max(1)
}

/// A configuration of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Config {
    /// Number contract.
    pub profile: Profile,
    /// Circuit of the inverse length.
    pub inverse: Inverse,
    /// Main modules that share the work.
    pub modules: u64,
    /// Particles the memories of a module hold, a multiple of [`BLOCK_WORDS`].
    pub particles: u64,
    /// Edges the memory of a module holds, a multiple of [`BLOCK_WORDS`].
    pub edges: u64,
    /// Clock in kHz where it is known, else 0. Not part of the hash: the same circuit at another speed.
    pub clock_khz: u32,
}

impl Config {
    /// The most modules an edge's word can name.
    pub const MAX_MODULES: u64 = 128;

    /// The most particles of a module an edge's word can name.
    pub const MAX_PARTICLES: u64 = 1 << 16;

    /// The most edges a map has room for.
    pub const MAX_EDGES: u64 = 1 << 20;

    /// The papers' minimal set (H05 2.3.2): 1024 particles and five times as many edges.
    pub const fn minimal(profile: Profile, inverse: Inverse) -> Self {
        Self { profile, inverse, modules: 1, particles: BLOCK_WORDS, edges: 5 * BLOCK_WORDS, clock_khz: 0 }
    }

    /// The smallest memories that hold so many particles and edges in a module.
    pub const fn holding(self, particles: u64, edges: u64) -> Self {
        let (particles, edges) =
            (particles.next_multiple_of(BLOCK_WORDS), edges.next_multiple_of(BLOCK_WORDS));
        Self { particles, edges, ..self }
    }

    /// Bits that tell the modules apart; none if there is one.
    pub fn module_bits(&self) -> u32 {
        self.modules.next_power_of_two().ilog2()
    }

    /// Its modules and what each holds, for people.
    pub fn modules_text(&self) -> String {
        let Self { modules, particles, edges, .. } = self;
        let modules = if *modules == 1 { "one module".to_owned() } else { format!("{modules} modules") };
        format!("{modules} of {particles} particles and {edges} edges")
    }

    /// A number that tells configurations apart: everything a host relies on, and the map's version.
    pub fn hash(&self) -> u64 {
        let words = (self.profile.numbers(), MAP_VERSION);
        let Self { profile, inverse, modules, particles, edges, .. } = self;
        let text = format!("{profile}|{inverse}|{modules}|{particles}|{edges}|{words:?}");
        u64::from_str_radix(&hex_digest(text.as_bytes())[..16], 16).unwrap_or_default()
    }

    /// The hash as it is written in reports.
    pub fn hash_text(&self) -> String {
        format!("{:016x}", self.hash())
    }
}
