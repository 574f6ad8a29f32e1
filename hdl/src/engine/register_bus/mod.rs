//! The register bus: decodes one request at a time into registers and memory windows, as the map says.
//!
//! ```text
//!  request ____/''''''''\____     held until done; write, address, d, strobe steady meanwhile
//!  done    ____________/'\___     with q and error
//! ```
//! The first clock registers the request, the second what its address is, the third acts and answers; a read from a
//! window answers in [`READ_CLOCKS`]. Everything the map does not allow is answered with an error and changes nothing.

mod ports;
mod registers;
mod windows;

pub use ports::{BusOutputs, read_port, register_input, window_input};

use crate::circuit::{Build, Module, Net};
use nendo_model::contract::map::{Direction, Map, Register};
use registers::register_target;
use windows::{Decoded, read_window, write_window};

/// Clocks from a request to read a window to its answer.
pub const READ_CLOCKS: u32 = 6;

/// A request: names and widths; the address is as wide as the map is large.
pub const REQUEST: [(&str, Option<u32>); 5] =
    [("request", Some(1)), ("write", Some(1)), ("address", None), ("d", Some(32)), ("strobe", Some(4))];

/// Its answer.
pub const ANSWER: [(&str, u32); 3] = [("done", 1), ("q", 32), ("error", 1)];

/// Width of a byte address.
pub fn bus_address_bits(map: &Map) -> u32 {
    map.size.ilog2()
}

/// What has been decoded of an access to something.
struct Target {
    /// The address is this one's.
    hit: Net,
    /// The access is allowed.
    allowed: Net,
    /// It is for an idle engine, and this one is not; none if that is never so.
    blocked: Option<Net>,
    /// What it reads, at the time of the answer.
    q: Option<Net>,
}

