//! The protocol monitor: looks at the lines, clock by clock, and nothing else.
//!
//! It learns the target's configuration from the configuration writes it sees, so it knows which transactions
//! the target must claim.

use super::{
    rules::{Rule, Violation},
    wires::{Command, Wires},
};

const MEMORY: u32 = 1 << 1;
const PARITY: u32 = 1 << 6;
const SERR: u32 = 1 << 8;
/// What the interrupt pin register reads of a device that has INTA#.
const INTA: u8 = 1;
/// Clocks from the address phase to a medium DEVSEL#.
const MEDIUM: u64 = 2;
/// Clocks from FRAME# to TRDY# or STOP#.
const INITIAL: u64 = 16;
/// Clocks from one data phase to the next.
const SUBSEQUENT: u64 = 8;
/// Clocks after an address with wrong parity in which SERR# is waited for.
const SERR_CLOCKS: u64 = 4;
/// Violations that are kept; all are counted.
const KEPT: usize = 100;

/// A transaction as seen from outside.
#[derive(Clone, Copy, Debug)]
struct Seen {
    started: u64,
    command: u8,
    address: u32,
    /// The target should claim it.
    ours: bool,
    config: bool,
    claimed: bool,
    /// The clock of the last transferred word.
    moved: Option<u64>,
    words: u32,
    /// When the present data phase began, for the master.
    phase_from: u64,
}

/// Watches a bus with one target.
#[derive(Debug, Default)]
pub struct Monitor {
    clock: u64,
    before: Wires,
    seen: Option<Seen>,
    /// The clock in which the last transaction ended that the target had claimed.
    ended: Option<u64>,
    command: u32,
    bar: u32,
    /// The mask of the BAR's address bits, once it has been told.
    mask: u32,
    /// What the interrupt pin register was last read as.
    pin: Option<u8>,
    /// A configuration write whose parity is not known yet: register, data, bytes.
    pending: Option<(u32, u32, u8)>,
    perr_due: Option<u64>,
    serr_due: Option<u64>,
    violations: Vec<Violation>,
    count: u64,
    slowest: u64,
}

impl Monitor {
    /// The size of the target's BAR, which tells what it claims.
    pub fn set_bar_size(&mut self, size: u32) {
        self.mask = !(size - 1);
    }

    /// The first violations.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The most clocks from FRAME# to a first TRDY# or STOP#.
    pub fn slowest(&self) -> u64 {
        self.slowest
    }

    /// Clocks it has seen.
    pub fn clocks(&self) -> u64 {
        self.clock
    }

    fn require(&mut self, rule: Rule, holds: bool) {
        if holds {
            return;
        }
        self.count += 1;
        if self.violations.len() < KEPT {
            self.violations.push(Violation { clock: self.clock, rule });
        }
    }

    /// The next clock.
    pub fn clock(&mut self, w: &Wires) {
        if w.reset {
            let floats = !(w.by.target_ad || w.by.target_par || w.by.target_control || w.by.target_perr);
            self.require(Rule::ResetFloats, floats && !w.serr && !w.inta);
            let kept = std::mem::take(&mut self.violations);
            *self = Self {
                slowest: self.slowest,
                clock: self.clock,
                mask: self.mask,
                pin: self.pin,
                count: self.count,
                violations: kept,
                ..Self::default()
            };
        } else {
            self.parity(w);
            if w.frame && !self.before.frame {
                // A new transaction; the one before has ended, or this would be its FRAME# again.
                self.require(Rule::FrameReturned, self.seen.is_none());
                self.seen = Some(self.begin(w));
            }
            self.drivers(w);
            self.answers(w);
            self.master(w);
            self.latency(w);
            self.finish(w);
            self.require(Rule::InterruptPin, !w.inta || self.pin.is_none_or(|pin| pin == INTA));
            self.before = *w;
        }
        self.clock += 1;
    }

    fn begin(&self, w: &Wires) -> Seen {
        let config = Command::is_config(w.cbe_n) && w.idsel && w.ad & 0x703 == 0;
        let memory =
            Command::is_memory(w.cbe_n) && self.command & MEMORY != 0 && (w.ad ^ self.bar) & self.mask == 0;
        Seen {
            started: self.clock,
            command: w.cbe_n,
            address: w.ad,
            ours: config || memory,
            config,
            claimed: false,
            moved: None,
            words: 0,
            phase_from: self.clock,
        }
    }

