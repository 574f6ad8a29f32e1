//! States that are saved and taken up again, and what is felt in them.

use nendo_model::{
    contract::{
        image::Image,
        numbers::{Inverse, Profile},
    },
    engine::{self, Engine, Kind, Options, Snapshot, SnapshotError},
    mesh::Vec3,
    scene::{Holding, Load, Motion, Release, Scene, Support},
    trajectory::Key,
    twin::{engine::Model, words::Words},
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A scene in which everything happens: loads that end, motions, pins, gravity, two materials.
fn busy() -> Scene {
    let mut scene = Scene::open("box:4x4x4").unwrap();
    scene.gravity = Vec3::new(0.0, 0.0, -9.81);
    for p in 0..16 {
        scene.support[p] = Support::Pinned;
    }
    let frames = vec![Key::shift(0.03, Vec3::new(0.1, 0.0, -0.2)), Key::shift(0.06, Vec3::zeros())];
    scene.motions = vec![Motion::along(frames)];
    scene.support[63] = Support::Moved(0);
    scene.loads = vec![
        Load { particles: vec![40, 63], force: Vec3::new(20.0, 0.0, 5.0), from: 0.0, to: 0.02 },
        Load { particles: vec![41], force: Vec3::new(0.0, -20.0, 5.0), from: 0.01, to: 0.05 },
    ];
    scene
}

/// The experiments of the research, which have every force there is.
fn experiments() -> Vec<Scene> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files.iter().map(|file| Scene::open(file.to_str().unwrap()).unwrap()).collect()
}

fn open(scene: &Scene, kind: Kind) -> Box<dyn Engine> {
    engine::open(scene, &Options { kind, ..Options::default() }).unwrap()
}

