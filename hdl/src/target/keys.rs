//! The words and tables of a `target.toml`; docs/synthesis.md explains them to who writes one.

use super::NotTimed;
use crate::circuit::delay::ShiftRegisters;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// The tools that make a target's bitstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flow {
    /// Yosys, then ISE.
    Ise,
    /// Vivado.
    Vivado,
    /// Yosys, nextpnr and ecppack.
    NextpnrEcp5,
    /// Yosys, nextpnr and Project X-Ray's frames.
    NextpnrXilinx,
    /// Yosys alone: a netlist and its cells, for every target.
    Yosys,
}

impl Flow {
    /// Every flow.
    pub const ALL: [Self; 5] = [Self::Yosys, Self::Ise, Self::Vivado, Self::NextpnrEcp5, Self::NextpnrXilinx];

    /// Its name, as files and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ise => "ise",
            Self::Vivado => "vivado",
            Self::NextpnrEcp5 => "nextpnr-ecp5",
            Self::NextpnrXilinx => "nextpnr-xilinx",
            Self::Yosys => "yosys",
        }
    }

    /// What the clock that its tool reports leaves out.
    pub fn not_timed(self) -> NotTimed {
        match self {
            // nextpnr-himbaechel-xilinx has no delay to, from or within a DSP48E1: such paths are as if they were not there.
            Self::NextpnrXilinx => NotTimed(vec!["multipliers".to_owned()]),
            Self::Yosys | Self::Ise | Self::Vivado | Self::NextpnrEcp5 => NotTimed::default(),
        }
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What the engine is placed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Top {
    /// Nothing: its AXI4-Lite port is what the vendor's PCI or PCIe core connects to.
    Axi,
    /// The serial board of [`crate::bus::serial`].
    Serial,
    /// The PCI board of [`crate::bus::pci`].
    Pci,
}

/// `[budget]`: limits that a build must keep, besides the device's capacities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Flip-flops.
    pub flip_flops: Option<u64>,
    /// Multipliers.
    pub multipliers: Option<u64>,
    /// Block memories.
    pub brams: Option<u64>,
}

/// `[board]`: what stands around the generated top, such as pads, clock and reset, or a vendor's core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Its outermost module.
    pub top: String,
    /// Its Verilog files.
    pub sources: Vec<String>,
    /// It names cores that only the vendor's tool has: Yosys takes the generated top without it.
    #[serde(default)]
    pub vendor: bool,
    /// Verilog macros that are defined in front of the sources.
    #[serde(default)]
    pub defines: BTreeMap<String, String>,
}

/// `[synthesis]`: how Yosys is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synthesis {
    /// Which Yosys.
    pub yosys: Yosys,
    /// Its synthesis command with options; the flow adds `-top`.
    pub command: String,
    /// Its own files of the family's cells, read first: they make primitives known that the Verilog names.
    #[serde(default)]
    pub library: Vec<String>,
    /// How delay lines are written.
    #[serde(default)]
    pub shift_registers: ShiftRegisters,
    /// The netlist is written as EDIF, for the vendor's tools.
    #[serde(default)]
    pub edif: bool,
    /// TEM and MPM are synthesised alone, too, and reported.
    #[serde(default)]
    pub blocks: bool,
}

/// A program that is Yosys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Yosys {
    /// The machine's own.
    Yosys,
    /// PyPI's.
    YowaspYosys,
}

/// `[place]`: how place and route is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Arguments of nextpnr, beside the flow's own.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The script that a vendor's tool runs.
    pub script: Option<String>,
    /// Folder of Project X-Ray's database.
    pub database: Option<String>,
}

/// `[simulation]`: the EDIF is read again and simulated over its PCI bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// Yosys' own files with models of the cells.
    pub models: Vec<String>,
    /// Yosys' own files with the ports of cells that have no model there.
    #[serde(default)]
    pub ports: Vec<String>,
}

/// `[estimate]`: what synthesis makes of the circuit, as measured by the target's reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// Delay lines are flip-flops, not shift registers in look-up tables.
    pub delay_lines: bool,
    /// The share of the circuit's registers that stay flip-flops.
    pub flip_flops: f64,
    /// Look-up tables.
    pub luts: Luts,
}

/// Look-up tables, by what takes them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Luts {
    /// The bus and what there is once.
    pub fixed: f64,
    /// Each module.
    pub module: f64,
    /// The exchange between each pair of modules.
    pub pair: f64,
}

/// What the papers' engine took of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Papers {
    /// Flip-flops.
    pub ff: u64,
    /// Slices.
    pub slices: u64,
    /// Multipliers.
    pub multipliers: u64,
}
