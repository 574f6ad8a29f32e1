//! A running circuit.

use super::{SimOptions, VerilatedError, build, library::Library};
use crate::circuit::Module;
use std::{collections::HashMap, path::Path};

/// A port's number and width.
#[derive(Clone, Copy, Debug)]
pub struct PortId {
    number: u32,
    bits: u32,
}

/// A circuit that Verilator compiled, with its ports by name.
pub struct Sim {
    library: Library,
    ports: HashMap<String, PortId>,
    clocks: u64,
}

impl Sim {
    /// Compiles the circuit, unless it is in the cache, and loads it. Registers start at random values
    /// where the circuit gives none.
    pub fn new(module: &Module, options: SimOptions) -> Result<Self, VerilatedError> {
        let library = Library::open(&build::library(module, options)?)?;
        let info = |(k, port): (usize, &crate::circuit::Port)| {
            (port.name.clone(), PortId { number: k as u32, bits: port.bits })
        };
        Ok(Self { library, ports: module.ports().iter().enumerate().map(info).collect(), clocks: 0 })
    }

    /// A port by name, for many uses.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn port(&self, name: &str) -> PortId {
        *self.ports.get(name).unwrap_or_else(|| panic!("the circuit has no port {name}"))
    }

    /// Sets an input to the low bits of a number.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn set(&mut self, name: &str, value: u128) {
        let PortId { number, bits } = self.port(name);
        let value = if bits < 128 { value & ((1 << bits) - 1) } else { value };
        for word in 0..bits.div_ceil(32) {
            self.library.set(number, word, (value >> (32 * word)) as u32);
        }
    }

    /// Sets an input to the low bits of a signed number.
    pub fn set_signed(&mut self, name: &str, value: i64) {
        self.set(name, value as i128 as u128);
    }

    /// A port's value.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn get(&self, name: &str) -> u128 {
        let PortId { number, bits } = self.port(name);
        (0..bits.div_ceil(32))
            .fold(0, |value, word| value | u128::from(self.library.get(number, word)) << (32 * word))
    }

    /// A port's value as a signed number.
    pub fn get_signed(&self, name: &str) -> i64 {
        let bits = self.port(name).bits;
        let raw = self.get(name) as u64;
        ((raw << (64 - bits)) as i64) >> (64 - bits)
    }

    /// Sets an input of at most 32 bits.
    pub fn set_word(&mut self, port: PortId, value: u32) {
        self.library.set(port.number, 0, value);
    }

    /// The low 32 bits of a port's value.
    pub fn get_word(&self, port: PortId) -> u32 {
        self.library.get(port.number, 0)
    }

    /// Lets combinational logic settle after inputs have changed.
    pub fn settle(&mut self) {
        self.library.eval();
    }

    /// So many rising edges of the clock.
    pub fn tick(&mut self, clocks: u64) {
        self.library.tick(clocks);
        self.clocks += clocks;
    }

    /// Rising edges so far.
    pub fn clocks(&self) -> u64 {
        self.clocks
    }

    /// Starts writing waveforms to a file, or stops.
    pub fn trace(&mut self, file: Option<&Path>) -> Result<(), VerilatedError> {
        self.library.trace(file)
    }

    /// Writes coverage data for `verilator_coverage`.
    pub fn coverage(&mut self, file: &Path) -> Result<(), VerilatedError> {
        self.library.coverage(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{circuit::Build, sim::verilated::Coverage};

    #[test]
    fn a_counter_counts() {
        let mut b = Build::new("counter", "Counts when enabled; wide ports, too.");
        let enable = b.input("enable", 1);
        let wide = b.input("wide", 80);
        let count = b.state("count", 70);
        let next = b.increment(count.value(), &enable);
        b.output("value", count.value());
        b.set(count, &next);
        let flipped = b.not(&wide);
        b.output("flipped", &flipped);
        let mut sim = Sim::new(&b.finish(), SimOptions::default()).unwrap();
        sim.set("enable", 1);
        sim.set("wide", 1 << 79 | 5);
        sim.tick(10);
        sim.set("enable", 0);
        sim.tick(5);
        assert_eq!((sim.get("value"), sim.clocks()), (10, 15));
        assert_eq!(sim.get("flipped"), ((1u128 << 80) - 1) ^ (1 << 79 | 5));
        assert!(matches!(sim.coverage(Path::new("x")), Err(VerilatedError::Without("coverage"))));
    }
    /// Once a circuit with counters of lines was in the cache, it was taken for one that counts bits as well.
    #[test]
    fn circuits_with_other_counters_are_other_circuits() {
        let folder = tempfile::tempdir().unwrap();
        for (coverage, counts_bits) in [(Coverage::Lines, false), (Coverage::LinesAndToggles, true)] {
            let mut b = Build::new("register", "A clock late.");
            let a = b.input("a", 3);
            let late = b.reg(&a);
            b.output("q", &late);
            let mut sim = Sim::new(&b.finish(), SimOptions { coverage, ..SimOptions::default() }).unwrap();
            sim.tick(1);
            let file = folder.path().join("coverage.dat");
            sim.coverage(&file).unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            assert_eq!(text.contains("v_toggle"), counts_bits, "{text}");
        }
    }
}
