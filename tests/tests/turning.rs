//! What turns: supports along arcs on every engine, tables that carry what lies on them, by closed forms.

use nalgebra::{Rotation3, Vector3};
use nendo_host::engine::{EngineKind, EngineOptions, open};
use nendo_model::scene::{Scene, Support};

/// A box of 3 cm whose lid is turned by half a turn and lifted, then goes on at a constant rate.
const TWISTED: &str = "step = 0.001\nduration = 1.2\nmass = 0.01\n[mesh.box]\nsize = [3, 3, 4]\npitch = 0.01\n\
    [materials.m]\nk1 = 60\nc1 = 0.4\nc2 = 100\n[[pins]]\non = { face = \"z-min\" }\n\
    [[motions]]\nname = \"lid\"\non = { face = \"z-max\" }\n\
    frames = [{ t = 0.6, offset = [0, 0, 0.005], turn = [0, 0, 1.5] }]\n\
    velocity = [0.002, 0, 0]\nspin = [0, 0, 0.5]\nuntil = 1.0\n";

/// Where the lid is, from the words above: about its middle, by hand.
fn lid(time: f64) -> impl Fn(Vector3<f64>) -> Vector3<f64> {
    let share = (time / 0.6).min(1.0);
    let lasts = time.min(1.0);
    let turned = Rotation3::from_axis_angle(&Vector3::z_axis(), 1.5 * share + 0.5 * lasts);
    let middle = Vector3::new(0.0, 0.0, 0.015);
    move |start| middle + Vector3::new(0.002 * lasts, 0.0, 0.005 * share) + turned * (start - middle)
}

fn options(kind: EngineKind) -> EngineOptions {
    EngineOptions { kind, device: "model".parse().unwrap(), ..EngineOptions::default() }
}

#[test]
fn supports_go_along_arcs_on_every_engine() {
    let scene = Scene::parse(TWISTED, "twisted.toml").unwrap();
    let held: Vec<usize> = (0..36).filter(|&p| matches!(scene.support[p], Support::Moved(_))).collect();
    assert_eq!(held.len(), 9);
    for kind in [EngineKind::F64, EngineKind::F32, EngineKind::Model] {
        let mut engine = open(&scene, &options(kind)).unwrap();
        // Between two corners of the path the way is straight: 1/128 rad of 1.42 cm leave the arc by 0.1 um.
        let tolerance = 2e-7 + if kind == EngineKind::Model { 2e-6 } else { 0.0 };
        for ms in [0, 137, 450, 600, 777, 1000, 1200] {
            engine.advance(ms - engine.step()).unwrap();
            let (x, _) = engine.motion().unwrap();
            let wanted = lid(ms as f64 * 0.001);
            for &p in &held {
                let far = (x[p] - wanted(scene.mesh.particles[p])).norm();
                assert!(far < tolerance, "{kind:?} at {ms} ms: particle {p} is {far} m beside its arc");
            }
        }
    }
}

#[test]
fn model_board_and_hardware_turn_alike() {
    let scene = Scene::parse(TWISTED, "twisted.toml").unwrap();
    let digest = |kind| {
        let mut engine = open(&scene, &options(kind)).unwrap();
        engine.advance(300).unwrap();
        engine.state_digest().unwrap()
    };
    let model = digest(EngineKind::Model);
    assert_eq!(model, digest(EngineKind::Board));
    assert_eq!(model, digest(EngineKind::Rtl));
}

/// A table that turns, and one that is driven along by key frames, drag what lies on them: mu g, as long as it slips.
#[test]
fn tables_that_move_carry_what_lies_on_them() {
    let scene = |table: &str| {
        let text = format!(
            "step = 0.0001\nduration = 1\nmass = 0.1\ngravity = [0, 0, -10]\n[mesh]\nparticles = [[0.3, 0, -0.001], [5.3, 0, -0.001]]\n\
             edges = [[0, 1]]\n[materials.m]\nk1 = 1e-9\nc1 = 1e-9\nc2 = 1\n[contact]\nstiffness = 1000\ndamping = 20\nfriction = 0.2\n\
             [[boundaries]]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n{table}\n"
        );
        Scene::parse(&text, "table.toml").unwrap()
    };
    let velocity = |table: &str, kind| {
        let mut engine = open(&scene(table), &options(kind)).unwrap();
        engine.advance(500).unwrap();
        engine.motion().unwrap().1[0]
    };
    for kind in [EngineKind::F64, EngineKind::F32] {
        for (table, direction) in [
            ("spin = [0, 0, 4]", Vector3::y()),
            ("spin = [0, 0, -4]\nabout = [0.3, 1, 0]", -Vector3::x()),
            ("velocity = [0, 1, 0]", Vector3::y()),
            ("frames = [{ t = 1, offset = [-2, 0, 0] }]", -Vector3::x()),
            ("frames = [{ t = 1, turn = [0, 0, 4] }]", Vector3::y()),
            // A belt turns with its table.
            ("belt = [1, 0, 0]\nframes = [{ t = 0.0002, turn = [0, 0, 1.5707963] }]", Vector3::y()),
        ] {
            let found = velocity(table, kind);
            let wanted = direction * (0.2 * 10.0 * 0.05);
            assert!((found - wanted).norm() < 0.02 * wanted.norm(), "{kind:?} {table}: {found} {wanted}");
        }
    }
}

#[test]
fn motions_that_cannot_be_meant_are_explained() {
    let error = |motion: &str| {
        let text = format!(
            "step = 0.001\nmass = 1\n[mesh.box]\nsize = [3,3,3]\npitch = 1\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n\
             [contact]\nstiffness = 1\n{motion}\n"
        );
        Scene::parse(&text, "motion.toml").unwrap_err().to_string()
    };
    let lid = "[[motions]]\non = { face = \"z-max\" }\n";
    let floor = "[[boundaries]]\nplane = { point = [0,0,-2], normal = [0,0,1] }\n";
    for (table, words) in [
        (lid.to_owned(), "needs key frames"),
        (format!("{lid}velocity = [0, 0, 0]"), "needs key frames"),
        (format!("{lid}spin = 2"), "else a vector"),
        (format!("{floor}spin = 2"), "else a vector"),
        (format!("{lid}frames = [{{ t = 1 }}]"), "needs an `offset`"),
        (format!("{lid}frames = []"), "at least one key frame"),
        (format!("{lid}frames = [{{ t = 0, offset = [1, 0, 0] }}]"), "first place"),
        (
            format!("{floor}frames = [{{ t = 1, offset = [1, 0, 0] }}, {{ t = 1, offset = [0, 0, 0] }}]"),
            "rise",
        ),
        (format!("{lid}frames = [{{ t = 1, offset = [1, 0, 0] }}]\nuntil = 2"), "goes with a constant"),
        (format!("{lid}velocity = [1, 0, 0]\nabout = [0, 0, 0]"), "goes with `spin`"),
        (format!("{lid}velocity = [1, 0, 0]\nuntil = 2\nrelease = 1"), "moved `until` 2 s"),
        (format!("{floor}belt = [1, 0, 0]\nspin = [1, 0]"), "three numbers"),
        (
            "[[boundaries]]\nball = { center = [0,0,2], radius = 1 }\nbelt = [1, 0, 0]".to_owned(),
            "`belt` goes with a plane",
        ),
    ] {
        let found = error(&table);
        assert!(found.contains(words) && found.contains("motion.toml:"), "{table}: {found}");
    }
}
