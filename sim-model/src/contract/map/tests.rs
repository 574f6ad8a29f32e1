//! Maps are sound, and what is packed comes back.

use super::*;
use crate::contract::{
    numbers::{Inverse, Profile},
    words::*,
};
use proptest::prelude::*;
use std::fmt::Debug;

fn maps() -> Vec<Map> {
    let config =
        |profile, particles, edges| Config { particles, edges, ..Config::minimal(profile, Inverse::Table) };
    let mut maps: Vec<Map> = Profile::HARDWARE.iter().map(|&p| Map::new(&config(p, 1024, 5120))).collect();
    maps.push(Map::new(&config(Profile::Wide, 4096, 20480)));
    maps.push(Map::new(&config(Profile::Wide, 65536, 1 << 20)));
    maps.extend(
        [2, 3, 64, 128].map(|modules| Map::new(&Config { modules, ..config(Profile::Wide, 2048, 9216) })),
    );
    maps
}

#[test]
fn nothing_overlaps_and_everything_fits() {
    for map in maps() {
        let mut taken: Vec<(u32, u32, &str)> =
            map.registers.iter().map(|r| (r.address, r.address + 4, r.name.name())).collect();
        for w in &map.windows {
            let start = |m: u32| w.base + m * map.module_span;
            taken
                .extend((0..w.modules).map(|m| (start(m), start(m) + 4 * w.items * w.stride, w.name.name())));
        }
        taken.sort_unstable();
        for pair in taken.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{pair:?}");
        }
        assert!(taken.iter().all(|t| t.1 <= map.size && t.0 % 4 == 0));
        for w in &map.windows {
            assert!(w.stride.is_power_of_two() && w.words() <= w.stride, "{:?}", w.name);
        }
        assert!(map.registers.iter().map(|r| r.name).eq(Reg::ALL.iter().copied()));
        assert!(map.windows.iter().map(|w| w.name).eq(WindowName::ALL.iter().copied()));
    }
}

/// `left` at 0x7c stood between 0x60 and 0x64. For JSON, `host/tests/testbench.rs` looks.
#[test]
fn registers_were_listed_out_of_order() {
    for map in maps() {
        let hex = |text: &str| u32::from_str_radix(text, 16).unwrap();
        let header = map.c_header();
        let defined = |line: &str| {
            let mut words = line.strip_prefix("#define NENDO_")?.split(" 0x");
            let (name, value) = (words.next()?, words.next()?);
            let known = Reg::ALL.iter().any(|r| r.name().eq_ignore_ascii_case(name));
            known.then(|| hex(value.trim_end_matches('u')))
        };
        let in_header: Vec<u32> = header.lines().filter_map(defined).collect();
        let page = map.markdown();
        let row = |line: &str| Some(hex(line.strip_prefix("| 0x")?.split(' ').next()?));
        let in_page: Vec<u32> = page.lines().filter_map(row).collect();
        for list in [&in_header, &in_page] {
            assert!(list.len() >= Reg::ALL.len() && list.is_sorted(), "{list:x?}");
        }
    }
}

/// No two fields of a word share a bit, none is wider than what it is in, and values and parts fit into theirs.
#[test]
fn fields_do_not_overlap() {
    fn check(of: &str, fields: &[Field], bits: u32) {
        let mut taken = [0u64; 4];
        for f in fields {
            assert!(f.bits > 0 && f.low + f.bits <= bits, "{of}.{}", f.name);
            let mask = u64::from(f.mask());
            assert_eq!(taken[f.word as usize] & mask, 0, "{of}.{}", f.name);
            taken[f.word as usize] |= mask;
            // All ones are none of them.
            assert!(f.values.is_empty() || f.values.len() < 1 << f.bits, "{of}.{}", f.name);
            check(f.name, f.parts, f.bits);
            assert!(!f.doc.is_empty() && fields.iter().filter(|other| other.name == f.name).count() == 1);
        }
    }
    for map in maps() {
        map.registers.iter().for_each(|r| check(r.name.name(), r.fields, r.bits));
        map.windows.iter().for_each(|w| check(w.name.name(), &w.fields, 32));
    }
}

#[test]
fn memory_words_are_what_the_blocks_hold() {
    let map =
        Map::new(&Config { particles: 4096, edges: 20480, ..Config::minimal(Profile::Wide, Inverse::Table) });
    use WindowName::{Display, Edge, External, Force, Position, Velocity};
    let bits = [Position, Velocity, External, Edge, Display, Force].map(|name| map.window(name).bits());
    assert_eq!(bits, [72, 72, 54, 49, 48, 54]);
}

/// An item of numbers that fit their fields, there and back.
fn comes_back<I: Item + PartialEq + Debug>(map: &Map, numbers: &[i64]) {
    let window = map.window(I::WINDOW);
    let kept: Vec<i64> = window.fields.iter().zip(numbers).map(|(f, n)| f.keep(*n)).collect();
    let item = I::from_numbers(kept.iter().copied());
    // The parts that are not there are the last.
    assert_eq!(item.numbers()[..kept.len()], kept);
    assert!(item.numbers()[kept.len()..].iter().all(|n| *n == 0));
    let words = map.pack(&item);
    assert_eq!((words.len() as u32, map.unpack::<I>(&words)), (window.words(), item));
    assert_eq!(unpack(&window.fields, &words), kept);
}

fn word_comes_back<W: RegisterWord + PartialEq + Debug>(bits: u32) {
    let word = W::from_bits(bits);
    assert_eq!(W::from_bits(word.bits()), word);
    assert_eq!(word.bits() >> (W::WIDTH - 1) >> 1, 0);
}

proptest! {
    #[test]
    fn items_come_back(numbers in prop::collection::vec(any::<i64>(), 9)) {
        for map in maps() {
            comes_back::<ElementExtension>(&map, &numbers);
            comes_back::<ElementRate>(&map, &numbers);
            comes_back::<ElementDamper>(&map, &numbers);
            comes_back::<MassTable>(&map, &numbers);
            comes_back::<Position>(&map, &numbers);
            comes_back::<Velocity>(&map, &numbers);
            comes_back::<External>(&map, &numbers);
            comes_back::<Slot>(&map, &numbers);
            comes_back::<Display>(&map, &numbers);
            comes_back::<Force>(&map, &numbers);
        }
    }

    #[test]
    fn words_of_registers_come_back(bits: u32) {
        word_comes_back::<Command>(bits);
        word_comes_back::<Status>(bits);
        word_comes_back::<Configuration>(bits);
        word_comes_back::<Format>(bits);
        word_comes_back::<TableEntry>(bits);
        let command = Command::from_bits(bits);
        prop_assert_eq!(Command::from_word(command.word()), Some(command));
        // Any single wrong bit is noticed.
        prop_assert_eq!(Command::from_word(command.word() ^ 1 << (bits >> 27)), None);
    }
}
