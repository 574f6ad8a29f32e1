//! Faults of the bus, one at a time, at every access in turn: each is noticed, and no result is wrong.

use nendo_hdl::sim::verilated::SimOptions;
use nendo_host::{
    board::{Board, BoardError},
    device::{Device, DeviceError, model::ModelDevice, rtl::Rtl},
    engine::{BoardEngine, Engine, EngineError},
};
use nendo_model::{
    contract::{
        config::Config,
        image::Image,
        map::Reg,
        numbers::{Inverse, Profile},
        words::{RegisterWord, Status},
    },
    scene::Scene,
    twin::engine::Model,
};
use std::collections::BTreeMap;

const CONFIG: Config = Config::minimal(Profile::Wide, Inverse::Table);

/// What happens to one access, or from one access on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// A bit of the word that is read.
    FlippedRead(u32),
    /// A bit of the word that is written.
    FlippedWrite(u32),
    /// A bit of the address that is written to.
    MisdirectedWrite(u32),
    /// A write that does not arrive.
    Dropped,
    /// A write that arrives twice.
    Duplicated,
    /// A write of which only the lower half arrives.
    TornLow,
    /// A write of which only the upper half arrives.
    TornHigh,
    /// A read that gives all ones.
    Ones,
    /// All ones from now on, and writes go nowhere.
    LinkLost,
    /// Busy from now on.
    StuckBusy,
    /// An access that times out without having happened.
    Timeout,
    /// An access that times out after it has happened.
    LateTimeout,
    /// Time-outs from now on.
    Dead,
}

impl Fault {
    const ALL: [Self; 20] = [
        Self::FlippedRead(0),
        Self::FlippedRead(3),
        Self::FlippedRead(17),
        Self::FlippedRead(31),
        Self::FlippedWrite(0),
        Self::FlippedWrite(3),
        Self::FlippedWrite(17),
        Self::FlippedWrite(31),
        Self::MisdirectedWrite(2),
        Self::MisdirectedWrite(7),
        Self::Dropped,
        Self::Duplicated,
        Self::TornLow,
        Self::TornHigh,
        Self::Ones,
        Self::LinkLost,
        Self::StuckBusy,
        Self::Timeout,
        Self::LateTimeout,
        Self::Dead,
    ];

    fn lasts(self) -> bool {
        matches!(self, Self::LinkLost | Self::StuckBusy | Self::Dead)
    }
}

/// A device on which one fault happens.
struct Faulty<'a> {
    device: &'a mut dyn Device,
    fault: Option<(Fault, u64)>,
    accesses: u64,
    /// Whether it has made a difference.
    fired: bool,
    /// What an engine that is really stuck would have summed up of what was read.
    sums: [u32; 2],
}

impl<'a> Faulty<'a> {
    fn new(device: &'a mut dyn Device, fault: Option<(Fault, u64)>) -> Self {
        let sums = [Reg::ReadSumLow, Reg::ReadSumHigh].map(|r| device.read(r.address()).unwrap());
        Self { device, fault, accesses: 0, fired: false, sums }
    }

    fn now(&mut self) -> Option<Fault> {
        let number = self.accesses;
        self.accesses += 1;
        self.fault
            .filter(|(fault, at)| number == *at || fault.lasts() && number > *at)
            .map(|(fault, _)| fault)
    }

    fn timeout(&mut self) -> DeviceError {
        self.fired = true;
        DeviceError::Timeout { device: "faulty".to_owned(), doing: "waiting".to_owned() }
    }
}

