//! The register bus: decodes one request at a time into registers and memory windows, as the map says.
//!
//! ```text
//!  request ____/''''''''\____     held until done; write, address, d, strobe steady meanwhile
//!  done    ____________/'\___     with q and error
//! ```
//! The first clock registers the request, the second what its address is, the third acts and answers; a read from a
//! window answers in [`READ_CLOCKS`]. Everything the map does not allow is answered with an error and changes nothing.

use crate::circuit::{Build, Module, Net, State};
use nendo_model::contract::{
    config::address_bits,
    map::{Access, Availability, Direction, Map, Register, Window},
};

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
    /// What it reads, at the time of the answer.
    q: Option<Net>,
}

/// The register bus of a map.
///
/// Besides the request, per register: an input `NAME` (read-only), `NAME_set` (write-one-to-clear), an
/// output `NAME` (written), `NAME_do` (commands). Per window: `NAME_item`, `NAME_write` and `NAME_d` out,
/// `NAME_q` in; `module_number` for all of them, if there are several. `stored` and `fetched` mark the accesses that the
/// sums count: all but refused ones and those of the sums themselves. `reset_n` clears the registers that a reset clears.
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

    let module =
        (map.module_bits() > 0).then(|| b.slice(&access.address, map.module_span.ilog2(), map.module_bits()));
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
        targets.push(Target { hit: decoded.hit, allowed: decoded.allowed, q });
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

fn register_target(b: &mut Build, access: &Access1, register: &Register) -> Target {
    let Register { address, bits, .. } = *register;
    let name = register.name.name();
    let hit = access.at(b, address);
    let hit = b.state_reg(&format!("{name}_hit"), &hit);
    let chosen = b.and(&hit, &access.act);
    let reading = b.not(&access.write);
    let mut allowed = b.constant(1, 1);
    let value = match register.access {
        Access::Constant(value) => {
            allowed = reading;
            Some(b.constant(value.into(), 32))
        }
        Access::ReadOnly => {
            allowed = reading;
            Some(b.input(name, bits))
        }
        Access::ReadWrite => {
            let state = b.state(&format!("{name}_1"), bits);
            let value = state.value().clone();
            let next = written(b, access, &chosen, &value);
            let next = access.unless_reset(b, register, next);
            b.set(state, &next);
            b.output(name, &value);
            Some(value)
        }
        Access::Command => {
            // A command is a whole word whose upper half is the complement of the lower, or nothing.
            let (low, high) = (b.slice(&access.d, 0, 16), b.slice(&access.d, 16, 16));
            let inverted = b.not(&high);
            let sealed = b.eq(&low, &inverted);
            let whole = b.and(&access.full, &sealed);
            allowed = b.or(&reading, &whole);
            let go = b.and(&chosen, &whole);
            let (d, none) = (b.slice(&access.d, 0, bits), b.constant(0, bits));
            let go = b.mux(&go, &d, &none);
            b.output(&format!("{name}_do"), &go);
            None
        }
        Access::WriteOneToClear => {
            let set = b.input(&format!("{name}_set"), bits);
            let state = b.state(&format!("{name}_1"), bits);
            let value = state.value().clone();
            let none = b.constant(0, bits);
            let ones = written(b, access, &chosen, &none);
            let keep = b.not(&ones);
            let kept = b.and(&value, &keep);
            let next = b.or(&kept, &set);
            let next = access.unless_reset(b, register, next);
            b.set(state, &next);
            b.output(name, &value);
            Some(value)
        }
    };
    let q = value.map(|value| b.zero_extend(&value, 32));
    Target { hit, allowed, q }
}

/// A register's value with the written bytes of `d` in it, if it is `chosen`.
fn written(b: &mut Build, access: &Access1, chosen: &Net, value: &Net) -> Net {
    let bits = value.bits();
    let mut parts: Vec<Net> = Vec::new();
    for byte in 0..bits.div_ceil(8) {
        let width = (bits - 8 * byte).min(8);
        let strobe = b.bit(&access.strobe, byte);
        let on = b.and(chosen, &strobe);
        // A literal has no slices, and the only one here is zero.
        let literal = value.name().contains('\'');
        let old = if literal { b.constant(0, width) } else { b.slice(value, 8 * byte, width) };
        let new = b.slice(&access.d, 8 * byte, width);
        parts.push(b.mux(&on, &new, &old));
    }
    b.concat(&parts.iter().rev().collect::<Vec<_>>())
}

/// Whether an access needs the time of a memory: it reads beyond the registers and tables.
fn slow_access(b: &mut Build, map: &Map, access: &Access1) -> Net {
    let low = map.span().ilog2();
    let high = b.slice(&access.address, low, access.address.bits() - low);
    let memory = b.any(&high);
    let reading = b.not(&access.write);
    b.and(&memory, &reading)
}

/// An access decoded for a window.
struct Decoded {
    /// An existing word of this window.
    hit: Net,
    /// It may be accessed so, now.
    allowed: Net,
    /// Which word of the item.
    word: Net,
    /// How many words an item has.
    words: u32,
}

