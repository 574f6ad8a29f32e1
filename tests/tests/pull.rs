//! A pull on a running engine is the same force as one that a scene prescribes, on every engine.

use nendo_host::engine::{Engine, EngineKind, EngineOptions, open};
use nendo_model::{
    contract::{numbers::Profile, scaling::Scaling},
    mesh::Vec3,
    scene::{Load, ScalingRequest, Scene},
};

fn options(kind: EngineKind, profile: Profile) -> EngineOptions {
    EngineOptions {
        kind,
        profile,
        inverse: profile.usual_inverse(),
        threads: 2,
        device: "model".parse().unwrap(),
        ..EngineOptions::default()
    }
}

const PULLED: u32 = 13;

/// A box with forces and weight of its own, once with a force on a particle from step 5 to step 25 and once
/// without, in the same units.
fn scenes(profile: Profile, force: Vec3) -> (Scene, Scene) {
    let mut without = Scene::open("box:3x3x3").unwrap();
    let mut with = without.clone();
    with.loads.push(Load { particles: vec![PULLED], force, from: 0.005, to: 0.025 });
    let chosen = Scaling::choose(&with, profile).unwrap();
    let units = ScalingRequest {
        length: Some(chosen.length),
        mass: Some(chosen.mass),
        time: Some(chosen.time),
        velocity_exponent: Some(chosen.velocity_exponent),
        extension_exponent: Some(chosen.extension_exponent),
        ..ScalingRequest::default()
    };
    (with.scaling, without.scaling) = (units, units);
    (with, without)
}

fn run_both(kind: EngineKind, profile: Profile) {
    let force = Vec3::new(12.0, -7.0, 20.0);
    let (with, without) = scenes(profile, force);
    let options = options(kind, profile);
    let mut told = open(&with, &options).unwrap();
    let mut pulled = open(&without, &options).unwrap();
    let mut alone = open(&without, &options).unwrap();
    let check = |told: &mut dyn Engine, pulled: &mut dyn Engine| {
        assert_eq!(told.state_digest().unwrap(), pulled.state_digest().unwrap(), "{kind:?} {profile}");
    };
    told.advance(40).unwrap();
    pulled.advance(5).unwrap();
    // Pulls replace each other; only the last one counts.
    pulled.pull(PULLED, -force).unwrap();
    pulled.pull(PULLED, force).unwrap();
    pulled.advance(20).unwrap();
    pulled.pull(PULLED, Vec3::zeros()).unwrap();
    pulled.advance(15).unwrap();
    check(told.as_mut(), pulled.as_mut());
    alone.advance(40).unwrap();
    assert_ne!(alone.state_digest().unwrap(), pulled.state_digest().unwrap(), "a pull moves something");
    let (x, v) = pulled.motion().unwrap();
    assert_eq!(x, pulled.positions().unwrap());
    assert!(v[PULLED as usize].norm() > 0.0);
    assert_eq!(pulled.extensions().unwrap().len(), without.mesh.edges.len());
}

#[test]
fn a_pull_is_a_force_of_the_scene_in_software() {
    run_both(EngineKind::F64, Profile::Wide);
    run_both(EngineKind::F32, Profile::Wide);
    for profile in Profile::ALL {
        run_both(EngineKind::Hybrid, profile);
        run_both(EngineKind::Model, profile);
    }
    Profile::HARDWARE.into_iter().for_each(|profile| run_both(EngineKind::Board, profile));
}

#[test]
fn a_pull_is_a_force_of_the_scene_in_hardware() {
    run_both(EngineKind::Rtl, Profile::Wide);
}

/// On a particle the scene pushes, too: its own force comes and goes under the pull, on all engines alike.
#[test]
fn a_pull_adds_to_the_scenes_own_force() {
    let mut scene = Scene::open("box:3x3x3").unwrap();
    let corner = scene.loads[0].particles[0];
    scene.loads[0].to = 0.02;
    let pull = Vec3::new(-3.0, 0.0, 5.0);
    let run = |kind| {
        let mut engine = open(&scene, &options(kind, Profile::Wide)).unwrap();
        engine.advance(10).unwrap();
        engine.pull(corner, pull).unwrap();
        engine.advance(20).unwrap();
        engine.pull(corner, Vec3::zeros()).unwrap();
        engine.advance(10).unwrap();
        engine
    };
    let mut with = scene.clone();
    with.loads.push(Load { particles: vec![corner], force: pull, from: 0.01, to: 0.03 });
    let mut exact = open(&with, &options(EngineKind::F64, Profile::Wide)).unwrap();
    exact.advance(40).unwrap();
    assert_eq!(exact.state_digest().unwrap(), run(EngineKind::F64).state_digest().unwrap());
    let (mut model, mut board) = (run(EngineKind::Model), run(EngineKind::Board));
    assert_eq!(model.state_digest().unwrap(), board.state_digest().unwrap());
    for (a, b) in model.positions().unwrap().iter().zip(exact.positions().unwrap()) {
        assert!((a - b).norm() < 1e-3, "{a} {b}");
    }
}

#[test]
fn a_pull_beyond_the_words_is_refused_and_changes_nothing() {
    let scene = Scene::open("box:3x3x3").unwrap();
    for kind in [EngineKind::Model, EngineKind::Board] {
        let mut engine = open(&scene, &options(kind, Profile::Wide)).unwrap();
        let mut twin = open(&scene, &options(kind, Profile::Wide)).unwrap();
        let error = engine.pull(PULLED, Vec3::new(0.0, 1e9, 0.0)).unwrap_err();
        assert!(error.to_string().contains("scaling.mass"), "{error}");
        engine.advance(10).unwrap();
        twin.advance(10).unwrap();
        assert_eq!(engine.state_digest().unwrap(), twin.state_digest().unwrap());
    }
}

/// A scene without loads left no room for a pull of any use, and nothing in it could ask for some.
#[test]
fn a_scene_says_what_pull_it_expects() {
    let pull = Vec3::new(0.0, 0.0, 40.0);
    let run = |expected: Option<f64>| {
        let mut scene = Scene::open("box:3x3x3").unwrap();
        scene.loads.clear();
        scene.scaling.force = expected;
        let mut engine = open(&scene, &options(EngineKind::Model, Profile::Wide)).unwrap();
        engine.pull(PULLED, pull).and_then(|()| engine.advance(500))
    };
    assert!(run(None).is_err() && run(Some(4.0)).is_err(), "no room");
    run(Some(pull.norm())).unwrap();
}
