//! Products and their rounding; constants that are multiplied with.

use serde::{Deserialize, Serialize};

/// What happens to the bits below the cut of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Drop them (round towards minus infinity).
    Truncate,
    /// Add half a unit in the last place, then drop them.
    HalfUp,
}

impl Rounding {
    /// A value rounded to an integer.
    pub fn integer(self, value: f64) -> f64 {
        match self {
            Self::Truncate => value.floor(),
            Self::HalfUp => (value + 0.5).floor(),
        }
    }

    /// `product / 2^shift`, rounded to an integer.
    #[inline(always)]
    pub const fn shift(self, product: i64, shift: u32) -> i64 {
        match self {
            Self::Truncate => product >> shift,
            // One bit more than wanted, then the half: no special case for a shift of zero.
            Self::HalfUp => (((product << 1) >> shift) + 1) >> 1,
        }
    }
}

/// How the shift of a constant's binary point is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "rule", content = "shift")]
pub enum ConstantRule {
    /// Always this shift (2003: Q8.8).
    Fixed(u32),
    /// Always this shift, and what lies below it is dropped (H05 2.3.3 prints 0.0078125 for 0.01 in Q8.8).
    Cut(u32),
    /// The largest shift that keeps the mantissa in 16 bits, at most this (H05 (2.18) with 16).
    Optimal(u32),
}

/// A constant multiplier as the hardware holds it: `mantissa / 2^shift`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {
    /// 16-bit two's complement mantissa.
    pub mantissa: i32,
    /// How far the product is shifted right, 0 to [`Constant::MAX_SHIFT`].
    pub shift: u32,
}

impl Constant {
    /// Width of the mantissa.
    pub const MANTISSA_BITS: u32 = 16;
    /// The largest shift the hardware's shifter knows.
    pub const MAX_SHIFT: u32 = 31;

    /// The constant for `ratio` under `rule`, or `None` when it does not fit.
    pub fn new(ratio: f64, rule: ConstantRule) -> Option<Self> {
        let scaled = |shift: u32| ratio * 2f64.powi(shift as i32);
        let mantissa = |shift: u32| match rule {
            ConstantRule::Cut(_) => scaled(shift).floor(),
            ConstantRule::Fixed(_) | ConstantRule::Optimal(_) => scaled(shift).round(),
        };
        let fits = |shift: u32| mantissa(shift).abs() <= f64::from(i16::MAX);
        let shift = match rule {
            ConstantRule::Fixed(shift) | ConstantRule::Cut(shift) => shift,
            _ if ratio == 0.0 => 0,
            ConstantRule::Optimal(limit) => (0..=limit).rev().find(|&s| fits(s))?,
        };
        fits(shift).then(|| Self { mantissa: mantissa(shift) as i32, shift })
    }

    /// The value held.
    pub fn value(self) -> f64 {
        f64::from(self.mantissa) * 2f64.powi(-(self.shift as i32))
    }

    /// `self * operand`, cut to an integer.
    #[inline(always)]
    pub const fn times(self, operand: i64, rounding: Rounding) -> i64 {
        rounding.shift(self.mantissa as i64 * operand, self.shift)
    }
}
