//! The exchange: between the modules that own edges and those that have the edges' other particles.
//!
//! ```text
//!  stage   0                    1                   3                            4
//!  owner:  module, number -->[ ]--> other's memory ... its words --> choose -->[ ]--> TEM of the owner
//!
//!          latency              latency + 1
//!  owner:  force ---> choose -->[ ]--> sums of the other's module
//! ```
//! In a clock, every module's edge has its other particle in another module: the plan sees to that, so nothing is ever
//! held up. Who asked is remembered until the force is there. With one module it is registers only.

use crate::rtl::{Build, Module, Net};

/// Clocks from a request to the other particle's words at the owner.
pub const ANSWER: u32 = 4;

/// What goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    /// Modules.
    pub modules: u64,
    /// A particle's number in its module.
    pub number: u32,
    /// The words of a particle that an edge reads.
    pub words: u32,
    /// A force.
    pub force: u32,
    /// Clocks from a request to its force.
    pub latency: u32,
}

impl Widths {
    /// Bits of a module's number; none if there is only one.
    pub fn module_bits(&self) -> u32 {
        self.modules.next_power_of_two().ilog2()
    }
}

/// The exchange. Ports per module m: `ask_valid_m`, `ask_module_m` and `ask_number_m` ask; `asked_m` and `asked_number_m`
/// are what is asked of it; `answer_m` is its answer, `other_m` the answer to its own question; `given_m` and
/// `given_complement_m` are what it gives, `added_m` and `added_complement_m` what it gets.
pub fn exchange(widths: &Widths) -> Module {
    let Widths { modules, number, words, force, latency } = *widths;
    let bits = widths.module_bits();
    let mut b =
        Build::new("exchange", "Other particles' words to the owners of edges, forces to the others.");
    let all = 0..modules;
    let mut inputs = |name: &str, bits: u32, stage: u32| -> Vec<Net> {
        all.clone().map(|m| b.input_at(&format!("{name}_{m}"), bits, stage)).collect()
    };
    let valid = inputs("ask_valid", 1, 0);
    let asks = if bits > 0 { inputs("ask_module", bits, 0) } else { Vec::new() };
    let numbers = inputs("ask_number", number, 0);
    let answers = inputs("answer", words, 3);
    let forces = inputs("given", force, latency);
    let complements = inputs("given_complement", 1, latency);
    for m in 0..modules as usize {
        b.comment(&format!("module {m}: what is asked of it"));
        let mut asked = b.constant(0, 1);
        let mut asked_number = b.constant(0, number);
        let mut by = (bits > 0).then(|| b.constant(0, bits));
        for (other, (valid, theirs)) in valid.iter().zip(&numbers).enumerate() {
            let wanted = match asks.get(other) {
                Some(ask) => {
                    let me = b.constant(m as i64, bits);
                    let same = b.eq(ask, &me);
                    b.and(valid, &same)
                }
                None => valid.clone(),
            };
            let none = b.constant(0, number);
            let mine = b.mux(&wanted, theirs, &none);
            asked_number = b.or(&asked_number, &mine);
            asked = b.or(&asked, &wanted);
            if let Some(so_far) = by {
                let (who, nobody) = (b.constant(other as i64, bits), b.constant(0, bits));
                let mine = b.mux(&wanted, &who, &nobody);
                by = Some(b.or(&so_far, &mine));
            }
        }
        let asked = b.reg_from_zero(&asked);
        let asked_number = b.reg(&asked_number);
        b.output(&format!("asked_{m}"), &asked);
        b.output(&format!("asked_number_{m}"), &asked_number);
        b.comment("what it asked for");
        let whose = asks.get(m).map(|ask| b.until(ask, 3));
        let other = b.choose(whose.as_ref(), &answers);
        let other = b.reg(&other);
        b.output(&format!("other_{m}"), &other);
        b.comment("what it is given");
        let giver = by.map(|by| b.until(&by, latency));
        let added = b.choose(giver.as_ref(), &forces);
        let complement = b.choose(giver.as_ref(), &complements);
        let (added, complement) = (b.reg(&added), b.reg(&complement));
        b.output(&format!("added_{m}"), &added);
        b.output(&format!("added_complement_{m}"), &complement);
    }
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run_pipeline;
    use proptest::prelude::*;

    /// Whom each module asks; whether it does, for which number, and whether it gives a complement.
    type Questions = (Vec<usize>, Vec<(bool, i64, i64)>);

    /// Random questions, in every clock at most one for each module; every answer and every force arrives.
    fn check(modules: usize, clocks: &[Questions]) {
        let widths = Widths { modules: modules as u64, number: 5, words: 7, force: 6, latency: 9 };
        let circuit = exchange(&widths);
        let mixed = |k: usize, m: usize, bits: u32| ((k * 31 + m * 17 + k * m) as i64) & ((1 << bits) - 1);
        let items: Vec<Vec<i64>> = clocks
            .iter()
            .enumerate()
            .map(|(k, (to, asks))| {
                let mut item: Vec<i64> = asks.iter().map(|a| a.0.into()).collect();
                if modules > 1 {
                    item.extend(to.iter().map(|&t| t as i64));
                }
                item.extend(asks.iter().map(|a| a.1));
                item.extend((0..modules).map(|m| mixed(k, m, 7)));
                item.extend((0..modules).map(|m| mixed(k, m + 5, 6)));
                item.extend(asks.iter().map(|a| a.2));
                item
            })
            .collect();
        let found = run_pipeline(&circuit, &[], &items);
        let unsigned = |value: i64, bits: u32| value & ((1 << bits) - 1);
        for (k, ((to, asks), found)) in clocks.iter().zip(found).enumerate() {
            for (m, &whose) in to.iter().enumerate() {
                // asked, asked_number, other, added, added_complement of each module.
                let of = |m: usize, port: usize| found[5 * m + port];
                let (valid, number, complement) = asks[m];
                assert_eq!(of(whose, 0) & 1, i64::from(valid), "clock {k}");
                if valid {
                    assert_eq!(unsigned(of(whose, 1), 5), number);
                    assert_eq!(unsigned(of(m, 2), 7), mixed(k, whose, 7));
                    assert_eq!(unsigned(of(whose, 3), 6), mixed(k, m + 5, 6));
                    assert_eq!(of(whose, 4) & 1, complement);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn everything_arrives(seeds in prop::collection::vec(any::<u64>(), 60)) {
            for modules in [1usize, 2, 3, 4, 8] {
                let clocks: Vec<_> = seeds.iter().map(|&seed| {
                    let mut to: Vec<usize> = (0..modules).collect();
                    (0..modules).for_each(|k| to.swap(k, (seed >> (4 * k)) as usize % modules));
                    let asks = (0..modules).map(|m| {
                        let bits = seed.rotate_left(7 * m as u32 + 3);
                        (bits & 3 != 0, (bits >> 8 & 31) as i64, (bits >> 20 & 1) as i64)
                    });
                    (to, asks.collect())
                }).collect();
                check(modules, &clocks);
            }
        }
    }
}
