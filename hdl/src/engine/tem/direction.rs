//! Sub-circuit 4: the unit vector, inverse length times difference. One clock, one more to round.

use crate::{
    blocks::{
        arith::{cut, wrap},
        multiply::multiply,
    },
    circuit::{Build, Module, Net},
};
use nendo_model::contract::numbers::Numbers;
use std::rc::Rc;

/// The unit vector.
pub(super) fn direction(n: &Numbers) -> Module {
    let mut b = Build::new("tem_direction", "inverse length times difference.");
    let inverse = b.pipe_input("inverse", n.inverse.bits);
    let d = b.pipe_inputs("d", n.difference_bits);
    let e = std::array::from_fn(|k| {
        let product = multiply(&mut b, &format!("product{k}"), &inverse, &d[k]);
        let part = cut(&mut b, &product, n.unit_shift(), n.rounding);
        wrap(&mut b, &part, n.unit.bits)
    });
    b.output3("e", &e);
    b.finish()
}

pub(super) fn place(b: &mut Build, n: &Numbers, inverse: &Net, d: &[Net; 3]) -> [Net; 3] {
    let stage = inverse.stage().unwrap_or(0);
    let [x, y, z] = &b.until3(d, stage);
    let inputs = [("inverse", inverse), ("d0", x), ("d1", y), ("d2", z)];
    b.instance("direction", &Rc::new(direction(n)), &inputs).get3("e")
}
