//! What a device refuses: starts that cannot run, and what is for an idle engine while it is busy.

use super::{
    MINIMAL, THREE, on_every_device, press, pushed,
    registers::{Op, perform},
};
use nendo_hdl::sim::verilated::SimOptions;
use nendo_host::{
    board::{Board, BoardError, Completion},
    device::{Device, Waited, model::ModelDevice, rtl::Rtl},
    engine::{BoardEngine, Engine},
};
use nendo_model::{
    contract::{
        config::Config,
        map::{Availability, Direction, Map, Reg, Window, WindowName},
        numbers::{Inverse, Profile},
        words::{Command, Refused, RegisterWord, Status},
    },
    testing::{runner, sample},
    twin::engine::Model,
};
use proptest::{prelude::*, test_runner::TestRunner};

const START: Command = Command { start: true, stop: false, clear: false };
const STOP: Command = Command { start: false, stop: true, clear: false };
const CLEAR: Command = Command { start: false, stop: false, clear: true };

fn get(device: &mut dyn Device, register: Reg) -> u32 {
    device.read(register.address()).unwrap()
}

fn set(device: &mut dyn Device, register: Reg, value: u32) {
    device.write(register.address(), value).unwrap();
}

/// The words of the first particles and their sums of forces.
fn words(device: &mut dyn Device, map: &Map) -> Vec<u32> {
    let windows =
        [WindowName::Position, WindowName::Velocity, WindowName::Force].map(|name| map.window(name));
    let address = |w: &Window| {
        (0..27)
            .flat_map(move |item| (0..3).map(move |k| (item, k)))
            .map(|(i, k)| w.address(i, k))
            .collect::<Vec<_>>()
    };
    windows.iter().flat_map(|w| address(w)).map(|address| device.read(address).unwrap()).collect()
}

fn refused(device: &mut dyn Device) -> Refused {
    Refused::from_bits(get(device, Reg::Refused))
}

fn state(device: &mut dyn Device) -> (bool, bool) {
    let Status { busy, refused, .. } = Status::from_bits(get(device, Reg::Status));
    (busy, refused)
}

/// It left `steps_done` as the run before had it, and no interrupt came.
#[test]
fn a_start_without_particles_slots_or_any_left_was_ignored_in_silence() {
    let image = press(Profile::Wide, Inverse::Table);
    let mut model = Model::new(image.clone(), 1);
    model.advance(8);
    let map = Map::new(&MINIMAL);
    let [most_particles, most_slots] = [MINIMAL.particles, MINIMAL.edges].map(|most| most as u32);
    let digest = on_every_device(&MINIMAL, |device| {
        let mut engine = BoardEngine::new(Board::open(&mut *device).unwrap(), image.clone(), None).unwrap();
        engine.run(3).unwrap();
        drop(engine);
        let before = words(device, &map);
        set(device, Reg::Interrupt, 1);
        set(device, Reg::InterruptEnable, 1);
        assert_eq!((get(device, Reg::StepsDone), get(device, Reg::Refused)), (3, 0));
        for (register, wrong) in [
            (Reg::Particles, 0),
            (Reg::Slots, 0),
            (Reg::TailClocks, 0),
            (Reg::Particles, most_particles + 1),
            (Reg::Slots, most_slots + 1),
        ] {
            let right = get(device, register);
            set(device, register, wrong);
            let seen = get(device, Reg::CommandsSeen);
            assert_eq!(device.wait_interrupt(0).unwrap(), Waited::TimedOut);
            set(device, Reg::Command, START.word());
            device.pause(100);
            assert_eq!(device.wait_interrupt(0).unwrap(), Waited::Came, "{register:?} = {wrong}");
            assert_eq!(state(device), (false, true), "{register:?} = {wrong}");
            assert_eq!(refused(device), Refused { start: true, ..Refused::default() });
            let counters = [Reg::StepsDone, Reg::CyclesLow, Reg::CyclesHigh].map(|r| get(device, r));
            assert_eq!((counters, get(device, Reg::CommandsSeen)), ([0; 3], seen + 1));
            set(device, Reg::Refused, u32::MAX);
            set(device, Reg::Interrupt, 1);
            assert_eq!(state(device), (false, false));
            set(device, register, right);
        }
        assert_eq!(words(device, &map), before);
        let mut engine = BoardEngine::new(Board::open(&mut *device).unwrap(), image.clone(), None).unwrap();
        engine.run(8).unwrap();
        engine.state_digest().unwrap()
    });
    assert_eq!(digest, model.state_digest());
}