impl Device for Faulty<'_> {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        let fault = self.now();
        if matches!(fault, Some(Fault::Timeout | Fault::Dead)) {
            return Err(self.timeout());
        }
        let value = self.device.read(address)?;
        let seen = match fault {
            Some(Fault::FlippedRead(bit)) => value ^ 1 << bit,
            Some(Fault::Ones | Fault::LinkLost) => u32::MAX,
            Some(Fault::StuckBusy) if address == Reg::Status.address() => {
                Status { busy: true, ..Status::from_bits(value) }.bits()
            }
            Some(Fault::StuckBusy) if address == Reg::ReadSumLow.address() => return Ok(self.sums[0]),
            Some(Fault::StuckBusy) if address == Reg::ReadSumHigh.address() => return Ok(self.sums[1]),
            Some(Fault::LateTimeout) => return Err(self.timeout()),
            _ => value,
        };
        self.fired |= seen != value;
        if !Reg::ALL.iter().any(|r| r.is_sum() && r.address() == address) {
            self.sums[0] = self.sums[0].wrapping_add(seen).wrapping_add(address);
            self.sums[1] = self.sums[1].wrapping_add(self.sums[0]);
        }
        Ok(seen)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        let fault = self.now();
        let (address, value) = match fault {
            Some(Fault::FlippedWrite(bit)) => (address, value ^ 1 << bit),
            Some(Fault::MisdirectedWrite(bit)) => (address ^ 1 << bit, value),
            Some(Fault::TornLow) if value >> 16 != 0 => (address, value & 0xffff),
            Some(Fault::TornHigh) if value & 0xffff != 0 => (address, value & !0xffff),
            Some(Fault::Dropped | Fault::LinkLost) => {
                self.fired = true;
                return Ok(());
            }
            Some(Fault::Timeout | Fault::Dead) => return Err(self.timeout()),
            Some(Fault::LateTimeout) => {
                self.device.write(address, value)?;
                return Err(self.timeout());
            }
            Some(Fault::Duplicated) => {
                self.fired = true;
                self.device.write(address, value)?;
                (address, value)
            }
            _ => return self.device.write(address, value),
        };
        self.fired = true;
        // A bus that loses writes does not say that they were refused, either.
        match self.device.write(address, value) {
            Err(DeviceError::Refused { .. }) | Ok(()) => Ok(()),
            other => other,
        }
    }

    fn pause(&mut self, clocks: u64) {
        self.device.pause(clocks);
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.device.reset()
    }

    fn name(&self) -> String {
        "faulty".to_owned()
    }
}

fn image() -> Image {
    Image::new(&Scene::open("box:2x2x2").unwrap(), Profile::Wide, Inverse::Table).unwrap()
}

/// Open, load, run with the scene's events, look, download. Returns what a user sees, and the repetitions.
fn whole_run(device: &mut Faulty) -> Result<(String, u64), BoardError> {
    let board = Board::open(device)?.require(Profile::Wide, Inverse::Table)?;
    let mut engine = BoardEngine::new(board, image(), None)?;
    engine.run(2)?;
    let points = engine.board().points(&[0, 7])?;
    engine.run(3)?;
    let digest = engine.state_digest().map_err(|error| match error {
        EngineError::Device(error) => *error.downcast::<BoardError>().unwrap(),
        other => panic!("{other}"),
    })?;
    let seen = format!("{digest} {points:?} {} {:?}", engine.overflow(), engine.cycles());
    Ok((seen, engine.board().retries()))
}

/// Free running, with points read and forces written meanwhile, then stopped: right if the state is the
/// model's after as many steps as the board says it took.
fn free_run(device: &mut Faulty) -> Result<(String, u64), BoardError> {
    let image = image();
    let mut board = Board::open(device)?;
    board.load(&image)?;
    board.start(0)?;
    board.points(&[0, 7])?;
    let p = image.particles[7];
    board.set_force(7, p.force, p.class)?;
    let steps = board.stop()?;
    let found: Vec<_> = board.motion()?.iter().map(|p| (p.x, p.v)).collect();
    let mut model = Model::new(Image { events: Vec::new(), ..image }, 1);
    model.advance(steps.into());
    let right = found.iter().copied().eq(model.particles().iter().map(|p| (p.x, p.v)));
    Ok((format!("the model's state: {right}"), board.retries()))
}

