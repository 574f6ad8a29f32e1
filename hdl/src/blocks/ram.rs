//! Dual-port memory: one port reads, the other reads or writes.
//!
//! ```text
//!  a_address --> [ memory ] --> [ ] --> a_q      latency 2
//!  b_address --> [        ] --> [ ] --> b_q      latency 2
//!  b_write, b_d -->                              written at the clock
//! ```
//! Block memory with its output register. A word that is read at the very clock at which it is written comes
//! out undefined, on either port, and so is one that was never written.

use crate::circuit::{Build, Module};
use nendo_model::contract::config::address_bits;

/// A memory of `depth` words.
pub fn ram(bits: u32, depth: u64) -> Module {
    let address_bits = address_bits(depth);
    let mut b = Build::new(
        format!("ram_{bits}x{depth}"),
        format!("{depth} words of {bits} bits; port a reads, port b reads or writes."),
    );
    let a = b.input("a_address", address_bits);
    let address = b.input("b_address", address_bits);
    let write = b.input("b_write", 1);
    let d = b.input("b_d", bits);
    let (a, address, write, d) = (a.name(), address.name(), write.name(), d.name());
    let range = format!("[{}:0]", bits - 1);
    b.verbatim(&format!(
        "(* ram_style = \"block\", no_rw_check *) reg {range} memory [0:{last}];\n\
         reg {range} a_read;\nreg {range} b_read;\nreg {range} a_word;\nreg {range} b_word;\n\
         always @(posedge clock) begin\na_read <= memory[{a}];\na_word <= a_read;\nend\n\
         always @(posedge clock) begin\nif ({write}) memory[{address}] <= {d};\nb_read <= memory[{address}];\n\
         b_word <= b_read;\nend",
        last = depth - 1
    ));
    let (a, q) = (b.declared("a_word", bits, None), b.declared("b_word", bits, None));
    b.output("a_q", &a);
    b.output("b_q", &q);
    b.finish()
}

/// Clocks from an address to its word.
pub const READ_LATENCY: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sim::verilated::{Sim, SimOptions},
        testing::{cells, synthesise},
    };
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        /// Against an array: random reads on both ports, random writes, collisions left out.
        #[test]
        fn it_remembers(accesses in prop::collection::vec((0usize..20, 0usize..20, any::<bool>(), any::<u64>()), 100)) {
            let mut sim = Sim::new(&ram(54, 20), SimOptions::default()).unwrap();
            let mut memory = [0u64; 20];
            for item in 0..20 {
                sim.set("b_address", item);
                sim.set("b_write", 1);
                sim.set("b_d", 0);
                sim.tick(1);
            }
            let mut expected = Vec::new();
            for (clock, (a, b, write, d)) in accesses.into_iter().enumerate() {
                let d = d & ((1 << 54) - 1);
                sim.set("a_address", a as u128);
                sim.set("b_address", b as u128);
                sim.set("b_write", u128::from(write));
                sim.set("b_d", d.into());
                expected.push(((!write || a != b).then_some(memory[a]), (!write).then_some(memory[b])));
                if write {
                    memory[b] = d;
                }
                sim.tick(1);
                if let Some((a, b)) = clock.checked_sub(1).map(|k| expected[k]) {
                    prop_assert!(a.is_none_or(|a| sim.get("a_q") == u128::from(a)));
                    prop_assert!(b.is_none_or(|b| sim.get("b_q") == u128::from(b)));
                }
            }
        }
    }

    #[test]
    fn it_synthesises_to_block_memory() {
        let found = synthesise(&ram(72, 1024), "synth_xilinx -family xc2v -flatten -top block");
        assert_eq!(cells(&found, "RAMB16_S18_S18"), 4, "{found}");
        let found = synthesise(&ram(72, 1024), "synth_xilinx -family xc7 -flatten -top block");
        assert_eq!(cells(&found, "RAMB18E1") + 2 * cells(&found, "RAMB36E1"), 4, "{found}");
        let found = synthesise(&ram(72, 1024), "synth_ecp5 -top block");
        assert_eq!(cells(&found, "DP16KD"), 4, "{found}");
    }
}
