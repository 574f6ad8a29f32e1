//! How blocks are tested: Verilator against the model twin, and a synthesis run.

use crate::{
    circuit::{Direction, Module, verilog},
    sim::verilated::{Sim, SimOptions},
};
use std::{collections::BTreeMap, io::Write, process::Command};

/// Feeds one item per clock into a pipeline and returns what each output makes of each item.
///
/// `items[k]` gives every pipeline input of item k in the order of the ports; static inputs are in `fixed`.
pub(crate) fn run_pipeline(module: &Module, fixed: &[(&str, i64)], items: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut sim = Sim::new(module, SimOptions::default()).expect("the block runs under Verilator");
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

/// What goes into a circuit and what must come out of it, clock by clock, for circuits that are no plain pipelines.
///
/// An input that is given no value in a clock is zero if it has one bit, for those say whether there is something; a
/// wider one is noise, on which nothing may depend then.
#[derive(Default)]
pub(crate) struct Timeline {
    held: BTreeMap<String, i128>,
    inputs: BTreeMap<u64, BTreeMap<String, i128>>,
    outputs: BTreeMap<u64, BTreeMap<String, i128>>,
}

impl Timeline {
    /// An input that has this value whenever it is given no other.
    pub(crate) fn hold(&mut self, port: &str, value: impl Into<i128>) {
        self.held.insert(port.to_owned(), value.into());
    }

    /// An input in a clock.
    pub(crate) fn set(&mut self, clock: u64, port: &str, value: impl Into<i128>) {
        let before = self.inputs.entry(clock).or_default().insert(port.to_owned(), value.into());
        assert!(before.is_none(), "{port} twice in clock {clock}");
    }

    /// What an output must be in a clock.
    pub(crate) fn expect(&mut self, clock: u64, port: &str, value: impl Into<i128>) {
        self.outputs.entry(clock).or_default().insert(port.to_owned(), value.into());
    }

    /// Runs a circuit from clock 0 until the last output has been compared; how many were.
    pub(crate) fn play(&self, module: &Module) -> usize {
        let mut sim = Sim::new(module, SimOptions::default()).expect("the circuit runs under Verilator");
        let low = |port: &str, value: i128| value as u128 & (u128::MAX >> (128 - module.port(port).bits));
        let end = self.outputs.keys().next_back().map_or(0, |last| last + 1);
        let inputs = module.ports().iter().filter(|p| p.direction == Direction::In && p.name != "clock");
        let inputs: Vec<_> = (1u64..).zip(inputs).collect();
        let given = self.inputs.values().flat_map(BTreeMap::keys).chain(self.held.keys());
        given.for_each(|port| assert_eq!(module.port(port).direction, Direction::In, "{port}"));
        for clock in 0..end {
            for (number, port) in &inputs {
                let mixed = (clock + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_mul(2 * number + 1);
                let noise = u128::from(mixed ^ mixed >> 29) * 0x1_0000_0000_0000_0001;
                let set = self.inputs.get(&clock).and_then(|set| set.get(&port.name));
                let value = set.or_else(|| self.held.get(&port.name)).map(|value| *value as u128);
                sim.set(&port.name, value.unwrap_or(if port.bits == 1 { 0 } else { noise }));
            }
            sim.settle();
            for (port, value) in self.outputs.get(&clock).into_iter().flatten() {
                assert_eq!(sim.get(port), low(port, *value), "{port} in clock {clock}");
            }
            sim.tick(1);
        }
        self.outputs.values().map(BTreeMap::len).sum()
    }
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
