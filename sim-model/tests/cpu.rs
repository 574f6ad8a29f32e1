//! The f32 engine's promises: close to f64, and the same bits for any threads and any instruction set.

use nendo_model::{
    engine::{
        Failure, InProcess,
        cpu::{Cpu, CpuError},
        reference::{Integrator, Reference},
    },
    force::Material,
    mesh::{Mesh, Vec3},
    scene::{Load, Motion, NamedMaterial, Scene, Support},
    trajectory::Key,
};
use proptest::prelude::*;

fn after(mut engine: Cpu, steps: u64) -> String {
    engine.advance(steps).unwrap();
    engine.state_digest()
}

/// Mean and largest distance of the f32 engine from f64, in percent of the width.
fn errors(engine: &Cpu, exact: &Reference, scene: &Scene) -> (f64, f64) {
    let distances = engine.positions().into_iter().zip(exact.positions()).map(|(a, b)| (a - b).norm());
    let percent: Vec<f64> = distances.map(|d| 100.0 * d / scene.mesh.width()).collect();
    (percent.iter().sum::<f64>() / percent.len() as f64, percent.into_iter().fold(0.0, f64::max))
}

fn vector(size: f64) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from)
}

/// Boxes and graphs without any order, pinned, moved, pushed and falling.
fn scenes() -> impl Strategy<Value = Scene> {
    let boxes = prop::array::uniform3(2u32..8)
        .prop_map(|[x, y, z]| Scene::open(&format!("box:{x}x{y}x{z}")).unwrap().mesh);
    let graphs = (8usize..80)
        .prop_flat_map(|n| {
            let points = prop::collection::vec(vector(40.0), n);
            (points, prop::collection::vec((0..n as u32, 1..n as u32), n..4 * n))
        })
        .prop_map(|(particles, pairs)| {
            let n = particles.len() as u32;
            let mut edges: Vec<[u32; 2]> = pairs.into_iter().map(|(a, d)| [a, (a + d) % n]).collect();
            edges.extend((1..n).map(|k| [k - 1, k]));
            let far = |e: &[u32; 2]| (particles[e[0] as usize] - particles[e[1] as usize]).norm() > 1.0;
            edges.retain(far);
            edges.sort_unstable_by_key(|e| (e[0].min(e[1]), e[0].max(e[1])));
            edges.dedup_by_key(|e| (e[0].min(e[1]), e[0].max(e[1])));
            Mesh { particles, edges, ..Mesh::default() }
        })
        .prop_filter("some edge", |mesh| !mesh.edges.is_empty());
    let load = (vector(20.0), 0.0..0.02, 0.0..0.08);
    let rest = (vector(9.0), vector(2.0), prop::collection::vec(load, 0..4), any::<u64>());
    (prop_oneof![boxes, graphs], rest).prop_map(|(mesh, (gravity, target, loads, seed))| {
        let material = Material { k1: 250.0, c1: 20.0, c2: 100.0 };
        let mut scene = Scene::uniform("random", mesh, material, 1.0, 0.001, 1.0);
        let hash = |k: usize| (seed ^ k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let pick = |k: usize, one_in: u64| hash(k).is_multiple_of(one_in);
        let soft = Material { k1: 90.0, c1: 5.0, c2: f64::INFINITY };
        scene.materials.push(NamedMaterial::plain("soft", soft));
        scene.motions = vec![Motion::along(vec![Key::shift(0.01, target), Key::shift(0.03, Vec3::zeros())])];
        scene.gravity = gravity;
        let count = scene.mesh.particles.len();
        for k in 0..count {
            scene.mass[k] = 1.0 + (k % 5) as f64 / 3.0;
            scene.velocity[k] = 0.1 * target;
            if pick(k, 11) {
                scene.support[k] = Support::Pinned;
            } else if pick(k + count, 13) {
                scene.support[k] = Support::Moved(0);
            }
        }
        for k in 0..scene.mesh.edges.len() {
            scene.edge_material[k] = u16::from(pick(k, 4));
            scene.extension[k] = (k % 7) as f64 * 1e-3;
        }
        let force = |(number, (force, from, length)): (usize, (Vec3, f64, f64))| Load {
            particles: (0..count as u32).filter(|k| pick(*k as usize + number, 5)).collect(),
            force,
            from,
            to: from + length,
        };
        scene.loads = loads.into_iter().enumerate().map(force).collect();
        scene
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn one_result_for_every_way_to_compute_it(
        scene in scenes(), parts in 1usize..7, threads in 2usize..5, cut in 0u64..60,
    ) {
        let engine = |threads| Cpu::with_parts(&scene, threads, parts).unwrap();
        let expected = after(engine(1).plain(), 60);
        prop_assert_eq!(&expected, &after(engine(1), 60));
        prop_assert_eq!(&expected, &after(engine(threads), 60));
        prop_assert_eq!(&expected, &after(engine(threads).plain(), 60));
        let mut pieces = engine(threads);
        pieces.advance(cut).unwrap();
        pieces.advance(60 - cut).unwrap();
        prop_assert_eq!(expected, pieces.state_digest());
    }

    /// Pins, motions, forces, gravity and events do what they do in f64.
    #[test]
    fn f32_follows_f64(scene in scenes(), parts in 1usize..7) {
        let mut engine = Cpu::with_parts(&scene, 2, parts).unwrap();
        let mut exact = Reference::new(&scene, Integrator::Euler);
        engine.advance(60).unwrap();
        exact.advance(60).unwrap();
        let (_, worst) = errors(&engine, &exact, &scene);
        prop_assert!(worst < 1e-3, "{worst} % of the width");
        let fastest = exact.velocities().iter().map(|v| v.norm()).fold(1.0, f64::max);
        for (k, (a, b)) in engine.velocities().iter().zip(exact.velocities()).enumerate() {
            prop_assert!((a - b).norm() < 1e-4 * fastest, "velocity of {k}: {a} {b}");
        }
        for (k, (&a, b)) in engine.extensions().iter().zip(exact.extensions()).enumerate() {
            prop_assert!((a - b).abs() < 1e-4, "extension of {k}: {a} {b}");
        }
        let (a, b) = (engine.element(0), exact.element(0));
        prop_assert!((a.force - b.force).norm() < 1e-3 * (1.0 + b.force.norm()), "{a:?} {b:?}");
        prop_assert!((a.voigt_rate - b.voigt_rate).abs() < 1e-3 * (1.0 + b.voigt_rate.abs()), "{a:?} {b:?}");
    }
}

/// The promise the README makes, a hundred times over.
#[test]
fn cube9_over_30_seconds() {
    let scene = Scene::open("cube9").unwrap();
    let (mut engine, mut exact) = (Cpu::new(&scene, 1).unwrap(), Reference::new(&scene, Integrator::Euler));
    engine.advance(30_000).unwrap();
    exact.advance(30_000).unwrap();
    let (mean, worst) = errors(&engine, &exact, &scene);
    println!("mean {mean:e} %, largest {worst:e} % of the width");
    assert!(mean < 1e-3 && worst < 2e-3, "mean {mean} %, largest {worst} %");
}

/// A crawl of a ten-thousandth of the last place of the coordinate per step arrives all the same.
#[test]
fn small_increments_are_not_lost() {
    let mut scene = Scene::open("box:2x2x2").unwrap();
    scene.loads.clear();
    let crawl = 5e-8;
    scene.velocity.iter_mut().for_each(|v| *v = Vec3::new(crawl, 0.0, 0.0));
    let mut engine = Cpu::new(&scene, 1).unwrap();
    engine.advance(100_000).unwrap();
    for (now, start) in engine.positions().iter().zip(&scene.mesh.particles) {
        assert!(((now - start).x / (crawl * 100.0) - 1.0).abs() < 1e-3, "{}", (now - start).x);
    }
}

/// Far from the origin is like near it.
#[test]
fn place_does_not_matter() {
    let near = Scene::open("box:4x4x4").unwrap();
    let mut far = near.clone();
    far.mesh.particles.iter_mut().for_each(|p| *p += Vec3::new(1e6, -1e6, 3e5));
    let run = |scene: &Scene| {
        let mut engine = Cpu::new(scene, 1).unwrap();
        engine.advance(500).unwrap();
        engine.positions().iter().zip(&scene.mesh.particles).map(|(a, b)| a - b).collect::<Vec<_>>()
    };
    for (a, b) in run(&near).iter().zip(run(&far)) {
        assert!((a - b).norm() < 1e-8, "{a} {b}");
    }
}

/// A box is computed as a lattice, however it is numbered.
#[test]
fn lattices_are_found() {
    let mut scene = Scene::open("box:32x32x16").unwrap();
    let (edges, lanes) = Cpu::new(&scene, 1).unwrap().regularity();
    assert!(edges > 0.99 && lanes > 0.9, "{edges} of the edges, {lanes} of the lanes");
    let count = scene.mesh.particles.len() as u32;
    let place = |k: u32| (k * 1237) % count; // coprime
    let old = scene.mesh.particles.clone();
    (0..count).for_each(|k| scene.mesh.particles[place(k) as usize] = old[k as usize]);
    scene.mesh.edges.iter_mut().for_each(|e| *e = e.map(place));
    scene.mesh.edges.reverse();
    let (shuffled, _) = Cpu::new(&scene, 1).unwrap().regularity();
    assert!((shuffled - edges).abs() < 0.01, "{shuffled} {edges}");
}

#[test]
fn what_f32_cannot_hold_is_refused() {
    let refused = |change: fn(&mut Scene)| {
        let mut scene = Scene::open("box:2x2x2").unwrap();
        change(&mut scene);
        Cpu::new(&scene, 1).err().expect("refused")
    };
    let tiny = |scene: &mut Scene| scene.mesh.particles.iter_mut().for_each(|p| *p *= 1e-20);
    assert!(matches!(refused(tiny), CpuError::Length { edge: 0, .. }));
    let stiff = |scene: &mut Scene| scene.materials[0].material.k1 = 1e40;
    assert!(matches!(refused(stiff), CpuError::Range { .. }));
    assert!(matches!(refused(|scene| scene.mass[3] = 1e60), CpuError::Range { .. }));
    assert!(matches!(refused(|scene| scene.velocity[3].y = 1e60), CpuError::Range { .. }));
    assert!(matches!(refused(|scene| scene.extension[2] = 1e60), CpuError::Range { .. }));
    assert!(matches!(refused(|scene| scene.loads[0].force.x = 1e60), CpuError::Range { .. }));
    let text = refused(|scene| scene.mass[3] = 1e60).to_string();
    assert!(text.contains("particle 3") && text.contains("f64"), "{text}");
}

#[test]
fn a_burst_is_noticed() {
    let mut scene = Scene::open("box:3x3x3").unwrap();
    scene.step = 0.5;
    let mut engine = Cpu::new(&scene, 1).unwrap();
    assert_eq!(engine.advance(1), Ok(()));
    assert_eq!(engine.advance(300), Err(Failure::Diverged));
    assert_eq!(engine.advance(1), Err(Failure::Diverged), "it stays so");
}
