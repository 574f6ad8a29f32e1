//! A window behind the bus: which item is meant, its words out of the memory, and into it.

use super::{Access1, ports::read_port};
use crate::circuit::{Build, Net, State};
use nendo_model::contract::{
    config::address_bits,
    map::{Availability, Direction, Map, Window},
};

/// An access decoded for a window.
pub(super) struct Decoded {
    /// An existing word of this window.
    pub(super) hit: Net,
    /// It may be accessed so, now.
    pub(super) allowed: Net,
    /// The window is for an idle engine, and this one is not.
    pub(super) blocked: Option<Net>,
    /// Which word of the item.
    pub(super) word: Net,
    /// How many words an item has.
    words: u32,
}

impl Decoded {
    pub(super) fn new(
        b: &mut Build,
        map: &Map,
        access: &Access1,
        module: Option<&Net>,
        window: &Window,
    ) -> Self {
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
        let (free, blocked) = match window.availability {
            Availability::Idle => (access.idle.clone(), Some(b.not(&access.idle))),
            Availability::Always => (b.constant(1, 1), None),
        };
        let reading = b.not(&access.write);
        let writing = b.and(&access.write, &access.full);
        let directed = match window.direction {
            Direction::ReadWrite => b.or(&reading, &writing),
            Direction::ReadOnly => reading,
            Direction::WriteOnly => writing,
        };
        Self { hit, allowed: b.and(&free, &directed), blocked, word, words }
    }

    pub(super) fn is_word(&self, b: &mut Build, number: u32) -> Net {
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
pub(super) fn read_window(b: &mut Build, window: &Window, decoded: &Decoded, at_last: &Net) -> Net {
    let q = b.input(&read_port(window.name), window.bits());
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
pub(super) fn write_window(
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