/// The digest after so many steps, in one go, and saved and taken up by another engine after some of them.
fn both(scene: &Scene, kind: Kind, before: u64, after: u64) -> [String; 2] {
    let mut straight = open(scene, kind);
    straight.advance(before).unwrap();
    // Looking changes nothing.
    straight.sense().unwrap();
    let state = straight.save().unwrap().of(scene);
    straight.advance(after).unwrap();
    let read = Snapshot::from_bytes(&state.to_bytes()).unwrap();
    assert_eq!((read.check_scene(scene), &read), (Ok(()), &state));
    let mut resumed = open(scene, kind);
    // From anywhere, not from the start alone.
    resumed.advance(before / 2 + 3).unwrap();
    resumed.restore(&read).unwrap();
    assert_eq!(resumed.step(), before);
    resumed.advance(after).unwrap();
    [&mut straight, &mut resumed].map(|engine| engine.state_digest().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_run_goes_on_from_any_step_as_if_it_had_not_stopped(before in 0u64..80, after in 0u64..40) {
        let scene = busy();
        for kind in [Kind::F64, Kind::F32, Kind::Hybrid, Kind::Model] {
            let [straight, resumed] = both(&scene, kind, before, after);
            prop_assert_eq!(straight, resumed);
        }
    }
}

/// What contacts remember goes on, too, to the last bit.
#[test]
fn experiments_go_on_as_if_they_had_not_stopped() {
    for scene in experiments() {
        let steps = (scene.steps_for(scene.duration) / 2).min(60_000 / scene.mesh.edges.len() as u64 + 20);
        for kind in [Kind::F64, Kind::F32] {
            let [straight, resumed] = both(&scene, kind, steps, 30);
            assert_eq!(straight, resumed, "{} {kind:?}", scene.name);
        }
    }
}

#[test]
fn states_of_others_are_refused() {
    let scene = busy();
    let state = |kind| open(&scene, kind).save().unwrap();
    let refusal = |kind, state: &Snapshot| open(&scene, kind).restore(state).unwrap_err().to_string();
    assert!(refusal(Kind::F32, &state(Kind::F64)).contains("f64, not f32"));
    assert!(refusal(Kind::Model, &state(Kind::F32)).contains("f32, not wide"));
    assert!(refusal(Kind::Model, &state(Kind::Hybrid)).contains("hybrid, wide, not wide, table"));
    assert!(refusal(Kind::Hybrid, &state(Kind::Model)).contains("not hybrid, wide"));
    let other = open(&Scene::open("box:3x3x3").unwrap(), Kind::F64).save().unwrap();
    assert!(refusal(Kind::F64, &other).contains("does not fit"));
    let touching = experiments().into_iter().find(|s| s.name == "x12-integrated").unwrap();
    let plain = Scene { forces: Default::default(), ..touching.clone() };
    let mut engine = open(&touching, Kind::F64);
    assert!(engine.restore(&open(&plain, Kind::F64).save().unwrap()).is_err());
    let wide = Snapshot::new("wide, table".to_owned(), 0, 0)
        .with("x", vec![i32::MAX; 3 * 64])
        .with("v", vec![0; 3 * 64])
        .with("u", vec![0; scene.mesh.edges.len()]);
    assert!(refusal(Kind::Model, &wide).contains("too many bits"));
    assert_eq!(state(Kind::F64).of(&scene).check_scene(&touching), Err(SnapshotError::Scene));
}

fn sum(list: impl Iterator<Item = Vec3>) -> Vec3 {
    list.fold(Vec3::zeros(), |sum, v| sum + v)
}

/// All that acts on the object from outside in a step, what holds it included, is the change of its momentum: under pins,
/// motions, contacts, loads and weight, and for particles that were let go.
#[test]
fn reactions_and_loads_are_the_change_of_momentum() {
    let mut seen = BTreeSet::new();
    let mut let_go = busy();
    let_go.motions[0].release = Some(Release { time: 0.04, at_rest: false });
    // When all of its loads act, and when they have ended.
    let made = [busy(), let_go].into_iter().flat_map(|scene| [(scene.clone(), 15), (scene, 50)]);
    let steps = |scene: &Scene| {
        (scene.steps_for(scene.duration) * 2 / 3).min(200_000 / scene.mesh.edges.len() as u64)
    };
    for (scene, steps) in made.chain(experiments().into_iter().map(|scene| (scene.clone(), steps(&scene)))) {
        let mut engine = open(&scene, Kind::F64);
        let free = |p: usize| scene.free_from(p).is_some_and(|first| first <= steps);
        let momentum = |engine: &mut Box<dyn Engine>| {
            let v = engine.motion().unwrap().1;
            sum((0..v.len()).filter(|&p| free(p)).map(|p| v[p] * scene.mass[p]))
        };
        engine.advance(steps).unwrap();
        let (sensed, before) = (engine.sense().unwrap(), momentum(&mut engine));
        engine.advance(1).unwrap();
        let reactions = scene.reactions(&sensed, steps);
        let on_object = sum(reactions.iter().map(|r| -r.force));
        let all = scene.loads.iter().filter(|l| {
            (scene.steps_for(l.from)..if l.to.is_finite() { scene.steps_for(l.to) } else { u64::MAX })
                .contains(&steps)
        });
        let loads = sum(all.map(|l| l.force * l.particles.len() as f64));
        let weight = scene.gravity * scene.mass.iter().sum::<f64>();
        let change = momentum(&mut engine) - before;
        let wanted = (on_object + loads + weight) * scene.step;
        let size = scene.step * sensed.particles.iter().map(|f| f.norm()).sum::<f64>() + before.norm();
        assert!(
            (change - wanted).norm() <= 1e-12 * (size + weight.norm() * scene.step),
            "{}: {change} {wanted}",
            scene.name
        );
        let holders = scene.holders().into_iter().zip(&reactions).filter(|(_, r)| r.force.norm() > 0.0);
        seen.extend(holders.map(|(holder, _)| match holder.holding {
            Holding::Boundary(_) => "contact",
            Holding::Particles(list) if scene.support[list[0] as usize] == Support::Pinned => "pins",
            Holding::Particles(_) => "motion",
        }));
        let others = [
            (loads.norm() > 0.0, "load"),
            (weight.norm() > 0.0, "weight"),
            (sensed.contacts.iter().any(|c| c.boundary().is_none()), "contact of two objects"),
            ((0..scene.mass.len()).any(|p| !scene.is_free(p) && free(p)), "let go"),
        ];
        seen.extend(others.into_iter().filter(|(there, _)| *there).map(|(_, what)| what));
    }
    let all = ["contact", "contact of two objects", "let go", "load", "motion", "pins", "weight"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

/// A block that lies on a floor weighs there what it weighs, on every engine that has floors.
#[test]
fn a_floor_feels_the_weight_of_what_lies_on_it() {
    let text = "step = 0.001\nmass = 0.01\ngravity = [0, 0, -9.81]\n[mesh.box]\nsize = [4, 4, 4]\npitch = 0.01\n\
                [materials.m]\nk1 = 1000\nc1 = 1\nc2 = inf\n[contact]\nstiffness = 500\ndamping = 1\n\
                [[boundaries]]\nname = \"table\"\nplane = { point = [0, 0, -0.016], normal = [0, 0, 1] }\n";
    let scene = Scene::parse(text, "block.toml").unwrap();
    for kind in [Kind::F64, Kind::F32] {
        let mut engine = open(&scene, kind);
        engine.advance(8000).unwrap();
        let sensed = engine.sense().unwrap();
        let [table] = &scene.reactions(&sensed, 8000)[..] else { panic!("one reaction") };
        let weight = 64.0 * 0.01 * 9.81;
        assert_eq!(table.name, "table");
        assert!((table.force.z + weight).abs() < 1e-3 * weight, "{kind:?}: {}", table.force);
        assert_eq!(sensed.contacts.len(), 16);
        assert!(sensed.contacts.iter().all(|c| c.depth > 0.0 && c.place.z < -0.016 && c.normal == Vec3::z()));
    }
}

/// The same pull on every engine: f32 and the hardware's words feel what f64 feels, and the words add up to zero exactly.
#[test]
fn all_engines_feel_the_same() {
    let scene = busy();
    let felt = |kind: Kind| {
        let mut engine = open(&scene, kind);
        engine.advance(45).unwrap();
        let sensed = engine.sense().unwrap();
        (scene.reactions(&sensed, 45), sensed)
    };
    let exact = felt(Kind::F64);
    assert_eq!(exact.0.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["pins", "motion"]);
    assert!(exact.0.iter().all(|r| r.force.norm() > 1.0));
    for kind in [Kind::F32, Kind::Hybrid, Kind::Model] {
        let found = felt(kind);
        let tolerance = if kind == Kind::F32 { 1e-4 } else { 2e-2 };
        for (a, b) in found.0.iter().zip(&exact.0) {
            assert!((a.force - b.force).norm() < tolerance * b.force.norm(), "{kind:?} {a:?} {b:?}");
        }
        for (a, b) in found.1.elements.iter().zip(&exact.1.elements) {
            assert!((a - b).norm() < tolerance * 40.0, "{kind:?} {a} {b}");
        }
    }
    let image = Image::new(&scene, Profile::Wide, Inverse::Table).unwrap();
    let mut model = Model::new(image, 1);
    model.advance(45);
    let words = Words::of(45, &model.particles(), model.extensions(), model.overflow());
    let forces = words.forces(model.image());
    let total = forces.iter().fold([0; 3], |sum, f| [0, 1, 2].map(|c| sum[c] + f[c]));
    assert_eq!(total, [0; 3]);
    // The sums are those that the force memories hold in the next step.
    model.advance(1);
    assert_eq!(forces, model.forces().iter().map(|f| f.map(i64::from)).collect::<Vec<_>>());
}
