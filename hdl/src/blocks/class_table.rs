//! Table of constants by class: written by the host, read once per clock.
//!
//! ```text
//!  class --> [ 64 x 21 ] --> [ ] --> q       latency 1
//!  write, write_class, d -->                 a change while items pass is undefined for them
//! ```
//! Distributed memory. An entry is a [`TableEntry`].

use super::multiply::multiply;
use crate::{
    blocks::{arith::shift_right, parts::in_register},
    circuit::{Build, Module, Net},
};
use nendo_model::contract::{
    image::ELEMENT_CLASSES,
    numbers::Rounding,
    words::{RegisterWord, TableEntry, TableEntryParts},
};
use std::rc::Rc;

/// Bits of a class number.
pub const CLASS_BITS: u32 = ELEMENT_CLASSES.ilog2();
/// Bits of an entry.
const ENTRY_BITS: u32 = TableEntry::WIDTH;
/// Clocks from a class to its entry.
pub const LATENCY: u32 = 1;

/// The table.
pub fn class_table() -> Module {
    let mut b = Build::new("class_table", "A constant per class: mantissa and shift.");
    let write = b.input("write", 1);
    let write_class = b.input("write_class", CLASS_BITS);
    let d = b.input("d", ENTRY_BITS);
    let class = b.pipe_input("class_number", CLASS_BITS);
    b.verbatim(&format!(
        "(* ram_style = \"distributed\" *) reg [{0}:0] entries [0:{1}];\nreg [{0}:0] entry;\ninteger k;\n\
         initial for (k = 0; k < {2}; k = k + 1) entries[k] = {3}'h0;\n\
         always @(posedge clock) begin\nif ({4}) entries[{5}] <= {6};\nentry <= entries[{7}];\nend",
        ENTRY_BITS - 1,
        ELEMENT_CLASSES - 1,
        ELEMENT_CLASSES,
        ENTRY_BITS,
        write.name(),
        write_class.name(),
        d.name(),
        class.name()
    ));
    let q = b.declared("entry", ENTRY_BITS, Some(LATENCY));
    b.output("q", &q);
    b.finish()
}

/// The write side of one or more tables: one bit of `write` each, common class and data.
#[derive(Clone, Debug)]
pub struct WritePort {
    write: Net,
    class: Net,
    d: Net,
}

impl WritePort {
    /// Inputs `table_write`, `table_class` and `table_d` for so many tables.
    pub fn inputs(b: &mut Build, tables: u32) -> Self {
        Self {
            write: b.input("table_write", tables),
            class: b.input("table_class", CLASS_BITS),
            d: b.input("table_d", ENTRY_BITS),
        }
    }

    /// Places one of the tables and looks a class up in it.
    pub fn look_up(&self, b: &mut Build, name: &str, table: u32, class: &Net) -> TableEntryParts<Net> {
        let write = b.bit(&self.write, table);
        let inputs =
            [("write", &write), ("write_class", &self.class), ("d", &self.d), ("class_number", class)];
        let entry = b.instance(name, &Rc::new(class_table()), &inputs).get("q");
        TableEntry::LAYOUT.map(in_register(b, &entry))
    }
}

/// Inputs `step_mantissa` and `step_shift`: the time step, a constant of a run.
pub fn step_inputs(b: &mut Build) -> TableEntryParts<Net> {
    TableEntry::LAYOUT.map(|field| b.input(&format!("step_{}", field.name), field.bits))
}

/// `mantissa * operand`, cut by `shift`: the twin of `Constant::times`. Three clocks.
pub fn constant_times(
    b: &mut Build,
    name: &str,
    constant: &TableEntryParts<Net>,
    operand: &Net,
    rounding: Rounding,
) -> Net {
    let product = multiply(b, name, &constant.mantissa, operand);
    let shift = b.delay(&constant.shift, 1);
    shift_right(b, &product, &shift, rounding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sim::verilated::{Sim, SimOptions},
        testing::{cells, synthesise},
    };
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn entries_come_back(writes in prop::collection::vec((0u128..64, 0u128..1 << 21), 80)) {
            let mut sim = Sim::new(&class_table(), SimOptions::default()).unwrap();
            let mut entries = [0; 64];
            for (class, d) in writes {
                sim.set("write", 1);
                sim.set("write_class", class);
                sim.set("d", d);
                sim.tick(1);
                entries[class as usize] = d;
            }
            sim.set("write", 0);
            for (class, d) in entries.iter().enumerate() {
                sim.set("class_number", class as u128);
                sim.tick(1);
                prop_assert_eq!(sim.get("q"), *d);
            }
        }
    }

    #[test]
    fn it_synthesises_to_distributed_memory() {
        let found = synthesise(&class_table(), "synth_xilinx -family xc2v -flatten -top block");
        assert_eq!((cells(&found, "RAM64X1D"), cells(&found, "FDRE")), (21, 21), "{found}");
    }
}
