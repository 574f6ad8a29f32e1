//! The target on the bus: random transactions against a memory, and every mistake noticed.

use super::*;
use crate::{
    bus::pci::{Defect, config_space as space, pci_target},
    sim::verilated::{Sim, SimOptions},
};
use std::{cell::RefCell, collections::VecDeque, rc::Rc};

const SIZE: u32 = 4096;
const BAR: u32 = 0xe120_0000;
/// Addresses from here to `HOLE_END` are refused.
const HOLE: u32 = 0x800;
const HOLE_END: u32 = 0xa00;

/// Numbers that look random and are the same every time.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32 ^ (self.0 >> 17) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(n)) >> 32) as u32
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Write(u32, u32, u8),
    Read(u32),
}

/// A register bus of plain memory, with a log of what was asked.
struct Memory {
    words: Vec<u32>,
    log: Rc<RefCell<VecDeque<Access>>>,
    random: Random,
    wait: Option<u32>,
    resting: bool,
}

fn refused(address: u32) -> bool {
    (HOLE..HOLE_END).contains(&address)
}

fn merge(old: u32, new: u32, bytes: u8) -> u32 {
    (0..4).filter(|k| bytes >> k & 1 == 1).fold(old, |word, k| {
        let mask = 0xff << (8 * k);
        word & !mask | new & mask
    })
}

impl Backend for Memory {
    fn clock(&mut self, sim: &mut Sim) {
        sim.set("done", 0);
        if std::mem::take(&mut self.resting) {
            return;
        }
        match self.wait {
            None => self.wait = (sim.get("request") == 1).then(|| self.random.below(9)),
            Some(0) => {
                let address = sim.get("address") as u32 & !3;
                let place = (address / 4) as usize;
                if sim.get("write") == 1 {
                    let (d, bytes) = (sim.get("d") as u32, sim.get("strobe") as u8);
                    self.log.borrow_mut().push_back(Access::Write(address, d, bytes));
                    if !refused(address) {
                        self.words[place] = merge(self.words[place], d, bytes);
                    }
                } else {
                    self.log.borrow_mut().push_back(Access::Read(address));
                }
                sim.set("q", self.words[place].into());
                sim.set("error", refused(address).into());
                sim.set("done", 1);
                (self.wait, self.resting) = (None, true);
            }
            Some(n) => self.wait = Some(n - 1),
        }
    }
}

/// The bench: the target, and what it should have done.
struct Bench {
    bus: Bus<Memory>,
    master: Master,
    random: Random,
    log: Rc<RefCell<VecDeque<Access>>>,
    /// What the engine should be asked.
    expected: VecDeque<Access>,
    memory: Vec<u32>,
    command: u32,
    /// The engine asks for an interrupt.
    irq: bool,
    transactions: u64,
    ends: [u64; 5],
}

type Checked<T> = Result<T, String>;

impl Bench {
    fn new(seed: u64, defect: Option<Defect>) -> Self {
        let sim = Sim::new(&pci_target(SIZE, true), SimOptions::default()).unwrap();
        let log = Rc::new(RefCell::new(VecDeque::new()));
        let words: Vec<u32> = (0..SIZE / 4).map(|k| k.wrapping_mul(0x9e37_79b9)).collect();
        let memory = Memory {
            words: words.clone(),
            log: Rc::clone(&log),
            random: Random(seed ^ 0xabc),
            wait: None,
            resting: false,
        };
        let mut bus = Bus::new(sim, memory);
        for name in ["done", "q", "error", "irq"] {
            bus.sim().set(name, 0);
        }
        bus.sim().set("defect", defect.map_or(0, Defect::code).into());
        bus.monitor.set_bar_size(SIZE);
        bus.reset();
        let mut random = Random(seed);
        random.next();
        Self {
            bus,
            master: Master::default(),
            random,
            log,
            expected: VecDeque::new(),
            memory: words,
            command: 0,
            irq: false,
            transactions: 0,
            ends: [0; 5],
        }
    }

    /// Makes a transaction, again and again while it is told to come back.
    fn run(&mut self, transfer: &Transfer) -> Checked<Outcome> {
        for _ in 0..50 {
            let outcome = self.master.run(&mut self.bus, transfer);
            self.transactions += 1;
            let kind = match outcome.end {
                End::Completed => 0,
                End::Retry => 1,
                End::Disconnect => 2,
                End::TargetAbort => 3,
                End::MasterAbort => 4,
                End::Hung => return Err("the target hangs".to_owned()),
            };
            self.ends[kind] += 1;
            if outcome.end != End::Retry {
                return Ok(outcome);
            }
        }
        Err("told to come back for ever".to_owned())
    }

