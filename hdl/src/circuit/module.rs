//! A finished circuit: a rust-hdl block with ports of run-time width.

use rust_hdl::prelude::{
    Atom, AtomKind, Block, Logic, PinConstraint, Probe, TypeDescriptor, TypeKind, VCDValue, Verilog,
    VerilogLiteral,
};
use std::rc::Rc;

/// Which way a port goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the module.
    In,
    /// Out of the module.
    Out,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its width.
    pub bits: u32,
    /// Which way it goes.
    pub direction: Direction,
    /// Pipeline stage relative to the module's first inputs; `None` for static ports.
    pub stage: Option<u32>,
}

/// A circuit.
#[derive(Debug)]
pub struct Module {
    pub(super) kind: String,
    pub(super) ports: Vec<Port>,
    pub(super) children: Vec<(String, Rc<Module>)>,
    pub(super) text: String,
}

impl Module {
    /// The module's name in Verilog: unique for its content.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Its ports in order.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// A port by name.
    ///
    /// # Panics
    /// If there is none: a mistake in the circuit, found when it is elaborated.
    pub fn port(&self, name: &str) -> &Port {
        let found = self.ports.iter().find(|p| p.name == name);
        found.unwrap_or_else(|| panic!("module {} has no port {name}", self.kind))
    }

    /// Clocks from the first inputs to this output.
    ///
    /// # Panics
    /// If the output is not there or not part of a pipeline.
    pub fn latency(&self, output: &str) -> u32 {
        self.port(output).stage.unwrap_or_else(|| panic!("{}.{output} is not in a pipeline", self.kind))
    }
}

impl Module {
    /// Bits of registers in this circuit and all it contains, where `counts` says so of a circuit's kind. What block
    /// memories read into is theirs and does not count.
    pub fn register_bits(&self, counts: &dyn Fn(&str) -> bool) -> u64 {
        let inside: u64 = self.children.iter().map(|(_, child)| child.register_bits(counts)).sum();
        if !counts(&self.kind) {
            return inside;
        }
        let block_memory = self.text.contains("ram_style = \"block\"");
        let of_memory = |name: &str| {
            let reads = |line: &str| {
                let value = line.trim().strip_prefix(name).and_then(|rest| rest.strip_prefix(" <= "));
                value.is_some_and(|value| ["memory[", "rom["].iter().any(|m| value.starts_with(m)))
            };
            block_memory && self.text.split(['\n', ';']).any(reads)
        };
        let own = self.text.lines().filter_map(|line| {
            // An array has a range behind its name.
            let names = line.trim().strip_prefix("reg ")?.strip_suffix(';')?.trim_start_matches("signed ");
            let (bits, names) = match names.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
                Some((range, names)) => (range.split(':').next()?.parse::<u64>().ok()? + 1, names),
                None => (1, names),
            };
            let plain = names.split(", ").filter(|name| !name.contains(' ') && !of_memory(name));
            Some(bits * plain.count() as u64)
        });
        inside + own.sum::<u64>()
    }
}

impl Logic for Module {
    // Simulation is Verilator's business; rust-hdl only generates.
    fn update(&mut self) {}
    fn connect(&mut self) {}
    fn hdl(&self) -> Verilog {
        Verilog::Custom(self.text.clone())
    }
}

impl Block for Module {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {}
    fn has_changed(&self) -> bool {
        false
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        for port in &self.ports {
            probe.visit_atom(&port.name, port);
        }
        for (name, child) in &self.children {
            child.accept(name, probe);
        }
        probe.visit_end_scope(name, self);
    }
}

impl Atom for Port {
    fn bits(&self) -> usize {
        self.bits as usize
    }
    // Build refuses open inputs and undriven outputs.
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        match self.direction {
            Direction::In => AtomKind::InputParameter,
            Direction::Out => AtomKind::OutputParameter,
        }
    }
    fn descriptor(&self) -> TypeDescriptor {
        TypeDescriptor { name: format!("Bits::<{}>", self.bits), kind: TypeKind::Bits(self.bits as usize) }
    }
    fn vcd(&self) -> VCDValue {
        false.into()
    }
    fn id(&self) -> usize {
        0
    }
    fn verilog(&self) -> VerilogLiteral {
        false.into()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        blocks::{accumulator::accumulator, ram::ram},
        circuit::delay::delay,
        engine::mpm::mpm,
    };
    use nendo_model::contract::numbers::Profile;

    #[test]
    fn registers_are_counted_and_memories_are_not() {
        let all = |_: &str| true;
        assert_eq!(delay(17, 12).register_bits(&all), 17 * 12);
        assert_eq!(delay(17, 12).register_bits(&|kind| !kind.starts_with("delay_")), 0);
        assert_eq!(ram(72, 1024).register_bits(&all), 2 * 72, "the output registers");
        // The word, three sums, what was there before, and addresses and marks besides.
        assert!(accumulator(1024, 16, 18).register_bits(&all) > 5 * 54);
        let lines = |kind: &str| kind.starts_with("delay_");
        let module = mpm(Profile::Wide);
        assert!(module.register_bits(&lines) > 0);
        assert_eq!(
            module.register_bits(&all),
            module.register_bits(&lines) + module.register_bits(&|kind| !lines(kind))
        );
    }
}
