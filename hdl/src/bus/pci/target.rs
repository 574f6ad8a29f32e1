//! The target: from the pins of the bus to one request at a time.
//!
//! Every output comes from a register, so nothing on the bus depends on the same clock's inputs. Inputs are looked
//! at directly: a target that first registered IRDY# could not keep bursts without wait states.
//!
//! | clock after the address phase | what happens |
//! |---|---|
//! | 1 | address and command are decoded from registers, PAR of the address is checked |
//! | 2 | DEVSEL# (medium), with TRDY# for writes and configuration, with STOP# for a retry |
//! | later | TRDY# of a memory read when the engine has answered; STOP# with it: one word per read |

use super::{
    config_space::{Events, Header, Write},
    defect::{Bench, Defect},
    posted::{Posted, Push},
};
use crate::{
    bus::logic::{either, every, hold, is, parity, unless},
    circuit::{Build, Module, Net, State},
};

/// The states of a transaction.
struct Transaction {
    active: State,
    devsel: State,
    trdy: State,
    stop: State,
    ad_oe: State,
    waiting: State,
}

/// What was seen in the address phase.
struct Decoded {
    claim: Net,
    read: Net,
    config: Net,
    /// A burst may follow: linear order.
    linear: Net,
    /// PAR did not fit.
    bad: Net,
}

