//! One driver, every device: what holds on one holds on the model, the Verilated hardware, and a recording of it.

use nendo_hdl::{
    config::Config,
    map::{Access, Map, Reg, Way, command_word},
    verilated::Options,
};
use nendo_host::{
    board::{Board, BoardError, Completion, selftest::selftest},
    device::{
        Device, DeviceError, Waited,
        model::ModelDevice,
        record::{Recorder, Replay},
        rtl::Rtl,
    },
    engine::{BoardEngine, Engine},
    live,
};
use nendo_model::{
    blocks::Inverse,
    engine::Model,
    image::Image,
    numbers::Profile,
    scene::Scene,
    testing::{images_of, runner, sample},
};
use proptest::prelude::*;
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

/// Does the same on the model, on the hardware while it is recorded, and on the recording.
fn on_every_device<T: PartialEq + Debug>(config: &Config, mut test: impl FnMut(&mut dyn Device) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording.jsonl");
    let on_model = test(&mut ModelDevice::new(config, 1));
    let mut hardware = Recorder::new(Rtl::new(config, Options::default()).unwrap(), &file).unwrap();
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
    for profile in Profile::ALL {
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
        let (done, report) = live::run(&mut engine, 30, 0.001, &[20, 21, 26], |_, _| true).unwrap();
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
    let image = press(Profile::Wide, Inverse::Table);
    let image = Image { events: Vec::new(), ..image };
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
            assert!(matches!(
                board.motion(),
                Err(BoardError::Device(DeviceError::Refused { write: false, .. }))
            ));
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
fn the_interrupt_is_a_level_until_it_is_acknowledged() {
    let image = press(Profile::Wide, Inverse::Table);
    on_every_device(&MINIMAL, |device| {
        let asserted = |device: &mut dyn Device| device.wait_interrupt(0).unwrap() == Waited::Came;
        let (interrupt, enable) = (Reg::Interrupt.address(), Reg::InterruptEnable.address());
        let mut board = Board::open(&mut *device).unwrap();
        board.load(&image).unwrap();
        board.run(3).unwrap();
        // It has ended, but nobody has asked for interrupts.
        assert_eq!((device.read(interrupt).unwrap(), device.read(enable).unwrap()), (1, 0));
        assert!(!asserted(device));
        device.write(enable, 1).unwrap();
        assert!(asserted(device) && asserted(device));
        device.write(interrupt, 0).unwrap();
        assert!(asserted(device));
        device.write(interrupt, 1).unwrap();
        assert!(!asserted(device));
        assert_eq!((device.read(interrupt).unwrap(), device.read(enable).unwrap()), (0, 1));
        // A reset is no end of a run, and switches it off.
        Board::open(&mut *device).unwrap().start(0).unwrap();
        assert_eq!(device.wait_interrupt(20_000).unwrap(), Waited::TimedOut);
        device.reset().unwrap();
        assert_eq!((device.read(interrupt).unwrap(), device.read(enable).unwrap()), (0, 0));
        assert!(!asserted(device));
    });
}

#[test]
fn runs_are_waited_for_by_interrupt() {
    let image = press(Profile::Wide, Inverse::Table);
    let mut model = Model::new(image.clone(), 1);
    model.advance(30);
    let digest = on_every_device(&MINIMAL, |device| {
        let mut board = Board::open(device).unwrap();
        board.set_completion(Completion::Interrupt).unwrap();
        // An interrupt that is left from before is no end of the next run.
        board.load(&image).unwrap();
        board.start(1).unwrap();
        board.device().pause(10_000);
        let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
        engine.run(10).unwrap();
        // Nor is one missed that an idle engine does not give.
        engine.board().stop().unwrap();
        let mut board = engine.into_board().reopen().unwrap();
        assert_eq!(board.completion(), Completion::Interrupt);
        let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
        engine.run(29).unwrap();
        engine.begin_step().unwrap();
        engine.finish_step().unwrap();
        let digest = engine.state_digest().unwrap();
        board = engine.into_board();
        board.set_completion(Completion::Poll).unwrap();
        assert_eq!(board.device().read(Reg::InterruptEnable.address()).unwrap(), 0);
        digest
    });
    assert_eq!(digest, model.state_digest());
}

/// A device whose interrupt is always answered for it.
struct Answered(ModelDevice, Waited);

impl Device for Answered {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        self.0.read(address)
    }
    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.0.write(address, value)
    }
    fn pause(&mut self, clocks: u64) {
        self.0.pause(clocks);
    }
    fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
        if self.1 == Waited::TimedOut {
            self.0.pause(clocks);
        }
        Ok(self.1)
    }
    fn reset(&mut self) -> Result<(), DeviceError> {
        self.0.reset()
    }
    fn name(&self) -> String {
        "answered".to_owned()
    }
}