    fn config_write(&mut self, register: u32, value: u32) -> Checked<()> {
        let transfer = Transfer::new(Command::ConfigWrite, register, vec![Word::whole(value)]);
        let outcome = self.run(&transfer)?;
        self.check(outcome.end == End::Completed, || format!("configuration write: {outcome:?}"))
    }

    fn config_read(&mut self, register: u32) -> Checked<u32> {
        let outcome = self.run(&Transfer::new(Command::ConfigRead, register, vec![Word::whole(0)]))?;
        self.check(outcome.end == End::Completed, || format!("configuration read: {outcome:?}"))?;
        Ok(outcome.words[0])
    }

    fn check(&self, holds: bool, text: impl FnOnce() -> String) -> Checked<()> {
        if holds { Ok(()) } else { Err(format!("clock {}: {}", self.bus.clocks(), text())) }
    }

    /// Lets all posted words arrive and compares what the engine was asked.
    fn settle(&mut self) -> Checked<()> {
        self.bus.idle(20 * 14);
        let (pin, irq) = (self.bus.interrupt, self.irq);
        self.check(pin == irq, || format!("INTA# is {pin}, but the engine says {irq}"))?;
        let (log, expected) =
            (std::mem::take(&mut *self.log.borrow_mut()), std::mem::take(&mut self.expected));
        self.check(log == expected, || format!("the engine was asked {log:?}, not {expected:?}"))
    }

    fn set_command(&mut self, command: u32) -> Checked<()> {
        self.settle()?;
        self.config_write(0x04, command)?;
        self.command = command;
        Ok(())
    }

    /// Enumeration, as a BIOS does it.
    fn enumerate(&mut self) -> Checked<()> {
        let id = u32::from(space::DEVICE) << 16 | u32::from(space::VENDOR);
        for (register, value) in [(0x00, id), (0x08, space::CLASS), (0x2c, id), (0x0c, 0), (0x34, 0)] {
            let found = self.config_read(register)?;
            self.check(found == value, || format!("register {register:#x} reads {found:#x}"))?;
        }
        self.config_write(0x10, u32::MAX)?;
        let found = self.config_read(0x10)?;
        self.check(found == !(SIZE - 1), || format!("the BAR's size reads {found:#x}"))?;
        self.config_write(0x10, BAR)?;
        self.config_write(0x3c, 0x5a)?;
        self.set_command(u32::MAX)?;
        let command = space::MEMORY_ENABLE | space::PARITY_RESPONSE | space::SERR_ENABLE;
        self.command = command;
        let fixed = space::MEDIUM_DEVSEL | space::FAST_BACK_TO_BACK;
        let (status, bar, line) = (self.config_read(4)?, self.config_read(0x10)?, self.config_read(0x3c)?);
        self.check((status, bar, line) == (command | fixed, BAR, space::INTERRUPT_PIN | 0x5a), || {
            format!("configuration reads {status:#x} {bar:#x} {line:#x}")
        })
    }

    fn words(&mut self, count: u32) -> Vec<Word> {
        (0..count)
            .map(|_| {
                let bytes = if self.random.chance(70) { 15 } else { self.random.below(16) as u8 };
                Word { data: self.random.next(), bytes }
            })
            .collect()
    }

    fn waits(&mut self, count: usize) -> Vec<u32> {
        let slow = self.random.chance(30);
        (0..count).map(|_| if slow { self.random.below(6) } else { 0 }).collect()
    }

    fn place(&mut self) -> u32 {
        match self.random.below(10) {
            0 => SIZE - 4 * (1 + self.random.below(4)),
            1 => HOLE + 4 * self.random.below(128),
            _ => 4 * self.random.below(SIZE / 4),
        }
    }

