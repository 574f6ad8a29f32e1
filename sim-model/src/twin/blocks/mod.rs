//! Model twins of the hardware's primitive blocks, each under the name of its block in `nendo-hdl`.
//!
//! The inverse length has two interchangeable forms behind one interface, [`InverseForm`]: a function from
//! the normalised sum of squares m in [1, 4) to 1/sqrt(m) in (1/2, 1). What comes before ([`normalise`]) and
//! after ([`inverse_length`]) is the same for both.

pub mod accumulator;
pub mod cordic;
pub mod table;

pub use crate::contract::numbers::{ARGUMENT_BITS, MANTISSA_BITS};

use crate::contract::numbers::Numbers;

/// A form of the inverse square root on normalised arguments.
pub trait InverseForm: Copy + Send + Sync {
    /// 1/sqrt(m) for m in [1, 4): argument with [`ARGUMENT_BITS`], result with [`MANTISSA_BITS`].
    fn inverse_root(self, argument: u32) -> u32;
}

/// `(q, m)` with `square = m 4^q`, m in [1, 4) cut to [`ARGUMENT_BITS`].
///
/// A square of zero, which has no such form, is read as one; the caller flags it.
#[inline(always)]
pub const fn normalise(square: u64, square_bits: u32) -> (u32, u32) {
    let square = if square == 0 { 1 } else { square };
    let q = square.ilog2() / 2;
    let aligned = square << (square_bits - 2 - 2 * q);
    (q, (aligned >> (square_bits - ARGUMENT_BITS)) as u32)
}

/// Inverse length of an edge from the sum of squares: raw word and whether it is valid.
///
/// The mantissa is shifted into the fixed-point word; the shifter knows 0 to 31, and an inverse that would
/// need a shift to the left (an edge too short for the word) is invalid, as is a square of zero.
#[inline(always)]
pub fn inverse_length(numbers: &Numbers, form: impl InverseForm, square: u64) -> (i64, bool) {
    let (q, argument) = normalise(square, numbers.square_bits);
    let mantissa = i64::from(form.inverse_root(argument));
    let shift = q as i32 + numbers.inverse_offset();
    let raw = numbers.rounding.shift(mantissa, shift as u32 & 31);
    (numbers.inverse.wrap(raw), square != 0 && shift >= 0 && numbers.inverse.fits(raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::numbers::{PAPER_2003, PAPER_2005, WIDE};
    use proptest::prelude::*;

    fn exact(numbers: &Numbers, square: u64) -> f64 {
        let square_frac = 2 * numbers.x.frac - numbers.square_shift as i32;
        2f64.powi(numbers.inverse.frac) / (square as f64 * 2f64.powi(-square_frac)).sqrt()
    }

    proptest! {
        /// Both forms are within one unit in the last place of the exact inverse, for every profile.
        #[test]
        fn both_forms_are_faithful(root in 1.0f64..95_000.0) {
            for numbers in [&WIDE, &PAPER_2003, &PAPER_2005] {
                let square = ((root * root) as u64).min((1 << numbers.square_bits) - 1);
                let exact = exact(numbers, square);
                for (raw, valid) in
                    [inverse_length(numbers, table::Table, square), inverse_length(numbers, cordic::Cordic, square)]
                {
                    // The word holds it: the two forms say so alike, but for the last unit before the limit.
                    if (exact - numbers.inverse.max() as f64).abs() > 2.0 {
                        prop_assert_eq!(valid, exact <= numbers.inverse.max() as f64);
                    }
                    if valid {
                        prop_assert!((raw as f64 - exact).abs() <= 1.6, "{raw} for {exact} at {square}");
                    }
                }
            }
        }

        #[test]
        fn normalise_keeps_the_value(square in 1u64..(1 << 34)) {
            let (q, m) = normalise(square, 34);
            prop_assert!((1 << 18..1 << 20).contains(&m));
            let back = f64::from(m) / 2f64.powi(18) * 4f64.powi(q as i32);
            prop_assert!(back <= square as f64 && square as f64 - back <= square as f64 * 2f64.powi(-18));
        }
    }

    #[test]
    fn zero_length_is_invalid() {
        assert!(!inverse_length(&WIDE, table::Table, 0).1);
        assert!(!inverse_length(&PAPER_2003, cordic::Cordic, 0).1);
    }
}
