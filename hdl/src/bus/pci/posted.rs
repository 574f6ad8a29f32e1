//! The posted write buffer, and the one request at a time that leaves it.
//!
//! ```text
//!  push --> 16 words with address and bytes --> request, write, address, d, strobe --> done, error
//!  read --> only when all of them are gone ---> request .............................> done, q, error
//! ```

use super::defect::{Bench, Defect};
use crate::{
    bus::logic::{either, every, hold, unless},
    circuit::{Build, Net, State},
};

/// Words the buffer holds.
pub const POSTED_WORDS: u32 = 16;
/// Words that may be on their way into the buffer when room is asked for: the one being taken, the one whose
/// parity is being checked, and the one that is being let in.
const UNDER_WAY: u32 = 3;

/// What goes into the buffer.
pub(super) struct Push<'a> {
    /// It does so now.
    pub now: &'a Net,
    /// Its byte address.
    pub address: &'a Net,
    /// The word.
    pub d: &'a Net,
    /// Which bytes of it.
    pub bytes: &'a Net,
}

/// The engine's answers, as inputs of the module.
pub(super) struct Answer {
    pub(super) done: Net,
    pub(super) q: Net,
    pub(super) error: Net,
}

/// The buffer's state, known before anything is put in.
pub(super) struct Posted {
    head: State,
    tail: State,
    count: State,
    serving: State,
    answer: Answer,
    writing: Net,
    start_read: Net,
    /// There is room for another word.
    pub(super) room: Net,
    /// Nothing waits, nothing is under way.
    pub(super) calm: Net,
    /// A posted word was refused.
    pub(super) write_failed: Net,
    /// A read has its answer.
    pub(super) read_done: Net,
}

impl Posted {
    /// The state, from which follows what the bus may do.
    pub(super) fn new(b: &mut Build, bench: &Bench) -> Self {
        let answer = Answer { done: b.input("done", 1), q: b.input("q", 32), error: b.input("error", 1) };
        let bits = POSTED_WORDS.ilog2();
        let (head, tail) = (b.state("posted_head", bits), b.state("posted_tail", bits));
        let count = b.state("posted_count", bits + 1);
        let serving = b.state("serving", 1);
        let start_read = b.forward("start_read", 1);
        let limit = b.constant((POSTED_WORDS - UNDER_WAY + 1).into(), bits + 1);
        let room = b.less(count.value(), &limit);
        let room = bench.pick(b, Defect::BufferOverrun, &room, |b| b.constant(1, 1));
        let waiting = b.any(count.value());
        let busy = either(b, &[serving.value(), &answer.done]);
        let unsettled = b.or(&waiting, &busy);
        let unsettled = bench.pick(b, Defect::ReadOvertakes, &unsettled, |_| busy.clone());
        let calm = b.not(&unsettled);
        let (free, is_write) = (b.not(&busy), b.not(&start_read));
        let writing = hold(b, "serving_write", &free, &is_write);
        let ends = b.and(serving.value(), &answer.done);
        let write_failed = every(b, &[&ends, &writing, &answer.error]);
        let read_done = unless(b, &ends, &writing);
        Self { head, tail, count, serving, answer, writing, start_read, room, calm, write_failed, read_done }
    }

    /// What was read.
    pub(super) fn q(&self) -> &Net {
        &self.answer.q
    }

    /// Whether the read was refused.
    pub(super) fn error(&self) -> &Net {
        &self.answer.error
    }

    /// Connects what is put in and what is to be read; makes the outputs of the request.
    pub(super) fn connect(self, b: &mut Build, push: &Push<'_>, read: (&Net, &Net), awake: &Net) {
        let (read_now, read_address) = read;
        b.drive(&self.start_read, read_now);
        let (address_bits, bits) = (push.address.bits(), POSTED_WORDS.ilog2());
        let width = address_bits + 36;
        let item = b.concat(&[push.address, push.bytes, push.d]);
        b.named("posted_item", &item);
        let some = b.any(push.bytes);
        let push_now = b.and(push.now, &some);
        let push_now = b.named("posted_push", &push_now);
        b.verbatim(&format!(
            "reg [{}:0] posted [0:{}];\nalways @(posedge clock) if (posted_push) posted[{}] <= posted_item;\n\
             wire [{}:0] posted_next = posted[{}];",
            width - 1,
            POSTED_WORDS - 1,
            self.head.value().name(),
            width - 1,
            self.tail.value().name(),
        ));
        let next = b.declared("posted_next", width, None);

        let waiting = b.any(self.count.value());
        let busy = b.or(self.serving.value(), &self.answer.done);
        let start_write = unless(b, &waiting, &busy);
        let start_write = unless(b, &start_write, read_now);
        let start = b.or(&start_write, read_now);
        let still = unless(b, self.serving.value(), &self.answer.done);
        let serving = b.or(&still, &start);
        let serving = b.and(&serving, awake);
        b.output("request", self.serving.value());
        b.set(self.serving, &serving);
        b.output("write", &self.writing);
        let address = b.slice(&next, 36, address_bits);
        let address = b.mux(read_now, read_address, &address);
        for (port, value) in
            [("address", address), ("strobe", b.slice(&next, 32, 4)), ("d", b.slice(&next, 0, 32))]
        {
            let held = hold(b, &format!("request_{port}"), &start, &value);
            b.output(port, &held);
        }

        let none = b.constant(0, bits);
        for (state, now) in [(self.head, &push_now), (self.tail, &start_write)] {
            let next = b.increment(state.value(), now);
            let next = b.mux(awake, &next, &none);
            b.set(state, &next);
        }
        let more = unless(b, &push_now, &start_write);
        let less = unless(b, &start_write, &push_now);
        let up = b.increment(self.count.value(), &more);
        let down = b.zero_extend(&less, bits + 1);
        let next = b.sub(&up, &down);
        let none = b.constant(0, bits + 1);
        let next = b.mux(awake, &next, &none);
        b.set(self.count, &next);
    }
}
