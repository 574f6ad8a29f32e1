//! The conditions of H05 Figs 2.11 and 2.12 that are not printed, tried out: under which does the papers' arithmetic move,
//! stay within its words, and end 4.22 % of the width away from floating point?
//!
//!   cargo run -p nendo-model --example unprinted
//!
//! A few minutes. Rows of it are in docs/numbers.md, where `tests/chapter2.rs` computes the short ones again.

mod conditions;

use conditions::{Conditions, HEAD};

fn main() {
    println!("{HEAD}");
    // The printed 30 in the circuit's units of time, and in seconds.
    for (seconds, pitches) in
        [(3.0, &[2.0, 5.0, 10.0, 16.0, 20.0, 24.0, 27.5][..]), (30.0, &[5.0, 10.0, 16.0])]
    {
        for (held, scaled) in [(true, true), (false, true), (true, false), (false, false)] {
            for (up, squeezed) in [(1, true), (2, true), (1, false), (2, false)] {
                for &pitch in pitches.iter().filter(|_| squeezed || seconds < 30.0) {
                    println!("{}", Conditions { pitch, up, squeezed, held, scaled, seconds }.row());
                }
            }
        }
    }
}
