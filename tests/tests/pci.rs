//! The card on a simulated PCI bus does what the engine behind AXI4-Lite does, to the bit.

use nendo_hdl::sim::verilated::SimOptions;
use nendo_host::{
    board::{Board, BoardError, Completion},
    device::{Device, DeviceError, Waited, pci_sim::PciSim, rtl::Rtl},
    engine::{BoardEngine, Engine},
    selftest::selftest,
};
use nendo_model::{
    contract::{
        config::Config,
        image::Image,
        map::{Map, Reg, WindowName},
        numbers::{Inverse, Profile},
    },
    scene::Scene,
    twin::engine::Model,
};

const CONFIG: Config = Config::minimal(Profile::Wide, Inverse::Table);

#[test]
fn a_scene_has_one_digest_over_either_bus() {
    let image = Image::new(&Scene::open("cube9").unwrap(), CONFIG.profile, CONFIG.inverse).unwrap();
    let mut model = Model::new(image.clone(), 1);
    model.advance(5);
    let run = |device: &mut dyn Device| {
        let mut engine = BoardEngine::new(Board::open(device).unwrap(), image.clone(), None).unwrap();
        engine.run(5).unwrap();
        assert_eq!(engine.link_retries(), Some(0));
        engine.state_digest().unwrap()
    };
    let mut card = PciSim::new(&CONFIG, SimOptions::default()).unwrap();
    let over_pci = run(&mut card);
    let over_axi = run(&mut Rtl::new(&CONFIG, SimOptions::default()).unwrap());
    assert_eq!((over_pci, over_axi), (model.state_digest(), model.state_digest()));
    assert_eq!(card.violations(), 0, "of {} clocks", card.clocks());
}

#[test]
fn the_card_tests_itself_over_pci() {
    let card = PciSim::new(&CONFIG, SimOptions::default()).unwrap();
    let (report, board) = selftest(Board::open(card).unwrap()).unwrap();
    assert!(report.passed() && report.words > 10_000, "{report:?}");
    let card = board.into_device();
    println!("{} clocks, the slowest answer after {}", card.clocks(), card.slowest());
    assert_eq!(card.violations(), 0);
    assert!((2..16).contains(&card.slowest()), "{}", card.slowest());
}

/// INTA# over the whole card, and what waiting and uploading cost in clocks of the bus.
#[test]
fn completion_and_upload_in_bus_clocks() {
    const RUNS: u64 = 10;
    let image = Image::new(&Scene::open("cube9").unwrap(), CONFIG.profile, CONFIG.inverse).unwrap();
    let mut model = Model::new(image.clone(), 1);
    model.advance(RUNS);
    let mut board = Board::open(PciSim::new(&CONFIG, SimOptions::default()).unwrap()).unwrap();
    let mut costs = Vec::new();
    for how in [Completion::Poll, Completion::Interrupt] {
        board.set_completion(how).unwrap();
        let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
        let clocks = engine.board().device().clocks();
        for _ in 0..RUNS {
            engine.run(1).unwrap();
        }
        let clocks = engine.board().device().clocks() - clocks;
        println!("{how:?}: {} clocks of the bus per run of {} clocks", clocks / RUNS, engine.cycles() / RUNS);
        costs.push(clocks);
        assert_eq!(engine.state_digest().unwrap(), model.state_digest());
        board = engine.into_board();
    }
    assert_eq!(board.device().wait_interrupt(0).unwrap(), Waited::TimedOut, "all are acknowledged");
    assert!(costs[1] < 2 * costs[0], "{costs:?}");
    let base = Map::new(&CONFIG).window(WindowName::Edge).base;
    let card = board.device();
    let clocks = card.clocks();
    card.write_block(base, &[0; 4096]).unwrap();
    println!("4096 words up in {} clocks of the bus", card.clocks() - clocks);
    let clocks = card.clocks();
    card.read_block(base, &mut [0; 4096]).unwrap();
    println!("4096 words down in {} clocks of the bus", card.clocks() - clocks);
    assert_eq!(card.violations(), 0);
}

/// What the engine refuses over AXI4-Lite, it refuses over PCI: reads by a target abort, posted writes by SERR#.
/// A write that is refused was posted: the bus does not tell who wrote it, the sums and the engine do.
#[test]
fn a_posted_write_to_a_busy_engine_is_no_damaged_link() {
    let image = Image::new(&Scene::open("box:2x2x2").unwrap(), Profile::Wide, Inverse::Table).unwrap();
    let mut board = Board::open(PciSim::new(&CONFIG, SimOptions::default()).unwrap()).unwrap();
    assert!(matches!(board.run(1), Err(BoardError::NothingLoaded { .. })));
    board.load(&image).unwrap();
    board.start(0).unwrap();
    for error in [board.start(3).unwrap_err(), board.motion().unwrap_err()] {
        assert!(matches!(error, BoardError::InUse { .. }), "{error}");
    }
    assert!(board.stop().unwrap() > 0);
    board.run(2).unwrap();
}

#[test]
fn refusals_are_the_same() {
    let mut card = PciSim::new(&CONFIG, SimOptions::default()).unwrap();
    let mut axi = Rtl::new(&CONFIG, SimOptions::default()).unwrap();
    let outcome = |result: Result<u32, DeviceError>| result.map_err(|e| e.to_string());
    for address in (0..0x500).step_by(4).chain([0x8000, 0x1_0000, 0x2_0000, 0x3_8000]) {
        let read = |device: &mut dyn Device| {
            // What memories hold at power-on is nobody's promise.
            let value = outcome(device.read(address));
            if address < 0x8000 { value } else { value.map(|_| 0) }
        };
        let (a, b) = (read(&mut card), read(&mut axi));
        assert_eq!(a, b, "reading {address:#x}");
        if address == Reg::Command.address() {
            continue;
        }
        let value = address ^ 0x5a5a_5a5a;
        let [a, b] = [card.write(address, value), axi.write(address, value)].map(|r| outcome(r.map(|()| 0)));
        assert_eq!(a, b, "writing {address:#x}");
    }
    assert!(matches!(card.read(2), Err(DeviceError::Address { .. })));
    assert_eq!(card.violations(), 0);
}
