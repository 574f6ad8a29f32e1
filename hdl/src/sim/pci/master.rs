//! A master: makes transactions, clock by clock, as PCI 2.2 lets it.

use super::{
    bus::{Backend, Bus},
    wires::{Command, Drive, Wires},
};

/// Clocks after the address phase in which some target must have claimed it (PCI 2.2, 3.6.1).
const CLAIM: u32 = 4;
/// A target that does nothing for so long has hung.
const PATIENCE: u32 = 300;

/// A word and which of its bytes take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word; of no meaning in a read.
    pub data: u32,
    /// A bit for each byte.
    pub bytes: u8,
}

impl Word {
    /// A whole word.
    pub fn whole(data: u32) -> Self {
        Self { data, bytes: 15 }
    }
}

/// A transaction to be made.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The code on C/BE#.
    pub command: u8,
    /// The address.
    pub address: u32,
    /// IDSEL with it.
    pub idsel: bool,
    /// The data phases.
    pub words: Vec<Word>,
    /// Clocks before IRDY# in each data phase; 0 where there is none.
    pub waits: Vec<u32>,
    /// Idle clocks before; none (fast back-to-back) only where the standard allows it (3.4.2).
    pub idle: u32,
    /// The address has wrong parity.
    pub wrong_address: bool,
    /// The word of this number has wrong parity.
    pub wrong_word: Option<usize>,
}

impl Transfer {
    /// A transaction without wait states and errors.
    pub fn new(command: Command, address: u32, words: Vec<Word>) -> Self {
        Self {
            command: command as u8,
            address,
            idsel: Command::is_config(command as u8),
            words,
            waits: Vec::new(),
            idle: 1,
            wrong_address: false,
            wrong_word: None,
        }
    }
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All words went over.
    Completed,
    /// The target wants to be asked again: no word went over.
    Retry,
    /// The target stopped after some words.
    Disconnect,
    /// The target refuses.
    TargetAbort,
    /// Nobody answers.
    MasterAbort,
    /// The target claimed it and then did nothing.
    Hung,
}

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Words that went over; those read.
    pub words: Vec<u32>,
}

/// The master's memory from one transaction to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Master {
    /// The last transaction was a write whose last clock has just passed.
    may_follow: bool,
}

/// A transaction under way.
struct Progress<'a> {
    transfer: &'a Transfer,
    read: bool,
    moved: Vec<u32>,
    wait: u32,
    stopped: bool,
    selected: bool,
}

impl Progress<'_> {
    fn phase(&self) -> usize {
        self.moved.len().min(self.transfer.words.len() - 1)
    }

    fn next_wait(&mut self) {
        self.wait = self.transfer.waits.get(self.moved.len()).copied().unwrap_or(0);
    }

    /// What to drive in this clock of a data phase.
    fn drive(&mut self) -> Drive {
        let Transfer { words, wrong_word, .. } = self.transfer;
        let phase = self.phase();
        let irdy = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        let last = phase + 1 == words.len() || self.stopped;
        Drive {
            frame: !(irdy && last),
            irdy,
            ad: (!self.read).then_some(words[phase].data),
            cbe_n: !words[phase].bytes,
            wrong_parity: *wrong_word == Some(phase),
            ..Drive::default()
        }
    }

    fn end(&self, wires: &Wires) -> End {
        match () {
            () if wires.stop && !wires.devsel => End::TargetAbort,
            () if self.moved.len() == self.transfer.words.len() => End::Completed,
            () if self.moved.is_empty() => End::Retry,
            () => End::Disconnect,
        }
    }
}

impl Master {
    /// Makes a transaction.
    ///
    /// # Panics
    /// If it has no words.
    pub fn run<B: Backend>(&mut self, bus: &mut Bus<B>, transfer: &Transfer) -> Outcome {
        assert!(!transfer.words.is_empty(), "a transaction has at least one data phase");
        let fast = transfer.idle == 0 && self.may_follow;
        if !fast {
            bus.idle(transfer.idle.max(1).into());
        }
        self.may_follow = false;
        bus.clock(&Drive {
            frame: true,
            idsel: transfer.idsel,
            ad: Some(transfer.address),
            cbe_n: transfer.command,
            wrong_parity: transfer.wrong_address,
            ..Drive::default()
        });
        let read = Command::is_read(transfer.command);
        let mut p = Progress { transfer, read, moved: Vec::new(), wait: 0, stopped: false, selected: false };
        p.next_wait();
        let end = self.data_phases(bus, &mut p);
        Outcome { end, words: p.moved }
    }

    fn data_phases<B: Backend>(&mut self, bus: &mut Bus<B>, p: &mut Progress<'_>) -> End {
        for clock in 1..PATIENCE {
            let drive = p.drive();
            let wires = bus.clock(&drive);
            p.selected |= wires.devsel;
            if !p.selected && clock > CLAIM {
                if drive.frame {
                    bus.clock(&Drive { frame: false, irdy: true, ..drive });
                }
                return End::MasterAbort;
            }
            if wires.moves() {
                p.moved.push(wires.ad);
                p.next_wait();
            }
            if !wires.phase_ends() {
                // IRDY# stays once it is asserted, and FRAME# with it.
                if drive.irdy {
                    p.wait = 0;
                }
                p.stopped |= wires.stop && !drive.irdy;
                continue;
            }
            if !drive.frame {
                self.may_follow = !p.read;
                return p.end(&wires);
            }
            if wires.stop {
                let end = p.end(&wires);
                let phase = p.phase();
                let word = p.transfer.words[phase];
                bus.clock(&Drive {
                    irdy: true,
                    ad: (!p.read).then_some(word.data),
                    cbe_n: !word.bytes,
                    ..Drive::default()
                });
                self.may_follow = !p.read;
                return end;
            }
        }
        // Let go in an orderly way, so that the next transaction finds the bus free.
        bus.clock(&Drive { irdy: true, ..Drive::default() });
        bus.idle(2);
        End::Hung
    }
}
