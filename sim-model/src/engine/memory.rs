//! How much memory an engine takes, estimated before it is made.
//!
//! From the sizes of what is kept for each particle, edge and tetrahedron, rounded up and held against what boxes of 60x60x60
//! and 90x90x90 particles took (`docs/scenes.md`, "How large"). The scene itself comes first and stays.

use super::Kind;
use crate::{
    machine::memory::{MemoryError, demand},
    scene::Scene,
};

/// Bytes for each particle, edge and tetrahedron.
struct Costs(u64, u64, u64);

impl Costs {
    fn of(&self, scene: &Scene) -> u64 {
        let count = |n: usize| n as u64;
        let mesh = &scene.mesh;
        self.0 * count(mesh.particles.len())
            + self.1 * count(mesh.edges.len())
            + self.2 * count(mesh.tetrahedra.len())
    }
}

/// Mesh, masses, velocities, supports, extensions, materials.
const SCENE: Costs = Costs(72, 20, 16);

fn costs(kind: Kind) -> Costs {
    match kind {
        // Elements and states, and four of each for the steps of Runge and Kutta.
        Kind::F64 => Costs(350, 112, 64),
        // Edges in lanes, and what threads add up on their own.
        Kind::F32 => Costs(100, 80, 0),
        // Words, floating-point copies of them, elements.
        Kind::Hybrid => Costs(250, 130, 0),
        // Words, and the order in which the hardware takes them.
        Kind::Model => Costs(100, 120, 0),
    }
}

/// Bytes a scene and its engine take together.
pub fn estimate(scene: &Scene, kind: Kind) -> u64 {
    SCENE.of(scene) + costs(kind).of(scene)
}

/// Refuses an engine that would take more memory than there is.
pub fn check(scene: &Scene, kind: Kind) -> Result<(), MemoryError> {
    let what = || format!("the engine for {} particles", scene.mesh.particles.len());
    demand(what, costs(kind).of(scene))
}
