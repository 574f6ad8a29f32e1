//! Inverse square root by table and linear interpolation. Twin: [`nendo_model::twin::blocks::table`].
//!
//! ```text
//!  argument[19:11] --> ROM 512 x 36 --> [ ] --+-- base --------------( - )--> inverse     latency 4
//!                                             +-- slope --> ( x )------^
//!  argument[10:0] -----------------------------------------^
//! ```
//! One block memory with its output register, one multiplier. Any argument is defined.

use super::{arith::wrap, multiply::multiply};
use crate::circuit::{Build, Module};
use nendo_model::{
    contract::numbers::Rounding,
    twin::blocks::{
        ARGUMENT_BITS, MANTISSA_BITS,
        table::{INDEX_BITS, PRODUCT_SHIFT, STEP_BITS, entries},
    },
};
use std::fmt::Write;

/// The table form of the inverse square root.
pub fn table() -> Module {
    let mut b =
        Build::new("inverse_root_table", "1/sqrt(argument), argument in [1, 4): table and interpolation.");
    let argument = b.pipe_input("argument", ARGUMENT_BITS);
    let index = b.slice(&argument, STEP_BITS, INDEX_BITS);
    let step = b.slice(&argument, 0, STEP_BITS);

    let mut rom = format!(
        "(* rom_style = \"block\", ram_style = \"block\" *) reg [35:0] rom [0:{}];\nreg [35:0] word;\ninitial begin\n",
        entries().len() - 1
    );
    for (k, entry) in entries().iter().enumerate() {
        let _ = writeln!(rom, "rom[{k}] = 36'h{:09x};", u64::from(entry.base) << 18 | u64::from(entry.slope));
    }
    let _ = write!(rom, "end\nalways @(posedge clock) word <= rom[{}];", index.name());
    b.verbatim(&rom);
    let word = b.declared("word", 36, Some(1));
    let word = b.reg(&word);
    let base = b.slice(&word, 18, 18);
    // Both factors are unsigned and below 2^17: a zero in front makes them signed.
    let slope = b.slice(&word, 0, 18);
    let step = b.zero_extend(&step, STEP_BITS + 1);
    let step = b.until(&step, 2);
    let product = multiply(&mut b, "interpolate", &slope, &step);
    let kept = b.slice(&product, PRODUCT_SHIFT, product.bits() - PRODUCT_SHIFT);
    let fall = wrap(&mut b, &kept, MANTISSA_BITS);
    let half = b.bit(&product, PRODUCT_SHIFT - 1);
    assert_eq!(Rounding::HalfUp.shift(1 << (PRODUCT_SHIFT - 1), PRODUCT_SHIFT), 1);
    let base = b.until(&base, 3);
    // base - (fall + half) = base + ~fall + 1 - half
    let (inverted, up) = (b.not(&fall), b.not(&half));
    let inverse = b.add_carry(&base, &inverted, &up);
    let inverse = b.reg(&inverse);
    b.output("inverse", &inverse);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, run_pipeline, synthesise};
    use nendo_model::twin::blocks::InverseForm;

    /// All 2^20 arguments.
    #[test]
    fn it_is_the_models_everywhere() {
        let arguments: Vec<Vec<i64>> = (0..1i64 << ARGUMENT_BITS).map(|a| vec![a]).collect();
        for (a, found) in arguments.iter().zip(run_pipeline(&table(), &[], &arguments)) {
            let expected = nendo_model::twin::blocks::table::Table.inverse_root(a[0] as u32);
            assert_eq!(found[0] & 0x3ffff, i64::from(expected), "{}", a[0]);
        }
    }

    #[test]
    fn it_synthesises_to_one_memory_and_one_multiplier() {
        let found = synthesise(&table(), "synth_xilinx -family xc2v -flatten -top block");
        let memories: u32 = ["RAMB16_S36", "RAMB16_S36_S36"].iter().map(|name| cells(&found, name)).sum();
        assert_eq!((memories, cells(&found, "MULT18X18")), (1, 1), "{found}");
        let found = synthesise(&table(), "synth_ecp5 -top block");
        assert_eq!((cells(&found, "DP16KD"), cells(&found, "MULT18X18D")), (1, 1), "{found}");
    }
}
