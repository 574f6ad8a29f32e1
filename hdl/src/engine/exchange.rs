//! The exchange: between the modules that own edges and those that have the edges' other particles.
//!
//! ```text
//!  stage   0                  hops              hops + 2                2 hops + 2
//!  owner:  module, number -->[ ]--> other's memory ... its words --> choose -->[ ]--> TEM of the owner
//!
//!          latency              latency + hops
//!  owner:  force ---> choose -->[ ]--> sums of the other's module
//! ```
//! In a clock, every module's edge has its other particle in another module: the plan sees to that, so nothing is ever
//! held up. Who asked is remembered until the force is there. In a hop one of four is chosen, which is one six-input table
//! per bit: up to four modules take one hop, 16 two, 64 three. With one module it is registers only.

use crate::{
    blocks::ram::READ_LATENCY,
    circuit::{Build, Module, Net},
};

/// Bits of a module's number that are looked at in a clock.
const CHOICE_BITS: u32 = 2;

/// Clocks from a module to any other.
pub fn hops(modules: u64) -> u32 {
    module_bits(modules).div_ceil(CHOICE_BITS).max(1)
}

fn module_bits(modules: u64) -> u32 {
    modules.next_power_of_two().ilog2()
}

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
        module_bits(self.modules)
    }
}

/// The one of `choices`, which are at a stage, whose number `index` is: after a register per hop.
fn chosen(b: &mut Build, index: Option<&Net>, choices: &[Net], stage: u32) -> Net {
    let Some(index) = index else { return b.reg(&choices[0]) };
    let mut left = choices.to_vec();
    for (low, stage) in (0..index.bits()).step_by(CHOICE_BITS as usize).zip(stage..) {
        let bits = CHOICE_BITS.min(index.bits() - low);
        let digit = b.slice(index, low, bits);
        let digit = b.until(&digit, stage);
        let mut choose = |some: &[Net]| {
            let one = b.choose(Some(&digit), some);
            b.reg(&one)
        };
        left = left.chunks(1 << bits).map(&mut choose).collect();
    }
    left.swap_remove(0)
}

/// All of them in one, at most one of which is not zero: after a register per hop. A mark starts as "nothing".
fn merged(b: &mut Build, parts: &[Net], hops: u32, is_mark: bool) -> Net {
    let mut left = parts.to_vec();
    for _ in 0..hops {
        let mut merge = |some: &[Net]| {
            let none = b.constant(0, some[0].bits());
            let all = some.iter().fold(none, |all, one| b.or(&all, one));
            if is_mark { b.reg_from_zero(&all) } else { b.reg(&all) }
        };
        left = left.chunks(1 << CHOICE_BITS).map(&mut merge).collect();
    }
    left.swap_remove(0)
}

/// The exchange. Ports per module m: `ask_valid_m`, `ask_module_m` and `ask_number_m` ask; `asked_m` and `asked_number_m`
/// are what is asked of it; `answer_m` is its answer, `other_m` the answer to its own question; `given_m` and
/// `given_complement_m` are what it gives, `added_m` and `added_complement_m` what it gets.
pub fn exchange(widths: &Widths) -> Module {
    let Widths { modules, number, words, force, latency } = *widths;
    let (bits, hops) = (widths.module_bits(), hops(modules));
    let answered = hops + READ_LATENCY;
    let mut b =
        Build::new("exchange", "Other particles' words to the owners of edges, forces to the others.");
    let all = 0..modules;
    let mut inputs = |name: &str, bits: u32, stage: u32| -> Vec<Net> {
        all.clone().map(|m| b.input_at(&format!("{name}_{m}"), bits, stage)).collect()
    };
    let valid = inputs("ask_valid", 1, 0);
    let asks = if bits > 0 { inputs("ask_module", bits, 0) } else { Vec::new() };
    let numbers = inputs("ask_number", number, 0);
    let answers = inputs("answer", words, answered);
    let forces = inputs("given", force, latency);
    let complements = inputs("given_complement", 1, latency);
    for m in 0..modules as usize {
        b.comment(&format!("module {m}: what is asked of it"));
        let (mut wanted, mut wanted_numbers, mut by) = (Vec::new(), Vec::new(), Vec::new());
        for (other, (valid, theirs)) in valid.iter().zip(&numbers).enumerate() {
            let of_me = match asks.get(other) {
                Some(ask) => {
                    let me = b.constant(m as i64, bits);
                    let same = b.eq(ask, &me);
                    b.and(valid, &same)
                }
                None => valid.clone(),
            };
            let none = b.constant(0, number);
            wanted_numbers.push(b.mux(&of_me, theirs, &none));
            if bits > 0 {
                let (who, nobody) = (b.constant(other as i64, bits), b.constant(0, bits));
                by.push(b.mux(&of_me, &who, &nobody));
            }
            wanted.push(of_me);
        }
        let asked = merged(&mut b, &wanted, hops, true);
        let asked_number = merged(&mut b, &wanted_numbers, hops, false);
        let by = (bits > 0).then(|| merged(&mut b, &by, hops, false));
        b.output(&format!("asked_{m}"), &asked);
        b.output(&format!("asked_number_{m}"), &asked_number);
        b.comment("what it asked for");
        let other = chosen(&mut b, asks.get(m), &answers, answered);
        b.output(&format!("other_{m}"), &other);
        b.comment("what it is given");
        let added = chosen(&mut b, by.as_ref(), &forces, latency);
        let complement = chosen(&mut b, by.as_ref(), &complements, latency);
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
            for modules in [1usize, 2, 3, 4, 7, 8, 16, 20] {
                let clocks: Vec<_> = seeds.iter().map(|&seed| {
                    let mut to: Vec<usize> = (0..modules).collect();
                    (0..modules).for_each(|k| to.swap(k, (seed.rotate_right(4 * k as u32) >> 7) as usize % modules));
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
