//! Sub-circuits 1 and 2: end minus start, one bit wider, so that it never overflows. One clock.

use crate::circuit::{Build, Module, Net};
use std::rc::Rc;

/// The differences of three pairs of operands.
pub(super) fn difference(bits: u32) -> Module {
    let mut b = Build::new(format!("tem_difference_{bits}"), "end - start, three components.");
    let (start, end) = (b.pipe_inputs("start", bits), b.pipe_inputs("end", bits));
    let d = std::array::from_fn(|k| {
        let d = b.sub_signed(&end[k], &start[k]);
        b.reg(&d)
    });
    b.output3("d", &d);
    b.finish()
}

pub(super) fn place(b: &mut Build, name: &str, start: &[Net; 3], end: &[Net; 3]) -> [Net; 3] {
    let module = Rc::new(difference(start[0].bits()));
    let [s0, s1, s2] = start;
    let [e0, e1, e2] = end;
    let inputs = [("start0", s0), ("start1", s1), ("start2", s2), ("end0", e0), ("end1", e1), ("end2", e2)];
    b.instance(name, &module, &inputs).get3("d")
}
