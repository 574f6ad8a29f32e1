//! The research's experiments as scenes, by the numbers it reports or that follow from its laws.

use nendo_model::engine::InProcess;
use nendo_model::{
    engine::{cpu::Cpu, reference::Integrator, stability::Stability},
    force::volume::{Pressure, Scope, Volume},
    mesh::{Vec3, orientation::inverted},
    scene::{
        Scene,
        deformation::{Deformation, DeformationKind},
    },
};

fn scene(name: &str) -> Scene {
    let scene = Scene::open(&format!("{}/../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let stability = Stability::of(&scene, Integrator::Euler);
    assert!(stability.is_stable(), "{name}: {stability:?}");
    scene
}

/// The f32 engine at some time.
fn run(scene: &Scene, seconds: f64) -> Vec<Vec3> {
    let mut engine = Cpu::new(scene, 1).unwrap();
    engine.advance(scene.steps_for(seconds)).unwrap_or_else(|failure| panic!("{}: {failure}", scene.name));
    engine.positions()
}

fn ends(name: &str) -> (Scene, Vec<Vec3>) {
    let scene = scene(name);
    let end = run(&scene, scene.duration);
    (scene, end)
}

/// Particles at the lowest height of a scene.
fn lowest(scene: &Scene) -> Vec<usize> {
    let low = scene.mesh.bounds().0.z;
    (0..scene.mesh.particles.len()).filter(|&p| scene.mesh.particles[p].z < low + 1e-9).collect()
}

fn mean_height(at: &[Vec3], of: &[usize]) -> f64 {
    of.iter().map(|&p| at[p].z).sum::<f64>() / of.len() as f64
}

/// Penalty: below the floor by weight over stiffness. Time-integrated: at the floor.
#[test]
fn where_objects_rest_on_a_floor() {
    for space in ["x12", "x13"] {
        let (plain, at) = ends(&format!("{space}-penalty"));
        let feet = lowest(&plain);
        let weight = 9.8 * plain.mass.iter().sum::<f64>() / feet.len() as f64;
        let height = mean_height(&at, &feet);
        println!("{space} penalty: {height} m, -F_g/K_c = {} m", -weight / 1000.0);
        assert!((height + weight / 1000.0).abs() < 2e-4, "{height}");
        let (integrated, at) = ends(&format!("{space}-integrated"));
        let heights: Vec<f64> = lowest(&integrated).iter().map(|&p| at[p].z).collect();
        println!("{space} integrated: {heights:?}");
        assert!(heights.iter().all(|h| h.abs() < 2e-4), "{heights:?}");
        // Light enough, it rests within the region: eps - F_g/K_c.
        let mut light = integrated;
        light.gravity *= 0.05;
        light.duration = 20.0;
        let at = run(&light, 20.0);
        let height = mean_height(&at, &feet);
        let wanted = 0.002 - 0.05 * weight / 1000.0;
        println!("{space} light: {height} m, eps - F_g/K_c = {wanted} m");
        assert!((height - wanted).abs() < 2e-4 && height > 0.0, "{height} {wanted}");
    }
}

#[test]
fn without_friction_it_slides_farther() {
    let slid = |name: &str| {
        let (scene, at) = ends(name);
        let small = &scene.mesh.groups["small"].particles;
        small.iter().map(|&p| (at[p as usize] - scene.mesh.particles[p as usize]).x).sum::<f64>()
            / small.len() as f64
    };
    let (slippery, rough) = (slid("x10-slippery"), slid("x10-rough"));
    println!("slid {slippery} m without friction, {rough} m with 0.3");
    assert!(slippery > 1.3 * rough && rough > 0.0, "{slippery} {rough}");
}

/// With topology forces the triangle comes back; without, triangles stay turned over.
#[test]
fn topology_forces_bring_a_triangle_back() {
    let (scene, at) = ends("x23-with");
    let away = |at: &[Vec3]| {
        at.iter().zip(&scene.mesh.particles).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
            / scene.mesh.width()
    };
    let (without, lost) = ends("x23-without");
    let turned = (inverted(&scene.mesh, &at), inverted(&without.mesh, &lost));
    println!("turned over {turned:?}, off by {} and {} of the width", away(&at), away(&lost));
    assert_eq!(turned.0, 0);
    assert!(away(&at) < 0.02 && turned.1 > 0 && away(&lost) > 0.1);
}

/// Bars on sheets: one returns, one stays, one does both.
#[test]
fn three_sheets_under_a_bar() {
    let top = |name: &str| {
        let scene = scene(name);
        let high = scene.mesh.bounds().1.z;
        let middle: Vec<usize> = (0..scene.mesh.particles.len())
            .filter(|&p| scene.mesh.particles[p].z == high && scene.mesh.particles[p].x.abs() < 2.1)
            .collect();
        let sunk = |t: f64| high - mean_height(&run(&scene, t), &middle);
        (sunk(10.0), sunk(40.0))
    };
    let sheets = ["x20-elastic-sheet", "x21-viscoplastic-sheet", "x22-rheological-sheet"].map(top);
    println!("pressed and kept: {sheets:?}");
    let kept = sheets.map(|(pressed, kept)| kept / pressed);
    assert!(sheets.iter().all(|s| s.0 > 1.5), "{sheets:?}");
    // The areal forces bring back what was pressed out of triangles even where elements only flow.
    assert!(kept[0].abs() < 0.01 && kept[1] > 0.4 && kept[1] > kept[2] + 0.05 && kept[2] > 0.1, "{kept:?}");
}

#[test]
fn a_yielding_damper_holds_under_gravity() {
    let height = |name: &str| {
        let (scene, at) = ends(name);
        let tall =
            |x: &[Vec3]| x.iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max) - scene.mesh.bounds().0.z;
        tall(&at) / tall(&scene.mesh.particles)
    };
    let (linear, yielding) = (height("x4-linear-damper"), height("x5-yielding-damper"));
    println!("height left: linear {linear}, yielding {yielding}");
    assert!(linear < 0.6 && yielding > 0.9, "{linear} {yielding}");
}

#[test]
fn the_volume_effect_keeps_the_volume() {
    let change = |name: &str| {
        let (scene, at) = ends(name);
        let whole =
            Volume::<f64>::new(&scene.mesh, &Pressure { stiffness: 1.0, damping: 0.0, per: Scope::Object });
        whole.sizes(&at)[0] / whole.sizes(&scene.mesh.particles)[0] - 1.0
    };
    let (with, without) = (change("volume-with"), change("volume-without"));
    println!("volume changed by {with} with the effect, {without} without");
    assert!(with.abs() < 0.01 && without < -0.05, "{with} {without}");
}

/// All scene files are stable and run to their ends (a twentieth of it is enough here), on both engines' numbers.
#[test]
fn every_scene_file_runs() {
    let folder = format!("{}/../scenes", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let scene = scene(&path.file_stem().unwrap().to_string_lossy());
        run(&scene, scene.duration / 20.0);
        count += 1;
    }
    assert!(count >= 30, "{count}");
}

/// Dough under a roller: nothing turned over, thinner and wider after.
#[test]
fn a_roller_makes_dough_thin_and_wide() {
    let (scene, at) = ends("x2-roller");
    let sides = |x: &[Vec3]| {
        let spread = |of: &dyn Fn(&Vec3) -> f64| {
            let (sum, square) = x.iter().fold((0.0, 0.0), |(s, q), p| (s + of(p), q + of(p) * of(p)));
            let n = x.len() as f64;
            (square / n - (sum / n).powi(2)).sqrt()
        };
        [spread(&|p| p.x), spread(&|p| p.y), spread(&|p| p.z)]
    };
    let before = sides(&scene.mesh.particles);
    let ratio = |at: &[Vec3]| -> [f64; 3] { std::array::from_fn(|k| sides(at)[k] / before[k]) };
    let mut alone = scene.clone();
    alone.forces.contact.as_mut().unwrap().boundaries.truncate(1);
    let (rolled, lain) = (ratio(&at), ratio(&run(&alone, scene.duration)));
    let middle = at.iter().map(|p| p.x).sum::<f64>() / at.len() as f64;
    println!("length, width, thickness times {rolled:?}; without the roller {lain:?}; {middle} m past it");
    assert_eq!(inverted(&scene.mesh, &at), 0);
    assert!(middle > 0.05, "it has passed: {middle}");
    assert!(rolled[2] < 0.75 && rolled[1] > 1.1, "{rolled:?}");
    assert!(lain[2] > 0.9 && lain[1] < 1.05, "it is the roller that does it: {lain:?}");
}

/// Arms that are pushed together touch and stay apart: no particle gets deep into a triangle that is not its own.
#[test]
fn regions_of_one_object_do_not_go_into_each_other() {
    let scene = scene("x8-self-collision");
    let deep = |at: &[Vec3]| {
        let inside = |p: usize, t: &[u32; 3]| {
            let [a, b, c] = t.map(|q| at[q as usize]);
            let area = |a: Vec3, b: Vec3, c: Vec3| (b - a).cross(&(c - a)).y;
            let whole = area(a, b, c);
            let shares = [area(at[p], b, c), area(a, at[p], c), area(a, b, at[p])].map(|s| s / whole);
            !t.contains(&(p as u32)) && shares.iter().all(|s| *s > 0.2)
        };
        (0..at.len()).filter(|&p| scene.mesh.triangles.iter().any(|t| inside(p, t))).count()
    };
    let mut ghost = scene.clone();
    ghost.forces.contact.as_mut().unwrap().surfaces = false;
    let (pressed, through) = (run(&scene, 7.5), run(&ghost, 7.5));
    let tips =
        |at: &[Vec3]| at.iter().zip(&scene.mesh.particles).map(|(a, b)| (a - b).x.abs()).fold(0.0, f64::max);
    println!(
        "deep inside: {} and without contact {}; moved {} m",
        deep(&pressed),
        deep(&through),
        tips(&pressed)
    );
    assert!(deep(&pressed) == 0 && deep(&through) > 0 && tips(&pressed) > 0.1);
}

/// The same displacement, three kinds of object.
#[test]
fn three_objects_in_one_space() {
    let scene = scene("x1-three-objects");
    let (loaded, released) = (run(&scene, 1.5), run(&scene, 4.0));
    for (name, kind) in [
        ("elastic", DeformationKind::Elastic),
        ("viscoplastic", DeformationKind::Viscoplastic),
        ("rheological", DeformationKind::Rheological),
    ] {
        let of = |x: &[Vec3]| -> Vec<Vec3> {
            scene.mesh.groups[name].particles.iter().map(|&p| x[p as usize]).collect()
        };
        let d = Deformation::of(&of(&scene.mesh.particles), &of(&loaded), &of(&released));
        println!("{name}: {d:?}");
        assert_eq!(d.kind, kind);
    }
    assert_eq!(scene.release(), Some(1.5));
}

/// Lifted at one end and let go: with gravity it touches the table again, without it stays above it.
#[test]
fn a_lifted_end_comes_down_by_gravity() {
    let heights = |name: &str| {
        let scene = scene(name);
        let left = scene.mesh.bounds().0.x;
        let end: Vec<usize> =
            lowest(&scene).into_iter().filter(|&p| scene.mesh.particles[p].x < left + 1e-9).collect();
        [10.0, 20.0].map(|t| mean_height(&run(&scene, t), &end))
    };
    let (with, without) = (heights("x6-with-gravity"), heights("x6-without-gravity"));
    println!("height of the end when let go and at the end: with gravity {with:?}, without {without:?}");
    assert!(with[0] > 0.02 && with[1] < 0.1 * with[0], "{with:?}");
    assert!(without[1] > 0.02, "{without:?}");
}

/// A viscoelastic object returns, a plastic one stays.
#[test]
fn pushed_objects_return_or_stay() {
    let deformation = |name: &str| {
        let scene = scene(name);
        let (loaded, released) = (run(&scene, scene.release().unwrap()), run(&scene, scene.duration));
        Deformation::of(&scene.mesh.particles, &loaded, &released)
    };
    let (elastic, plastic) = (deformation("x7-elastic"), deformation("x7-plastic"));
    println!("{elastic:?} {plastic:?}");
    assert_eq!(elastic.kind, DeformationKind::Elastic);
    assert!(plastic.residual_m > 4.0 * plastic.return_m, "{plastic:?}");
}

/// Pushed on its top, an object bulges at its sides.
#[test]
fn sides_bulge() {
    for name in ["x14-elastic", "x14-plastic", "x14-rheological"] {
        let scene = scene(name);
        let wide = |at: &[Vec3]| at.iter().map(|p| p.x.abs()).fold(0.0, f64::max);
        let (before, loaded) = (wide(&scene.mesh.particles), wide(&run(&scene, scene.release().unwrap())));
        println!("{name}: half width {before} m, pushed {loaded} m");
        assert!(loaded > 1.02 * before, "{name}: {loaded}");
    }
}