/// A refused start is no end of a halted step: the next start goes on with it.
#[test]
fn a_halted_step_outlives_a_refused_start() {
    let image = pushed();
    let mut model = Model::new(image.clone(), 1);
    model.advance(4);
    let map = Map::new(&MINIMAL);
    let motion = on_every_device(&MINIMAL, |device| {
        let mut board = Board::open(device).unwrap();
        board.load(&image).unwrap();
        board.run(3).unwrap();
        board.run_elements().unwrap();
        assert_ne!(board.forces().unwrap(), [[0; 3]; 27]);
        let device = board.device();
        let before = words(device, &map);
        let left = get(device, Reg::TailClocks);
        set(device, Reg::TailClocks, 0);
        set(device, Reg::Command, START.word());
        device.pause(100);
        assert!(refused(device).start && !state(device).0);
        assert_eq!(words(device, &map), before);
        set(device, Reg::TailClocks, left);
        set(device, Reg::Steps, 1);
        set(device, Reg::Command, START.word());
        device.pause(5000);
        assert_eq!(get(device, Reg::StepsDone), 1);
        board.resync().unwrap();
        board.motion().unwrap().iter().map(|p| (p.x, p.v)).collect::<Vec<_>>()
    });
    assert_eq!(motion, model.particles().iter().map(|p| (p.x, p.v)).collect::<Vec<_>>());
}

/// Everything a run depends on is refused while it lasts; what is not, is not.
#[test]
fn a_run_was_changed_by_writes_while_it_was_busy() {
    let image = pushed();
    let map = Map::new(&MINIMAL);
    let access = Refused { access: true, ..Refused::default() };
    on_every_device(&MINIMAL, |device| {
        let mut board = Board::open(device).unwrap();
        board.load(&image).unwrap();
        board.start(0).unwrap();
        let device = board.device();
        let mut idle_only = 0;
        for register in &map.registers {
            let name = register.name;
            if name.is_of_run() {
                let before = get(device, name);
                for value in [0, 1, before ^ 1, u32::MAX] {
                    assert!(device.write(register.address, value).is_err(), "{name:?}");
                    assert_eq!((get(device, name), refused(device)), (before, access), "{name:?}");
                    set(device, Reg::Refused, u32::MAX);
                }
                idle_only += 1;
            }
        }
        // Nine of them, and all said so.
        let said = map.registers.iter().filter(|r| r.availability == Availability::Idle);
        assert_eq!((idle_only, said.count()), (9, 9));
        set(device, Reg::Scratch, 0x1234_5678);
        set(device, Reg::InterruptEnable, 0);
        assert_eq!((get(device, Reg::Scratch), refused(device)), (0x1234_5678, Refused::default()));
        for window in &map.windows {
            let [read, write] = [device.read(window.base).is_ok(), device.write(window.base, 0).is_ok()];
            let free = window.availability == Availability::Always;
            assert_eq!(read, free && window.direction != Direction::WriteOnly, "{:?}", window.name);
            assert_eq!(write, free && window.direction != Direction::ReadOnly, "{:?}", window.name);
            assert_eq!(refused(device).access, !free, "{:?}", window.name);
            set(device, Reg::Refused, u32::MAX);
        }
        for command in [START, CLEAR, Command { clear: true, ..START }] {
            set(device, Reg::Command, command.word());
            assert_eq!(refused(device), Refused { command: true, ..Refused::default() });
            assert_eq!(state(device), (true, true));
            // One by one: those that are not named stay.
            set(device, Reg::Refused, access.bits());
            assert!(refused(device).command);
            set(device, Reg::Refused, u32::MAX);
        }
        set(device, Reg::Command, STOP.word());
        device.pause(20_000);
        // Too late, but nobody can know: no error.
        set(device, Reg::Command, STOP.word());
        assert_eq!((state(device), refused(device)), ((false, false), Refused::default()));
        let steps = get(device, Reg::StepsDone);
        let mut model = Model::new(image.clone(), 1);
        model.advance(steps.into());
        board.resync().unwrap();
        // The write to `external` was one of its first word: it stored nothing.
        assert_eq!(board.memories().unwrap().particles, model.particles());
        assert_ne!(model.particles(), image.particles);
    });
}

/// The driver says what is wrong, whichever way it waits, and goes on when it is mended.
#[test]
fn the_driver_tells_what_was_refused() {
    let image = pushed();
    let mut model = Model::new(image.clone(), 1);
    model.advance(3);
    let digest = on_every_device(&MINIMAL, |device| {
        let mut board = Board::open(device).unwrap();
        for completion in [Completion::Poll, Completion::Interrupt] {
            board.set_completion(completion).unwrap();
            let error = board.run(3).unwrap_err();
            assert!(matches!(error, BoardError::NothingLoaded { .. }), "{error}");
            assert!(error.to_string().contains("load a scene first"), "{error}");
            assert!(matches!(board.run_elements(), Err(BoardError::NothingLoaded { .. })));
            board.start(0).unwrap();
            assert!(matches!(board.stop(), Err(BoardError::NothingLoaded { .. })));
            // Asked once, and nothing is left of it.
            assert_eq!(board.stop().unwrap(), 0);
        }
        board.load(&image).unwrap();
        board.start(0).unwrap();
        for error in [board.start(2).unwrap_err(), board.motion().unwrap_err(), board.edges().unwrap_err()] {
            assert!(matches!(error, BoardError::InUse { .. }), "{error}");
            assert!(error.to_string().contains("stop it first"), "{error}");
        }
        board.stop().unwrap();
        let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
        engine.run(3).unwrap();
        engine.state_digest().unwrap()
    });
    assert_eq!(digest, model.state_digest());
}

