//! Simulation models of the Virtex-II cells that Yosys has none of: block memories.
//!
//! Plain and functional: no timing, no collision checks (the engine reads no word that is being written).

use std::fmt::Write;

/// The parameters that a memory's content comes in: 64 of data, 8 of parity, 256 bits each.
fn content_parameters() -> String {
    let mut text = String::new();
    for (prefix, count) in [("INIT", 64), ("INITP", 8)] {
        for k in 0..count {
            let _ = writeln!(text, "  parameter [255:0] {prefix}_{k:02X} = 256'h0;");
        }
    }
    text
}

/// Fills `memory` and `parity` with words of these widths from the parameters.
fn fill(data_bits: u32, parity_bits: u32) -> String {
    let mut text = String::from("  integer k;\n  initial begin\n");
    for (prefix, count, memory, bits) in
        [("INIT", 64, "memory", data_bits), ("INITP", 8, "parity", parity_bits)]
    {
        let words = 256 / bits;
        for k in 0..count {
            let _ = writeln!(
                text,
                "    for (k = 0; k < {words}; k = k + 1) {memory}[{first} + k] = {prefix}_{k:02X}[{bits} * k +: {bits}];",
                first = k * words,
            );
        }
    }
    text + "  end\n"
}

/// One port of a memory: what it writes and reads at its clock. Suffix `""`, `A` or `B`.
fn port(suffix: &str) -> String {
    format!(
        "  always @(posedge CLK{suffix}) if (EN{suffix}) begin\n    \
         if (WE{suffix}) begin memory[ADDR{suffix}] <= DI{suffix}; parity[ADDR{suffix}] <= DIP{suffix}; end\n    \
         if (SSR{suffix}) begin DO{suffix} <= 0; DOP{suffix} <= 0; end\n    \
         else if (WE{suffix}) begin DO{suffix} <= DI{suffix}; DOP{suffix} <= DIP{suffix}; end\n    \
         else begin DO{suffix} <= memory[ADDR{suffix}]; DOP{suffix} <= parity[ADDR{suffix}]; end\n  end\n"
    )
}

/// A memory of this port width with one port, or two.
fn memory(name: &str, data_bits: u32, parity_bits: u32, suffixes: &[&str]) -> String {
    let address_bits = (16384 / data_bits).ilog2();
    let (data, parity, address) = (data_bits - 1, parity_bits - 1, address_bits - 1);
    let mut ports = Vec::new();
    let mut options = String::new();
    for s in suffixes {
        ports.push(format!(
            "  output reg [{data}:0] DO{s}, output reg [{parity}:0] DOP{s}, input [{address}:0] ADDR{s}, input CLK{s},\n  \
             input [{data}:0] DI{s}, input [{parity}:0] DIP{s}, input EN{s}, input SSR{s}, input WE{s}"
        ));
        let suffix = if s.is_empty() { String::new() } else { format!("_{s}") };
        let _ = writeln!(
            options,
            "  parameter [{0}:0] INIT{suffix} = 0;\n  parameter [{0}:0] SRVAL{suffix} = 0;\n  parameter WRITE_MODE{suffix} = \"WRITE_FIRST\";",
            data_bits + parity_bits - 1
        );
    }
    format!(
        "module {name} (\n{});\n{options}  parameter SIM_COLLISION_CHECK = \"NONE\";\n{}\
         \n  reg [{data}:0] memory [0:{last}];\n  reg [{parity}:0] parity [0:{last}];\n{}{}endmodule\n\n",
        ports.join(",\n"),
        content_parameters(),
        fill(data_bits, parity_bits),
        suffixes.iter().map(|s| port(s)).collect::<String>(),
        last = (1 << address_bits) - 1,
    )
}

/// The models.
pub(super) fn models() -> String {
    let mut text = memory("RAMB16_S18_S18", 16, 2, &["A", "B"]);
    text += &memory("RAMB16_S36_S36", 32, 4, &["A", "B"]);
    text += &memory("RAMB16_S36", 32, 4, &[""]);
    text
}
