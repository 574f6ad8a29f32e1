//! Inverse square root by table and linear interpolation.
//!
//! ```text
//!  m[19:11] --> ROM 512 x 36 --+-- base ----------------(-)--> 1/sqrt(m)
//!                              |                         |
//!  m[10:0] --------------------+-- slope x t, rounded ---+
//! ```
//! 384 of the 512 entries are used (m lies in [1, 4), so its top two bits are never 00): one 18 Kbit block
//! memory, one 18 x 18 multiplier. The chord of each segment is lowered by half its height above the
//! function, which halves the largest error: 2.9e-6 before rounding.

use super::{ARGUMENT_BITS, InverseForm, MANTISSA_BITS};
use std::sync::LazyLock;

/// Bits of the argument that select a segment.
pub const INDEX_BITS: u32 = 9;
/// Bits of the argument within a segment.
pub const STEP_BITS: u32 = ARGUMENT_BITS - INDEX_BITS;
/// Fraction bits of a slope beyond those of the result.
const SLOPE_EXTRA: u32 = 7;
/// How far the product of slope and step is cut.
pub const PRODUCT_SHIFT: u32 = STEP_BITS + SLOPE_EXTRA;

/// One word of the table: both halves are unsigned 18-bit numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Value at the start of the segment.
    pub base: u32,
    /// Fall over the whole segment, with [`PRODUCT_SHIFT`] - [`STEP_BITS`] more fraction bits.
    pub slope: u32,
}

/// The table's contents. Entries no argument selects are zero.
///
/// Only correctly rounded operations (+ - * / sqrt) are used, so every machine computes the same bits.
pub fn entries() -> &'static [Entry; 1 << INDEX_BITS] {
    static ENTRIES: LazyLock<[Entry; 1 << INDEX_BITS]> = LazyLock::new(|| {
        std::array::from_fn(|index| {
            if index < 1 << (INDEX_BITS - 2) {
                return Entry::default();
            }
            let width = 1.0 / f64::from(1u32 << (INDEX_BITS - 2));
            let f = |offset: f64| 1.0 / ((index as f64 + offset) * width).sqrt();
            let height = (f(0.0) + f(1.0)) / 2.0 - f(0.5);
            let scale = f64::from(1u32 << MANTISSA_BITS);
            let base = ((f(0.0) - height / 2.0) * scale).round() as u32;
            let slope = ((f(0.0) - f(1.0)) * scale * f64::from(1u32 << SLOPE_EXTRA)).round() as u32;
            Entry { base, slope }
        })
    });
    &ENTRIES
}

/// The table form of the inverse square root.
#[derive(Clone, Copy, Debug)]
pub struct Table;

impl InverseForm for Table {
    #[inline(always)]
    fn inverse_root(self, argument: u32) -> u32 {
        let entry = entries()[(argument >> STEP_BITS) as usize & ((1 << INDEX_BITS) - 1)];
        let step = argument & ((1 << STEP_BITS) - 1);
        let fall = (u64::from(entry.slope) * u64::from(step) + (1 << (PRODUCT_SHIFT - 1))) >> PRODUCT_SHIFT;
        entry.base.wrapping_sub(fall as u32) & ((1 << MANTISSA_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::digest::hex_digest;

    #[test]
    fn every_argument_is_within_two_units() {
        let mut worst = 0f64;
        for argument in 1 << 18..1 << ARGUMENT_BITS {
            let exact = f64::from(1u32 << MANTISSA_BITS) / (f64::from(argument) / 262_144.0).sqrt();
            worst = worst.max((f64::from(Table.inverse_root(argument)) - exact).abs());
        }
        assert!(worst < 1.8, "{worst}");
    }

    #[test]
    fn words_fit_a_block_memory() {
        assert!(entries().iter().all(|e| e.base < 1 << 18 && e.slope < 1 << 17));
    }

    /// (size, digest): the table is part of the hardware's identity. Caught so far: nothing.
    #[test]
    fn golden() {
        let bytes: Vec<u8> =
            entries().iter().flat_map(|e| [e.base, e.slope]).flat_map(u32::to_le_bytes).collect();
        assert_eq!((bytes.len(), &hex_digest(&bytes)[..16]), (4096, "0c78d803fb625242"));
    }
}
