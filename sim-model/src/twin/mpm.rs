//! MPM, the mass particle module: one particle in, its next velocity and position out.
//!
//! ```text
//!  f_S - f_R + F_ext --> x 1/m --> + --> v'          (motion, first Euler module)
//!                                  ^
//!  v ------------------------------+---> + --> x'    (second Euler module; the OLD v)
//!                                        ^
//!  x ------------------------------------+
//! ```
//! Where the step is the time unit, Euler's method is an addition (of a shifted velocity, for positions);
//! in the paper profiles both increments are multiplied by the step.

use crate::contract::{
    image::Constants,
    numbers::{Constant, Numbers},
    overflow::{Overflow, Source},
};

/// What enters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Stored position.
    pub x: [i64; 3],
    /// Stored velocity.
    pub v: [i64; 3],
    /// Sum of the forces of the edges that end here (f_S), less that of those that start here (f_R).
    pub force: [i64; 3],
    /// External force.
    pub external: [i64; 3],
}

/// What comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Next stored position.
    pub x: [i64; 3],
    /// Next stored velocity.
    pub v: [i64; 3],
    /// What did not fit.
    pub overflow: Overflow,
}

/// How a force changes a stored velocity in one step.
#[inline(always)]
fn velocity_increment(n: &Numbers, k: &Constants, mass: Constant, force: i64, o: &mut Overflow) -> i64 {
    let motion = mass.times(force, n.rounding);
    if n.unit_step {
        return motion;
    }
    // The acceleration is a word of its own here, as wide as the velocity.
    o.check(Source::Velocity, n.v.word().fits(motion));
    k.step.times(n.v.word().wrap(motion), n.rounding)
}

/// The whole module.
#[inline(always)]
pub fn mpm(n: &Numbers, k: &Constants, mass: Constant, input: &Input) -> Output {
    let mut out = Output::default();
    let o = &mut out.overflow;
    for c in 0..3 {
        let sum = n.force_sum.wrap(input.force[c]) + input.external[c];
        o.check(Source::ForceSum, n.force_sum.fits(sum));
        let v = input.v[c] + velocity_increment(n, k, mass, n.force_sum.wrap(sum), o);
        o.check(Source::Velocity, n.v.word().fits(v));
        out.v[c] = n.v.word().wrap(v);
        let x = input.x[c] + k.position_increment(n, input.v[c]);
        o.check(Source::Position, n.x.word().fits(x));
        out.x[c] = n.x.word().wrap(x);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::numbers::{ConstantRule, PAPER_2003, PAPER_2005, WIDE};

    #[test]
    fn the_position_uses_the_old_velocity() {
        let k = Constants { position_shift: 13, ..Constants::default() };
        let input = Input { v: [1 << 13, 0, 0], force: [70, 0, 0], external: [5, 0, 0], ..Input::default() };
        let out = mpm(&WIDE, &k, Constant { mantissa: 3, shift: 0 }, &input);
        assert_eq!((out.x[0], out.v[0]), (1, (1 << 13) + 225));
        // A held particle keeps its velocity and moves with it.
        let held = mpm(&WIDE, &k, Constant::default(), &input);
        assert_eq!((held.x[0], held.v[0]), (1, 1 << 13));
    }

    /// The dead band that stops the papers' arithmetic, and the drift of the truncating one.
    #[test]
    fn rounding_of_euler_increments_in_q8_8() {
        let step = Constant::new(0.01, ConstantRule::Optimal(16)).unwrap();
        let k = Constants { step, ..Constants::default() };
        let input = Input { v: [-49, 50, 51], ..Input::default() };
        assert_eq!(mpm(&PAPER_2005, &k, Constant::default(), &input).x, [0, 0, 1]);
        assert_eq!(mpm(&PAPER_2003, &k, Constant::default(), &input).x, [-1, 0, 0]);
    }

    #[test]
    fn each_overflow_sets_its_flag() {
        let k = Constants { position_shift: 0, ..Constants::default() };
        let one = Constant { mantissa: 1, shift: 0 };
        let flags = |input: Input| mpm(&WIDE, &k, one, &input).overflow.to_string();
        assert_eq!(flags(Input::default()), "none");
        assert_eq!(flags(Input { x: [8_388_607, 0, 0], v: [1, 0, 0], ..Input::default() }), "position");
        assert_eq!(flags(Input { v: [0, 8_388_607, 0], force: [0, 1, 0], ..Input::default() }), "velocity");
        assert_eq!(
            flags(Input { force: [0, 0, 131_071], external: [0, 0, 1], ..Input::default() }),
            "force-sum"
        );
    }
}
