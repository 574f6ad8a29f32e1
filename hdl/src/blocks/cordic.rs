//! Inverse square root by CORDIC and division, the papers' form. Twin: [`nendo_model::twin::blocks::cordic`].
//!
//! ```text
//!  argument --> [ x -+ y/2^i, y -+ x/2^i ] x 11 --> [ shift, compare, subtract ] x 18 --> inverse
//! ```
//! Latency 29: one clock per stage. No multiplier, no memory.

use crate::circuit::{Build, Module, Net};
use nendo_model::twin::blocks::{
    ARGUMENT_BITS, MANTISSA_BITS,
    cordic::{DIVIDEND, FRAC, REST_BITS, SHIFTS},
};
use std::rc::Rc;

/// Width inside the CORDIC stages: sign, one integer bit and the fraction.
const BITS: u32 = FRAC + 2;

/// One CORDIC stage: twin of `cordic::stage`.
pub fn stage(shift: u32) -> Module {
    let mut b = Build::new(format!("cordic_stage_{shift}"), format!("A CORDIC stage with shift {shift}."));
    let (x, y) = (b.pipe_input("x", BITS), b.pipe_input("y", BITS));
    let (dx, dy) = (shifted(&mut b, &y, shift), shifted(&mut b, &x, shift));
    let negative = b.sign(&y);
    let step = |b: &mut Build, a: &Net, d: &Net| {
        let (plus, minus) = (b.add(a, d), b.sub(a, d));
        let next = b.mux(&negative, &plus, &minus);
        b.reg(&next)
    };
    let (x, y) = (step(&mut b, &x, &dx), step(&mut b, &y, &dy));
    b.output("x_next", &x);
    b.output("y_next", &y);
    b.finish()
}

fn shifted(b: &mut Build, a: &Net, shift: u32) -> Net {
    let kept = b.slice(a, shift, a.bits() - shift);
    b.sign_extend(&kept, a.bits())
}

/// One stage of the divider: twin of one round of `cordic::divide`.
pub fn divider_stage() -> Module {
    let mut b = Build::new("divider_stage", "One bit of a quotient by restoring division.");
    let (rest, divisor) = (b.pipe_input("rest", REST_BITS), b.pipe_input("divisor", REST_BITS));
    let low = b.slice(&rest, 0, REST_BITS - 1);
    let twice = b.shift_left(&low, 1);
    let less = b.less(&twice, &divisor);
    let difference = b.sub(&twice, &divisor);
    let next = b.mux(&less, &twice, &difference);
    let bit = b.not(&less);
    let (next, bit, divisor) = (b.reg(&next), b.reg(&bit), b.reg(&divisor));
    b.output("rest_next", &next);
    b.output("digit", &bit);
    b.output("divisor_next", &divisor);
    b.finish()
}

/// The CORDIC form of the inverse square root.
pub fn cordic() -> Module {
    let mut b =
        Build::new("inverse_root_cordic", "1/sqrt(argument), argument in [1, 4): CORDIC and divider.");
    let argument = b.pipe_input("argument", ARGUMENT_BITS);
    b.comment("x = a + 1/4 and y = a - 1/4 with a = argument/4");
    let a = b.shift_left(&argument, FRAC - ARGUMENT_BITS);
    let a = b.zero_extend(&a, BITS);
    let quarter = b.constant(1 << (FRAC - 2), BITS);
    let (mut x, mut y) = (b.add(&a, &quarter), b.sub(&a, &quarter));
    for (k, &shift) in SHIFTS.iter().enumerate() {
        let out = b.instance(&format!("rotate{k}"), &Rc::new(stage(shift)), &[("x", &x), ("y", &y)]);
        (x, y) = (out.get("x_next"), out.get("y_next"));
    }
    b.comment("half the gain divided by x");
    let divide = Rc::new(divider_stage());
    let root = b.slice(&x, 0, REST_BITS);
    let (mut rest, mut divisor) = (b.constant(i64::from(DIVIDEND), REST_BITS), root);
    let mut bits = Vec::new();
    for k in 0..MANTISSA_BITS {
        let out = b.instance(&format!("divide{k}"), &divide, &[("rest", &rest), ("divisor", &divisor)]);
        (rest, divisor) = (out.get("rest_next"), out.get("divisor_next"));
        bits.push(out.get("digit"));
    }
    let last = bits[bits.len() - 1].stage().unwrap_or(0);
    let bits: Vec<Net> = bits.iter().map(|bit| b.until(bit, last)).collect();
    let inverse = b.concat(&bits.iter().collect::<Vec<_>>());
    b.output("inverse", &inverse);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, run_pipeline, synthesise};
    use nendo_model::twin::blocks::{InverseForm, cordic as twin};
    use proptest::prelude::*;

    /// Every eleventh of the 2^20 arguments that can occur, and the first ones.
    #[test]
    fn it_is_the_models() {
        let first = 1i64 << (ARGUMENT_BITS - 2);
        let sparse = (first..1 << ARGUMENT_BITS).step_by(11);
        let arguments: Vec<Vec<i64>> = (first..first + 1000).chain(sparse).map(|a| vec![a]).collect();
        for (a, found) in arguments.iter().zip(run_pipeline(&cordic(), &[], &arguments)) {
            assert_eq!(found[0] & 0x3ffff, i64::from(twin::Cordic.inverse_root(a[0] as u32)), "{}", a[0]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3))]
        #[test]
        fn a_stage_is_the_models(items in prop::collection::vec((0i64..1 << 24, -(1i64 << 24)..1 << 24), 300)) {
            let inputs: Vec<Vec<i64>> = items.iter().map(|&(x, y)| vec![x, y]).collect();
            for ((x, y), found) in items.iter().zip(run_pipeline(&stage(4), &[], &inputs)) {
                let expected = twin::stage(twin::Pair { x: *x as i32, y: *y as i32 }, 4);
                prop_assert_eq!((found[0], found[1]), (i64::from(expected.x), i64::from(expected.y)));
            }
        }
    }

    #[test]
    fn it_synthesises_without_multipliers() {
        let found = synthesise(&cordic(), "synth_xilinx -family xc2v -flatten -top block");
        assert_eq!(cells(&found, "MULT18X18"), 0);
    }
}
