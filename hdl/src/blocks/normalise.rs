//! Normaliser: an unsigned number as m 4^q with m in [1, 4).
//!
//! ```text
//!  square --> [ top 32 zero? ] --> [ top 16? top 8? ] --> [ top 4? top 2? ] --> m, q     latency 3
//! ```
//! Each step shifts left by an even number of bits if all of them are zero. m is cut to
//! [`ARGUMENT_BITS`]. Zero, which has no such form, is read as one; `zero` tells.

use crate::circuit::{Build, Module};
use nendo_model::twin::blocks::ARGUMENT_BITS;

/// A normaliser for squares of this width (an even number of bits).
pub fn normalise(square_bits: u32) -> Module {
    assert!(square_bits.is_multiple_of(2) && (ARGUMENT_BITS..=64).contains(&square_bits));
    let mut b = Build::new(format!("normalise_{square_bits}"), "square = argument 4^q, argument in [1, 4).");
    let square = b.pipe_input("square", square_bits);
    let some = b.any(&square);
    let zero = b.not(&some);
    let zero = b.reg(&zero);

    let top = square_bits / 2 - 1; // q of a number whose first pair of bits is not zero
    let mut value = square;
    let mut steps: Vec<crate::circuit::Net> = Vec::new(); // bits of the shift in pairs, most significant first
    let powers: Vec<u32> = (0..top.ilog2() + 1).rev().map(|k| 1 << k).collect();
    for (k, &pairs) in powers.iter().enumerate() {
        // One wide test in the first stage, then two per stage.
        if k == 1 || (k > 1 && k % 2 == 1) {
            value = b.reg(&value);
            steps = steps.iter().map(|s| b.reg(s)).collect();
        }
        let by = 2 * pairs;
        let head = b.slice(&value, square_bits - by, by);
        let some = b.any(&head);
        let empty = b.not(&some);
        let rest = b.slice(&value, 0, square_bits - by);
        let shifted = b.shift_left(&rest, by);
        value = b.mux(&empty, &shifted, &value);
        steps.push(empty);
    }
    value = b.reg(&value);
    steps = steps.iter().map(|s| b.reg(s)).collect();

    // Zero comes out as zero; with its lowest argument bit of weight 1 set it reads as one.
    let argument = b.slice(&value, square_bits - ARGUMENT_BITS, ARGUMENT_BITS);
    let (two, one) = (b.bit(&argument, ARGUMENT_BITS - 1), b.bit(&argument, ARGUMENT_BITS - 2));
    let not_two = b.not(&two);
    let one = b.or(&one, &not_two);
    let low = b.slice(&argument, 0, ARGUMENT_BITS - 2);
    let argument = b.concat(&[&two, &one, &low]);
    let parts: Vec<&crate::circuit::Net> = steps.iter().collect();
    let shift = b.concat(&parts);
    let last = b.constant(i64::from(top), shift.bits());
    let q = b.sub(&last, &shift);
    let zero = b.until(&zero, q.stage().unwrap_or(0));
    let none = b.constant(0, q.bits());
    let q = b.mux(&zero, &none, &q);
    b.output("argument", &argument);
    b.output("q", &q);
    b.output("zero", &zero);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run_pipeline, synthesise};
    use nendo_model::twin::blocks;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]
        #[test]
        fn it_is_the_models(items in prop::collection::vec((any::<u64>(), 0u32..35), 400)) {
            for bits in [26, 34] {
                let squares: Vec<u64> = items.iter().map(|(v, s)| (v & ((1 << bits) - 1)) >> s).collect();
                let inputs: Vec<Vec<i64>> = squares.iter().map(|&s| vec![s as i64]).collect();
                let block = normalise(bits);
                for (square, found) in squares.iter().zip(run_pipeline(&block, &[], &inputs)) {
                    let (q, argument) = blocks::normalise(*square, bits);
                    let mask = |value: i64, port: &str| value & ((1 << block.port(port).bits) - 1);
                    prop_assert_eq!(mask(found[0], "argument"), i64::from(argument), "{}", square);
                    prop_assert_eq!(mask(found[1], "q"), i64::from(q), "{}", square);
                    prop_assert_eq!(found[2] != 0, *square == 0);
                }
            }
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&normalise(34), "synth_xilinx -family xc2v -flatten -top block");
    }
}
