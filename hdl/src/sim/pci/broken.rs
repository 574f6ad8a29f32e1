//! Every rule of the monitor, broken by hand: a rule that no trace breaks would check nothing.
//!
//! ```text
//!  clock         0     1     2     3     4     5     6     7
//!  write       adr   d0    d0    d1    high   .                   TRDY# in 2 and 3
//!  read        adr   turn  sel   sel   word  stop  high   .       TRDY# and STOP# in 4: one word, and no more
//! ```

use super::{
    Command, Monitor, Rule,
    wires::{Wires, even_parity},
};

const SIZE: u32 = 4096;
const BAR: u32 = 0xe120_0000;
/// Memory, parity and SERR# on.
const ON: u32 = 0x142;

/// A clock, with PAR of the clock before it as it should be unless said otherwise.
#[derive(Clone, Copy, Default)]
struct Clock {
    wires: Wires,
    wrong_parity: bool,
}

type Trace = Vec<Clock>;

/// A clock in which the master drives AD or nobody does.
fn clock(frame: bool, irdy: bool, ad: Option<u32>, cbe_n: u8) -> Clock {
    let mut clock = Clock::default();
    (clock.wires.frame, clock.wires.irdy, clock.wires.cbe_n) = (frame, irdy, cbe_n);
    clock.wires.ad = ad.unwrap_or(0x5555_aaaa);
    clock.wires.by.master_ad = ad.is_some();
    clock
}

impl Clock {
    /// The target drives its control lines: DEVSEL#, TRDY# and STOP#.
    fn answered(mut self, devsel: bool, trdy: bool, stop: bool) -> Self {
        (self.wires.devsel, self.wires.trdy, self.wires.stop) = (devsel, trdy, stop);
        self.wires.by.target_control = true;
        self
    }

    /// The target drives AD.
    fn given(mut self, ad: u32) -> Self {
        (self.wires.ad, self.wires.by.target_ad) = (ad, true);
        self
    }
}

/// Nothing happens.
fn idle(clocks: usize) -> Trace {
    vec![clock(false, false, None, 15); clocks]
}

/// The clock after a transaction, and one more.
fn over() -> [Clock; 2] {
    let idle = clock(false, false, None, 15);
    [idle.answered(false, false, false), idle]
}

/// A memory write of two words without wait states.
fn write() -> Trace {
    let [a, b] = [0x1111_2222, 0x3333_4445].map(|d| move |frame| clock(frame, true, Some(d), 0));
    let address = clock(true, false, Some(BAR), Command::MemoryWrite as u8);
    let mut trace =
        vec![address, a(true), a(true).answered(true, true, false), b(false).answered(true, true, false)];
    trace.extend(over());
    trace
}

/// A memory read that the target stops after its first word.
fn read() -> Trace {
    let address = clock(true, false, Some(BAR + 8), Command::MemoryRead as u8);
    let phase = |frame| clock(frame, true, None, 0);
    let selected = phase(true).answered(true, false, false).given(7);
    let mut trace = vec![
        address,
        phase(true),
        selected,
        selected,
        phase(true).answered(true, true, true).given(0x0bad_cafe),
        phase(false).answered(true, false, true).given(0x0bad_cafe),
    ];
    trace.extend(over());
    trace
}

/// A memory read that ends in a target abort.
fn abort() -> Trace {
    let mut trace = read();
    trace[4] = clock(true, true, None, 0).answered(false, false, true).given(7);
    trace[5] = clock(false, true, None, 0).answered(false, false, true).given(7);
    trace
}

/// A configuration access of one word: written by the master, or given by the target.
fn configuration(register: u32, write: bool, word: u32) -> Trace {
    let command = if write { Command::ConfigWrite } else { Command::ConfigRead };
    let mut address = clock(true, false, Some(register), command as u8);
    address.wires.idsel = true;
    let phase = clock(false, true, write.then_some(word), 0);
    let answer = phase.answered(true, true, false);
    let mut trace = vec![address, phase, if write { answer } else { answer.given(word) }];
    trace.extend(over());
    trace
}

/// What the monitor says of a trace, after the card has been enumerated.
fn watched(trace: &[Clock]) -> Vec<Rule> {
    let mut monitor = Monitor::default();
    monitor.set_bar_size(SIZE);
    let before = [configuration(0x10, true, BAR), configuration(0x04, true, ON)].concat();
    let (mut ad, mut driven) = (Wires::default(), Wires::default().by);
    for clock in before.iter().chain(trace).chain(&idle(6)) {
        let mut wires = clock.wires;
        wires.par = even_parity(ad.ad, ad.cbe_n) != clock.wrong_parity;
        // PAR follows AD, unless the trace has its own idea.
        wires.by.master_par |= driven.master_ad;
        wires.by.target_par ^= driven.target_ad;
        monitor.clock(&wires);
        (ad, driven) = (wires, wires.by);
    }
    monitor.violations().iter().map(|v| v.rule).collect()
}