type Scenario = fn(&mut Faulty) -> Result<(String, u64), BoardError>;

/// All faults at all accesses of a scenario; `every` skips most of them.
fn try_all(device: &mut dyn Device, scenario: Scenario, every: usize) -> usize {
    let mut clean = Faulty::new(device, None);
    let (expected, retries) = scenario(&mut clean).unwrap();
    assert_eq!(retries, 0);
    let accesses = clean.accesses;
    let mut outcomes: BTreeMap<(Fault, &str), usize> = BTreeMap::new();
    let mut tried = 0;
    for (k, fault) in Fault::ALL.into_iter().enumerate() {
        for at in (0..accesses).skip(k % every).step_by(every) {
            device.reset().unwrap();
            let mut faulty = Faulty::new(device, Some((fault, at)));
            let result = scenario(&mut faulty);
            if !faulty.fired {
                // A read has no bits to be written, and the like.
                assert_eq!(result.unwrap(), (expected.clone(), 0), "{fault:?} at {at}");
                continue;
            }
            tried += 1;
            let outcome = match result {
                Ok((seen, retries)) => {
                    assert_eq!(seen, expected, "{fault:?} at {at}: a wrong result");
                    assert!(retries > 0, "{fault:?} at {at} of {accesses}: not noticed");
                    assert!(!fault.lasts(), "{fault:?} at {at}: not reported");
                    "repeated"
                }
                Err(BoardError::Device(DeviceError::LinkLost { .. })) => "link lost",
                Err(BoardError::Device(DeviceError::Timeout { .. })) => "timed out",
                Err(BoardError::Busy { .. }) => "busy",
                Err(BoardError::Damaged { .. }) => "damaged",
                Err(BoardError::Repeated { .. }) => "command repeated",
                Err(other) => panic!("{fault:?} at {at}: {other}"),
            };
            let right = match fault {
                Fault::LinkLost => outcome == "link lost",
                Fault::Dead => outcome == "timed out",
                Fault::StuckBusy => outcome == "busy",
                Fault::FlippedRead(_) | Fault::Ones => outcome == "repeated",
                _ => outcome != "link lost" && outcome != "busy",
            };
            assert!(right, "{fault:?} at {at} of {accesses}: {outcome}");
            *outcomes.entry((fault, outcome)).or_default() += 1;
        }
    }
    println!("{tried} faults tried at {accesses} accesses: {outcomes:?}");
    tried
}

#[test]
fn every_fault_at_every_access_to_the_model() {
    let mut device = ModelDevice::new(&CONFIG, 1);
    let tried = try_all(&mut device, whole_run, 1) + try_all(&mut device, free_run, 1);
    assert!(tried > 5000, "{tried}");
}

#[test]
fn faults_on_the_hardware() {
    let mut device = Rtl::new(&CONFIG, SimOptions::default()).unwrap();
    let tried = try_all(&mut device, whole_run, 3) + try_all(&mut device, free_run, 3);
    assert!(tried > 1500, "{tried}");
}

/// After the link was lost and came back, the same program goes on: reset, load, run.
#[test]
fn a_lost_link_that_comes_back() {
    let mut device = ModelDevice::new(&CONFIG, 1);
    let mut faulty = Faulty::new(&mut device, Some((Fault::LinkLost, 700)));
    let mut board = Board::open(&mut faulty).unwrap();
    let error = loop {
        if let Err(error) = board.load(&image()).and_then(|()| board.run(3)) {
            break error;
        }
    };
    assert!(error.to_string().contains("link to faulty is lost"), "{error}");
    board.device().fault = None;
    let mut engine = BoardEngine::new(board.reopen().unwrap(), image(), None).unwrap();
    engine.run(5).unwrap();
    let mut model = Model::new(image(), 1);
    model.advance(5);
    assert_eq!(engine.state_digest().unwrap(), model.state_digest());
}
