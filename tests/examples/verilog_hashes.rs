//! Lists the generated Verilog of every target, profile, inverse form and of one and four modules: bytes and SHA-256.
//! What a refactoring must not change. `scripts/verilog-hashes` prints the list, `tests/golden/verilog.txt` keeps it.

use nendo_hdl::{
    circuit::delay::ShiftRegisters,
    design::{self, Design, TOP},
    target::{Target, Top},
};
use nendo_model::contract::{
    config::Config,
    digest::hex_digest,
    numbers::{Inverse, Profile},
};
use std::collections::HashMap;

/// The list.
pub(crate) fn list() -> String {
    // Targets that differ in neither have the same Verilog.
    type Kind = (Top, ShiftRegisters, Config);
    let mut known: HashMap<Kind, Vec<(String, String)>> = HashMap::new();
    let mut lines = Vec::new();
    for target in Target::all() {
        for profile in Profile::ALL {
            for inverse in Inverse::ALL {
                for modules in [1, 4] {
                    let config = Config { modules, ..Config::minimal(profile, inverse) };
                    let kind = (target.top, target.shift_registers(), config);
                    let files = known.entry(kind).or_insert_with(|| {
                        let engine = Design::with(&config, target.shift_registers()).verilog;
                        let board = design::board(&target, &config);
                        let board = board.map(|(name, text)| (name.to_owned(), text));
                        let files = [(TOP.to_owned(), engine)].into_iter().chain(board);
                        files.map(|(name, text)| (name, digest(&text))).collect()
                    });
                    for (name, digest) in files {
                        lines.push(format!("{} {profile} {inverse} {modules} {name} {digest}", target.name));
                    }
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

fn digest(text: &str) -> String {
    format!("{} {}", text.len(), hex_digest(text.as_bytes()))
}

#[allow(dead_code, reason = "the test of the golden file includes this file")]
fn main() {
    print!("{}", list());
}
