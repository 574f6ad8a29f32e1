//! Lists the generated Verilog of every target, profile, inverse form and of one and four modules: bytes and SHA-256.
//! What a refactoring must not change. `scripts/list-verilog` prints the list, `tests/golden/verilog.txt` keeps it.

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

/// In the order of the kept list. A target added since is left out where its Verilog is that of one of these.
const LISTED: [&str; 5] = ["xc2v6000", "vc707", "vcu118", "acorn", "ecp5-85k"];

/// What a target's Verilog depends on, besides the configuration.
fn kind(target: &Target) -> (Top, ShiftRegisters) {
    (target.top, target.shift_registers())
}

/// The list.
pub(crate) fn list() -> String {
    let targets = LISTED.map(|name| Target::by_name(name).unwrap_or_else(|e| panic!("{e}")));
    for target in Target::all() {
        let listed = targets.iter().any(|other| kind(other) == kind(&target));
        assert!(listed, "nothing in the list is as {}: name it in LISTED", target.name);
    }
    // Targets that differ in neither have the same Verilog.
    type Kind = (Top, ShiftRegisters);
    let mut known: HashMap<(Kind, Config), Vec<(String, String)>> = HashMap::new();
    let mut lines = Vec::new();
    for target in &targets {
        for profile in Profile::HARDWARE {
            for inverse in Inverse::ALL {
                for modules in [1, 4] {
                    let config = Config { modules, ..Config::minimal(profile, inverse) };
                    let files = known.entry((kind(target), config)).or_insert_with(|| {
                        let engine = Design::with(&config, target.shift_registers()).verilog;
                        let board = design::board(target, &config);
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
