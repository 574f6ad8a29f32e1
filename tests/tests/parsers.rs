//! Every parser with samples damaged at random: an error or something sound, and soon.
//!
//! The same functions are searched farther by `scripts/fuzz`.

#[allow(dead_code, unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod parsers;

use parsers::PARSERS;
use proptest::{prelude::*, test_runner::TestRunner};

/// What files like these have in them, and what numbers they might claim.
const WORDS: [&str; 20] = [
    "-1",
    "0",
    "1",
    "3",
    "4294967296",
    "18446744073709551615",
    "-9223372036854775808",
    "1e308",
    "-1e308",
    "5e-324",
    "nan",
    "inf",
    "\"",
    "]",
    "{",
    "<",
    "\0",
    "\n",
    "=",
    "é",
];

/// One way to damage a file.
#[derive(Clone, Debug)]
enum Damage {
    Set(usize, u8),
    Cut(usize, usize),
    Repeat(usize, usize),
    Insert(usize, &'static str),
    Replace(usize, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let word = || prop::sample::select(WORDS.to_vec());
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (any::<usize>(), 0usize..200).prop_map(|(at, n)| Damage::Cut(at, n)),
        (any::<usize>(), 0usize..200).prop_map(|(at, n)| Damage::Repeat(at, n)),
        (any::<usize>(), word()).prop_map(|(at, word)| Damage::Insert(at, word)),
        (any::<usize>(), word()).prop_map(|(at, word)| Damage::Replace(at, word)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let length = bytes.len();
    if length == 0 {
        return;
    }
    let range = |at: usize, n: usize| at % length..(at % length + n).min(length);
    match *damage {
        Damage::Set(at, byte) => bytes[at % length] = byte,
        Damage::Cut(at, n) => drop(bytes.drain(range(at, n))),
        Damage::Repeat(at, n) => {
            let piece = bytes[range(at, n)].to_vec();
            bytes.splice(at % length..at % length, piece);
        }
        Damage::Insert(at, word) => drop(bytes.splice(at % length..at % length, word.bytes())),
        Damage::Replace(at, word) => {
            // In place of the word or number that stands there.
            let is_part = |b: &u8| b.is_ascii_alphanumeric() || b".-+".contains(b);
            let start = (at % length..length).find(|&k| is_part(&bytes[k])).unwrap_or(at % length);
            let end = (start..length).find(|&k| !is_part(&bytes[k])).unwrap_or(length);
            bytes.splice(start..end, word.bytes());
        }
    }
}

#[test]
fn no_parser_panics_on_damaged_files() {
    for parser in PARSERS {
        let seeds = parser.seeds();
        assert!(!seeds.is_empty(), "{}", parser.name);
        seeds.iter().for_each(|seed| (parser.run)(seed));
        let cases = (prop::sample::select(seeds), prop::collection::vec(damage(), 1..6));
        let mut runner = TestRunner::new(ProptestConfig::with_cases(200));
        let result = runner.run(&cases, |(mut bytes, all)| {
            all.iter().for_each(|one| apply(&mut bytes, one));
            (parser.run)(&bytes);
            Ok(())
        });
        result.unwrap_or_else(|e| panic!("{}: {e}", parser.name));
    }
}
