//! Sub-circuit 8: the force vector, scalar force times unit vector.
//!
//! One clock, one more to round. A component beyond the force limit is an overflow: below the limit no sum
//! of forces can wrap.

use crate::{
    blocks::{
        arith::{cut, wrap},
        multiply::multiply,
    },
    circuit::{Build, Module, Net},
};
use nendo_model::contract::numbers::Numbers;
use std::rc::Rc;

/// The force vector and whether every component is within the limit.
pub(super) fn force_vector(n: &Numbers) -> Module {
    let mut b = Build::new("tem_force_vector", "scalar force times unit vector, within a limit.");
    let limit = b.input("limit", n.edge_force.bits);
    let force = b.pipe_input("scalar", n.force.bits);
    let e = b.pipe_inputs("e", n.unit.bits);
    let parts: [Net; 3] = std::array::from_fn(|k| {
        let product = multiply(&mut b, &format!("product{k}"), &force, &e[k]);
        cut(&mut b, &product, n.force_shift(), n.rounding)
    });
    let vector: [Net; 3] = std::array::from_fn(|k| wrap(&mut b, &parts[k], n.edge_force.bits));
    b.output3("vector", &vector);

    b.comment("within the limit: checked a clock later, so as not to hold up the forces");
    let mut within = Vec::new();
    for part in &parts {
        let part = b.reg(part);
        let high = b.zero_extend(&limit, part.bits());
        let low = b.negate(&high);
        let low = b.slice(&low, 0, part.bits());
        let (above, below) = (b.less_signed(&high, &part), b.less_signed(&part, &low));
        within.push(b.or(&above, &below));
    }
    let beyond = b.or_all(&within);
    let within = b.not(&beyond);
    let within = b.reg(&within);
    b.output("in_range", &within);
    b.finish()
}

pub(super) fn place(b: &mut Build, n: &Numbers, force: &Net, e: &[Net; 3], limit: &Net) -> ([Net; 3], Net) {
    let [x, y, z] = &b.until3(e, force.stage().unwrap_or(0));
    let inputs = [("limit", limit), ("scalar", force), ("e0", x), ("e1", y), ("e2", z)];
    let out = b.instance("force_vector", &Rc::new(force_vector(n)), &inputs);
    (out.get3("vector"), out.get("in_range"))
}
