//! Meshes of other programs on every engine: imported, run, bit for bit the same.

use nendo_host::engine::{self, EngineKind, EngineOptions};
use nendo_model::{mesh::Vec3, scene::Scene};
use std::path::Path;

fn scene(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes").join(name);
    Scene::open(path.to_str().unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

/// Digest and final positions.
fn run(scene: &Scene, kind: EngineKind, steps: u64) -> (String, Vec<Vec3>) {
    let options = EngineOptions { kind, threads: 2, ..EngineOptions::default() };
    let mut engine = engine::open(scene, &options).unwrap_or_else(|e| panic!("{kind:?}: {e}"));
    engine.advance(steps).unwrap();
    assert_eq!(engine.failure(), None, "{kind:?}");
    let end = (engine.state_digest().unwrap(), engine.positions().unwrap());
    engine.close().unwrap();
    end
}

/// The bun of Gmsh: groups choose its pins and its firm core; every engine in fixed point ends in the same state,
/// and that is the reference's but for rounding.
#[test]
fn a_mesh_of_gmsh_runs_on_every_engine() {
    let bun = scene("bun.toml");
    assert_eq!((bun.mesh.particles.len(), bun.mesh.tetrahedra.len()), (183, 573));
    let firm = bun.edge_material.iter().filter(|&&m| bun.materials[usize::from(m)].name == "firm").count();
    assert!(firm > 0 && firm < bun.mesh.edges.len());
    let (_, exact) = run(&bun, EngineKind::F64, 200);
    let (digest, _) = run(&bun, EngineKind::Model, 200);
    for kind in [EngineKind::Model, EngineKind::Rtl] {
        let (got, positions) = run(&bun, kind, 200);
        assert_eq!(got, digest, "{kind:?}");
        let worst = positions.iter().zip(&exact).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let moved = exact.iter().zip(&bun.mesh.particles).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(moved > 1e-3 && worst < 0.01 * moved, "{kind:?}: {worst} of {moved}");
    }
}