    /// PAR of the clock before, and what must follow from it.
    fn parity(&mut self, w: &Wires) {
        let before = self.before;
        let wrong = w.par != before.parity();
        let (parity_on, serr_on) = (self.command & PARITY != 0, self.command & SERR != 0);
        if let Some(seen) = self.seen.filter(|seen| seen.started + 1 == self.clock && wrong) {
            // The standard lets a target with parity checking claim such an address, or not.
            self.seen = Some(Seen { ours: seen.ours && !parity_on, ..seen });
            self.serr_due = (parity_on && serr_on).then_some(self.clock + SERR_CLOCKS);
        }
        let damaged = wrong && parity_on;
        if let Some((register, data, bytes)) = self.pending.take().filter(|_| !damaged) {
            self.configure(register, data, bytes);
        }
        let moved = before.moves() && before.devsel;
        if moved && before.by.target_ad {
            self.require(Rule::ReadParity, !wrong);
        }
        let expected = self.perr_due == Some(self.clock);
        self.require(Rule::MissingPerr, !expected || w.perr);
        self.require(Rule::SpuriousPerr, expected || !w.perr);
        if expected {
            self.perr_due = None;
        }
        if moved && before.by.master_ad && wrong && parity_on {
            self.perr_due = Some(self.clock + 1);
        }
        self.require(Rule::SerrDisabled, serr_on || !w.serr);
        if w.serr {
            self.serr_due = None;
        }
        let late = self.serr_due.is_some_and(|due| self.clock > due);
        self.require(Rule::MissingSerr, !late);
        if late {
            self.serr_due = None;
        }
    }

    fn configure(&mut self, register: u32, data: u32, bytes: u8) {
        let mask = (0..4).filter(|k| bytes >> k & 1 == 1).fold(0, |m, k| m | 0xff << (8 * k));
        match register {
            0x04 => {
                let all = MEMORY | PARITY | SERR;
                self.command = (self.command & !mask | data & mask) & all;
            }
            0x10 => self.bar = (self.bar & !mask | data & mask) & self.mask,
            _ => {}
        }
    }

    /// Who drives what, and who should.
    fn drivers(&mut self, w: &Wires) {
        let before = self.before;
        self.require(Rule::AdContention, !(w.by.target_ad && w.by.master_ad));
        self.require(Rule::ParContention, !(w.by.target_par && w.by.master_par));
        self.require(Rule::ParFollowsAd, w.by.target_par == before.by.target_ad);
        let read = self.seen.filter(|s| Command::is_read(s.command));
        match read {
            Some(seen) if self.clock <= seen.started + 1 => {
                self.require(Rule::TurnAround, !w.by.target_ad);
            }
            Some(seen) => {
                let selected = seen.claimed || w.devsel;
                self.require(Rule::AdWithoutRead, selected || !w.by.target_ad);
                self.require(Rule::AdNotDriven, !selected || w.by.target_ad);
            }
            None => self.require(Rule::AdWithoutRead, !w.by.target_ad),
        }
        let asserted = |w: &Wires| w.devsel || w.trdy || w.stop;
        let floats = before.by.target_control && !w.by.target_control;
        self.require(Rule::DrivenHigh, !(floats && asserted(&before)));
        let late = self.ended.is_some_and(|ended| self.clock >= ended + 2) && !w.devsel && self.unclaimed();
        self.require(Rule::ReleasedLate, !(late && w.by.target_control));
        let floats = before.by.target_perr && !w.by.target_perr;
        self.require(Rule::DrivenHigh, !(floats && before.perr));
        let lingers = w.by.target_perr && !w.perr && !before.perr;
        self.require(Rule::ReleasedLate, !lingers);
    }

    fn unclaimed(&self) -> bool {
        self.seen.is_none_or(|seen| !seen.claimed)
    }

