//! Configuration space: a type 0 header without capabilities.
//!
//! ```text
//!  00  device, vendor          10  BAR 0: memory, 32 bits, not prefetchable, sized for the map
//!  04  status, command         2c  subsystem, subsystem vendor
//!  08  class, revision         3c  interrupt pin (INTA#), interrupt line
//! ```
//! Everything else reads as zero and keeps nothing.

use super::defect::{Bench, Defect};
use crate::{
    bus::logic::{every, is, unless},
    circuit::{Build, Net, State},
};

/// The vendor's number: the FPGA maker's, as its own PCI cores have it.
pub const VENDOR: u16 = 0x10ee;
/// The device's number.
pub const DEVICE: u16 = 0x6e64;
/// A co-processor; revision 1.
pub const CLASS: u32 = 0x0b40_0001;
/// Command: answer memory accesses.
pub const MEMORY_ENABLE: u32 = 1 << 1;
/// Command: act on parity errors.
pub const PARITY_RESPONSE: u32 = 1 << 6;
/// Command: SERR# may be driven.
pub const SERR_ENABLE: u32 = 1 << 8;
/// Interrupt pin, in the word of the interrupt line: INTA#.
pub const INTERRUPT_PIN: u32 = 1 << 8;
/// Status: fast back-to-back accesses are understood.
pub const FAST_BACK_TO_BACK: u32 = 1 << 23;
/// Status: DEVSEL# is medium.
pub const MEDIUM_DEVSEL: u32 = 1 << 25;
/// Status: a target abort was signalled.
pub const SIGNALLED_ABORT: u32 = 1 << 27;
/// Status: SERR# was driven.
pub const SIGNALLED_SERR: u32 = 1 << 30;
/// Status: a parity error was seen.
pub const DETECTED_PARITY: u32 = 1 << 31;

/// The registers, whose next values are given by [`Header::update`].
pub(super) struct Header {
    memory_on: State,
    parity_on: State,
    serr_on: State,
    bar: State,
    line: State,
    flags: [(State, u32); 3],
}

/// A write to configuration space.
pub(super) struct Write<'a> {
    /// It happens now.
    pub now: &'a Net,
    /// The byte address within the header.
    pub place: &'a Net,
    /// The word.
    pub d: &'a Net,
    /// Which bytes.
    pub bytes: &'a Net,
}

/// What sets the sticky flags of the status register.
pub(super) struct Events<'a> {
    pub(super) abort: &'a Net,
    pub(super) serr: &'a Net,
    pub(super) parity: &'a Net,
}

impl Header {
    /// Registers for a BAR of so many bytes.
    pub(super) fn new(b: &mut Build, size: u32) -> Self {
        let flag = |b: &mut Build, name: &str, mask: u32| (b.state(name, 1), mask.ilog2());
        Self {
            memory_on: b.state("memory_on", 1),
            parity_on: b.state("parity_on", 1),
            serr_on: b.state("serr_on", 1),
            bar: b.state("bar", 32 - size.ilog2()),
            line: b.state("interrupt_line", 8),
            flags: [
                flag(b, "signalled_abort", SIGNALLED_ABORT),
                flag(b, "signalled_serr", SIGNALLED_SERR),
                flag(b, "detected_parity", DETECTED_PARITY),
            ],
        }
    }

    pub(super) fn memory_on(&self) -> Net {
        self.memory_on.value().clone()
    }

    pub(super) fn parity_on(&self) -> Net {
        self.parity_on.value().clone()
    }

    pub(super) fn serr_on(&self) -> Net {
        self.serr_on.value().clone()
    }

    pub(super) fn bar(&self) -> Net {
        self.bar.value().clone()
    }

    /// The word at a byte address.
    pub(super) fn read(&self, b: &mut Build, bench: &Bench, place: &Net) -> Net {
        let [abort, serr, parity] = self.flags.each_ref().map(|(state, _)| state.value().clone());
        let bits = [
            (1, self.memory_on()),
            (6, self.parity_on()),
            (8, self.serr_on()),
            (23, b.constant(1, 1)),
            (25, b.constant(1, 1)),
            (27, abort),
            (30, serr),
            (31, parity),
        ];
        let command = spread(b, &bits);
        let low = b.constant(0, 32 - self.bar().bits());
        let bar = b.concat(&[&self.bar(), &low]);
        let pin = b.constant((INTERRUPT_PIN >> 8).into(), 24);
        let pin = bench.pick(b, Defect::NoInterruptPin, &pin, |b| b.constant(0, 24));
        let line = b.concat(&[&pin, self.line.value()]);
        let id = i64::from(u32::from(DEVICE) << 16 | u32::from(VENDOR));
        let words = [
            (0x00, b.constant(id, 32)),
            (0x04, command),
            (0x08, b.constant(CLASS.into(), 32)),
            (0x10, bar),
            (0x2c, b.constant(id, 32)),
            (0x3c, line),
        ];
        let zero = b.constant(0, 32);
        let word = b.slice(place, 2, 6);
        words.iter().fold(zero, |rest, (address, value)| {
            let here = is(b, &word, address >> 2);
            b.mux(&here, value, &rest)
        })
    }

    /// Gives all registers their next values.
    pub(super) fn update(self, b: &mut Build, write: &Write<'_>, events: &Events<'_>, awake: &Net) {
        let word = b.slice(write.place, 2, 6);
        let mut byte = |place: i64, byte: u32| {
            let here = is(b, &word, place >> 2);
            let on = b.bit(write.bytes, byte);
            every(b, &[write.now, &here, &on])
        };
        let (command, high) = (byte(0x04, 0), byte(0x04, 1));
        let status = byte(0x04, 3);
        let bars: Vec<Net> = (0..4).map(|k| byte(0x10, k)).collect();
        let line = byte(0x3c, 0);
        for (state, on, bit) in
            [(self.memory_on, &command, 1), (self.parity_on, &command, 6), (self.serr_on, &high, 8)]
        {
            let d = b.bit(write.d, bit);
            let next = b.mux(on, &d, state.value());
            let next = b.and(&next, awake);
            b.set(state, &next);
        }
        let low = 32 - self.bar.value().bits();
        let parts: Vec<Net> = (low / 8..4)
            .map(|k| {
                let from = low.max(8 * k);
                let (d, bits) = (b.slice(write.d, from, 8 * k + 8 - from), 8 * k + 8 - from);
                let old = b.slice(self.bar.value(), from - low, bits);
                let next = b.mux(&bars[k as usize], &d, &old);
                let none = b.constant(0, bits);
                b.mux(awake, &next, &none)
            })
            .collect();
        let next = b.concat(&parts.iter().rev().collect::<Vec<_>>());
        b.set(self.bar, &next);
        let d = b.slice(write.d, 0, 8);
        let next = b.mux(&line, &d, self.line.value());
        b.set(self.line, &next);
        for ((state, bit), event) in self.flags.into_iter().zip([events.abort, events.serr, events.parity]) {
            let one = b.bit(write.d, bit);
            let clear = b.and(&status, &one);
            let kept = unless(b, state.value(), &clear);
            let next = b.or(&kept, event);
            let next = b.and(&next, awake);
            b.set(state, &next);
        }
    }
}

/// A word with these bits in it.
fn spread(b: &mut Build, bits: &[(u32, Net)]) -> Net {
    let zero = b.constant(0, 1);
    let all: Vec<Net> = (0..32)
        .map(|k| bits.iter().find(|(bit, _)| *bit == k).map_or_else(|| zero.clone(), |(_, net)| net.clone()))
        .collect();
    b.concat(&all.iter().rev().collect::<Vec<_>>())
}
