//! Rows to columns and back, eight particles or edges at a time: what the compiler does not find by itself.

use crate::machine::vectors::Vectors;

/// Numbers in a vector.
pub(crate) const BLOCK: usize = 8;

/// A number per particle or edge.
pub(crate) type Lanes = [f32; BLOCK];

/// How numbers are moved: by vector instructions or without.
pub(crate) trait Swap: Copy {
    /// Two times four rows of four numbers become four columns of eight, and the other way round: number `c` of
    /// row `r` of a half becomes number `r` of row `c`.
    fn transpose(self, rows: [Lanes; 4]) -> [Lanes; 4];
    /// The same with whole numbers.
    #[inline(always)]
    fn transpose_words(self, rows: [[i32; BLOCK]; 4]) -> [[i32; BLOCK]; 4] {
        pulp::cast(self.transpose(pulp::cast(rows)))
    }
    /// Whole numbers below 2^31 as such.
    fn to_words(self, numbers: [f64; BLOCK]) -> [i32; BLOCK];
    /// Sums of four words, wrapped.
    fn add_words(self, a: [i32; 4], b: [i32; 4]) -> [i32; 4];
    /// The first halves of two rows.
    fn first_halves(self, a: Lanes, b: Lanes) -> Lanes;
    /// The second halves of two rows.
    fn second_halves(self, a: Lanes, b: Lanes) -> Lanes;
    /// The difference of two rows.
    fn subtract(self, a: Lanes, b: Lanes) -> Lanes;
}

/// Number by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Swap for Plain {
    fn transpose(self, rows: [Lanes; 4]) -> [Lanes; 4] {
        std::array::from_fn(|r| std::array::from_fn(|l| rows[l % 4][l / 4 * 4 + r]))
    }

    fn to_words(self, numbers: [f64; BLOCK]) -> [i32; BLOCK] {
        numbers.map(|number| number as i32)
    }

    fn add_words(self, a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        std::array::from_fn(|c| a[c].wrapping_add(b[c]))
    }

    fn first_halves(self, a: Lanes, b: Lanes) -> Lanes {
        std::array::from_fn(|l| if l < BLOCK / 2 { a[l] } else { b[l - BLOCK / 2] })
    }

    fn second_halves(self, a: Lanes, b: Lanes) -> Lanes {
        std::array::from_fn(|l| if l < BLOCK / 2 { a[l + BLOCK / 2] } else { b[l] })
    }

    fn subtract(self, a: Lanes, b: Lanes) -> Lanes {
        std::array::from_fn(|c| a[c] - b[c])
    }
}

#[cfg(target_arch = "x86_64")]
impl Swap for Vectors {
    #[inline(always)]
    fn transpose(self, rows: [Lanes; 4]) -> [Lanes; 4] {
        let avx = self.avx;
        let [a, b, c, d] =
            [pulp::cast(rows[0]), pulp::cast(rows[1]), pulp::cast(rows[2]), pulp::cast(rows[3])];
        let (low_ab, low_cd) = (avx._mm256_unpacklo_ps(a, b), avx._mm256_unpacklo_ps(c, d));
        let (high_ab, high_cd) = (avx._mm256_unpackhi_ps(a, b), avx._mm256_unpackhi_ps(c, d));
        [
            pulp::cast(avx._mm256_shuffle_ps::<0b01_00_01_00>(low_ab, low_cd)),
            pulp::cast(avx._mm256_shuffle_ps::<0b11_10_11_10>(low_ab, low_cd)),
            pulp::cast(avx._mm256_shuffle_ps::<0b01_00_01_00>(high_ab, high_cd)),
            pulp::cast(avx._mm256_shuffle_ps::<0b11_10_11_10>(high_ab, high_cd)),
        ]
    }

    #[inline(always)]
    fn to_words(self, numbers: [f64; BLOCK]) -> [i32; BLOCK] {
        let halves: [[f64; 4]; 2] = pulp::cast(numbers);
        pulp::cast(halves.map(|half| self.avx._mm256_cvtpd_epi32(pulp::cast(half))))
    }

    #[inline(always)]
    fn add_words(self, a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        pulp::cast(self.sse2._mm_add_epi32(pulp::cast(a), pulp::cast(b)))
    }

    #[inline(always)]
    fn first_halves(self, a: Lanes, b: Lanes) -> Lanes {
        pulp::cast(self.avx._mm256_permute2f128_ps::<0x20>(pulp::cast(a), pulp::cast(b)))
    }

    #[inline(always)]
    fn second_halves(self, a: Lanes, b: Lanes) -> Lanes {
        pulp::cast(self.avx._mm256_permute2f128_ps::<0x31>(pulp::cast(a), pulp::cast(b)))
    }

    #[inline(always)]
    fn subtract(self, a: Lanes, b: Lanes) -> Lanes {
        pulp::cast(self.avx._mm256_sub_ps(pulp::cast(a), pulp::cast(b)))
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Swap for Vectors {
    fn transpose(self, _: [Lanes; 4]) -> [Lanes; 4] {
        match self {}
    }

    fn to_words(self, _: [f64; BLOCK]) -> [i32; BLOCK] {
        match self {}
    }

    fn add_words(self, _: [i32; 4], _: [i32; 4]) -> [i32; 4] {
        match self {}
    }

    fn first_halves(self, _: Lanes, _: Lanes) -> Lanes {
        match self {}
    }

    fn second_halves(self, _: Lanes, _: Lanes) -> Lanes {
        match self {}
    }

    fn subtract(self, _: Lanes, _: Lanes) -> Lanes {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::vectors;

    fn all(how: impl Swap) -> ([Lanes; 4], Lanes, Lanes, Lanes) {
        let rows: [Lanes; 4] = std::array::from_fn(|r| std::array::from_fn(|l| (10 * r + l) as f32));
        assert_eq!(how.transpose(how.transpose(rows)), rows);
        let [a, b, ..] = rows;
        let whole = [-2147483648.0, -1.0, 0.0, 1.0, 7.0, 2147483647.0, -8388608.0, 3.0];
        assert_eq!(how.add_words([i32::MAX, 1, -5, 0], [1, 2, 3, 4]), [i32::MIN, 3, -2, 4]);
        assert_eq!(how.to_words(whole), whole.map(|number| number as i32));
        (how.transpose(rows), how.first_halves(a, b), how.second_halves(a, b), how.subtract(b, a))
    }

    #[test]
    fn vectors_move_numbers_as_plain_code_does() {
        let plain = all(Plain);
        assert_eq!(plain.0[1], [1.0, 11.0, 21.0, 31.0, 5.0, 15.0, 25.0, 35.0]);
        assert_eq!(plain.1, [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0]);
        assert_eq!(plain.2, [4.0, 5.0, 6.0, 7.0, 14.0, 15.0, 16.0, 17.0]);
        assert_eq!(plain.3, [10.0; BLOCK]);
        if let Some(vectors) = vectors::available() {
            assert_eq!(all(vectors), plain);
        }
    }
}
