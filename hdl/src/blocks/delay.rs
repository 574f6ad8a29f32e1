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
    let range = if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) };
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
