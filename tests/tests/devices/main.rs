//! One driver, every device: what holds on one holds on the model, the Verilated hardware, and a recording of it.

mod interrupts;
mod refusals;
mod registers;

use nendo_hdl::sim::verilated::SimOptions;
use nendo_host::{
    board::{Board, BoardError},
    device::{
        Device,
        model::ModelDevice,
        record::{Recorder, Replay},
        rtl::Rtl,
    },
    engine::{BoardEngine, Engine},
    live,
    selftest::selftest,
};
use nendo_model::{
    contract::{
        config::Config,
        image::Image,
        numbers::{Inverse, Profile},
    },
    scene::Scene,
    twin::engine::Model,
};
use std::fmt::Debug;

const MINIMAL: Config = Config::minimal(Profile::Wide, Inverse::Table);
/// As many modules as need two bits, with an address that no module has.
const THREE: Config = Config { modules: 3, ..MINIMAL };

/// Pushed, pinned and moved particles, gravity, two materials.
const PRESS: &str = r#"
step = 0.001
mass = 0.001
gravity = [0, 0, -9.81]
material = "dough"
[mesh.box]
size = [3, 3, 3]
pitch = 0.01
[materials.dough]
k1 = 60.0
c1 = 0.1
c2 = 100.0
[materials.rubber]
k1 = 80.0
c1 = 0.1
c2 = inf
[[edges]]
on = { face = "z-max" }
material = "rubber"
[[pins]]
on = { face = "z-min" }
[[motions]]
on = [26]
frames = [{ t = 0.01, offset = [0, 0, -0.001] }, { t = 0.02, offset = [0, 0, 0] }]
[[forces]]
on = [20, 21]
force = [0.01, 0, 0]
from = 0.005
to = 0.015
"#;

fn press(profile: Profile, inverse: Inverse) -> Image {
    Image::new(&Scene::parse(PRESS, "press.toml").unwrap(), profile, inverse).unwrap()
}

/// Moving by itself: without writes between steps, with forces that last.
fn pushed() -> Image {
    let image = press(Profile::Wide, Inverse::Table);
    let mut particles = image.particles;
    particles.iter_mut().skip(9).zip(1..).for_each(|(p, k)| p.force = [40 * k, -900 + 70 * k, 25 * k - 300]);
    Image { particles, events: Vec::new(), ..image }
}

/// Does the same on the model, on the hardware while it is recorded, and on the recording.
fn on_every_device<T: PartialEq + Debug>(config: &Config, mut test: impl FnMut(&mut dyn Device) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording.jsonl");
    let on_model = test(&mut ModelDevice::new(config, 1));
    let mut hardware =
        Recorder::new(Rtl::new(config, SimOptions::default()).unwrap(), &file, "cube").unwrap();
    let on_hardware = test(&mut hardware);
    assert!(!file.exists(), "a recording has its name only when it is whole");
    hardware.close().unwrap();
    let on_recording = test(&mut Replay::new(&file).unwrap());
    assert_eq!(on_model, on_hardware);
    assert_eq!(on_hardware, on_recording);
    on_model
}

#[test]
fn every_profile_and_scene_has_one_digest() {
    for profile in Profile::HARDWARE {
        for inverse in Inverse::ALL {
            let config = Config::minimal(profile, inverse);
            let scene = |name: &str| Image::new(&Scene::open(name).unwrap(), profile, inverse).unwrap();
            let mut images = vec![scene("single"), scene("table3")];
            if profile == Profile::Wide {
                images.push(press(profile, inverse));
            }
            for image in images {
                let mut model = Model::new(image.clone(), 1);
                model.advance(30);
                let (digest, overflow) = on_every_device(&config, |device| {
                    let board = Board::open(device).unwrap().require(profile, inverse).unwrap();
                    let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
                    engine.run(30).unwrap();
                    assert_eq!(engine.link_retries(), Some(0));
                    (engine.state_digest().unwrap(), engine.overflow())
                });
                assert_eq!(
                    (digest, overflow),
                    (model.state_digest(), model.overflow()),
                    "{profile} {inverse}"
                );
            }
        }
    }
}

#[test]
fn live_runs_end_in_the_same_state() {
    let image = press(Profile::Wide, Inverse::Table);
    assert_eq!(live::default_points(&Scene::parse(PRESS, "press.toml").unwrap()), [20, 21]);
    let mut model = Model::new(image.clone(), 1);
    model.advance(30);
    let digest = on_every_device(&MINIMAL, |device| {
        let mut engine = BoardEngine::new(Board::open(device).unwrap(), image.clone(), None).unwrap();
        let plan = live::Loop { steps: 30, step: 0.001, points: &[20, 21, 26] };
        let (done, report) = live::run_board(&mut engine, plan, |_, sound| sound).unwrap();
        assert_eq!((done, report.ticks, report.frames, report.points.len()), (30, 30, 1, 3));
        let last = engine.positions().unwrap();
        for point in &report.points {
            let exact: [f64; 3] = last[point.particle as usize].into();
            // The display has the operands: positions without their residual bits.
            assert!(
                exact.iter().zip(point.position).all(|(a, b)| (a - b).abs() < 1e-5),
                "{exact:?} {point:?}"
            );
        }
        engine.state_digest().unwrap()
    });
    assert_eq!(digest, model.state_digest());
}

