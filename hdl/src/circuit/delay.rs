//! Delay line: `q` is `d` so many clocks ago.
//!
//! ```text
//!  d --> [ ]-[ ]- ... -[ ] --> q      latency: its length, initiation interval 1
//! ```
//! Before as many clocks have passed as it is long, its output is undefined. No reset, so that synthesis may
//! use shift register look-up tables. Where a family has them but its synthesis does not infer them, they are
//! written out ([`ShiftRegisters::Srl16`]). Their output is slower than a flip-flop's, by some 2 ns in that family,
//! which a clock of 30 ns does not notice.

use crate::circuit::{Build, Module, verilog};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// How delay lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShiftRegisters {
    /// As registers, for synthesis to make of them what it can.
    #[default]
    Inferred,
    /// As SRL16E primitives (Virtex, Virtex-II).
    Srl16,
}

/// A delay line of `clocks` >= 2 clocks.
pub fn delay(bits: u32, clocks: u32) -> Module {
    line(bits, clocks, ShiftRegisters::Inferred)
}

/// A delay line written in one of the two ways; both have the same name and ports.
pub fn line(bits: u32, clocks: u32, style: ShiftRegisters) -> Module {
    assert!(clocks >= 2, "a delay of {clocks} is a register or a wire");
    let mut b = Build::new(format!("delay_{bits}x{clocks}"), format!("{bits} bits, {clocks} clocks later."));
    let d = b.pipe_input("d", bits);
    let range = if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) };
    if style == ShiftRegisters::Srl16 {
        let (text, last) = srl16(d.name(), &range, bits, clocks);
        b.verbatim(text.trim_end());
        let q = b.declared(&last, bits, Some(clocks));
        b.output("q", &q);
        return b.finish();
    }
    let stages: Vec<String> = (1..=clocks).map(|k| format!("s{k}")).collect();
    let mut text = format!("reg {range}{};\nalways @(posedge clock) begin\n", stages.join(", "));
    let mut before = d.name().to_owned();
    for stage in &stages {
        text += &format!("{stage} <= {before};\n");
        before.clone_from(stage);
    }
    text += "end";
    b.verbatim(&text);
    let q = b.declared(&format!("s{clocks}"), bits, Some(clocks));
    b.output("q", &q);
    b.finish()
}

/// A design's Verilog with every delay line in it written in this way.
pub fn restyle(design: &str, style: ShiftRegisters) -> String {
    if style == ShiftRegisters::Inferred {
        return design.to_owned();
    }
    let modules = design.split_inclusive("endmodule\n").map(|text| {
        let size = text.split_once("module nendo_delay_").and_then(|(before, rest)| {
            let (bits, clocks) = rest.split_once(' ')?.0.split_once('x')?;
            Some((before, bits.parse().ok()?, clocks.parse().ok()?))
        });
        match size {
            Some((before, bits, clocks)) => {
                let module = line(bits, clocks, style);
                format!("{}{}", before.trim_end(), verilog(&module, &format!("nendo_{}", module.kind())))
            }
            None => text.to_owned(),
        }
    });
    modules.collect()
}

/// Chains of SRL16E for so many clocks, and the wire they end in.
fn srl16(d: &str, range: &str, bits: u32, clocks: u32) -> (String, String) {
    let mut text = String::new();
    let (mut source, mut left, mut link) = (d.to_owned(), clocks, 0);
    while left > 0 {
        let length = left.min(16);
        let _ = writeln!(text, "wire {range}link{link};");
        for bit in 0..bits {
            let index = if bits == 1 { String::new() } else { format!("[{bit}]") };
            let tap = |k: u32| (length - 1) >> k & 1;
            let _ = writeln!(
                text,
                "SRL16E shift{link}_{bit} (.CLK(clock), .CE(1'b1), .D({source}{index}), .Q(link{link}{index}), \
                 .A0(1'b{}), .A1(1'b{}), .A2(1'b{}), .A3(1'b{}));",
                tap(0),
                tap(1),
                tap(2),
                tap(3)
            );
        }
        source = format!("link{link}");
        left -= length;
        link += 1;
    }
    (text, source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, run_pipeline, synthesise};
    use proptest::prelude::*;
    use std::{fs, process::Command};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3))]
        #[test]
        fn it_delays(items in prop::collection::vec(-65536i64..65536, 100)) {
            for clocks in [2, 3, 19] {
                let inputs: Vec<Vec<i64>> = items.iter().map(|&d| vec![d]).collect();
                prop_assert_eq!(run_pipeline(&delay(17, clocks), &[], &inputs), inputs);
            }
        }
    }

    /// Both ways to write it are the same circuit: proven with the family's own model of the primitive.
    #[test]
    fn both_styles_are_one_circuit() {
        for clocks in [2, 3, 17, 18, 35] {
            let folder = tempfile::tempdir().unwrap();
            let texts = [ShiftRegisters::Inferred, ShiftRegisters::Srl16]
                .map(|style| verilog(&line(2, clocks, style), &format!("{style:?}").to_lowercase()));
            fs::write(folder.path().join("both.v"), texts.concat()).unwrap();
            let depth = clocks + 4;
            let alone =
                |top: &str| format!("hierarchy -top {top}; proc; flatten; opt -full; design -stash {top}");
            let script = format!(
                "read_verilog both.v +/xilinx/cells_sim.v; {}; read_verilog both.v +/xilinx/cells_sim.v; {}; \
                 design -copy-from srl16 srl16; design -copy-from inferred inferred; \
                 miter -equiv -flatten -make_assert inferred srl16 both; hierarchy -top both; \
                 sat -verify -prove-asserts -set-def-inputs -set-init-def -prove-skip {clocks} -seq {depth} both",
                alone("srl16"),
                alone("inferred"),
            );
            let output = Command::new("yosys").current_dir(&folder).args(["-p", &script]).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("no model found: SUCCESS!"), "{clocks}: {text}");
        }
    }

    #[test]
    fn a_design_is_restyled_and_nothing_else_in_it_changes() {
        let mut b = Build::new("outer", "Two delays.");
        let d = b.pipe_input("d", 3);
        let (early, late) = (b.until(&d, 4), b.until(&d, 9));
        b.output("early", &early);
        b.output("late", &late);
        let plain = verilog(&b.finish(), "outer");
        assert_eq!(restyle(&plain, ShiftRegisters::Inferred), plain);
        let text = restyle(&plain, ShiftRegisters::Srl16);
        assert_eq!(text.matches("SRL16E ").count(), 6, "{text}");
        let headers = |text: &str| text.lines().filter(|l| l.starts_with("module")).count();
        assert_eq!(headers(&text), headers(&plain), "{text}");
        let outer = |text: &str| text[text.find("module outer").unwrap()..].to_owned();
        assert_eq!(outer(&text), outer(&plain));
    }

    #[test]
    fn it_synthesises_to_shift_registers() {
        let found = synthesise(&delay(17, 12), "synth_xilinx -family xc7 -flatten -top block");
        assert!(cells(&found, "SRL16E") + cells(&found, "SRLC32E") >= 17, "{found}");
        let explicit = line(17, 12, ShiftRegisters::Srl16);
        let found = synthesise(&explicit, "synth_xilinx -family xc2v -flatten -top block");
        assert_eq!((cells(&found, "SRL16E"), cells(&found, "FDRE")), (17, 0), "{found}");
    }
}