    /// DEVSEL#, TRDY# and STOP#.
    fn answers(&mut self, w: &Wires) {
        let before = self.before;
        let Some(mut seen) = self.seen else {
            self.require(Rule::ControlOutside, !(w.devsel || w.trdy || w.stop));
            return;
        };
        let age = self.clock - seen.started;
        if w.devsel && !seen.claimed {
            seen.claimed = true;
            self.require(Rule::SelectTiming, age == MEDIUM);
            // With wrong parity either is allowed, if the address is the target's.
            let memory = Command::is_memory(seen.command)
                && self.command & MEMORY != 0
                && (seen.address ^ self.bar) & self.mask == 0;
            self.require(Rule::ForeignClaim, seen.config || memory);
        }
        self.require(Rule::ReadyUnselected, seen.claimed || !(w.trdy || w.stop));
        if age == MEDIUM {
            self.require(Rule::NotClaimed, seen.claimed || !seen.ours);
        }
        if seen.claimed && age > MEDIUM {
            let held = (before.trdy || before.stop) && !before.irdy;
            let same = (before.devsel, before.trdy, before.stop) == (w.devsel, w.trdy, w.stop);
            self.require(Rule::AnswerChanged, !held || same);
            let abort = w.stop && !w.trdy && (!before.stop || !before.devsel);
            self.require(Rule::SelectDropped, w.devsel || !before.devsel || abort);
            self.require(Rule::AbortForm, w.devsel || (w.stop && !w.trdy));
            self.require(Rule::StopDropped, !before.stop || w.stop);
            let after = before.stop && before.phase_ends();
            self.require(Rule::ReadyAfterStop, !(after && w.trdy));
        }
        if w.moves() && w.devsel {
            if seen.config && seen.command == Command::ConfigWrite as u8 && seen.words == 0 {
                self.pending = Some((seen.address & 0xfc, w.ad, !w.cbe_n & 15));
            }
            if seen.config
                && Command::is_read(seen.command)
                && seen.address & 0xfc == 0x3c
                && w.cbe_n & 2 == 0
            {
                self.pin = Some((w.ad >> 8) as u8);
            }
            seen.words += 1;
            seen.moved = Some(self.clock);
        }
        self.seen = Some(seen);
    }

    /// FRAME# and IRDY#.
    fn master(&mut self, w: &Wires) {
        let before = self.before;
        let Some(mut seen) = self.seen.filter(|s| s.started < self.clock) else { return };
        let goes = before.frame && !w.frame;
        self.require(Rule::FrameWithoutIrdy, !goes || w.irdy);
        let open = before.irdy && !before.phase_ends();
        let aborts = !seen.claimed && self.clock > seen.started + 4;
        self.require(Rule::IrdyDropped, !open || w.irdy || aborts);
        let told = before.stop && before.irdy && before.frame;
        self.require(Rule::MasterIgnoresStop, !(told && w.frame));
        if before.phase_ends() {
            seen.phase_from = self.clock;
        }
        let late = !w.irdy && self.clock >= seen.phase_from + 8;
        self.require(Rule::MasterLatency, !late);
        self.seen = Some(seen);
    }

    fn latency(&mut self, w: &Wires) {
        let Some(seen) = self.seen.filter(|s| s.claimed) else { return };
        let answers = w.trdy || w.stop;
        let first = seen.words == 0 || seen.words == 1 && seen.moved == Some(self.clock);
        if answers && first && !(self.before.trdy || self.before.stop) {
            self.slowest = self.slowest.max(self.clock - seen.started);
        }
        match seen.moved {
            None => self.require(Rule::InitialLatency, answers || self.clock != seen.started + INITIAL),
            Some(moved) => {
                let due = self.clock == moved + SUBSEQUENT;
                self.require(Rule::SubsequentLatency, answers || !due);
            }
        }
    }

    /// Whether this was the transaction's last clock.
    fn finish(&mut self, w: &Wires) {
        let Some(seen) = self.seen.filter(|s| s.started < self.clock) else { return };
        let last = !w.frame && w.phase_ends();
        let left = !w.frame && !w.irdy;
        // After a master abort the last clock has IRDY# alone.
        if last || left {
            if seen.claimed {
                self.ended = Some(self.clock);
            }
            self.seen = None;
        }
    }
}
