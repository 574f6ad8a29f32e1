//! Sub-circuit 5: the length rate, unit vector times relative velocity.
//!
//! Three clocks and one to round; products are cut one by one or their sum once, as the profile says.

use crate::{
    blocks::{
        arith::{cut, wrap},
        multiply::multiply,
    },
    circuit::{Build, Module, Net},
};
use nendo_model::contract::numbers::Numbers;
use std::rc::Rc;

/// The length rate and whether it fits its word.
pub(super) fn length_rate(n: &Numbers) -> Module {
    let mut b = Build::new("tem_length_rate", "unit vector times relative velocity.");
    let (e, w) = (b.pipe_inputs("e", n.unit.bits), b.pipe_inputs("w", n.difference_bits));
    let parts: [Net; 3] = std::array::from_fn(|k| {
        let product = multiply(&mut b, &format!("product{k}"), &e[k], &w[k]);
        if n.dot_cut_each { cut(&mut b, &product, n.rate_shift(), n.rounding) } else { product }
    });
    let first = b.add_signed(&parts[0], &parts[1]);
    let first = b.reg(&first);
    let last = b.delay(&parts[2], 1);
    let sum = b.add_signed(&first, &last);
    let sum = b.reg(&sum);
    let rate = if n.dot_cut_each { sum } else { cut(&mut b, &sum, n.rate_shift(), n.rounding) };
    let fits = b.fits(&rate, n.rate.bits);
    let rate = wrap(&mut b, &rate, n.rate.bits);
    b.output("rate", &rate);
    b.output("fits", &fits);
    b.finish()
}

pub(super) fn place(b: &mut Build, n: &Numbers, e: &[Net; 3], w: &[Net; 3]) -> (Net, Net) {
    let stage = e[0].stage().unwrap_or(0);
    let [w0, w1, w2] = &b.until3(w, stage);
    let [e0, e1, e2] = e;
    let inputs = [("e0", e0), ("e1", e1), ("e2", e2), ("w0", w0), ("w1", w1), ("w2", w2)];
    let out = b.instance("length_rate", &Rc::new(length_rate(n)), &inputs);
    (out.get("rate"), out.get("fits"))
}
