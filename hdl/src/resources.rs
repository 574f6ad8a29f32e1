//! What a configuration takes, without running a tool.

use crate::{
    bus::{axi::axi_board, pci::pci_board, serial::serial_board},
    target::{Estimate, Luts, Target, Top},
};
use nendo_model::contract::{
    config::{BLOCK_WORDS, Config},
    image,
    map::{Map, WindowName},
    numbers::{Inverse, Numbers},
};
use serde::Serialize;

/// Width of a word of a block memory.
const BLOCK_BITS: u64 = 18;

/// Block memories by what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Positions.
    pub position: u64,
    /// Velocities.
    pub velocity: u64,
    /// Sums of forces of even clocks.
    pub force_even: u64,
    /// Sums of forces of odd clocks.
    pub force_odd: u64,
    /// External forces and mass classes.
    pub external: u64,
    /// The copy of positions that the bus reads while the engine runs.
    pub display: u64,
    /// Slots: extensions, element classes, particle numbers and marks.
    pub edge: u64,
    /// Table of the inverse length.
    pub table: u64,
}

impl Memory {
    /// The memories of a configuration.
    pub fn of(config: &Config) -> Self {
        let n = config.profile.numbers();
        let particle_sets = config.particles.div_ceil(BLOCK_WORDS);
        let blocks = |bits: u32| u64::from(bits).div_ceil(BLOCK_BITS) * particle_sets * config.modules;
        let class = |classes: usize| classes.next_power_of_two().ilog2();
        let edge_bits = Map::new(config).window(WindowName::Edge).bits();
        let edge_sets = config.edges.div_ceil(BLOCK_WORDS) * config.modules;
        Self {
            position: blocks(3 * n.x.bits),
            velocity: blocks(3 * n.v.bits),
            force_even: blocks(3 * n.force_sum.bits),
            force_odd: blocks(3 * n.force_sum.bits),
            external: blocks(3 * n.edge_force.bits + class(image::MASS_CLASSES)),
            display: blocks(3 * n.x.operand_bits()),
            edge: u64::from(edge_bits).div_ceil(BLOCK_BITS) * edge_sets,
            table: u64::from(config.inverse == Inverse::Table) * config.modules,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        let particle =
            self.position + self.velocity + self.force_even + self.force_odd + self.external + self.display;
        particle + self.edge + self.table
    }
}

/// Multipliers by module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Multipliers {
    /// Three squares, three for the unit vector, three for the rate, three for the law, three for the force
    /// vector; one for Euler's method unless the step is the time unit; one for the table.
    pub tem: u64,
    /// Three for the motion; six for Euler's method unless the step is the time unit.
    pub mpm: u64,
}

impl Multipliers {
    /// The multipliers of a configuration.
    pub fn of(config: &Config) -> Self {
        let Numbers { unit_step, .. } = *config.profile.numbers();
        let table = u64::from(config.inverse == Inverse::Table);
        let (tem, mpm) = if unit_step { (15 + table, 3) } else { (16 + table, 9) };
        Self { tem: tem * config.modules, mpm: mpm * config.modules }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.tem + self.mpm
    }
}

/// Flip-flops of a configuration on a target.
///
/// Counted in the circuit itself: every register, without delay lines where the family makes shift registers of them.
/// Synthesis keeps only a share of those: bits below a cut and above a wrap go, multipliers take the registers
/// around them in. The share of each target is measured, on the standard configuration, by the reports in
/// `bitstreams/`, and kept in its `target.toml`.
pub fn flip_flops(config: &Config, target: &Target) -> u64 {
    let Estimate { delay_lines, flip_flops: share, .. } = target.estimate;
    let counts = |kind: &str| delay_lines || !kind.starts_with("delay_");
    let bits = match target.top {
        Top::Axi => axi_board(config).register_bits(&counts),
        Top::Serial => serial_board(config).register_bits(&counts),
        Top::Pci => pci_board(config).register_bits(&counts),
    };
    (bits as f64 * share).round() as u64
}