/// The target for a BAR of so many bytes. `bench` adds an input that selects a [`Defect`].
///
/// # Panics
/// If the size is no power of two between 16 bytes and 2 GB.
pub fn pci_target(size: u32, bench: bool) -> Module {
    assert!(size.is_power_of_two() && size >= 16, "BAR of {size} bytes");
    let mut b = Build::new("pci_target", "PCI 2.2 target, 32 bits, in front of the register bus.");
    let b = &mut b;
    let awake = b.input("rst_n", 1);
    let [idsel, frame_n, irdy_n] = ["idsel", "frame_n", "irdy_n"].map(|name| b.input(name, 1));
    let (ad, cbe_n, par) = (b.input("ad_in", 32), b.input("cbe_n", 4), b.input("par_in", 1));
    let bench = Bench::new(b, bench);
    let (frame, irdy) = (b.not(&frame_n), b.not(&irdy_n));
    let t = Transaction {
        active: b.state("active", 1),
        devsel: b.state("devsel", 1),
        trdy: b.state("trdy", 1),
        stop: b.state("stop", 1),
        ad_oe: b.state("ad_oe_1", 1),
        waiting: b.state("waiting", 1),
    };
    let header = Header::new(b, size);
    let posted = Posted::new(b, &bench);

    b.comment("the address phase: FRAME# falls");
    let asleep = b.not(&awake);
    let was = b.or(&frame, &asleep);
    let frame_was = b.state_reg("frame_was", &was);
    let first = unless(b, &frame, &frame_was);

    b.comment("the data phases");
    let moved = every(b, &[t.active.value(), &irdy, t.trdy.value()]);
    let ready = b.or(t.trdy.value(), t.stop.value());
    let phase_done = every(b, &[t.active.value(), &irdy, &ready]);
    let silent = either(b, &[&frame, &irdy]);
    let ends = unless(b, &phase_done, &frame);
    // A master that leaves without a word must not block the bus.
    let gone = unless(b, t.active.value(), &silent);
    let finish = b.or(&ends, &gone);

    let address = address_counter(b, &bench, size, &ad, &first, &moved);
    let command = hold(b, "command_1", &first, &cbe_n);
    let selected = hold(b, "idsel_1", &first, &idsel);
    let decode = b.state_reg("decode", &first);
    let decode = bench.pick(b, Defect::SlowSelect, &decode, |b| b.state_reg("decode_late", &decode));
    let d = decoded(b, &bench, &header, &address, &command, &selected, &par, &decode, &awake);

    b.comment("a word that was written, and its parity a clock later");
    let writes = unless(b, &moved, &d.read);
    let stage = b.state_reg("stage", &writes);
    let stage_config = b.state_reg("stage_config", &d.config);
    let (stage_d, stage_n) = (b.state_reg("stage_d", &ad), b.state_reg("stage_cbe_n", &cbe_n));
    let offset = b.slice(&address, 0, size.ilog2().max(8));
    let stage_address = b.state_reg("stage_address", &offset);
    let covered = b.concat(&[&stage_d, &stage_n, &par]);
    let odd = parity(b, "stage_parity", &covered);
    let data_bad = b.and(&stage, &odd);
    let refuse = b.and(&data_bad, &header.parity_on());
    let drop = bench.pick(b, Defect::DamagedDataKept, &refuse, |b| b.constant(0, 1));
    let accept = unless(b, &stage, &drop);
    let bytes = b.not(&stage_n);
    let config_write = b.and(&accept, &stage_config);
    let push = unless(b, &accept, &stage_config);

    b.comment("what to answer");
    let (memory_read, memory_write) = {
        let memory = unless(b, &d.claim, &d.config);
        (b.and(&memory, &d.read), unless(b, &memory, &d.read))
    };
    let empty = b.all(&cbe_n);
    let wants = unless(b, &memory_read, &empty);
    let calm = unless(b, &posted.calm, &stage);
    let start_read = b.and(&wants, &calm);
    let no_room = b.not(&posted.room);
    let held_up = unless(b, &wants, &calm);
    let held_up = bench.pick(b, Defect::HoldsInsteadOfRetry, &held_up, |b| b.constant(0, 1));
    let write_later = b.and(&memory_write, &no_room);
    let retry = b.or(&held_up, &write_later);
    let configures = b.and(&d.claim, &d.config);
    let nothing = b.and(&memory_read, &empty);
    let write_now = b.and(&memory_write, &posted.room);
    let at_once = either(b, &[&configures, &nothing, &write_now]);

    b.comment("the end of the BAR, and what cannot go on");
    let word = b.slice(&address, 2, size.ilog2() - 2);
    let last_word = b.all(&word);
    let one = b.constant(1, 1);
    let next_word = b.increment(&word, &one);
    let next_last = b.all(&next_word);
    let last_word = bench.pick(b, Defect::PastTheEnd, &last_word, |b| b.constant(0, 1));
    let next_last = bench.pick(b, Defect::PastTheEnd, &next_last, |b| b.constant(0, 1));
    let nonlinear = b.not(&d.linear);
    let only_one = either(b, &[&last_word, &nonlinear]);
    let write_once = b.and(&write_now, &only_one);
    let stop_first = either(b, &[&retry, &configures, &nothing, &write_once]);
    let goes_on = every(b, &[&phase_done, &frame, t.trdy.value()]);
    let goes_on = unless(b, &goes_on, t.stop.value());
    let more = b.and(&goes_on, &posted.room);
    let full_or_last = b.or(&no_room, &next_last);
    let disconnect = b.and(&goes_on, &full_or_last);

    b.comment("a memory read's answer: one word, or a target abort");
    let answered = b.and(t.waiting.value(), &posted.read_done);
    let deliver = unless(b, &answered, posted.error());
    let abort = b.and(&answered, posted.error());
    let ad_out = {
        let q = header.read(b, &bench, &address);
        let none = b.constant(0, 32);
        let q = b.mux(&d.config, &q, &none);
        let state = b.state("ad_out_1", 32);
        let value = state.value().clone();
        let next = b.mux(&d.claim, &q, &value);
        let next = b.mux(&deliver, posted.q(), &next);
        b.set(state, &next);
        value
    };

    outputs(b, &bench, &t, &ad_out, &cbe_n, &awake, (&first, &cbe_n));
    let serr = system_error(b, &bench, &header, &d.bad, &posted.write_failed, &awake);
    data_error(b, &bench, &refuse, &awake);
    interrupt(b, &bench, &awake);
    let out_of_reset = b.state_reg("awake_1", &awake);
    b.output("awake", &out_of_reset);

    b.comment("the next clock of the transaction");
    let read_claim = b.and(&d.claim, &d.read);
    let keep_trdy = unless(b, t.trdy.value(), &phase_done);
    let keep_trdy = bench.pick(b, Defect::ReadyWithdrawn, &keep_trdy, |b| b.constant(0, 1));
    let trdy = either(b, &[&at_once, &deliver, &keep_trdy, &more]);
    let keep_stop = bench
        .pick(b, Defect::StopWithdrawn, &t.stop.value().clone(), |b| unless(b, t.stop.value(), &phase_done));
    let stop = either(b, &[&stop_first, &answered, &keep_stop, &disconnect]);
    let lose = bench.pick(b, Defect::AbortKeepsSelect, &abort, |b| b.constant(0, 1));
    let keep_devsel = unless(b, t.devsel.value(), &lose);
    let devsel = b.or(&d.claim, &keep_devsel);
    let active = b.or(&d.claim, t.active.value());
    let ad_oe = b.or(&read_claim, t.ad_oe.value());
    let pending = unless(b, t.waiting.value(), &posted.read_done);
    let waiting = b.or(&start_read, &pending);
    let go_on = unless(b, &awake, &finish);
    for (state, next) in [
        (t.trdy, trdy),
        (t.stop, stop),
        (t.devsel, devsel),
        (t.active, active),
        (t.ad_oe, ad_oe),
        (t.waiting, waiting),
    ] {
        let next = b.and(&next, &go_on);
        b.set(state, &next);
    }

    let any_bad = b.or(&d.bad, &data_bad);
    let place = b.slice(&stage_address, 0, 8);
    let write = Write { now: &config_write, place: &place, d: &stage_d, bytes: &bytes };
    header.update(b, &write, &Events { abort: &abort, serr: &serr, parity: &any_bad }, &awake);
    let inside = b.slice(&stage_address, 0, size.ilog2());
    let ones = b.constant(15, 4);
    let bytes = bench.pick(b, Defect::IgnoresByteEnables, &bytes, |_| ones);
    let push = Push { now: &push, address: &inside, d: &stage_d, bytes: &bytes };
    let read_address = b.slice(&address, 0, size.ilog2());
    posted.connect(b, &push, (&start_read, &read_address), &awake);
    std::mem::replace(b, Build::new("none", "")).finish()
}

