//! The default profile's arithmetic on vectors, bit for bit the same.
//!
//! Every intermediate value of [`WIDE`] is an integer below 2^53, so f64 lanes hold it exactly: products
//! and sums are exact, and `floor(p / 2^s + 1/2)` is the round-half-up cut. What does not fit its word is
//! only noticed here, by comparison; the caller then computes those items by the plain integer code, which
//! alone knows how words wrap.

use super::words::{Ends, Scatter};
use crate::{
    contract::{
        image::Constants,
        numbers::{Constant, WIDE},
    },
    machine::{swap::Swap, vectors::Vectors},
    twin::blocks::table,
};
use std::sync::LazyLock;

/// Edges computed at once.
pub(super) use crate::machine::swap::BLOCK;

/// The table of the inverse length as f64: base, and slope per step of the argument.
static TABLE: LazyLock<([f64; 512], [f64; 512])> = LazyLock::new(|| {
    let entries = table::entries();
    let scale = 2f64.powi(-(table::PRODUCT_SHIFT as i32));
    (
        std::array::from_fn(|k| f64::from(entries[k].base)),
        std::array::from_fn(|k| f64::from(entries[k].slope) * scale),
    )
});

/// Constants of a run as f64.
#[derive(Clone, Debug)]
pub(super) struct Factors {
    /// K, C and D per element class.
    elements: Vec<[f64; 3]>,
    /// Per mass class.
    pub(super) inverse_mass: Vec<f64>,
    extension: f64,
    pub(super) position: f64,
    limit: f64,
    table: &'static ([f64; 512], [f64; 512]),
}

impl Factors {
    pub(super) fn new(k: &Constants) -> Self {
        let value = Constant::value;
        let power = |shift: u32| 2f64.powi(-(shift as i32));
        Self {
            elements: k
                .elements
                .iter()
                .map(|e| [value(e.extension), value(e.rate), value(e.damper)])
                .collect(),
            inverse_mass: k.inverse_mass.iter().map(|&m| value(m)).collect(),
            extension: power(k.extension_shift) * f64::from(1 << WIDE.max_exponent),
            position: power(k.position_shift),
            limit: f64::from(k.force_limit),
            table: &TABLE,
        }
    }
}

/// `floor(value + 1/2)`: the round-half-up cut of an exact quotient.
#[inline(always)]
fn cut(value: f64) -> f64 {
    (value + 0.5).floor()
}

/// `floor(a b + 1/2)`.
#[inline(always)]
pub(super) fn cut_product(a: f64, b: f64) -> f64 {
    a.mul_add(b, 0.5).floor()
}

/// An integer below 2^31 as such: adding 3 2^51 brings it to the low bits.
#[inline(always)]
pub(super) fn to_i32(value: f64) -> i32 {
    (value + 6_755_399_441_055_744.0).to_bits() as i32
}

const WORD_18: f64 = 131_071.0;
const WORD_24: f64 = 8_388_607.0;