/// Whatever a host leaves in the bits that nothing has: above signed fields, between fields, above registers.
#[test]
fn bits_that_no_field_has_were_not_described() {
    let image = pushed();
    let mut model = Model::new(image.clone(), 1);
    model.advance(5);
    let seed = sample(any::<u32>(), &mut runner());
    for config in [MINIMAL, THREE] {
        let map = Map::new(&config);
        let state = on_every_device(&config, |device| {
            let mut board = Board::open(device).unwrap();
            board.load(&image).unwrap();
            let device = board.device();
            let mut state = seed;
            let mut noise = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state.rotate_left(16)
            };
            for register in map.registers.iter().filter(|r| r.name.is_of_run() && r.bits < 32) {
                let value = device.read(register.address).unwrap();
                device.write(register.address, value | noise() << register.bits).unwrap();
                assert_eq!(device.read(register.address).unwrap(), value, "{:?}", register.name);
            }
            for window in map.windows.iter().filter(|w| w.direction == Direction::ReadWrite) {
                for (module, item) in (0..window.modules).flat_map(|m| (0..32).map(move |k| (m, k))) {
                    let at = |word| map.address(window, module, item, word);
                    let words: Vec<u32> =
                        (0..window.words()).map(|word| device.read(at(word)).unwrap()).collect();
                    for (word, &value) in (0..).zip(&words) {
                        let here = || window.fields.iter().filter(|f| f.word == word);
                        let taken = here().fold(0, |all, f| all | f.mask());
                        let sign =
                            here().fold(0, |all, f| if f.signed { 1 << (f.low + f.bits - 1) } else { all });
                        // A signed field alone in its word fills it; otherwise what nobody has is zero.
                        let filled = here().count() == 1 && value & sign != 0;
                        let above = if filled { !taken } else { 0 };
                        assert_eq!(value & !taken, above, "{:?} {item}", window.name);
                        device.write(at(word), value & taken | noise() & !taken).unwrap();
                    }
                    for (word, &value) in (0..).zip(&words) {
                        assert_eq!(device.read(at(word)).unwrap(), value, "{:?} {item}", window.name);
                    }
                }
            }
            board.resync().unwrap();
            board.run(5).unwrap();
            let memories = board.memories().unwrap();
            (memories.particles, memories.edges.iter().map(|e| e.u).collect::<Vec<i32>>())
        });
        assert_eq!(state, (model.particles(), model.extensions()));
    }
}

/// What a round of random traffic does: registers, a command, and accesses while the engine is busy with it.
#[derive(Clone, Debug)]
struct Round {
    registers: Vec<(Reg, u32)>,
    halt: bool,
    command: Command,
    meanwhile: Vec<(Op, u64)>,
}

/// Sound ones mostly; `right` is what the counts should be.
fn rounds(map: &Map, right: &[(Reg, u32)]) -> impl Strategy<Value = Round> + use<> {
    let wrong = |name: Reg| match name {
        Reg::Particles => map.config.particles as u32 + 1,
        Reg::Slots => map.config.edges as u32 + 1,
        // More than are left are no harm.
        _ => 64,
    };
    let count = |&(name, right): &(Reg, u32)| {
        prop_oneof![10 => Just(right), 1 => Just(0), 1 => Just(wrong(name))].prop_map(move |n| (name, n))
    };
    let counts: Vec<_> = right.iter().map(count).collect();
    let flags = (any::<u32>(), any::<u32>(), any::<bool>());
    let registers = (counts, 40u32..60, flags).prop_map(|(mut registers, steps, (cleared, seen, on))| {
        registers.push((Reg::Steps, steps));
        registers.extend([
            (Reg::Refused, cleared),
            (Reg::Interrupt, seen),
            (Reg::InterruptEnable, on.into()),
        ]);
        registers
    });
    let command = any::<[bool; 3]>().prop_map(|[start, stop, clear]| Command { start, stop, clear });
    let command = prop_oneof![4 => Just(START), 2 => command];
    let restless =
        |r: Reg| r == Reg::Command || r == Reg::Status || r == Reg::StepsDone || r == Reg::Overflow;
    let restless = |r: Reg| restless(r) || r == Reg::CyclesLow || r == Reg::CyclesHigh || r.is_sum();
    let steady = map.registers.iter().filter(|r| !restless(r.name)).map(|r| r.address);
    let idle_only = map.windows.iter().filter(|w| w.availability == Availability::Idle).map(|w| w.base);
    let address = prop::sample::select(steady.chain(idle_only).collect::<Vec<u32>>());
    let again = prop_oneof![Just(START), Just(CLEAR)];
    let op = prop_oneof![
        8 => (address, any::<bool>(), any::<u32>()).prop_map(|(address, write, value)| {
            if write { Op::Write(address, value) } else { Op::Read(address) }
        }),
        1 => again.prop_map(|command| Op::Write(Reg::Command.address(), command.word())),
    ];
    let meanwhile = prop::collection::vec((op, 0..40u64), 1..30);
    (registers, prop::bool::weighted(0.2), command, meanwhile)
        .prop_map(|(registers, halt, command, meanwhile)| Round { registers, halt, command, meanwhile })
}