    /// A random transaction; the errors in it, if any, are on purpose.
    fn step(&mut self) -> Checked<()> {
        if self.random.chance(10) {
            self.irq = !self.irq;
            self.bus.sim().set("irq", self.irq.into());
        }
        match self.random.below(100) {
            0..45 => self.memory_write(),
            45..80 => self.memory_read(),
            80..90 => self.foreign(),
            90..97 => {
                let status = self.config_read(4)?;
                let fixed = space::MEDIUM_DEVSEL | space::FAST_BACK_TO_BACK | self.command;
                let flags = space::SIGNALLED_ABORT | space::SIGNALLED_SERR | space::DETECTED_PARITY;
                self.check(status & !flags == fixed, || format!("status reads {status:#x}"))
            }
            97 => {
                // Flags go when they are written as one, and only then.
                self.settle()?;
                self.config_write(4, !0xffff | self.command)?;
                let status = self.config_read(4)?;
                let fixed = space::MEDIUM_DEVSEL | space::FAST_BACK_TO_BACK | self.command;
                self.check(status == fixed, || format!("cleared status reads {status:#x}"))
            }
            98 => {
                let off = self.random.next();
                let all = space::MEMORY_ENABLE | space::PARITY_RESPONSE | space::SERR_ENABLE;
                self.set_command(all & off)?;
                for _ in 0..4 {
                    self.memory_write()?;
                    self.memory_read()?;
                }
                self.set_command(all)
            }
            _ => {
                let kept = self.settle();
                self.bus.reset();
                self.command = 0;
                self.config_write(0x10, BAR)?;
                self.set_command(space::MEMORY_ENABLE | space::PARITY_RESPONSE | space::SERR_ENABLE)?;
                kept
            }
        }
    }

    /// Whether memory is to be claimed, given the address's parity.
    fn claimed(&self, wrong_address: bool) -> bool {
        self.command & space::MEMORY_ENABLE != 0
            && !(wrong_address && self.command & space::PARITY_RESPONSE != 0)
    }

    fn memory_write(&mut self) -> Checked<()> {
        let count = if self.random.chance(50) { 1 } else { 1 + self.random.below(30) };
        let words = self.words(count);
        let place = self.place();
        let order = if self.random.chance(8) { 1 + self.random.below(3) } else { 0 };
        let command =
            if self.random.chance(80) { Command::MemoryWrite } else { Command::MemoryWriteInvalidate };
        let mut transfer = Transfer::new(command, BAR + place + order, words);
        transfer.waits = self.waits(transfer.words.len());
        transfer.idle = self.random.below(4);
        transfer.wrong_address = self.random.chance(2);
        transfer.wrong_word = self.random.chance(6).then(|| self.random.below(count) as usize);
        let (parity_errors, system_errors) = (self.bus.parity_errors, self.bus.system_errors);
        let outcome = self.run(&transfer)?;
        if !self.claimed(transfer.wrong_address) {
            self.check(outcome.end == End::MasterAbort, || format!("not to be claimed: {outcome:?}"))?;
            return self.count_system_errors(system_errors, &transfer, 0);
        }
        let moved = outcome.words.len();
        let whole = if order != 0 { 1 } else { ((SIZE - place) / 4) as usize };
        self.check(moved <= whole, || format!("{moved} words went over, at most {whole} may"))?;
        self.check(moved > 0, || format!("a write ended as {outcome:?}"))?;
        let mut failed = 0;
        let mut wrong = 0;
        for (k, word) in transfer.words.iter().enumerate().take(moved) {
            let address = place + 4 * k as u32;
            if transfer.wrong_word == Some(k) && self.command & space::PARITY_RESPONSE != 0 {
                wrong += 1;
                continue;
            }
            if word.bytes == 0 {
                continue;
            }
            self.expected.push_back(Access::Write(address, word.data, word.bytes));
            if refused(address) {
                failed += 1;
            } else {
                let at = &mut self.memory[(address / 4) as usize];
                *at = merge(*at, word.data, word.bytes);
            }
        }
        if wrong + failed > 0 || transfer.wrong_address {
            self.settle()?;
            let found = self.bus.parity_errors - parity_errors;
            self.check(found == wrong, || format!("PERR# {found} times, not {wrong}"))?;
            self.count_system_errors(system_errors, &transfer, failed)?;
        }
        Ok(())
    }

    /// SERR# once for every refused word, and for an address with wrong parity.
    fn count_system_errors(&mut self, before: u64, transfer: &Transfer, failed: u64) -> Checked<()> {
        self.bus.idle(8);
        let checks = self.command & space::PARITY_RESPONSE != 0;
        let address = u64::from(transfer.wrong_address && checks);
        let expected = if self.command & space::SERR_ENABLE != 0 { failed + address } else { 0 };
        let found = self.bus.system_errors - before;
        self.check(found == expected, || format!("SERR# {found} times, not {expected}"))
    }

