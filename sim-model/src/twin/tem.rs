//! TEM, the three-element model module: one edge in, its force vector and next Voigt extension out.
//!
//! ```text
//!  x_j - x_i (1) --+--> inverse length (3) --> unit vector (4) --+-----------------+
//!                  |                              ^              |                 |
//!                  +------------------------------+              v                 v
//!  v_j - v_i (2) --------------------------------> length rate (5) --> law (6, 7) --> f e (8)
//!  u ------------------------------------------------------------------^  |
//!  u + increment (9) <----------------------------------------------------+
//! ```
//! The nine sub-circuits of H05 2.3.2, one function each, integer for integer as the hardware computes them.
//! The order of 6 and 7 is the profile's [`LawForm`].

use crate::{
    contract::{
        image::{Constants, ElementConstants},
        numbers::{LawForm, Numbers},
        overflow::{Overflow, Source},
    },
    twin::blocks::{InverseForm, inverse_length},
};

/// What enters: operands of both particles and the stored extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Position operand of the start particle.
    pub x_start: [i64; 3],
    /// Velocity operand of the start particle.
    pub v_start: [i64; 3],
    /// Position operand of the end particle.
    pub x_end: [i64; 3],
    /// Velocity operand of the end particle.
    pub v_end: [i64; 3],
    /// Stored Voigt extension.
    pub u: i64,
}

/// What comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// F_k: is added to the end particle and taken from the start particle.
    pub force: [i64; 3],
    /// The next stored Voigt extension.
    pub u: i64,
    /// Increment of the extension before it was cut to a word: the Voigt rate lv' in profiles where it is
    /// formed, else the step's whole increment.
    pub voigt_rate: i64,
    /// What did not fit.
    pub overflow: Overflow,
}

/// Sub-circuits 1 and 2: difference of two operands, one bit wider, never overflows.
#[inline(always)]
pub fn difference(start: [i64; 3], end: [i64; 3]) -> [i64; 3] {
    [end[0] - start[0], end[1] - start[1], end[2] - start[2]]
}

/// First half of sub-circuit 3: the sum of squares.
#[inline(always)]
pub fn square(n: &Numbers, d: [i64; 3]) -> u64 {
    let part = |c: i64| n.rounding.shift(c * c, n.square_shift);
    (part(d[0]) + part(d[1]) + part(d[2])) as u64
}

/// Sub-circuit 4: the unit vector.
#[inline(always)]
pub fn direction(n: &Numbers, inverse: i64, d: [i64; 3]) -> [i64; 3] {
    let part = |c: i64| n.unit.wrap(n.rounding.shift(inverse * c, n.unit_shift()));
    [part(d[0]), part(d[1]), part(d[2])]
}

/// Sub-circuit 5: the length rate, before it is cut to its word.
#[inline(always)]
pub fn length_rate(n: &Numbers, e: [i64; 3], w: [i64; 3]) -> i64 {
    let p = [e[0] * w[0], e[1] * w[1], e[2] * w[2]];
    let cut = |p: i64| n.rounding.shift(p, n.rate_shift());
    if n.dot_cut_each { cut(p[0]) + cut(p[1]) + cut(p[2]) } else { cut(p[0] + p[1] + p[2]) }
}

/// Sub-circuits 6 and 7, rate first: `(f, lv')` with lv' = A u + B l' and f = -c2 (l' - lv').
#[inline(always)]
pub fn rate_law(n: &Numbers, c: &ElementConstants, u: i64, rate: i64, o: &mut Overflow) -> (i64, i64) {
    let voigt = c.extension.times(u, n.rounding) + c.rate.times(rate, n.rounding);
    o.check(Source::Rate, n.rate.fits(voigt));
    let voigt = n.rate.wrap(voigt);
    let damper = rate - voigt;
    o.check(Source::Rate, n.rate.fits(damper));
    let force = -c.damper.times(n.rate.wrap(damper), n.rounding);
    o.check(Source::Force, n.force.fits(force));
    (n.force.wrap(force), voigt)
}

/// Sub-circuits 6 and 7, force first: `(f, D f)` with f = -(K u + C l').
#[inline(always)]
pub fn force_law(n: &Numbers, c: &ElementConstants, u: i64, rate: i64, o: &mut Overflow) -> (i64, i64) {
    let force = -(c.extension.times(u, n.rounding) + c.rate.times(rate, n.rounding));
    o.check(Source::Force, n.force.fits(force));
    let force = n.force.wrap(force);
    (force, c.damper.times(force, n.rounding))
}