/// The address: taken in the address phase, counted on with every word.
fn address_counter(b: &mut Build, bench: &Bench, size: u32, ad: &Net, first: &Net, moved: &Net) -> Net {
    let state = b.state("address_1", 32);
    let address = state.value().clone();
    let bits = size.ilog2() - 2;
    let word = b.slice(&address, 2, bits);
    let count = bench.pick(b, Defect::AddressStands, moved, |b| b.constant(0, 1));
    let counted = b.increment(&word, &count);
    let (high, low) = (b.slice(&address, bits + 2, 30 - bits), b.slice(&address, 0, 2));
    let counted = b.concat(&[&high, &counted, &low]);
    let next = b.mux(first, ad, &counted);
    b.set(state, &next);
    address
}

/// Whose transaction it is.
#[allow(clippy::too_many_arguments)] // the whole of an address phase
fn decoded(
    b: &mut Build,
    bench: &Bench,
    header: &Header,
    address: &Net,
    command: &Net,
    selected: &Net,
    par: &Net,
    decode: &Net,
    awake: &Net,
) -> Decoded {
    b.comment("whose transaction it is");
    let covered = b.concat(&[address, command, par]);
    let odd = parity(b, "address_parity", &covered);
    let bad = b.and(decode, &odd);
    let kind = b.slice(command, 1, 3);
    let config = is(b, &kind, 0b101);
    let (order, function) = (b.slice(address, 0, 2), b.slice(address, 8, 3));
    let (linear, zero) = (is(b, &order, 0), is(b, &function, 0));
    let hit_config = every(b, &[&config, selected, &linear, &zero]);
    let plain = b.slice(command, 1, 2);
    let (plain, multiple) = (is(b, &plain, 0b11), is(b, command, 0b1100));
    let memory = b.or(&plain, &multiple);
    let memory = bench.pick(b, Defect::PlainCommandsOnly, &memory, |b| is(b, &kind, 0b011));
    let low = 32 - header.bar().bits();
    let high = b.slice(address, low, 32 - low);
    let inside = b.eq(&high, &header.bar());
    let enabled = bench.pick(b, Defect::IgnoresEnable, &header.memory_on(), |b| b.constant(1, 1));
    let hit_memory = every(b, &[&memory, &inside, &enabled]);
    let hit = b.or(&hit_config, &hit_memory);
    let refuse = b.and(&bad, &header.parity_on());
    let claim = every(b, &[decode, &hit, awake]);
    let claim = unless(b, &claim, &refuse);
    let write = b.bit(command, 0);
    let linear = bench.pick(b, Defect::WrapsLinearly, &linear, |b| b.constant(1, 1));
    Decoded { claim, read: b.not(&write), config, linear, bad }
}

