//! Inverse square root by CORDIC and division: the papers' form.
//!
//! ```text
//!  a = m/4 --> x = a + 1/4 --> [ stage i: x -+ y/2^i, y -+ x/2^i ] x 11 --> x = G sqrt(a)
//!              y = a - 1/4
//!          --> [ shift, compare, subtract ] x 18 --> (G/2) / x = 1/sqrt(m)
//! ```
//! Hyperbolic vectoring: with d = -sign(y) both are updated by shifts and additions until y vanishes, and
//! x has grown to G sqrt(a). The error of x is of second order in what is left of y, so ten shifts (the
//! fourth one twice, as convergence demands) give twenty bits. The gain G is divided out for nothing: it
//! stands in the dividend. No multiplier anywhere.

use super::{ARGUMENT_BITS, InverseForm, MANTISSA_BITS};

/// Fraction bits inside the CORDIC stages.
pub const FRAC: u32 = 24;
/// The shift of each stage.
pub const SHIFTS: [u32; 11] = [1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10];
/// Half of the gain, as the divider's dividend: floor(G/2 2^FRAC), G the product of sqrt(1 - 4^-i).
pub const DIVIDEND: u32 = 6_947_105;

/// Width of the divider's partial remainder.
pub const REST_BITS: u32 = FRAC + 1;

/// The state between two stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Grows to G sqrt(a).
    pub x: i32,
    /// Falls to zero.
    pub y: i32,
}

/// What enters the first stage.
pub const fn enter(argument: u32) -> Pair {
    // m has 18 fraction bits, so the same bits read as m/4 have 20.
    let a = (argument << (FRAC - ARGUMENT_BITS)) as i32;
    let quarter = 1 << (FRAC - 2);
    Pair { x: a + quarter, y: a - quarter }
}

/// One stage.
pub const fn stage(p: Pair, shift: u32) -> Pair {
    let (dx, dy) = (p.y >> shift, p.x >> shift);
    if p.y < 0 { Pair { x: p.x + dx, y: p.y + dy } } else { Pair { x: p.x - dx, y: p.y - dy } }
}

/// Quotient bits of `DIVIDEND / divisor` below the binary point, most significant first: restoring division.
///
/// A quotient that reaches one by a rounding error (m = 1) comes out as all ones.
pub const fn divide(divisor: u32) -> u32 {
    let (mut rest, mut quotient, mut k) = (DIVIDEND, 0, 0);
    while k < MANTISSA_BITS {
        rest = (rest << 1) & ((1 << REST_BITS) - 1);
        quotient <<= 1;
        if rest >= divisor {
            rest -= divisor;
            quotient |= 1;
        }
        k += 1;
    }
    quotient
}

/// The CORDIC form of the inverse square root.
#[derive(Clone, Copy, Debug)]
pub struct Cordic;

impl InverseForm for Cordic {
    #[inline]
    fn inverse_root(self, argument: u32) -> u32 {
        let root = SHIFTS.iter().fold(enter(argument), |p, &shift| stage(p, shift)).x;
        // Same quotient as the bit-by-bit form, which the tests check.
        let quotient = (u64::from(DIVIDEND) << MANTISSA_BITS) / root as u64;
        quotient.min((1 << MANTISSA_BITS) - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dividend_is_half_the_gain() {
        let gain: f64 = SHIFTS.iter().map(|&i| (1.0 - 0.25f64.powi(i as i32)).sqrt()).product();
        assert_eq!(DIVIDEND, (gain / 2.0 * f64::from(1u32 << FRAC)).floor() as u32);
    }

    #[test]
    fn every_argument_is_within_two_units() {
        let mut worst = 0f64;
        for argument in 1 << 18..1 << ARGUMENT_BITS {
            let exact = f64::from(1u32 << MANTISSA_BITS) / (f64::from(argument) / 262_144.0).sqrt();
            worst = worst.max((f64::from(Cordic.inverse_root(argument)) - exact).abs());
        }
        assert!(worst < 1.8, "{worst}");
    }

    #[test]
    fn division_by_bits_is_division() {
        for argument in 1 << 18..1 << ARGUMENT_BITS {
            let root = SHIFTS.iter().fold(enter(argument), |p, &shift| stage(p, shift)).x;
            assert_eq!(divide(root as u32), Cordic.inverse_root(argument), "{argument}");
        }
    }
}