/// Sub-circuit 8: the force vector.
#[inline(always)]
pub fn force_vector(n: &Numbers, force: i64, e: [i64; 3], limit: i32, o: &mut Overflow) -> [i64; 3] {
    let limit = i64::from(limit);
    let part = |c: i64, o: &mut Overflow| {
        let cut = n.rounding.shift(force * c, n.force_shift());
        o.check(Source::ForceLimit, (-limit..=limit).contains(&cut));
        n.edge_force.wrap(cut)
    };
    [part(e[0], o), part(e[1], o), part(e[2], o)]
}

/// Sub-circuit 9: increment of the extension.
#[inline(always)]
pub fn extension_increment(n: &Numbers, k: &Constants, rate: i64, second: i64) -> i64 {
    match n.law {
        LawForm::Rate => k.step.times(second, n.rounding),
        LawForm::Force => n.rounding.shift(rate << n.max_exponent, k.extension_shift) + second,
    }
}

/// The whole module.
#[inline(always)]
pub fn tem(
    n: &Numbers,
    form: impl InverseForm,
    k: &Constants,
    class: &ElementConstants,
    input: &Input,
) -> Output {
    let mut o = Overflow::NONE;
    let d = difference(input.x_start, input.x_end);
    let w = difference(input.v_start, input.v_end);
    let (inverse, valid) = inverse_length(n, form, square(n, d));
    o.check(Source::Inverse, valid);
    let e = direction(n, inverse, d);
    let rate = length_rate(n, e, w);
    o.check(Source::Rate, n.rate.fits(rate));
    let rate = n.rate.wrap(rate);
    let u = n.u.operand(input.u);
    let (force, second) = match n.law {
        LawForm::Rate => rate_law(n, class, u, rate, &mut o),
        LawForm::Force => force_law(n, class, u, rate, &mut o),
    };
    let vector = force_vector(n, force, e, k.force_limit, &mut o);
    let increment = extension_increment(n, k, rate, second);
    let next = input.u + increment;
    o.check(Source::Extension, n.u.word().fits(next));
    let voigt_rate = if n.law == LawForm::Rate { second } else { increment };
    Output { force: vector, u: n.u.word().wrap(next), voigt_rate, overflow: o }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::{
            image::Image,
            numbers::{Inverse, Profile},
        },
        scene::Scene,
        twin::blocks::{cordic::Cordic, table::Table},
    };

    fn first_edge(image: &Image) -> Input {
        let n = image.numbers();
        let [i, j] = [image.particles[0], image.particles[1]];
        let x = |p: crate::contract::image::Particle| p.x.map(|c| n.x.operand(c.into()));
        let v = |p: crate::contract::image::Particle| p.v.map(|c| n.v.operand(c.into()));
        Input { x_start: x(i), v_start: v(i), x_end: x(j), v_end: v(j), u: image.edges[0].u.into() }
    }

    /// The circuit column of T03 Table 3, bit for bit, with either inverse.
    #[test]
    fn table3_circuit() {
        let image = Image::new(&Scene::open("table3").unwrap(), Profile::Paper2003, Inverse::Cordic).unwrap();
        let (k, input) = (&image.constants, first_edge(&image));
        for out in [
            tem(image.numbers(), Cordic, k, &k.elements[0], &input),
            tem(image.numbers(), Table, k, &k.elements[0], &input),
        ] {
            assert_eq!((out.force, out.voigt_rate), ([-338, -203, -68], -992));
            assert!(!out.overflow.any());
        }
    }

    /// Under `wide` the same element comes out as in theory, to 0.02 %.
    #[test]
    fn table3_wide() {
        let image = Image::new(&Scene::open("table3").unwrap(), Profile::Wide, Inverse::Table).unwrap();
        let k = &image.constants;
        let out = tem(image.numbers(), Table, k, &k.elements[0], &first_edge(&image));
        let lsb = image.scaling.force_lsb(image.numbers());
        for (raw, theory) in out.force.into_iter().zip([-1.3015, -0.7809, -0.2603]) {
            assert!((raw as f64 * lsb / theory - 1.0).abs() < 3e-4, "{} {theory}", raw as f64 * lsb);
        }
        let rate = image.extension(out.voigt_rate as i32) / 0.01;
        assert!((rate / -3.8811 - 1.0).abs() < 2e-4, "{rate}");
    }
}