/// The pins that follow from the transaction's state.
fn outputs(
    b: &mut Build,
    bench: &Bench,
    t: &Transaction,
    ad_out: &Net,
    cbe_n: &Net,
    awake: &Net,
    address_phase: (&Net, &Net),
) {
    b.comment("pins: sustained tri-state lines are driven high for a clock, then float");
    let was = b.state_reg("active_was", t.active.value());
    let driven = b.or(t.active.value(), &was);
    let driven = bench.pick(b, Defect::NoDriveHigh, &driven, |_| t.active.value().clone());
    let driven = bench.pick(b, Defect::ControlHeld, &driven, |b| {
        let longer = b.state_reg("active_long_ago", &was);
        b.or(&driven, &longer)
    });
    let on = bench.pick(b, Defect::DrivesInReset, awake, |b| b.constant(1, 1));
    let control_oe = b.and(&driven, &on);
    let control_oe = bench.pick(b, Defect::DrivesInReset, &control_oe, |b| {
        let asleep = b.not(awake);
        b.or(&control_oe, &asleep)
    });
    for (name, state) in [("devsel_n", &t.devsel), ("trdy_n", &t.trdy), ("stop_n", &t.stop)] {
        let level = b.not(state.value());
        b.output(name, &level);
    }
    b.output("control_oe", &control_oe);
    let ad_oe = bench.pick(b, Defect::LateRelease, &t.ad_oe.value().clone(), |b| {
        let late = b.state_reg("ad_oe_late", t.ad_oe.value());
        b.or(t.ad_oe.value(), &late)
    });
    let ad_oe = bench.pick(b, Defect::NoTurnAround, &ad_oe, |b| {
        let (first, command) = address_phase;
        let write = b.bit(command, 0);
        let read = unless(b, first, &write);
        let early = b.state_reg("ad_oe_early", &read);
        b.or(&ad_oe, &early)
    });
    let par_oe = b.state_reg("par_oe_1", &ad_oe);
    for (name, oe) in [("ad_oe", &ad_oe), ("par_oe", &par_oe)] {
        let oe = b.and(oe, awake);
        b.output(name, &oe);
    }
    b.output("ad_out", ad_out);
    let covered = b.concat(&[ad_out, cbe_n]);
    let even = parity(b, "read_parity", &covered);
    let even = bench.pick(b, Defect::OddParity, &even, |b| b.not(&even));
    let even = bench.pick(b, Defect::ParityWithoutByteEnables, &even, |b| parity(b, "ad_parity", ad_out));
    let par_out = b.state_reg("par_out_1", &even);
    b.output("par_out", &par_out);
}

/// SERR#: for a clock after an address with wrong parity, or a posted word that the engine refused.
fn system_error(
    b: &mut Build,
    bench: &Bench,
    header: &Header,
    address_bad: &Net,
    write_failed: &Net,
    awake: &Net,
) -> Net {
    let address_bad = b.and(address_bad, &header.parity_on());
    let either = b.or(&address_bad, write_failed);
    let serr = b.and(&either, &header.serr_on());
    let serr = bench.pick(b, Defect::NoSystemError, &serr, |b| b.constant(0, 1));
    let pin = b.state_reg("serr_1", &serr);
    let pin = b.and(&pin, awake);
    b.output("serr_oe", &pin);
    serr
}

/// PERR#: for a clock, two clocks after a word with wrong parity was taken.
fn data_error(b: &mut Build, bench: &Bench, refuse: &Net, awake: &Net) {
    let refuse = bench.pick(b, Defect::NoDataParityError, refuse, |b| b.constant(0, 1));
    let refuse = bench.pick(b, Defect::LateDataParityError, &refuse, |b| b.state_reg("perr_late", &refuse));
    let perr = b.state_reg("perr_1", &refuse);
    let was = b.state_reg("perr_was", &perr);
    let oe = b.or(&perr, &was);
    let oe = b.and(&oe, awake);
    let level = b.not(&perr);
    b.output("perr_n", &level);
    b.output("perr_oe", &oe);
}

/// INTA#, open drain: a level, asserted for as long as the engine asks for it. PCI 2.2 has no bit that disables it;
/// the engine has.
fn interrupt(b: &mut Build, bench: &Bench, awake: &Net) {
    b.comment("INTA#");
    let irq = b.input("irq", 1);
    let pin = b.state_reg("inta_1", &irq);
    let pin = bench.pick(b, Defect::InterruptPulse, &pin, |b| {
        let was = b.state_reg("inta_was", &pin);
        unless(b, &pin, &was)
    });
    let on = bench.pick(b, Defect::InterruptInReset, awake, |b| b.constant(1, 1));
    let pin = b.and(&pin, &on);
    b.output("inta_oe", &pin);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, synthesise};

    /// The buffer is small memory, and nothing of the bench's mistakes is in a board's target.
    #[test]
    fn it_synthesises() {
        let module = pci_target(1 << 19, false);
        assert!(module.ports().iter().all(|port| port.name != "defect"));
        let statistics = synthesise(&module, "synth_xilinx -family xc2v -flatten -ise");
        // 16 words of 19 bits of address, 4 of bytes and 32 of data.
        assert_eq!(cells(&statistics, "RAM16X1D"), 55, "{statistics}");
        let registers = module.register_bits(&|_| true);
        assert!((200..400).contains(&registers), "{registers}");
    }
}
