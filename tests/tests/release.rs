//! Pressed, held and let go: a moved particle is free again, on every engine, by the closed form of one element.

use nendo_host::engine::{Engine, EngineKind, EngineOptions, open};
use nendo_model::{engine::reference::Integrator, scene::Scene};

/// Mass in kg, k1 in N/m, c1 and c2 in N s/m.
const MASS: f64 = 0.1;
const K1: f64 = 40.0;
const C1: f64 = 1.0;
const C2: f64 = 8.0;
/// Pressed by so many metres in so many seconds, held and free for as many.
const DEPTH: f64 = 0.01;
const PRESS: f64 = 0.2;
const HOLD: f64 = 0.2;
const FREE: f64 = 0.3;

/// One element between a wall and a particle that is pressed along it; held, or let go as fast as it is.
fn pressed(step: f64, hold: f64, at_rest: bool) -> Scene {
    let text = format!(
        "step = {step}\nduration = 1\nmass = {MASS}\n[mesh]\nparticles = [[0, 0, 0], [0.1, 0, 0]]\nedges = [[0, 1]]\n\
         [materials.m]\nk1 = {K1}\nc1 = {C1}\nc2 = {C2}\n[[pins]]\non = [0]\n\
         [[motions]]\nname = \"press\"\non = [1]\nframes = [{{ t = {PRESS}, offset = [-{DEPTH}, 0, 0] }}]\n\
         release = {}\nat-rest = {at_rest}\n",
        PRESS + hold
    );
    Scene::parse(&text, "pressed.toml").unwrap()
}

/// Displacement, velocity and Voigt extension so long after the release: while it is moved the extension follows a linear
/// equation of one unknown, after that a linear system of three, whose exponential is summed here.
fn closed_form(hold: f64, at_rest: bool) -> [f64; 3] {
    let tau = (C1 + C2) / K1;
    let mut u = -C2 * DEPTH / PRESS / K1 * (1.0 - (-PRESS / tau).exp());
    u *= (-hold / tau).exp();
    let v = if at_rest || hold > 0.0 { 0.0 } else { -DEPTH / PRESS };
    // u' = (c2 x' - k1 u) / (c1 + c2); m x'' = -(k1 u + c1 u').
    let rate = [0.0, C2 / (C1 + C2), -K1 / (C1 + C2)];
    let force: [f64; 3] = std::array::from_fn(|k| -(C1 * rate[k] + if k == 2 { K1 } else { 0.0 }) / MASS);
    let system = [[0.0, 1.0, 0.0], force, rate];
    let mut state = [-DEPTH, v, u];
    // In a thousand pieces the series converges at once.
    for _ in 0..1000 {
        let mut term = state;
        for order in 1..=12 {
            let next = system.map(|row| (0..3).map(|k| row[k] * term[k]).sum::<f64>());
            term = next.map(|sum| sum * FREE / 1000.0 / f64::from(order));
            (0..3).for_each(|k| state[k] += term[k]);
        }
    }
    state
}

fn run(scene: &Scene, options: &EngineOptions, hold: f64) -> Box<dyn Engine> {
    let mut engine = open(scene, options).unwrap();
    engine.advance(scene.steps_for(PRESS + hold + FREE)).unwrap();
    engine
}

fn state(engine: &mut dyn Engine) -> [f64; 3] {
    let (x, v) = engine.motion().unwrap();
    [x[1].x - 0.1, v[1].x, engine.extensions().unwrap()[0]]
}

/// Held and let go; thrown: let go as fast as it is moved; and stopped at that moment.
const CASES: [(f64, bool); 3] = [(HOLD, false), (0.0, false), (0.0, true)];

#[test]
fn an_element_pressed_held_and_released_follows_its_closed_form() {
    for (hold, at_rest) in CASES {
        let wanted = closed_form(hold, at_rest);
        let options =
            EngineOptions { kind: EngineKind::F64, integrator: Integrator::Rk4, ..EngineOptions::default() };
        let scene = pressed(0.0002, hold, at_rest);
        let found = state(run(&scene, &options, hold).as_mut());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-9 * DEPTH, "hold {hold} {at_rest}: {found} {wanted}");
        }
        // The others take Euler's steps: their error is the step's.
        let scene = pressed(0.0001, hold, at_rest);
        for kind in [EngineKind::F64, EngineKind::F32, EngineKind::Hybrid, EngineKind::Model] {
            let found =
                state(run(&scene, &EngineOptions { kind, ..EngineOptions::default() }, hold).as_mut());
            for (k, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                let size = [DEPTH, DEPTH / PRESS, DEPTH][k];
                assert!(
                    (found - wanted).abs() < 0.01 * size,
                    "{kind:?} {k} {hold} {at_rest}: {found} {wanted}"
                );
            }
        }
    }
}