/// A trace with one clock changed.
fn with(mut trace: Trace, at: usize, change: impl FnOnce(&mut Wires)) -> Trace {
    change(&mut trace[at].wires);
    trace
}

/// A trace with one clock several times.
fn stretched(mut trace: Trace, at: usize, times: usize) -> Trace {
    let clock = trace[at];
    trace.splice(at..=at, vec![clock; times]);
    trace
}

/// A trace that breaks a rule.
fn broken(rule: Rule) -> Trace {
    let wrong = |mut trace: Trace, at: usize| {
        trace[at].wrong_parity = true;
        trace
    };
    match rule {
        Rule::ResetFloats => with(idle(2), 1, |w| (w.reset, w.inta) = (true, true)),
        Rule::AdContention => with(read(), 4, |w| w.by.master_ad = true),
        Rule::ParContention => with(write(), 1, |w| w.by.target_par = true),
        Rule::TurnAround => with(read(), 1, |w| w.by.target_ad = true),
        Rule::AdWithoutRead => with(write(), 2, |w| w.by.target_ad = true),
        Rule::AdNotDriven => with(read(), 2, |w| w.by.target_ad = false),
        Rule::ParFollowsAd => with(read(), 5, |w| w.by.target_par = true),
        Rule::ReadParity => wrong(read(), 5),
        Rule::DrivenHigh => with(write(), 4, |w| w.by.target_control = false),
        Rule::ReleasedLate => stretched(write(), 4, 2),
        Rule::ControlOutside => with(idle(3), 1, |w| (w.trdy, w.by.target_control) = (true, true)),
        Rule::ReadyUnselected => with(write(), 2, |w| w.devsel = false),
        Rule::SelectTiming => stretched(write(), 1, 2),
        Rule::SelectDropped => with(read(), 3, |w| w.devsel = false),
        Rule::AbortForm => with(abort(), 4, |w| w.trdy = true),
        Rule::ForeignClaim => with(write(), 0, |w| w.ad = BAR + SIZE),
        Rule::NotClaimed => {
            let silent = clock(true, true, Some(1), 0);
            let mut trace = vec![write()[0]];
            trace.extend([silent; 5]);
            trace.push(clock(false, true, Some(1), 0));
            trace
        }
        Rule::AnswerChanged => {
            // The master is not ready when TRDY# comes, and it goes again.
            let waits = with(stretched(write(), 2, 2), 2, |w| w.irdy = false);
            with(with(waits, 1, |w| w.irdy = false), 3, |w| w.trdy = false)
        }
        Rule::StopDropped => with(read(), 5, |w| w.stop = false),
        Rule::ReadyAfterStop => with(read(), 5, |w| w.trdy = true),
        Rule::InitialLatency => stretched(read(), 3, 14),
        Rule::SubsequentLatency => {
            let mut trace = write();
            let waiting = clock(false, true, Some(0x3333_4445), 0).answered(true, false, false);
            trace.splice(3..3, [waiting; 9]);
            trace
        }
        Rule::MissingPerr => wrong(write(), 3),
        Rule::SpuriousPerr => with(write(), 4, |w| (w.perr, w.by.target_perr) = (true, true)),
        Rule::MissingSerr => {
            // Not claimed, which is right, and not reported.
            let mut trace =
                wrong([write()[..1].to_vec(), vec![clock(true, true, Some(1), 0); 5]].concat(), 1);
            trace.push(clock(false, true, Some(1), 0));
            trace
        }
        Rule::SerrDisabled => {
            let mut trace = configuration(0x04, true, ON & !0x100);
            trace.extend(with(idle(2), 1, |w| w.serr = true));
            trace
        }
        Rule::InterruptPin => {
            let mut trace = configuration(0x3c, false, 0);
            trace.extend(with(idle(2), 1, |w| w.inta = true));
            trace
        }
        Rule::FrameWithoutIrdy => with(write(), 3, |w| w.irdy = false),
        Rule::IrdyDropped => with(with(write(), 2, |w| w.trdy = false), 3, |w| w.irdy = false),
        Rule::FrameReturned => {
            let waits = stretched(with(write(), 3, |w| w.trdy = false), 3, 2);
            with(waits, 4, |w| w.frame = true)
        }
        Rule::MasterIgnoresStop => stretched(with(read(), 5, |w| w.frame = true), 5, 2),
        Rule::MasterLatency => {
            let waits = stretched(with(read(), 3, |w| w.irdy = false), 3, 8);
            with(with(waits, 2, |w| w.irdy = false), 1, |w| w.irdy = false)
        }
    }
}

#[test]
fn sound_traces_break_no_rule() {
    for trace in
        [idle(3), write(), read(), abort(), configuration(0x3c, false, 0x100), [write(), read()].concat()]
    {
        assert_eq!(watched(&trace), []);
    }
}

#[test]
fn every_rule_can_be_broken() {
    for &rule in Rule::ALL {
        let found = watched(&broken(rule));
        println!("{rule:?}: {found:?}");
        assert!(found.contains(&rule), "{rule:?} was broken, and the monitor says {found:?}");
    }
}
