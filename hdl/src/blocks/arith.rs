//! Cuts and shifts: the pieces of arithmetic that other blocks are made of.
//!
//! Their twins are `Rounding::shift` (a cut at a fixed place) and `Constant::times` (at a variable one).

use crate::circuit::{Build, Net};
use nendo_model::contract::numbers::Rounding;

/// A signed number divided by a power of two and rounded: [`Rounding::shift`]. One bit wider than what is
/// left, because rounding may carry. A truncating cut takes no clock, a rounding one takes one.
pub fn cut(b: &mut Build, a: &Net, shift: u32, rounding: Rounding) -> Net {
    if shift == 0 {
        return b.sign_extend(a, a.bits() + 1);
    }
    let kept = b.slice(a, shift, a.bits() - shift);
    let kept = b.sign_extend(&kept, kept.bits() + 1);
    match rounding {
        Rounding::Truncate => kept,
        Rounding::HalfUp => {
            let half = b.bit(a, shift - 1);
            let sum = b.increment(&kept, &half);
            b.reg(&sum)
        }
    }
}

/// The low bits of a signed number, or the number made wider: what a word of this width keeps.
pub fn wrap(b: &mut Build, a: &Net, bits: u32) -> Net {
    if bits <= a.bits() { b.slice(a, 0, bits) } else { b.sign_extend(a, bits) }
}

/// A signed number shifted right by `amount` and rounded: the second half of `Constant::times`. Two clocks;
/// one bit wider than the number.
///
/// ```text
///  a --> [ /2^16 /2^8 /2^4 ] --> [ /2^2 /2 round ] -->     each step on if its bit of `amount` is set
/// ```
pub fn shift_right(b: &mut Build, a: &Net, amount: &Net, rounding: Rounding) -> Net {
    // One bit below the point, to round with; no special case for an amount of zero.
    let mut value = b.shift_left(a, 1);
    let late = amount.bits().min(2);
    for bit in (late..amount.bits()).rev() {
        value = shift_if(b, &value, amount, bit);
    }
    let amount = b.slice(amount, 0, late);
    let amount = b.reg(&amount);
    value = b.reg(&value);
    for bit in (0..late).rev() {
        value = shift_if(b, &value, &amount, bit);
    }
    let cut = b.slice(&value, 1, a.bits());
    let cut = b.sign_extend(&cut, a.bits() + 1);
    let rounded = match rounding {
        Rounding::Truncate => cut,
        Rounding::HalfUp => {
            let half = b.bit(&value, 0);
            b.increment(&cut, &half)
        }
    };
    b.reg(&rounded)
}

fn shift_if(b: &mut Build, value: &Net, amount: &Net, bit: u32) -> Net {
    let by = (1 << bit).min(value.bits() - 1);
    let kept = b.slice(value, by, value.bits() - by);
    let shifted = b.sign_extend(&kept, value.bits());
    let on = b.bit(amount, bit);
    b.mux(&on, &shifted, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run_pipeline, synthesise};
    use proptest::prelude::*;

    const BITS: u32 = 34;

    fn cut_block(shift: u32, rounding: Rounding) -> crate::circuit::Module {
        let mut b = Build::new("cut", "A cut at a fixed place.");
        let a = b.pipe_input("a", BITS);
        let q = cut(&mut b, &a, shift, rounding);
        b.output("q", &q);
        b.finish()
    }

    fn shift_block(rounding: Rounding) -> crate::circuit::Module {
        let mut b = Build::new("shift", "A cut at a variable place.");
        let (a, amount) = (b.pipe_input("a", BITS), b.pipe_input("amount", 5));
        let q = shift_right(&mut b, &a, &amount, rounding);
        b.output("q", &q);
        b.finish()
    }

    fn number() -> impl Strategy<Value = i64> {
        let most = 1i64 << (BITS - 1);
        prop_oneof![8 => -most..most, 1 => -64i64..64, 1 => prop::sample::select(vec![most - 1, -most, 0, -1])]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]

        #[test]
        fn cuts_are_the_models(items in prop::collection::vec(number(), 500)) {
            for (shift, rounding) in [(0, Rounding::HalfUp), (1, Rounding::HalfUp), (9, Rounding::HalfUp), (8, Rounding::Truncate)] {
                let inputs: Vec<Vec<i64>> = items.iter().map(|&a| vec![a]).collect();
                let found = run_pipeline(&cut_block(shift, rounding), &[], &inputs);
                for (a, q) in items.iter().zip(found) {
                    prop_assert_eq!(q[0], rounding.shift(*a, shift), "{} >> {}", a, shift);
                }
            }
        }

        #[test]
        fn shifts_are_the_models(items in prop::collection::vec((number(), 0i64..32), 500)) {
            for rounding in [Rounding::HalfUp, Rounding::Truncate] {
                let inputs: Vec<Vec<i64>> = items.iter().map(|&(a, s)| vec![a, s]).collect();
                let found = run_pipeline(&shift_block(rounding), &[], &inputs);
                for ((a, s), q) in items.iter().zip(found) {
                    prop_assert_eq!(q[0], rounding.shift(*a, *s as u32), "{} >> {}", a, s);
                }
            }
        }
    }

    #[test]
    fn it_synthesises() {
        synthesise(&cut_block(9, Rounding::HalfUp), "synth_xilinx -family xc2v -flatten -top block");
        synthesise(&shift_block(Rounding::HalfUp), "synth_xilinx -family xc2v -flatten -top block");
    }
}