/// TEM over a block of edges. Returns false, with nothing changed, when a value leaves its word.
#[inline(always)]
pub(super) fn elements(
    how: Vectors,
    f: &Factors,
    ends: &[Ends],
    edges: &[(u32, u32, u8); BLOCK],
    u: &mut [i32; BLOCK],
    forces: &mut Scatter,
) -> bool {
    type Lanes = [f64; BLOCK];
    let zero: Lanes = [0.0; BLOCK];
    let mut difference = [[0; BLOCK]; BLOCK];
    for l in 0..BLOCK {
        difference[l] = Ends::difference(&ends[edges[l].0 as usize], &ends[edges[l].1 as usize]);
    }
    // Edges l and l + 4 share a vector.
    let (mut first, mut second) = ([[0; BLOCK]; 4], [[0; BLOCK]; 4]);
    for l in 0..4 {
        let (a, b) = (pulp::cast(difference[l]), pulp::cast(difference[l + 4]));
        first[l] = pulp::cast(how.first_halves(a, b));
        second[l] = pulp::cast(how.second_halves(a, b));
    }
    let [x, y, z, p] = how.transpose_words(first);
    let [q, r, spare, _] = how.transpose_words(second);
    let stage = [x, y, z, p, q, r];
    let mut d = [zero; 3];
    let mut w = [zero; 3];
    for c in 0..3 {
        for l in 0..BLOCK {
            d[c][l] = f64::from(stage[c][l]);
            w[c][l] = f64::from(stage[c + 3][l]);
        }
    }

    // Normalise: exponent and mantissa of the square are those of its f64.
    let (mut argument, mut scale, mut bad) = ([0u32; BLOCK], zero, [false; BLOCK]);
    for l in 0..BLOCK {
        let square = d[0][l].mul_add(d[0][l], d[1][l].mul_add(d[1][l], d[2][l] * d[2][l]));
        bad[l] = square < 65_536.0;
        let bits = square.to_bits();
        let exponent = bits >> 52; // biased by 1023, which is odd
        let odd = (exponent & 1) ^ 1;
        let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
        argument[l] = (mantissa >> (34 - odd)) as u32;
        // 2^(7 - q) with q = (exponent - 1023) / 2
        let q_biased = (exponent + 1 - odd) >> 1; // q + 512
        scale[l] = f64::from_bits((1023 + 7 + 512 - q_biased) << 52);
    }
    let (mut base, mut slope, mut step) = (zero, zero, zero);
    for l in 0..BLOCK {
        let index = (argument[l] >> table::STEP_BITS) as usize & 511;
        base[l] = f.table.0[index];
        slope[l] = f.table.1[index];
        step[l] = f64::from((argument[l] & ((1 << table::STEP_BITS) - 1)) as i32);
    }
    let (mut k, mut c, mut flow) = (zero, zero, zero);
    for l in 0..BLOCK {
        [k[l], c[l], flow[l]] = f.elements[usize::from(edges[l].2)];
    }

    const UNIT: f64 = 1.0 / (1u64 << WIDE.unit_shift()) as f64;
    const RATE: f64 = 1.0 / (1u64 << WIDE.rate_shift()) as f64;
    const FORCE: f64 = 1.0 / (1u64 << WIDE.force_shift()) as f64;
    const OPERAND: f64 = 1.0 / (1u64 << WIDE.u.residual) as f64;
    let (mut force, mut next) = ([zero; 3], zero);
    for l in 0..BLOCK {
        let mantissa = base[l] - cut_product(slope[l], step[l]);
        let inverse = cut_product(mantissa, scale[l]);
        let e = [
            cut_product(inverse * UNIT, d[0][l]),
            cut_product(inverse * UNIT, d[1][l]),
            cut_product(inverse * UNIT, d[2][l]),
        ];
        let dot = e[0].mul_add(w[0][l], e[1].mul_add(w[1][l], e[2] * w[2][l]));
        let rate = cut(dot * RATE);
        let old = f64::from(u[l]);
        let spring = cut_product(k[l], (old * OPERAND).floor());
        let scalar = -(spring + cut_product(c[l], rate));
        next[l] = old + cut(rate * f.extension) + cut_product(flow[l], scalar);
        for axis in 0..3 {
            force[axis][l] = cut_product(scalar * FORCE, e[axis]);
        }
        bad[l] |= (inverse > WORD_18)
            | (rate.abs() > WORD_18)
            | (scalar.abs() > WORD_18)
            | (next[l].abs() > WORD_24)
            | (force[0][l].abs() > f.limit)
            | (force[1][l].abs() > f.limit)
            | (force[2][l].abs() > f.limit);
    }
    if bad != [false; BLOCK] {
        return false;
    }
    *u = how.to_words(next);
    let [x, y, z] = force.map(|lanes| how.to_words(lanes));
    // The fourth row is zero, but the compiler must not know: it would add three words one by one instead of four
    // at once.
    forces.0 = pulp::cast(how.transpose_words([x, y, z, spare]));
    true
}

/// MPM for one particle: its new position and velocity; none when a value leaves its word.
#[inline(always)]
pub(super) fn particle(
    f: &Factors,
    inverse_mass: f64,
    x: &[i32; 4],
    v: &[i32; 4],
    external: &[i32; 4],
    force: &[i32; 4],
) -> Option<([i32; 4], [i32; 4])> {
    let (mut next_x, mut next_v, mut bad) = ([0.0; 4], [0.0; 4], [false; 4]);
    for c in 0..4 {
        let force = f64::from(force[c]);
        let sum = force + f64::from(external[c]);
        let old = f64::from(v[c]);
        next_v[c] = old + cut_product(inverse_mass, sum);
        next_x[c] = f64::from(x[c]) + cut_product(old, f.position);
        bad[c] = (force.abs() > WORD_18)
            | (sum.abs() > WORD_18)
            | (next_v[c].abs() > WORD_24)
            | (next_x[c].abs() > WORD_24);
    }
    (bad == [false; 4]).then(|| (next_x.map(to_i32), next_v.map(to_i32)))
}