/// The engine keeps running while the display is read and forces are written; each point that is read is one
/// the particle really was at, and the end is what the model says for that many steps.
#[test]
fn display_points_and_forces_while_running() {
    let image = pushed();
    let x = image.numbers().x;
    let operands = |m: &Model| -> Vec<[i32; 3]> {
        m.particles().iter().map(|p| p.x.map(|c| x.operand(c.into()) as i32)).collect()
    };
    for config in [MINIMAL, THREE] {
        on_every_device(&config, |device| {
            let mut board = Board::open(device).unwrap();
            board.load(&image).unwrap();
            board.start(0).unwrap();
            let mut seen = Vec::new();
            for _ in 0..10 {
                seen.push(board.display().unwrap());
                let points = board.points(&[3, 20]).unwrap();
                assert_eq!(points.len(), 2);
                let p = image.particles[20];
                board.set_force(20, p.force, p.class).unwrap();
                assert!(board.is_busy().unwrap());
            }
            // Positions, velocities and edges are not to be touched meanwhile.
            assert!(matches!(board.motion(), Err(BoardError::InUse { .. })));
            let steps = board.stop().unwrap();
            assert!(steps > 5 && !board.is_busy().unwrap(), "{steps}");
            let mut model = Model::new(image.clone(), 1);
            let mut path = vec![operands(&model)];
            for _ in 0..steps {
                model.advance(1);
                path.push(operands(&model));
            }
            for display in seen {
                for (particle, point) in display.iter().enumerate() {
                    assert!(
                        path.iter().any(|at| at[particle] == *point),
                        "particle {particle} never was at {point:?}"
                    );
                }
            }
            let motion: Vec<_> = board.motion().unwrap().iter().map(|p| (p.x, p.v)).collect();
            assert_eq!(motion, model.particles().iter().map(|p| (p.x, p.v)).collect::<Vec<_>>());
            assert_eq!(board.display().unwrap(), *path.last().unwrap());
        });
    }
}

/// A board that was left in the middle of something is brought back without restarting the program.
#[test]
fn reset_and_reopen() {
    let image = press(Profile::Wide, Inverse::Table);
    let mut model = Model::new(image.clone(), 1);
    model.advance(10);
    let digest = on_every_device(&MINIMAL, |device| {
        let mut board = Board::open(device).unwrap();
        board.load(&image).unwrap();
        board.start(0).unwrap();
        assert!(board.is_busy().unwrap());
        let board = board.reopen().unwrap();
        let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
        engine.run(10).unwrap();
        engine.state_digest().unwrap()
    });
    assert_eq!(digest, model.state_digest());
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let large = Image::new(&Scene::open("block16").unwrap(), Profile::Wide, Inverse::Table).unwrap();
    on_every_device(&MINIMAL, |device| {
        let mut board = Board::open(device).unwrap();
        let error = board.load(&large).unwrap_err().to_string();
        assert!(
            error.contains("3600 particles and 19531 slots")
                && error.contains("one module of 1024 particles and 5120 edges"),
            "{error}"
        );
        let error = board.require(Profile::Paper2005, Inverse::Cordic).err().unwrap().to_string();
        assert!(error.contains("profile wide (table)") && error.contains("paper-2005 (cordic)"), "{error}");
    });
}

#[test]
fn sound_boards_pass_their_selftest() {
    for config in [MINIMAL, THREE] {
        on_every_device(&config, |device| {
            let (report, _) = selftest(Board::open(device).unwrap()).unwrap();
            assert!(report.passed() && report.words > 50_000 * config.modules, "{report:?}");
            // Under a second of board time at the slowest clock a board had.
            assert!(report.cycles < 33_000_000);
            report
        });
    }
}

/// A word that differs from the recording, an end too early, and anything that is no recording: an error that
/// names the line.
#[test]
fn a_replay_does_not_invent_answers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let image = press(Profile::Wide, Inverse::Table);
    let mut recorder = Recorder::new(ModelDevice::new(&MINIMAL, 1), &file, "none").unwrap();
    Board::open(&mut recorder).unwrap().load(&image).unwrap();
    recorder.close().unwrap();
    let other = Image { edges: image.edges[1..].to_vec(), ..image };
    let mut board = Board::open(Replay::new(&file).unwrap()).unwrap();
    let error = board.load(&other).unwrap_err().to_string();
    assert!(error.contains("r.jsonl:") && error.contains("the program asks to"), "{error}");
    let text = std::fs::read_to_string(&file).unwrap();
    let half: String = text.lines().take(20).map(|l| format!("{l}\n")).collect();
    std::fs::write(&file, half).unwrap();
    let error = Board::open(Replay::new(&file).unwrap()).err().unwrap().to_string();
    assert!(error.contains("r.jsonl:21") && error.contains("ends here"), "{error}");
    for noise in ["", "{}", "\u{0}", "{\"nendo_recording\": 99, \"device\": \"x\"}", "[[[[[["] {
        std::fs::write(&file, noise).unwrap();
        assert!(Replay::new(&file).is_err(), "{noise}");
    }
    std::fs::write(&file, [0xff; 10]).unwrap();
    assert!(Replay::new(&file).is_err());
}

/// Sums do not depend on who computes what: any number of modules, primes among them, has the model's digest, and takes the
/// clocks that were planned.
#[test]
fn any_number_of_modules_has_the_models_digest() {
    let scene = Scene::open("cube9").unwrap();
    let image = Image::new(&scene, Profile::Wide, Inverse::Table).unwrap();
    let mut model = Model::new(image.clone(), 2);
    model.advance(20);
    for modules in [3, 5, 7, 12, 100, 101] {
        let board = Board::open(ModelDevice::new(&Config { modules, ..MINIMAL }, 2)).unwrap();
        let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
        engine.run(20).unwrap();
        assert_eq!(engine.state_digest().unwrap(), model.state_digest(), "{modules} modules");
        let planned = engine.board().schedule().cycles_per_step();
        assert_eq!(engine.cycles_per_step(), Some(planned), "{modules} modules");
    }
}
