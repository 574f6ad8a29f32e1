//! Words with a binary point.

use serde::Serialize;

/// A two's complement word with a binary point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    /// Width in bits, sign included.
    pub bits: u32,
    /// Bits below the binary point.
    pub frac: i32,
}

impl Word {
    /// Whether `value` lies within the word.
    #[inline(always)]
    pub const fn fits(self, value: i64) -> bool {
        self.wrap(value) == value
    }

    /// The low bits of `value`, sign-extended: what a register of this width keeps.
    #[inline(always)]
    pub const fn wrap(self, value: i64) -> i64 {
        wrap(value, self.bits)
    }

    /// The largest raw value.
    pub const fn max(self) -> i64 {
        (1 << (self.bits - 1)) - 1
    }

    /// The value of one unit in the last place.
    pub fn lsb(self) -> f64 {
        2f64.powi(-self.frac)
    }
}

/// The low `bits` bits of `value`, sign-extended.
#[inline(always)]
pub const fn wrap(value: i64, bits: u32) -> i64 {
    (value << (64 - bits)) >> (64 - bits)
}

/// A variable that lives in memory: an operand word with residual bits below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// Stored width in bits, sign and residual included.
    pub bits: u32,
    /// How many of the stored bits lie below the operand.
    pub residual: u32,
    /// Bits below the binary point of the *operand*.
    pub frac: i32,
}

impl State {
    /// The stored word.
    pub const fn word(self) -> Word {
        Word { bits: self.bits, frac: self.frac + self.residual as i32 }
    }

    /// Width of the operand: the stored word without its residual.
    pub const fn operand_bits(self) -> u32 {
        self.bits - self.residual
    }

    /// The operand: the top bits of a stored word.
    #[inline(always)]
    pub const fn operand(self, stored: i64) -> i64 {
        stored >> self.residual
    }
}