impl Decoded {
    fn new(b: &mut Build, map: &Map, access: &Access1, module: Option<&Net>, window: &Window) -> Self {
        let Window { base, items, stride, modules, .. } = *window;
        let name = window.name.name();
        let bytes = 4 * stride;
        let region_bits = (items * bytes).next_power_of_two().ilog2();
        assert!(base.trailing_zeros() >= region_bits, "{name}: a window must be aligned to its size");
        let offset = b.slice(&access.address, 0, region_bits);
        // Above the items: what must be the window's own, but for the module's number where there are several.
        let several = module.filter(|_| modules > 1);
        let (low, low_end) =
            (region_bits, several.map_or(access.address.bits(), |_| map.module_span.ilog2()));
        let mut inside = b.constant(1, 1);
        let parts = [Some((low, low_end)), several.map(|m| (low_end + m.bits(), access.address.bits()))];
        for (from, to) in parts.into_iter().flatten().filter(|(from, to)| from < to) {
            let part = b.slice(&access.address, from, to - from);
            let wanted = b.constant((base >> from & ((1 << (to - from)) - 1)).into(), part.bits());
            let same = b.eq(&part, &wanted);
            inside = b.and(&inside, &same);
        }
        if let Some(module) = several {
            let known = below(b, module, modules);
            inside = b.and(&inside, &known);
        }
        let item_bits = address_bits(items.into());
        let item = b.slice(&offset, bytes.ilog2(), item_bits);
        b.output(&format!("{name}_item"), &item);
        let existing = below(b, &item, items);
        let words = window.words();
        // The words an item has none of its parts in read as zero and store nothing: a window is one block.
        let word = if stride == 1 { b.constant(0, 1) } else { b.slice(&offset, 2, stride.ilog2()) };
        let hit = b.and(&inside, &existing);
        let hit = b.state_reg(&format!("{name}_hit"), &hit);
        let free = match window.availability {
            Availability::Idle => access.idle.clone(),
            Availability::Always => b.constant(1, 1),
        };
        let reading = b.not(&access.write);
        let writing = b.and(&access.write, &access.full);
        let directed = match window.direction {
            Direction::ReadWrite => b.or(&reading, &writing),
            Direction::ReadOnly => reading,
            Direction::WriteOnly => writing,
        };
        Self { hit, allowed: b.and(&free, &directed), word, words }
    }

    fn is_word(&self, b: &mut Build, number: u32) -> Net {
        if self.words == 1 {
            return b.constant(1, 1);
        }
        let wanted = b.constant(number.into(), self.word.bits());
        b.eq(&self.word, &wanted)
    }
}

/// `a < limit`, where all values may be below it.
fn below(b: &mut Build, a: &Net, limit: u32) -> Net {
    if u64::from(limit) == 1 << a.bits() {
        return b.constant(1, 1);
    }
    let limit = b.constant(limit.into(), a.bits());
    b.less(a, &limit)
}

/// The bus word of an item that the memory has put out.
fn read_window(b: &mut Build, window: &Window, decoded: &Decoded, at_last: &Net) -> Net {
    let q = b.input(&format!("{}_q", window.name.name()), window.bits());
    // What may change between two reads is held by the read of the first word for the others.
    let source = if window.availability == Availability::Always && window.direction == Direction::ReadOnly {
        let held = b.state(&format!("{}_held", window.name.name()), window.bits());
        let first = decoded.is_word(b, 0);
        let take =
            [first.clone(), at_last.clone()].iter().fold(decoded.hit.clone(), |all, net| b.and(&all, net));
        let next = b.mux(&take, &q, held.value());
        let source = b.mux(&first, &q, held.value());
        b.set(held, &next);
        source
    } else {
        q
    };
    let zero = b.constant(0, 32);
    let mut out = zero.clone();
    for number in 0..window.words() {
        let mut value = zero.clone();
        let here = || window.fields.iter().enumerate().filter(|(_, f)| f.word == number);
        let alone = here().count() == 1;
        for (k, field) in here() {
            let part = b.slice(&source, window.memory_low(k), field.bits);
            let bits = 32 - field.low;
            let part =
                if alone && field.signed { b.sign_extend(&part, bits) } else { b.zero_extend(&part, bits) };
            let part = b.shift_left(&part, field.low);
            value = b.or(&value, &part);
        }
        let chosen = decoded.is_word(b, number);
        let mine = b.mux(&chosen, &value, &zero);
        out = b.or(&out, &mine);
    }
    out
}

/// Stores an item when its last word is written.
fn write_window(
    b: &mut Build,
    access: &Access1,
    stages: &[State; 2],
    window: &Window,
    word: &Net,
    store: &Net,
) {
    let last = window.words() - 1;
    let commit = if last == 0 {
        store.clone()
    } else {
        let wanted = b.constant(last.into(), word.bits());
        let at_last = b.eq(word, &wanted);
        b.and(store, &at_last)
    };
    let source = |number: u32| if number == last { &access.d } else { stages[number as usize].value() };
    let parts: Vec<Net> = window.fields.iter().map(|f| b.slice(source(f.word), f.low, f.bits)).collect();
    let d = b.concat(&parts.iter().rev().collect::<Vec<_>>());
    // A clock late, so that decoding does not hold up the memories: the request is still held then.
    let name = window.name.name();
    let commit = b.state_reg(&format!("{name}_commit"), &commit);
    b.output(&format!("{name}_write"), &commit);
    b.output(&format!("{name}_d"), &d);
}