/// No interrupt, a lost one, and too many of them: an error that says what to do, or the right end; never a hang.
#[test]
fn interrupts_that_are_not_what_they_should_be() {
    let image = press(Profile::Wide, Inverse::Table);
    let board = |waited| {
        let mut board = Board::open(Answered(ModelDevice::new(&MINIMAL, 1), waited)).unwrap();
        board.set_completion(Completion::Interrupt).map(|()| {
            board.load(&image).unwrap();
            board
        })
    };
    let none = board(Waited::Unsupported).err().unwrap().to_string();
    assert!(none.contains("no interrupt") && none.contains("--completion poll"), "{none}");
    let lost = board(Waited::TimedOut).unwrap().run(3).unwrap_err();
    assert!(matches!(lost, BoardError::LostInterrupt { .. }), "{lost}");
    assert!(lost.to_string().contains("--completion poll"), "{lost}");
    // It asks again and again, and the engine does end.
    board(Waited::Came).unwrap().run(3).unwrap();
    // An engine that does not: no more patience than with polling.
    let mut endless = board(Waited::Came).unwrap();
    endless.start(0).unwrap();
    assert!(matches!(endless.finish(), Err(BoardError::Busy { .. })));
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
    let mut recorder = Recorder::new(ModelDevice::new(&MINIMAL, 1), &file).unwrap();
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

/// An access to an idle device.
#[derive(Clone, Debug)]
enum Op {
    Read(u32),
    Write(u32, u32),
}

/// Anything at all, most of it somewhere.
fn ops(map: &Map) -> impl Strategy<Value = Vec<Op>> + use<> {
    let registers: Vec<u32> = map.registers.iter().map(|r| r.address).collect();
    // Whether it runs, and for how long, is a matter of time, which the two count differently.
    let quiet = registers.into_iter().filter(|&a| a != Reg::Command.address() && a != Reg::Status.address());
    let quiet: Vec<u32> = quiet.collect();
    let words = |w: &nendo_hdl::map::Window| {
        let (base, length, span) = (w.base, 4 * w.items * w.stride, map.module_span);
        (0..w.modules).map(move |m| base + m * span).map(move |from| (from, from + length))
    };
    let windows: Vec<(u32, u32)> = map.windows.iter().flat_map(words).collect();
    let size = map.size;
    let address = prop_oneof![
        6 => prop::sample::select(windows).prop_flat_map(|(from, to)| {
            // The beginning, where items meet each other again, and everywhere.
            prop_oneof![from..(from + 64).min(to), from..to].prop_map(|a| a & !3)
        }),
        4 => prop::sample::select(quiet),
        1 => (0..size).prop_filter("commands", |a| a & !3 != Reg::Command.address()),
    ];
    let op = (address, any::<bool>(), any::<u32>()).prop_map(|(address, write, value)| {
        if write { Op::Write(address, value) } else { Op::Read(address) }
    });
    prop::collection::vec(op, 1..200)
}

fn perform(device: &mut dyn Device, op: &Op) -> Result<Option<u32>, String> {
    match *op {
        Op::Read(address) => device.read(address).map(Some),
        Op::Write(address, value) => device.write(address, value).map(|()| None),
    }
    .map_err(|e| e.to_string())
}

/// Register for register and word for word the same device, for any sequence of accesses while idle.
#[test]
fn the_model_answers_every_access_as_the_hardware_does() {
    answers_alike(MINIMAL);
    answers_alike(THREE);
}

fn answers_alike(config: Config) {
    let map = Map::new(&config);
    let mut runner = runner();
    let mut hardware = Rtl::new(&config, Options::default()).unwrap();
    let mut model = ModelDevice::new(&config, 1);
    // Both begin with what a user has put there: memories of a board are not cleared by power-on.
    let image = sample(images_of(Profile::Wide, Inverse::Table, false), &mut runner);
    for device in [&mut hardware as &mut dyn Device, &mut model] {
        for window in map.windows.iter().filter(|w| w.way != Way::ReadOnly) {
            let zeros = vec![0; (window.items * window.stride) as usize];
            (0..window.modules)
                .for_each(|m| device.write_block(window.base + m * map.module_span, &zeros).unwrap());
        }
        device.write(Reg::Command.address(), command_word(4)).unwrap();
        device.pause(2000);
        Board::open(device).unwrap().load(&image).unwrap();
    }
    // Opening and loading took different numbers of looks at the status: the sums of reads start anew.
    let sums = |d: &mut dyn Device| (d.read(0x80).unwrap(), d.read(0x84).unwrap());
    assert_eq!(sums(&mut hardware), sums(&mut model));
    let mut accesses = 0;
    for round in 0..60 {
        for (k, op) in sample(ops(&map), &mut runner).iter().enumerate() {
            let (found, expected) = (perform(&mut hardware, op), perform(&mut model, op));
            let read_sum = matches!(op, Op::Read(a) if (0x88..0x90).contains(a));
            assert!(
                read_sum || found == expected,
                "round {round}, access {k}, {op:x?}: {found:x?}, {expected:x?}"
            );
            accesses += 1;
        }
    }
    assert!(accesses > 3000);
    println!("{accesses} accesses compared");
}

/// Every bit of every register does what the map says: kept, refused, cleared by a one, or only read.
#[test]
fn every_bit_of_every_register() {
    let map = Map::new(&MINIMAL);
    on_every_device(&MINIMAL, |device| {
        let mut tried = 0;
        for register in &map.registers {
            let (address, mask) = (register.address, u32::MAX >> (32 - register.bits));
            for bit in 0..32 {
                let word = 1u32 << bit;
                let before = device.read(address).unwrap();
                let written = device.write(address, word).is_ok();
                let after = device.read(address).unwrap();
                match register.access {
                    Access::Constant(value) => assert_eq!((written, before, after), (false, value, value)),
                    Access::ReadOnly if register.name.is_sum() => assert!(!written),
                    Access::ReadOnly => assert_eq!((written, after), (false, before), "{:?}", register.name),
                    Access::ReadWrite => {
                        assert_eq!((written, after), (true, word & mask), "{:?}", register.name)
                    }
                    // A single bit is never a command: the other half is not its complement.
                    Access::Command => assert_eq!((written, before, after), (false, 0, 0)),
                    Access::WriteOneToClear => assert_eq!((written, after), (true, before & !word)),
                }
                tried += 1;
            }
        }
        tried
    });
}

/// Overflow flags are set by the engine and cleared one by one.
#[test]
fn overflow_flags_are_cleared_bit_by_bit() {
    let mut runner = runner();
    let mut image;
    let mut model;
    // Something that overflows in several places.
    loop {
        image = sample(images_of(Profile::Wide, Inverse::Table, true), &mut runner);
        model = Model::new(image.clone(), 1);
        model.advance(5);
        if model.overflow().sources().count() >= 2 {
            break;
        }
    }
    on_every_device(&MINIMAL, |device| {
        let mut engine = BoardEngine::new(Board::open(&mut *device).unwrap(), image.clone(), None).unwrap();
        engine.run(5).unwrap();
        assert_eq!(engine.overflow(), model.overflow());
        drop(engine);
        let mut flags = device.read(Reg::Overflow.address()).unwrap();
        assert_eq!(flags, u32::from(model.overflow().bits()));
        for bit in 0..8 {
            device.write(Reg::Overflow.address(), 1 << bit).unwrap();
            flags &= !(1 << bit);
            assert_eq!(device.read(Reg::Overflow.address()).unwrap(), flags);
        }
        assert_eq!(flags, 0);
    });
}