#[test]
fn model_board_and_hardware_release_alike() {
    for (hold, at_rest) in CASES {
        let scene = pressed(0.0005, hold, at_rest);
        let digest = |kind| {
            let options =
                EngineOptions { kind, device: "model".parse().unwrap(), ..EngineOptions::default() };
            run(&scene, &options, hold).state_digest().unwrap()
        };
        let model = digest(EngineKind::Model);
        assert_eq!(model, digest(EngineKind::Board), "{hold} {at_rest}");
        assert_eq!(model, digest(EngineKind::Rtl), "{hold} {at_rest}");
    }
}

/// A box under its weight, its lid pulled up and let go: from a state saved before the release or after it every engine goes
/// on to the same bits, and what held the lid feels nothing more.
#[test]
fn a_release_is_part_of_a_state_and_ends_the_reaction() {
    let text = "step = 0.001\nduration = 1\nmass = 0.01\ngravity = [0, 0, -9.8]\n[mesh.box]\nsize = [3, 3, 3]\npitch = 0.01\n\
        [materials.m]\nk1 = 60\nc1 = 0.4\nc2 = 100\n[[pins]]\non = { face = \"z-min\" }\n\
        [[motions]]\nname = \"lid\"\non = { face = \"z-max\" }\nframes = [{ t = 0.05, offset = [0, 0, 0.002] }]\nrelease = 0.08\n";
    let scene = Scene::parse(text, "lid.toml").unwrap();
    for kind in [EngineKind::F64, EngineKind::F32, EngineKind::Hybrid, EngineKind::Model, EngineKind::Board] {
        let options = EngineOptions { kind, device: "model".parse().unwrap(), ..EngineOptions::default() };
        let mut whole = open(&scene, &options).unwrap();
        let mut states = Vec::new();
        for step in [60, 80, 100] {
            whole.advance(step - whole.step()).unwrap();
            states.push(whole.save().unwrap());
            let sensed = whole.sense().unwrap();
            let lid = scene.reactions(&sensed, step).into_iter().find(|r| r.name == "lid").unwrap();
            assert_eq!(lid.force.norm() == 0.0, step >= 80, "{kind:?} {step} {lid:?}");
        }
        whole.advance(100).unwrap();
        let wanted = whole.state_digest().unwrap();
        // From the last to the first: an engine goes back, too.
        let mut other = open(&scene, &options).unwrap();
        for state in states.iter().rev() {
            other.restore(state).unwrap();
            other.advance(200 - other.step()).unwrap();
            assert_eq!(other.state_digest().unwrap(), wanted, "{kind:?} from {}", state.step);
        }
        let fallen = whole.positions().unwrap()[26].z;
        assert!(fallen < scene.mesh.particles[26].z, "{kind:?}: under its weight, {fallen}");
    }
}

/// A boundary touches what has been let go.
#[test]
fn what_is_released_falls_on_the_floor() {
    let text = "step = 0.0005\nduration = 3\nmass = 0.1\ngravity = [0, 0, -9.8]\n[mesh]\nparticles = [[0, 0, 1], [0, 0, 2]]\nedges = [[0, 1]]\n\
        [materials.m]\npreset = \"elastic\"\nk1 = 500\nc1 = 5\n\
        [[motions]]\non = \"all\"\nframes = [{ t = 0.1, offset = [0, 0, 0] }]\nrelease = 0.5\n\
        [contact]\nstiffness = 2000\ndamping = 20\n[[boundaries]]\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n";
    let scene = Scene::parse(text, "drop.toml").unwrap();
    for kind in [EngineKind::F64, EngineKind::F32] {
        let mut engine = open(&scene, &EngineOptions { kind, ..EngineOptions::default() }).unwrap();
        engine.advance(1000).unwrap();
        assert_eq!(engine.positions().unwrap()[0].z, 1.0, "{kind:?}: held");
        // From 1 m the free fall takes 0.45 s.
        engine.advance(800).unwrap();
        let z = engine.positions().unwrap()[0].z;
        assert!((z - (1.0 - 0.5 * 9.8 * 0.4 * 0.4)).abs() < 5e-3, "{kind:?}: {z}");
        engine.advance(4200).unwrap();
        let z = engine.positions().unwrap()[0].z;
        // The weight of both on the floor's spring.
        assert!((z + 2.0 * 0.1 * 9.8 / 2000.0).abs() < 1e-4, "{kind:?}: {z}");
    }
}

#[test]
fn a_senseless_release_is_refused_with_its_place() {
    for (keys, words) in [
        ("release = 0.05", "released at 0.05 s, but its last key frame is at 0.1 s"),
        ("release = -1", "released at -1 s"),
        ("at-rest = true", "`at-rest` goes with `release`"),
        ("release = \"soon\"", "release"),
    ] {
        let text = format!(
            "step = 0.001\nmass = 1\n[mesh.box]\nsize = [2, 2, 2]\npitch = 1\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n\
             [[motions]]\non = [0]\nframes = [{{ t = 0.1, offset = [0, 0, 0.1] }}]\n{keys}\n"
        );
        let error = Scene::parse(&text, "bad.toml").unwrap_err().to_string();
        assert!(error.starts_with("bad.toml:") && error.contains(words), "{keys}: {error}");
    }
}
