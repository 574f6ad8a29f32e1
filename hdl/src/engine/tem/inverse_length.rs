//! Sub-circuit 3: the inverse length. Twin: `nendo_model::twin::blocks::inverse_length`.
//!
//! Normalise (3 clocks), inverse root (table 4, CORDIC 29), shift into the fixed-point word (2 clocks).

use crate::{
    blocks::{
        arith::{shift_right, wrap},
        cordic, normalise, table,
    },
    circuit::{Build, Module, Net},
};
use nendo_model::contract::numbers::{Inverse, Numbers};
use std::rc::Rc;

/// Bits of the shifter's amount.
const AMOUNT_BITS: u32 = 5;

/// The inverse length of an edge and whether it is valid.
pub(super) fn inverse_length(n: &Numbers, form: Inverse) -> Module {
    let mut b = Build::new("tem_inverse_length", format!("1/sqrt(square) by {form}."));
    let square = b.pipe_input("square", n.square_bits);
    let normal =
        b.instance("normalise", &Rc::new(normalise::normalise(n.square_bits)), &[("square", &square)]);
    let (argument, q, zero) = (normal.get("argument"), normal.get("q"), normal.get("zero"));
    let root = Rc::new(match form {
        Inverse::Cordic => cordic::cordic(),
        Inverse::Table => table::table(),
    });
    let mantissa = b.instance("inverse_root", &root, &[("argument", &argument)]).get("inverse");

    b.comment("into place: right by q plus an offset; a shift to the left would be an edge too short");
    let wide = b.zero_extend(&q, AMOUNT_BITS + 1);
    let offset = b.constant(i64::from(n.inverse_offset()), AMOUNT_BITS + 1);
    let shift = b.add(&wide, &offset);
    let left = b.sign(&shift);
    let amount = b.slice(&shift, 0, AMOUNT_BITS);
    let [mantissa, amount, left, zero] = b.align([&mantissa, &amount, &left, &zero]);
    let mantissa = b.zero_extend(&mantissa, mantissa.bits() + 1);
    let placed = shift_right(&mut b, &mantissa, &amount, n.rounding);
    let fits = b.fits(&placed, n.inverse.bits);
    let inverse = wrap(&mut b, &placed, n.inverse.bits);
    let bad = b.or(&left, &zero);
    let [fits, bad] = b.align([&fits, &bad]);
    let good = b.not(&bad);
    let valid = b.and(&fits, &good);
    b.output("inverse", &inverse);
    b.output("valid", &valid);
    b.finish()
}

pub(super) fn place(b: &mut Build, n: &Numbers, form: Inverse, square: &Net) -> (Net, Net) {
    let out = b.instance("inverse_length", &Rc::new(inverse_length(n, form)), &[("square", square)]);
    (out.get("inverse"), out.get("valid"))
}