/// Starts with right and wrong counts, and accesses at random moments of what they start: the same answers, and in the
/// end the same words, flags and counters.
#[test]
fn random_starts_and_writes_while_busy() {
    for config in [MINIMAL, THREE] {
        let mut devices = (Rtl::new(&config, SimOptions::default()).unwrap(), ModelDevice::new(&config, 1));
        random_rounds(&config, &mut devices.0, &mut devices.1, &mut runner());
    }
}

fn random_rounds(
    config: &Config,
    hardware: &mut dyn Device,
    model: &mut dyn Device,
    runner: &mut TestRunner,
) {
    let map = Map::new(config);
    let image = pushed();
    Board::open(&mut *hardware).unwrap().load(&image).unwrap();
    Board::open(&mut *model).unwrap().load(&image).unwrap();
    let right = [Reg::Particles, Reg::Slots, Reg::TailClocks].map(|r| (r, get(model, r)));
    let rounds = rounds(&map, &right);
    let (mut halted, mut torn, mut runs, mut refusals, mut compared) = (false, false, 0, 0, 0);
    let mut both = |hardware: &mut dyn Device, model: &mut dyn Device, op: &Op, about: &str| {
        let (found, expected) = (perform(hardware, op), perform(model, op));
        assert_eq!(found, expected, "{about}: {op:x?}");
        compared += 1;
        found
    };
    for number in 0..100 {
        let round = sample(&rounds, runner);
        let about = format!("round {number}, {round:x?}");
        let halt = [(Reg::Halt, u32::from(round.halt))];
        for (register, value) in round.registers.iter().chain(&halt) {
            both(hardware, model, &Op::Write(register.address(), *value), &about).unwrap();
        }
        both(hardware, model, &Op::Write(Reg::Command.address(), round.command.word()), &about).unwrap();
        let (busy, flag) = state(hardware);
        assert_eq!((busy, flag), state(model), "{about}");
        let run = busy && round.command.start;
        (runs, refusals) = (runs + u32::from(run), refusals + u32::from(flag && !busy));
        // A halted step and clearing are short.
        let room = if run && !round.halt { usize::MAX } else { 6 * usize::from(busy && !run) };
        for (op, clocks) in round.meanwhile.iter().take(room) {
            let _ = both(hardware, model, op, &about);
            hardware.pause(*clocks);
            model.pause(*clocks);
        }
        let busy = busy && room > 0;
        assert_eq!([state(hardware).0, state(model).0].map(|b| b || !busy), [true; 2], "too short: {about}");
        for _ in 0..40 {
            hardware.pause(500);
            model.pause(500);
            if !state(hardware).0 && !state(model).0 {
                break;
            }
        }
        if round.command.start {
            torn &= halted;
            halted = if run { round.halt } else { halted };
        } else if round.command.clear {
            torn |= std::mem::take(&mut halted);
        }
        for register in &map.registers {
            let counts_clocks = matches!(register.name, Reg::CyclesLow | Reg::CyclesHigh);
            // Different modes were read; a model counts the clocks of a halted step when it is whole.
            let reads = matches!(register.name, Reg::ReadSumLow | Reg::ReadSumHigh);
            if !reads && !(counts_clocks && (halted || torn)) {
                both(hardware, model, &Op::Read(register.address), &about).unwrap();
            }
        }
        for window in map.windows.iter().filter(|w| w.direction != Direction::WriteOnly) {
            let items = (0..window.modules).flat_map(|m| (0..10).map(move |k| (m, k)));
            for (module, item) in items {
                for word in 0..window.words() {
                    let address = map.address(window, module, item, word);
                    both(hardware, model, &Op::Read(address), &about).unwrap();
                }
            }
        }
    }
    println!("{runs} runs, {refusals} refused, {compared} accesses compared");
    assert!(runs > 20 && refusals > 10);
}
