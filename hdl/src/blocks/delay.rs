//! Delay line: `q` is `d` so many clocks ago.
//!
//! ```text
//!  d --> [ ]-[ ]- ... -[ ] --> q      latency: its length, initiation interval 1
//! ```
//! Before as many clocks have passed as it is long, its output is undefined. No reset, so that synthesis may
//! use shift register look-up tables; the last register is a flip-flop of its own, because the output of a
//! shift register is slow.

use crate::rtl::{Build, Module};

/// A delay line of `clocks` >= 2 clocks.
pub fn delay(bits: u32, clocks: u32) -> Module {
    assert!(clocks >= 2, "a delay of {clocks} is a register or a wire");
    let mut b = Build::new(format!("delay_{bits}x{clocks}"), format!("{bits} bits, {clocks} clocks later."));
    let d = b.pipe_input("d", bits);
    let length = clocks - 1;
    let range = if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) };
    let mut text = format!("reg {range}line [0:{}];\nreg {range}last;\ninteger k;\n", length - 1);
    text += "always @(posedge clock) begin\n";
    text += &format!("line[0] <= {};\n", d.name());
    if length > 1 {
        text += &format!("for (k = 1; k < {length}; k = k + 1) line[k] <= line[k - 1];\n");
    }
    text += &format!("last <= line[{}];\nend\n", length - 1);
    b.verbatim(&text);
    let q = b.declared("last", bits, Some(clocks));
    b.output("q", &q);
    b.finish()
}
