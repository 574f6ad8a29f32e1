//! How blocks are tested: Verilator against the model twin, and a synthesis run.

use crate::{
    circuit::{Direction, Module, verilog},
    sim::verilated::{Options, Sim},
};
use std::{io::Write, process::Command};

/// Feeds one item per clock into a pipeline and returns what each output makes of each item.
///
/// `items[k]` gives every pipeline input of item k in the order of the ports; static inputs are in `fixed`.
pub(crate) fn run_pipeline(module: &Module, fixed: &[(&str, i64)], items: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut sim = Sim::new(module, Options::default()).expect("the block runs under Verilator");
    for (name, value) in fixed {
        sim.set_signed(name, *value);
    }
    run_pipeline_with(&mut sim, module, items)
}

/// The same in a circuit that is already running.
pub(crate) fn run_pipeline_with(sim: &mut Sim, module: &Module, items: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let piped = |direction| {
        let wanted = module.ports().iter().filter(move |p| p.direction == direction && p.stage.is_some());
        wanted.map(|p| (p.name.clone(), p.stage.unwrap_or(0) as usize)).collect::<Vec<_>>()
    };
    let (inputs, outputs) = (piped(Direction::In), piped(Direction::Out));
    let depth = outputs.iter().map(|o| o.1).max().unwrap_or(0);
    let mut results = vec![vec![0; outputs.len()]; items.len()];
    for clock in 0..items.len() + depth + 1 {
        for (k, (name, stage)) in inputs.iter().enumerate() {
            if let Some(item) = clock.checked_sub(*stage).and_then(|n| items.get(n)) {
                sim.set_signed(name, item[k]);
            }
        }
        sim.settle();
        for (k, (name, stage)) in outputs.iter().enumerate() {
            if let Some(result) = clock.checked_sub(*stage).and_then(|n| results.get_mut(n)) {
                result[k] = sim.get_signed(name);
            }
        }
        sim.tick(1);
    }
    results
}

/// Checks that Yosys elaborates a block without complaint and maps it; returns its cell counts for a
/// `synth_*` command.
pub(crate) fn synthesise(module: &Module, command: &str) -> String {
    let mut file = tempfile::Builder::new().suffix(".v").tempfile().expect("a temporary file");
    file.write_all(verilog(module, "block").as_bytes()).expect("written");
    let script = format!(
        "read_verilog -lib +/xilinx/cells_sim.v; read_verilog {}; hierarchy -check -top block; proc; check -assert; {command}; stat",
        file.path().display()
    );
    let output = Command::new("yosys").args(["-p", &script]).output().expect("yosys is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let statistics = text[text.rfind("Printing statistics").unwrap_or(0)..].to_owned();
    assert!(
        !["DLATCH", "LDCE", "LDPE"].iter().any(|latch| statistics.contains(latch)),
        "a latch:\n{statistics}"
    );
    statistics
}

/// The count of a cell type in Yosys' statistics.
pub(crate) fn cells(statistics: &str, name: &str) -> u32 {
    let row = statistics.lines().map(str::split_whitespace).find_map(|mut words| {
        let (first, second) = (words.next()?, words.next()?);
        // Newer versions print the count first.
        match (first == name, second == name) {
            (true, _) => second.parse().ok(),
            (_, true) => first.parse().ok(),
            _ => None,
        }
    });
    row.unwrap_or(0)
}