/// Look-up tables of a configuration on a target: so many in each module, and in the exchange of each pair.
///
/// Measured by Yosys, as everything in `bitstreams/`.
pub fn luts(config: &Config, target: &Target) -> u64 {
    let Luts { fixed, module, pair } = target.estimate.luts;
    let modules = config.modules as f64;
    (fixed + module * modules + pair * modules * (modules - 1.0)).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::contract::numbers::Profile;

    /// One set of 1024 particles and 5120 edges: 35 blocks and the table; 15 + 15 in H05 (2.15) for its words,
    /// plus 3 for the display copy.
    #[test]
    fn block_memories_as_counted_by_hand() {
        let wide = Memory::of(&Config::minimal(Profile::Wide, Inverse::Cordic));
        assert_eq!((wide.total(), wide.position, wide.edge), (35, 4, 15));
        assert_eq!(Memory::of(&Config::minimal(Profile::Wide, Inverse::Table)).total(), 36);
        assert_eq!(Memory::of(&Config::minimal(Profile::Paper2005, Inverse::Cordic)).total(), 33);
        let minimal = Config::minimal(Profile::Wide, Inverse::Cordic);
        for full in [Config { modules: 4, ..minimal }, Config { particles: 4096, edges: 20480, ..minimal }] {
            assert_eq!(Memory::of(&full).total(), 140);
        }
    }

    #[test]
    fn multipliers_as_in_table_2_2() {
        let papers = Multipliers::of(&Config::minimal(Profile::Paper2005, Inverse::Cordic));
        assert_eq!((papers.tem, papers.mpm, papers.total()), (16, 9, 25));
        assert_eq!(Multipliers::of(&Config::minimal(Profile::Wide, Inverse::Table)).total(), 19);
    }

    /// Against what the tools found: block memories and multipliers exactly, flip-flops within 10 %, look-up tables
    /// within 15 %.
    fn check(target: &Target, file: &str, modules: u64) {
        let path = format!("{}/../bitstreams/{}/{file}", env!("CARGO_MANIFEST_DIR"), target.name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let config = Config { modules, ..Config::minimal(Profile::Wide, Inverse::Table) };
        // Not the hash: it changes with the map, whose registers weigh nothing.
        let Config { profile, inverse, modules, particles, edges, .. } = config;
        assert_eq!([&report["profile"], &report["inverse"]], [profile.name(), inverse.name()], "{path}");
        assert_eq!(
            ["modules", "particles", "edges"].map(|key| report[key].as_u64()),
            [modules, particles, edges].map(Some),
            "{path}"
        );
        assert_eq!(report["brams"], Memory::of(&config).total(), "{path}");
        assert_eq!(report["multipliers"], Multipliers::of(&config).total(), "{path}");
        for (key, estimated, within) in
            [("ff", flip_flops(&config, target), 0.1), ("lut", luts(&config, target), 0.15)]
        {
            let (found, estimated) = (report[key].as_f64().unwrap(), estimated as f64);
            assert!(
                (estimated - found).abs() <= within * found,
                "{path}: {estimated} {key} estimated, {found} found"
            );
        }
    }

    #[test]
    fn estimates_are_the_reports() {
        Target::all().iter().for_each(|target| check(target, "report.json", 1));
    }

    /// Many modules, with the exchange in two hops, and four that were routed.
    #[test]
    fn estimates_are_the_reports_of_several_modules() {
        check(&Target::by_name("vcu118").unwrap(), "report-16.json", 16);
        check(&Target::by_name("ecp5-85k").unwrap(), "report-4.json", 4);
    }

    /// Four modules fit the papers' own part.
    #[test]
    fn four_modules_fit_virtex_2() {
        let target = Target::by_name("xc2v6000").unwrap();
        check(&target, "report-4.json", 4);
        let four = Config { modules: 4, ..Config::minimal(Profile::Wide, Inverse::Table) };
        assert!(
            Memory::of(&four).total() <= target.brams && Multipliers::of(&four).total() <= target.multipliers
        );
    }
}
