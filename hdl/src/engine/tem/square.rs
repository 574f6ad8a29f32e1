//! First half of sub-circuit 3: the sum of squares. Three clocks, one more where squares are rounded.

use crate::{
    blocks::{arith::cut, multiply::multiply},
    circuit::{Build, Module, Net},
};
use nendo_model::contract::numbers::Numbers;
use std::rc::Rc;

/// The sum of three squares.
pub(super) fn square(n: &Numbers) -> Module {
    let mut b = Build::new("tem_square", "The sum of the squares of three components.");
    let d = b.pipe_inputs("d", n.difference_bits);
    let parts: [Net; 3] = std::array::from_fn(|k| {
        let product = multiply(&mut b, &format!("square{k}"), &d[k], &d[k]);
        let part =
            if n.square_shift == 0 { product } else { cut(&mut b, &product, n.square_shift, n.rounding) };
        // A square is not negative, and the sum of three fits.
        if part.bits() > n.square_bits {
            b.slice(&part, 0, n.square_bits)
        } else {
            b.zero_extend(&part, n.square_bits)
        }
    });
    let first = b.add(&parts[0], &parts[1]);
    let first = b.reg(&first);
    let last = b.delay(&parts[2], 1);
    let sum = b.add(&first, &last);
    let sum = b.reg(&sum);
    b.output("square", &sum);
    b.finish()
}

pub(super) fn place(b: &mut Build, n: &Numbers, [x, y, z]: &[Net; 3]) -> Net {
    b.instance("square", &Rc::new(square(n)), &[("d0", x), ("d1", y), ("d2", z)]).get("square")
}
