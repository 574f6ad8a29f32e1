//! Accumulator memory: read, add, write, one item per clock, for any sequence of addresses.
//! Twin: [`nendo_model::twin::blocks::accumulator`].
//!
//! ```text
//!  stage    0            1          2                     3            4
//!  address --> [memory] --> [ ] --> old --( + )--> sum --> written
//!                                     ^     ^ value         |
//!                                     +---- what is on its way (1, 2 or 3 items ago) -----+
//! ```
//! An item whose address was written by one of the three items before it reads the memory too early; it
//! gets the newest of their sums instead. The addresses are compared a stage ahead, so that between two
//! registers there is only the choice and the addition. An item adds its value and a `carry`, so that the complement
//! of a value with a carry subtracts it. An item with `clear` puts zero in place of the sum; `old`, what was there
//! before, comes out at stage 3. A sum that was never cleared is undefined.

use super::ram::READ_LATENCY;
use crate::circuit::{Build, Module, Net};
use nendo_model::contract::config::address_bits;

/// How many items are on their way between an address and its word in memory.
pub const LOOP: u32 = READ_LATENCY + 1;

/// An accumulator of `depth` vectors of three words.
pub fn accumulator(depth: u64, value_bits: u32, sum_bits: u32) -> Module {
    let address_bits = address_bits(depth);
    let bits = 3 * sum_bits;
    let mut b = Build::new(
        format!("accumulator_{sum_bits}x{depth}"),
        "Sums of vectors in memory, one item per clock, with forwarding.",
    );
    let valid = b.pipe_input("valid", 1);
    let clear = b.pipe_input("clear", 1);
    let address = b.pipe_input("address", address_bits);
    let value: [Net; 3] = std::array::from_fn(|k| b.input_at(&format!("value{k}"), value_bits, READ_LATENCY));
    let carry = b.input_at("carry", 1, READ_LATENCY);

    b.comment("the memory: read at stage 0, written at stage 3");
    let range = format!("[{}:0]", bits - 1);
    b.verbatim(&format!(
        "(* ram_style = \"block\", no_rw_check *) reg {range} memory [0:{last}];\n\
         reg {range} read;\nreg {range} word;\nreg {range} sum;\n\
         always @(posedge clock) begin\nread <= memory[{address}];\nword <= read;\nend",
        last = depth - 1,
        address = address.name(),
    ));
    let word = b.declared("word", bits, Some(READ_LATENCY));

    b.comment("items that write what stage 1 has read too early");
    let mut valids = vec![valid];
    for stage in 0..=LOOP as usize {
        let later = b.reg_from_zero(&valids[stage]);
        valids.push(later);
    }
    let mut ahead: Vec<Net> = Vec::new();
    let address1 = b.until(&address, 1);
    for distance in 1..=LOOP {
        // The item so far ahead of the one in stage 1, seen at the same clock.
        let their = b.until(&address, 1 + distance);
        let same = b.eq(&address1.as_static(), &their.as_static());
        let both = b.and(&valids[1].as_static(), &valids[1 + distance as usize].as_static());
        let hit = b.and(&same, &both);
        ahead.push(b.reg(&hit.at_stage(1)));
    }

    b.comment("choose, add");
    let sum = b.declared("sum", bits, None);
    let (late, later) = {
        let late = b.reg(&sum);
        let later = b.reg(&late);
        (late, later)
    };
    let sums = [sum, late, later];
    let mut old = word;
    for (hit, sum) in ahead.iter().zip(&sums).rev() {
        old = b.mux(hit, &sum.at_stage(READ_LATENCY), &old);
    }
    let clear2 = b.until(&clear, READ_LATENCY);
    let parts: [Net; 3] = std::array::from_fn(|k| {
        let part = b.slice(&old, k as u32 * sum_bits, sum_bits);
        let value = b.sign_extend(&value[k], sum_bits);
        let sum = b.add_carry(&part, &value, &carry);
        let none = b.constant(0, sum_bits);
        b.mux(&clear2, &none, &sum)
    });
    let [x, y, z] = &parts;
    let next = b.concat(&[z, y, x]);
    let (valid3, address3) = (&valids[LOOP as usize], b.until(&address, LOOP));
    b.verbatim(&format!(
        "always @(posedge clock) begin\nsum <= {};\nif ({}) memory[{}] <= sum;\nend",
        next.name(),
        valid3.name(),
        address3.name()
    ));
    let before = b.reg(&old);
    let before: [Net; 3] = std::array::from_fn(|k| b.slice(&before, k as u32 * sum_bits, sum_bits));
    b.output3("old", &before);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        circuit::verilog,
        testing::{cells, run_pipeline, synthesise},
    };
    use nendo_model::{contract::numbers::Word, twin::blocks::accumulator as twin};
    use proptest::prelude::*;
    use std::{io::Write, process::Command};

    /// Items: valid, clear, address, three values, carry. Ends with reading everything.
    fn check(items: &[(bool, bool, usize, [i64; 3], bool)], depth: usize) {
        let clear = || (0..depth).map(|a| (true, true, a, [0; 3], false));
        let items: Vec<_> = clear().chain(items.iter().copied()).chain(clear()).collect();
        let inputs: Vec<Vec<i64>> = items
            .iter()
            .map(|&(valid, clear, a, [x, y, z], carry)| {
                vec![valid.into(), clear.into(), a as i64, x, y, z, carry.into()]
            })
            .collect();
        let found = run_pipeline(&accumulator(depth as u64, 16, 18), &[], &inputs);
        let mut model = twin::Accumulator::new(Word { bits: 18, frac: 0 }, depth);
        for (k, (&(valid, clear, a, value, carry), found)) in items.iter().zip(found).enumerate() {
            match (valid, clear) {
                (false, _) => {}
                // What was there before the first clearing is anything.
                (true, true) => {
                    let expected = model.take(a);
                    assert!(
                        k < depth || found == expected,
                        "item {k}: {found:?}, not {expected:?}, in {items:?}"
                    );
                }
                (true, false) => model.add(a, value.map(|v| v + i64::from(carry))),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Few addresses, so that every pattern of repetition occurs; gaps and clears in between.
        #[test]
        fn any_sequence_of_addresses(
            items in prop::collection::vec((prop::bool::weighted(0.8), prop::bool::weighted(0.1), 0usize..4, prop::array::uniform3(-32768i64..32768), any::<bool>()), 1..200)
        ) {
            check(&items, 4);
        }
    }

    /// Runs of one address, and A-B-A at every distance up to the loop length and beyond.
    #[test]
    fn runs_and_returns() {
        let add = |a| (true, false, a, [1, -2, 30000], a == 1);
        for length in 1..10 {
            check(&vec![add(2); length], 4);
            for gap in 0..6 {
                let between = (0..gap).map(|k| add(k % 2));
                let items: Vec<_> = std::iter::once(add(3)).chain(between).chain([add(3)]).collect();
                check(&items, 4);
            }
        }
    }

    /// Formal: for all sequences of loop length + 2 adds (any address, valid or not) and all values, what is
    /// read afterwards is the plain sum. Two addresses and three-bit words stand for all: the circuit treats
    /// each address and each bit alike.
    #[test]
    fn proven_for_all_sequences_up_to_the_loop_length_plus_two() {
        let items = LOOP + 2;
        let mut text = verilog(&accumulator(2, 2, 3), "accumulator");
        text += &format!(
            "module proof (input wire clock, input wire valid, input wire address, input wire [1:0] value, input wire carry, input wire which);\n\
             reg [4:0] count = 0;\nreg [2:0] model [0:1];\ninitial begin model[0] = 0; model[1] = 0; end\n\
             reg chosen;\nreg [1:0] value1;\nreg [1:0] value2;\nreg carry1, carry2;\nreg reading1 = 0, reading2 = 0, reading3 = 0;\n\
             wire clearing = count < 2;\nwire adding = !clearing & count < {items} + 2;\nwire reading = count == {items} + 2;\n\
             wire add = valid & adding;\nwire [2:0] old;\n\
             accumulator uut (.clock(clock), .valid(add | clearing | reading), .clear(clearing | reading),\n\
             .address(clearing ? count[0] : reading ? which : address), .value0(value2), .value1(2'd0), .value2(2'd0), .carry(carry2), .old0(old), .old1(), .old2());\n\
             always @(posedge clock) begin\nif (count != 31) count <= count + 1;\nvalue1 <= value;\nvalue2 <= value1;\ncarry1 <= carry;\ncarry2 <= carry1;\n\
             if (add) model[address] <= model[address] + {{value[1], value}} + {{2'd0, carry}};\nif (reading) chosen <= which;\n\
             reading1 <= reading; reading2 <= reading1; reading3 <= reading2;\nend\n\
             always @* if (reading3) assert (old == model[chosen]);\nendmodule\n"
        );
        let mut file = tempfile::Builder::new().suffix(".v").tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let steps = items + 8;
        // Registers without an initial value start at any value.
        let script = format!(
            "read_verilog -formal {}; prep -top proof -flatten; memory_map; opt -full; \
             sat -verify -prove-asserts -set-init-def -set-def-inputs -seq {steps}",
            file.path().display()
        );
        let output = Command::new("yosys").args(["-p", &script]).output().expect("yosys is installed");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("SAT proof finished - no model found: SUCCESS!"), "{text}");
    }

    #[test]
    fn it_synthesises_to_block_memory() {
        let found = synthesise(&accumulator(1024, 16, 18), "synth_xilinx -family xc2v -flatten -top block");
        assert_eq!(cells(&found, "RAMB16_S18_S18"), 3, "{found}");
        let found = synthesise(&accumulator(1024, 16, 18), "synth_ecp5 -top block");
        assert_eq!(cells(&found, "DP16KD"), 3, "{found}");
    }
}
