//! The parts of a declared word as nets: [`nendo_model::contract::words`] says what they are.
//!
//! ```text
//!  let slot = Slot::layout(config).map(in_memory(b, &word));      slot.u, slot.class, ... are wires
//!  let command = Command::LAYOUT.map(in_register(b, &word));      command.start, ...
//! ```
//! Wires only: no clock, no gate.

use crate::circuit::{Build, Net};
use nendo_model::contract::words::Field;

/// Cuts an item's word as a memory holds it: its parts one above the other. A part without a width is a literal zero,
/// which gives no Verilog.
pub fn in_memory<'a>(b: &'a mut Build, word: &'a Net) -> impl FnMut(Field) -> Net + 'a {
    let mut low = 0;
    move |field| {
        if field.bits == 0 {
            return b.constant(0, 1);
        }
        let part = b.slice(word, low, field.bits);
        low += field.bits;
        part
    }
}

/// Cuts a register's word: its parts where their fields are.
pub fn in_register<'a>(b: &'a mut Build, word: &'a Net) -> impl FnMut(Field) -> Net + 'a {
    move |field| b.slice(word, field.low, field.bits)
}

/// A register's word from its parts.
///
/// # Panics
/// If there is room between them, or one is not as wide as its field.
pub fn register<const N: usize>(b: &mut Build, fields: [Field; N], parts: &[Net; N]) -> Net {
    let mut low = 0;
    for (field, part) in fields.iter().zip(parts) {
        assert_eq!((field.low, field.bits), (low, part.bits()), "{} = {part:?}", field.name);
        low += field.bits;
    }
    b.concat(&parts.iter().rev().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        circuit::Module,
        testing::{run_pipeline, synthesise},
    };
    use nendo_model::contract::{
        config::Config,
        map::{Map, WindowName},
        numbers::{Inverse, Profile},
        words::{Item, RegisterWord, Slot, Status, StatusParts, Word, unpack},
    };
    use proptest::prelude::*;

    const CONFIG: Config = Config { modules: 3, ..Config::minimal(Profile::Wide, Inverse::Table) };

    /// A slot's word to its parts.
    fn slots(config: &Config) -> Module {
        let mut b = Build::new("slots", "A slot's parts.");
        let word = b.pipe_input("word", Map::new(config).window(WindowName::Edge).bits());
        let slot = Slot::layout(config).map(in_memory(&mut b, &word));
        for (field, net) in Slot::layout(config).into_array().iter().zip(slot.into_array()) {
            if field.bits > 0 {
                b.output(&format!("slot_{}", field.name), &net);
            }
        }
        b.finish()
    }

    /// A status to its parts and together again.
    fn status() -> Module {
        let mut b = Build::new("status", "A status, apart and together.");
        let word = b.pipe_input("word", Status::WIDTH);
        let StatusParts { busy, mode, refused } = Status::LAYOUT.map(in_register(&mut b, &word));
        let again =
            register(&mut b, Status::LAYOUT.into_array(), &[busy.clone(), mode.clone(), refused.clone()]);
        b.output("busy", &busy);
        b.output("mode", &mode);
        b.output("refused", &refused);
        b.output("again", &again);
        b.finish()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        /// What the model packs, the hardware takes apart.
        #[test]
        fn parts_are_the_models(numbers in prop::collection::vec(prop::collection::vec(any::<i64>(), 9), 50)) {
            for config in [CONFIG, Config { modules: 1, ..CONFIG }] {
                let fields = Slot::fields(&config);
                let slots_of = |numbers: &Vec<i64>| -> Slot {
                    Word::from_numbers(fields.iter().zip(numbers).map(|(f, n)| f.keep(*n)))
                };
                let items: Vec<Slot> = numbers.iter().map(slots_of).collect();
                let memory = |slot: &Slot| {
                    let placed = fields.iter().zip(slot.numbers()).rev();
                    vec![placed.fold(0, |word, (f, n)| word << f.bits | (n & ((1 << f.bits) - 1)))]
                };
                let words: Vec<Vec<i64>> = items.iter().map(memory).collect();
                for (slot, found) in items.iter().zip(run_pipeline(&slots(&config), &[], &words)) {
                    let kept = fields.iter().zip(found).map(|(f, n)| f.keep(n));
                    prop_assert_eq!(Slot::from_numbers(kept), *slot);
                }
            }
        }
    }

    #[test]
    fn registers_come_apart_and_together() {
        let words: Vec<Vec<i64>> = (0..32).map(|word| vec![word]).collect();
        for (word, found) in (0..).zip(run_pipeline(&status(), &[], &words)) {
            let [busy, mode, refused, again] = found[..] else { panic!("{found:?}") };
            let kept = [busy, mode, refused].into_iter().zip(Status::FIELDS).map(|(n, f)| f.keep(n));
            assert_eq!(kept.collect::<Vec<_>>(), unpack(Status::FIELDS, &[word]));
            assert_eq!(again & 31, i64::from(word));
        }
    }

    #[test]
    fn it_synthesises_to_wires() {
        let found = synthesise(&slots(&CONFIG), "synth_xilinx -family xc2v -flatten -noiopad -top block");
        assert!(!found.contains("LUT") && !found.contains("FDRE"), "{found}");
        synthesise(&status(), "synth_xilinx -family xc2v -flatten -top block");
    }
}
