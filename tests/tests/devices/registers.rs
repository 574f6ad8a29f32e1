//! Registers and windows, access by access.

use super::{MINIMAL, THREE, on_every_device};
use nendo_hdl::sim::verilated::SimOptions;
use nendo_host::{
    board::Board,
    device::{Device, model::ModelDevice, rtl::Rtl},
    engine::{BoardEngine, Engine},
};
use nendo_model::{
    contract::{
        config::Config,
        map::{Access, Direction, Map, Reg},
        numbers::{Inverse, Profile},
        words::Command,
    },
    testing::{images_of, runner, sample},
    twin::engine::Model,
};
use proptest::prelude::*;

/// An access to an idle device.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Read(u32),
    Write(u32, u32),
}

/// Anything at all, most of it somewhere.
fn ops(map: &Map) -> impl Strategy<Value = Vec<Op>> + use<> {
    let registers: Vec<u32> = map.registers.iter().map(|r| r.address).collect();
    // Whether it runs, and for how long, is a matter of time, which the two count differently.
    let quiet = registers.into_iter().filter(|&a| a != Reg::Command.address() && a != Reg::Status.address());
    let quiet: Vec<u32> = quiet.collect();
    let words = |w: &nendo_model::contract::map::Window| {
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

pub(super) fn perform(device: &mut dyn Device, op: &Op) -> Result<Option<u32>, String> {
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
    let mut hardware = Rtl::new(&config, SimOptions::default()).unwrap();
    let mut model = ModelDevice::new(&config, 1);
    // Both begin with what a user has put there: memories of a board are not cleared by power-on.
    let image = sample(images_of(Profile::Wide, Inverse::Table, false), &mut runner);
    for device in [&mut hardware as &mut dyn Device, &mut model] {
        for window in map.windows.iter().filter(|w| w.direction != Direction::ReadOnly) {
            let zeros = vec![0; (window.items * window.stride) as usize];
            (0..window.modules)
                .for_each(|m| device.write_block(window.base + m * map.module_span, &zeros).unwrap());
        }
        device.write(Reg::Command.address(), Command { clear: true, ..Command::default() }.word()).unwrap();
        device.pause(2000);
        Board::open(device).unwrap().load(&image).unwrap();
    }
    // Opening and loading took different numbers of looks at the status: the sums of reads start anew.
    let sums =
        |d: &mut dyn Device| [Reg::WriteSumLow, Reg::WriteSumHigh].map(|r| d.read(r.address()).unwrap());
    assert_eq!(sums(&mut hardware), sums(&mut model));
    let mut accesses = 0;
    for round in 0..60 {
        for (k, op) in sample(ops(&map), &mut runner).iter().enumerate() {
            let (found, expected) = (perform(&mut hardware, op), perform(&mut model, op));
            let read_sums = [Reg::ReadSumLow, Reg::ReadSumHigh].map(Reg::address);
            let read_sum = matches!(op, Op::Read(a) if read_sums.contains(&(a & !3)));
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
