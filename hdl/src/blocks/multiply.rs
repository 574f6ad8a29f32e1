//! Multiplier: the exact product of two signed numbers.
//!
//! ```text
//!  a, b --> a x b --> p      latency 1
//! ```
//! One hardware multiplier where both operands have at most 18 bits. The register behind the product is
//! there for synthesis to absorb.

use crate::circuit::{Build, Module, Net};
use std::rc::Rc;

/// A multiplier of two signed numbers.
pub fn multiplier(a_bits: u32, b_bits: u32) -> Module {
    assert!(a_bits <= 18 && b_bits <= 18, "{a_bits} x {b_bits} takes more than one hardware multiplier");
    let bits = a_bits + b_bits;
    let mut b = Build::new(format!("multiply_{a_bits}x{b_bits}"), "The product of two signed numbers.");
    let (x, y) = (b.pipe_input("a", a_bits), b.pipe_input("b", b_bits));
    b.verbatim(&format!(
        "wire signed [{}:0] a_signed = {};\nwire signed [{}:0] b_signed = {};\n\
         reg signed [{}:0] product;\nalways @(posedge clock) product <= a_signed * b_signed;",
        a_bits - 1,
        x.name(),
        b_bits - 1,
        y.name(),
        bits - 1
    ));
    let p = b.declared("product", bits, Some(1));
    b.output("p", &p);
    b.finish()
}

/// Places a multiplier and returns the product.
pub fn multiply(b: &mut Build, name: &str, x: &Net, y: &Net) -> Net {
    let module = Rc::new(multiplier(x.bits(), y.bits()));
    b.instance(name, &module, &[("a", x), ("b", y)]).get("p")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, run_pipeline, synthesise};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn products_are_exact(items in prop::collection::vec((-65536i64..65536, -131072i64..131072), 500)) {
            let inputs: Vec<Vec<i64>> = items.iter().map(|&(a, b)| vec![a, b]).collect();
            for ((a, b), p) in items.iter().zip(run_pipeline(&multiplier(17, 18), &[], &inputs)) {
                prop_assert_eq!(p[0], a * b);
            }
        }
    }

    #[test]
    fn extremes() {
        let items: Vec<Vec<i64>> =
            [-65536, 65535].iter().flat_map(|&a| [vec![a, -131072], vec![a, 131071]]).collect();
        let found = run_pipeline(&multiplier(17, 18), &[], &items);
        assert!(items.iter().zip(found).all(|(i, p)| p[0] == i[0] * i[1]));
    }

    #[test]
    fn it_synthesises_to_one_multiplier() {
        let block = multiplier(18, 18);
        assert_eq!(
            cells(&synthesise(&block, "synth_xilinx -family xc2v -flatten -top block"), "MULT18X18"),
            1
        );
        assert_eq!(cells(&synthesise(&block, "synth_xilinx -family xc7 -flatten -top block"), "DSP48E1"), 1);
        assert_eq!(cells(&synthesise(&block, "synth_ecp5 -top block"), "MULT18X18D"), 1);
    }
}