    fn memory_read(&mut self) -> Checked<()> {
        let count = if self.random.chance(60) { 1 } else { 1 + self.random.below(8) };
        let words = self.words(count);
        let place = self.place();
        let command = match self.random.below(4) {
            0 => Command::MemoryReadLine,
            1 => Command::MemoryReadMultiple,
            _ => Command::MemoryRead,
        };
        let mut transfer = Transfer::new(command, BAR + place, words);
        transfer.waits = self.waits(transfer.words.len());
        transfer.idle = 1 + self.random.below(3);
        transfer.wrong_address = self.random.chance(2);
        let outcome = self.run(&transfer)?;
        if !self.claimed(transfer.wrong_address) {
            return self.check(outcome.end == End::MasterAbort, || format!("not to be claimed: {outcome:?}"));
        }
        if transfer.words[0].bytes != 0 {
            self.expected.push_back(Access::Read(place));
            if refused(place) {
                return self.check(outcome.end == End::TargetAbort, || format!("no abort: {outcome:?}"));
            }
        }
        let end = if count == 1 { End::Completed } else { End::Disconnect };
        self.check(outcome.end == end && outcome.words.len() == 1, || {
            format!("a read ended as {outcome:?}")
        })?;
        let value = self.memory[(place / 4) as usize];
        let read = outcome.words[0];
        self.check(transfer.words[0].bytes == 0 || read == value, || {
            format!("{place:#x} reads {read:#x}, not {value:#x}")
        })
    }

    /// Transactions of others, and for others.
    fn foreign(&mut self) -> Checked<()> {
        let words = self.words(1 + self.random.clone().below(3));
        let codes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14];
        let command = codes[self.random.below(codes.len() as u32) as usize];
        let far = BAR ^ (SIZE << self.random.below(20));
        let inside = BAR + self.place();
        let address = if Command::is_memory(command) { far } else { inside };
        let mut transfer = Transfer::new(Command::IoRead, address, words);
        (transfer.command, transfer.idsel) = (command, false);
        transfer.idle = self.random.below(3);
        if Command::is_config(command) && self.random.chance(50) {
            // Another function, or a bus behind a bridge.
            transfer.idsel = true;
            transfer.address = if self.random.chance(50) { 0x100 | address & 0xfc } else { 1 };
        }
        let outcome = self.run(&transfer)?;
        self.check(outcome.end == End::MasterAbort, || format!("{transfer:?} was answered: {outcome:?}"))
    }

    /// So many clocks of random transactions, or until something is wrong.
    fn run_for(&mut self, clocks: u64) -> Checked<()> {
        self.enumerate()?;
        while self.bus.clocks() < clocks {
            let compared = self.step();
            if let Some(violation) = self.bus.monitor.violations().first() {
                return Err(format!("monitor: {violation}"));
            }
            compared?;
        }
        self.settle()
    }
}

#[test]
fn a_million_random_clocks_break_no_rule() {
    let mut bench = Bench::new(1, None);
    bench.run_for(1_200_000).unwrap_or_else(|e| panic!("{e}; {:?}", bench.bus.monitor.violations()));
    let Bench { bus, transactions, ends, .. } = &bench;
    println!("{} clocks, {transactions} transactions", bus.monitor.clocks());
    println!("completed, retried, disconnected, target aborts, master aborts: {ends:?}");
    println!("PERR# {}, SERR# {}", bus.parity_errors, bus.system_errors);
    assert_eq!(bus.monitor.count(), 0);
    assert!(bus.monitor.clocks() >= 1_000_000);
    assert!(ends.iter().all(|n| *n > 500), "every end was met: {ends:?}");
    assert!(bus.parity_errors > 100 && bus.system_errors > 100);
}

#[test]
fn every_mistake_is_caught() {
    let mut by_monitor = 0;
    for defect in Defect::ALL {
        let caught = Bench::new(2, Some(defect)).run_for(60_000);
        let text = caught.expect_err(&format!("{defect:?} was not noticed"));
        println!("{defect:?}: {text:.160}");
        by_monitor += u32::from(text.starts_with("monitor"));
    }
    assert!(by_monitor >= 10, "{by_monitor} of them by the rules alone");
}

/// What the bench compares first the monitor knows, too.
#[test]
fn an_interrupt_without_a_pin_breaks_a_rule() {
    for (defect, expected) in [(None, None), (Some(Defect::NoInterruptPin), Some(Rule::InterruptPin))] {
        let mut bench = Bench::new(3, defect);
        bench.config_read(0x3c).unwrap();
        bench.bus.sim().set("irq", 1);
        bench.bus.idle(3);
        assert_eq!(bench.bus.monitor.violations().first().map(|v| v.rule), expected);
    }
}

#[test]
fn every_rule_has_a_section() {
    for rule in Rule::ALL {
        assert!(rule.section().starts_with(['2', '3', '6']) && !rule.text().is_empty(), "{rule:?}");
    }
}
