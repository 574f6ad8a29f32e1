//! Devices the engine is built for: what `bitstreams/<target>/target.toml` says.

use crate::circuit::delay::ShiftRegisters;
use serde::{Deserialize, Serialize};

/// A device and its capacities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name of its folder.
    #[serde(skip_deserializing)]
    pub name: String,
    /// The vendor's part number.
    pub part: String,
    /// Its package.
    pub package: String,
    /// Device family.
    pub family: String,
    /// The tools that make its bitstream.
    pub flow: Flow,
    /// What the engine is placed in.
    pub top: Top,
    /// The file beside with pins and clocks, for the tools.
    pub constraints: String,
    /// Clock the design is built for; a routed report says what was reached.
    pub clock_mhz: f64,
    /// Slower devices, whose routed reports stand for this one's where it has none.
    #[serde(default)]
    pub slower: Vec<String>,
    /// Block memories of 18 Kbit.
    pub brams: u64,
    /// Multipliers of 18 x 18 or more.
    pub multipliers: u64,
    /// Flip-flops.
    pub flip_flops: u64,
    /// Look-up tables.
    pub luts: u64,
    /// What one module of profile `wide` may take.
    #[serde(default)]
    pub budget: Budget,
}

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

/// Limits that a build must keep, besides the device's capacities.
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

/// A target that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target `{name}`; one of {known}")]
pub struct UnknownTarget {
    name: String,
    known: String,
}

/// Targets by name, each with a file of its folder.
macro_rules! files {
    ($($name:literal $file:literal),*) => {
        [$(($name, include_str!(concat!("../../bitstreams/", $name, "/", $file)))),*]
    };
}

const FILES: [(&str, &str); 5] = files!(
    "xc2v6000" "target.toml",
    "vc707" "target.toml",
    "vcu118" "target.toml",
    "acorn" "target.toml",
    "ecp5-85k" "target.toml"
);

/// Reports of routed designs.
const ROUTED: [(&str, &str); 3] =
    files!("acorn" "report.json", "ecp5-85k" "report.json", "ecp5-85k" "report-4.json");

/// A clock that a routed report has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoutedClock {
    /// In MHz.
    pub mhz: f64,
    /// The target whose report it is.
    pub target: String,
    /// How many modules it has.
    pub modules: u64,
}

impl Target {
    /// How its delay lines must be written.
    pub fn shift_registers(&self) -> ShiftRegisters {
        if self.family == "Virtex-II" { ShiftRegisters::Srl16 } else { ShiftRegisters::Inferred }
    }

    /// A target by name.
    pub fn by_name(name: &str) -> Result<Self, UnknownTarget> {
        Self::all().into_iter().find(|t| t.name == name).ok_or_else(|| UnknownTarget {
            name: name.to_owned(),
            known: FILES.map(|(name, _)| name).join(", "),
        })
    }

    /// The clock a routed report has shown, of this target or of a slower one: with as many modules as possible of those
    /// asked for, and of those the fastest.
    pub fn routed_clock(&self, modules: u64) -> Option<RoutedClock> {
        let read = |(target, text): &(&str, &str)| {
            let report: serde_json::Value = serde_json::from_str(text).ok()?;
            let mhz = report["fmax_mhz"].as_f64().filter(|_| report["routed"] == true)?;
            Some(RoutedClock { mhz, target: (*target).to_owned(), modules: report["modules"].as_u64()? })
        };
        let stands = |clock: &RoutedClock| clock.target == self.name || self.slower.contains(&clock.target);
        let clocks = ROUTED.iter().filter_map(read).filter(|c| stands(c) && c.modules <= modules);
        clocks.max_by(|a, b| a.modules.cmp(&b.modules).then(a.mhz.total_cmp(&b.mhz)))
    }

    /// All targets.
    ///
    /// # Panics
    /// If a target file in this repository is malformed, which its test would have shown.
    pub fn all() -> Vec<Self> {
        FILES
            .iter()
            .map(|(name, text)| {
                let target: Self =
                    toml::from_str(text).unwrap_or_else(|e| panic!("bitstreams/{name}/target.toml: {e}"));
                Self { name: (*name).to_owned(), ..target }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_file_parses() {
        assert_eq!(Target::all().len(), FILES.len());
        assert_eq!(Target::by_name("xc2v6000").unwrap().brams, 144);
        for target in Target::all() {
            let folder =
                std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../bitstreams").join(&target.name);
            assert!(folder.join(&target.constraints).is_file(), "{target:?}");
            assert!(target.part.contains(&target.package), "{target:?}");
        }
        assert!(Target::by_name("nope").unwrap_err().to_string().contains("xc2v6000"));
    }

    /// A design with one module says nothing of one with four.
    #[test]
    fn clocks_are_those_of_as_many_modules() {
        let clock = |target: &str, modules| Target::by_name(target).unwrap().routed_clock(modules);
        let of = |clock: Option<RoutedClock>| clock.map(|c| (c.target, c.modules));
        assert_eq!(of(clock("vcu118", 1)), Some(("acorn".to_owned(), 1)));
        assert_eq!(of(clock("vcu118", 3)), Some(("acorn".to_owned(), 1)));
        assert_eq!(of(clock("vcu118", 90)), Some(("ecp5-85k".to_owned(), 4)));
        assert_eq!(of(clock("ecp5-85k", 4)), Some(("ecp5-85k".to_owned(), 4)));
        assert_eq!(clock("xc2v6000", 1), None);
    }
}