/// The register bus of a map.
///
/// Besides the request, per register: an input `NAME` (read-only), `NAME_set` (write-one-to-clear), an
/// output `NAME` (written), `NAME_do` (commands). Per window: `NAME_item`, `NAME_write` and `NAME_d` out,
/// `NAME_q` in; `module_number` for all of them, if there are several: [`BusOutputs`] has the outputs. `stored` and `fetched` mark the accesses that the
/// sums count: all but refused ones and those of the sums themselves, `refused_access` those refused because the engine is
/// not `idle`. `reset_n` clears the registers that a reset clears.
pub fn register_bus(map: &Map) -> Module {
    let mut b = Build::new("register_bus", "Registers and memory windows behind one request at a time.");
    let [request, write, address, d, strobe] =
        REQUEST.map(|(name, bits)| b.input(name, bits.unwrap_or(bus_address_bits(map))));
    let idle = b.input("idle", 1);
    let awake = b.input("reset_n", 1);

    b.comment("the request, registered; phase counts its clocks");
    let phase = b.state("phase", 3);
    let busy = b.any(phase.value());
    let fresh = b.not(&busy);
    let start = b.and(&request, &fresh);
    let decoded = b.constant(2, 3);
    let third = b.eq(phase.value(), &decoded);
    // Strobes choose bytes: the lowest two address bits are not looked at.
    let (word, bytes) = (b.slice(&address, 2, address.bits() - 2), b.constant(0, 2));
    let aligned = b.concat(&[&word, &bytes]);
    let (write, address, d, strobe) = (
        b.state_reg("write_1", &write),
        b.state_reg("address_1", &aligned),
        b.state_reg("d_1", &d),
        b.state_reg("strobe_1", &strobe),
    );
    let full = b.all(&strobe);
    // Acts in the clock after the address has been decoded.
    let act = b.and(&third, &write);
    let access = Access1 { write, address, d, strobe, full, act, idle, awake };

    let module_bits = map.config.module_bits();
    let module = (module_bits > 0).then(|| b.slice(&access.address, map.module_span.ilog2(), module_bits));
    if let Some(module) = &module {
        b.output("module_number", module);
    }
    let last = b.constant(READ_CLOCKS.into(), 3);
    let at_last = b.eq(phase.value(), &last);

    let mut targets = Vec::new();
    for register in &map.registers {
        b.comment(register.name.name());
        targets.push(register_target(&mut b, &access, register));
    }
    b.comment("all words of an item but the last wait here; shared by all windows");
    let stages = [b.state("stage_0", 32), b.state("stage_1", 32)];
    let mut waits = [Vec::new(), Vec::new()];
    for window in &map.windows {
        b.comment(window.name.name());
        let decoded = Decoded::new(&mut b, map, &access, module.as_ref(), window);
        let q = (window.direction != Direction::WriteOnly)
            .then(|| read_window(&mut b, window, &decoded, &at_last));
        if window.direction != Direction::ReadOnly {
            let ok = b.and(&decoded.hit, &decoded.allowed);
            let store = b.and(&ok, &access.act);
            write_window(&mut b, &access, &stages, window, &decoded.word, &store);
            for (number, wait) in waits.iter_mut().enumerate().take(window.words() as usize - 1) {
                let here = decoded.is_word(&mut b, number as u32);
                wait.push(b.and(&store, &here));
            }
        }
        targets.push(Target { hit: decoded.hit, allowed: decoded.allowed, blocked: decoded.blocked, q });
    }
    for (stage, waits) in stages.into_iter().zip(waits) {
        let take = b.or_all(&waits);
        let next = b.mux(&take, &access.d, stage.value());
        b.set(stage, &next);
    }
    b.comment("the answer");
    let slow = slow_access(&mut b, map, &access);
    let zero = b.constant(0, 32);
    let mut q = zero.clone();
    let mut good = b.constant(0, 1);
    for target in &targets {
        let ok = b.and(&target.hit, &target.allowed);
        good = b.or(&good, &ok);
        if let Some(value) = &target.q {
            let mine = b.mux(&target.hit, value, &zero);
            q = b.or(&q, &mine);
        }
    }
    let quick = b.not(&slow);
    let now = b.and(&third, &quick);
    let finish = b.or(&now, &at_last);
    let error = b.not(&good);
    b.comment("accesses that were refused because the engine is busy");
    let blocked: Vec<Net> = targets.iter().filter_map(|t| Some(b.and(&t.hit, t.blocked.as_ref()?))).collect();
    let blocked = b.or_all(&blocked);
    let blocked = b.and(&blocked, &finish);
    let blocked = b.state_reg("refused_access_1", &blocked);
    b.output("refused_access", &blocked);
    b.comment("every access that was not refused, but those of the sums themselves");
    let is_sum: Vec<Net> = map
        .registers
        .iter()
        .zip(&targets)
        .filter(|(r, _)| r.name.is_sum())
        .map(|(_, t)| t.hit.clone())
        .collect();
    let is_sum = b.or_all(&is_sum);
    let counts = b.not(&is_sum);
    let counts = b.and(&counts, &good);
    let stored = b.and(&counts, &access.act);
    let reading = b.not(&access.write);
    let fetched = [reading, finish.clone()].iter().fold(counts, |all, net| b.and(&all, net));
    // A clock later, when all of the access stands in registers.
    let (stored, fetched) = (b.state_reg("stored_1", &stored), b.state_reg("fetched_1", &fetched));
    b.output("stored", &stored);
    b.output("fetched", &fetched);
    b.output("access_d", &access.d);
    b.output("access_address", &access.address);
    let done = b.state_reg("done_1", &finish);
    let q = b.state_reg("q_1", &q);
    let error = b.state_reg("error_1", &error);
    // A request is served once: the phase rests until the request has gone.
    let next = b.increment(phase.value(), &busy);
    let one = b.constant(1, 3);
    let none = b.constant(0, 3);
    let running = b.mux(&start, &one, &next);
    let served = b.or(&finish, &done);
    let next = b.mux(&served, &none, &running);
    b.set(phase, &next);
    b.output("done", &done);
    b.output("q", &q);
    b.output("error", &error);
    b.finish()
}

/// A registered access.
struct Access1 {
    write: Net,
    address: Net,
    d: Net,
    strobe: Net,
    full: Net,
    act: Net,
    idle: Net,
    awake: Net,
}

impl Access1 {
    /// Whether the address is exactly this one.
    fn at(&self, b: &mut Build, address: u32) -> Net {
        let wanted = b.constant(address.into(), self.address.bits());
        b.eq(&self.address, &wanted)
    }

    /// A register's next value, which is zero in a reset if it is one that a reset clears.
    fn unless_reset(&self, b: &mut Build, register: &Register, next: Net) -> Net {
        if !register.name.is_reset() {
            return next;
        }
        let none = b.constant(0, next.bits());
        b.mux(&self.awake, &next, &none)
    }
}

/// Whether an access needs the time of a memory: it reads beyond the registers and tables.
fn slow_access(b: &mut Build, map: &Map, access: &Access1) -> Net {
    let low = map.span().ilog2();
    let high = b.slice(&access.address, low, access.address.bits() - low);
    let memory = b.any(&high);
    let reading = b.not(&access.write);
    b.and(&memory, &reading)
}
