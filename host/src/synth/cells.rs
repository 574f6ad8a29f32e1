//! What a netlist is made of: Yosys' own count of cells, in the units of a device.

use super::SynthError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Resources of a netlist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Flip-flops.
    pub ff: u64,
    /// Look-up tables, with those that serve as shift registers, small memories or carry cells.
    pub lut: u64,
    /// Hardware multipliers.
    pub multipliers: u64,
    /// Block memories of 18 Kbit.
    pub brams: u64,
}

/// What one cell of a type takes; `None` for cells that are no resource of these kinds (pads, carry chains
/// beside the tables, multiplexers between them).
fn weight(cell: &str) -> Option<Used> {
    let none = Used::default();
    let ff = |n| Some(Used { ff: n, ..none });
    let lut = |n| Some(Used { lut: n, ..none });
    let multipliers = |n| Some(Used { multipliers: n, ..none });
    let brams = |n| Some(Used { brams: n, ..none });
    match cell {
        "TRELLIS_FF" | "FDRE" | "FDSE" | "FDCE" | "FDPE" | "FDRE_1" | "FD" | "FDR" | "FDS" | "FDE" => ff(1),
        "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" | "INV" | "SRL16E" | "SRLC32E" => lut(1),
        "RAM16X1D" | "CCU2C" | "RAM32X1D" => lut(2),
        // Virtex-II: four tables of 16 bits for each port. Later families need fewer and say RAM64M.
        "RAM64X1D" => lut(8),
        "RAM32M" | "RAM64M" => lut(4),
        "RAM32M16" | "RAM64M8" => lut(8),
        "TRELLIS_DPR16X4" => lut(6),
        "MULT18X18" | "MULT18X18S" | "MULT18X18D" | "DSP48E1" | "DSP48E2" => multipliers(1),
        "RAMB18E1" | "RAMB18E2" | "DP16KD" | "PDPW16KD" => brams(1),
        "RAMB36E1" | "RAMB36E2" => brams(2),
        _ if cell.starts_with("RAMB16_S") => brams(1),
        _ => None,
    }
}

/// Cell counts by type.
pub type Cells = BTreeMap<String, u64>;

/// Reads the JSON that Yosys' `stat -json` writes.
pub fn parse(text: &str) -> Result<Cells, SynthError> {
    let bad =
        |reason: &str| SynthError::Output { what: "Yosys' statistics".to_owned(), reason: reason.to_owned() };
    let value: Value = serde_json::from_str(text).map_err(|e| bad(&e.to_string()))?;
    let cells = value["design"]["num_cells_by_type"].as_object().ok_or_else(|| bad("no cells"))?;
    let count = |n: &Value| n.as_u64().ok_or_else(|| bad("a count is not a number"));
    cells.iter().map(|(name, n)| Ok((name.clone(), count(n)?))).collect()
}

/// The resources of a netlist.
pub fn used(cells: &Cells) -> Used {
    cells.iter().fold(Used::default(), |sum, (name, n)| {
        let one = weight(name).unwrap_or_default();
        Used {
            ff: sum.ff + n * one.ff,
            lut: sum.lut + n * one.lut,
            multipliers: sum.multipliers + n * one.multipliers,
            brams: sum.brams + n * one.brams,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cells_become_resources() {
        let text = r#"{"creator": "Yosys", "design": {"num_cells": 9, "num_cells_by_type":
            {"FDRE": 10, "LUT4": 3, "RAM64X1D": 2, "RAMB16_S18_S18": 4, "RAMB16_S36": 1, "MULT18X18": 5, "BUFG": 1}}}"#;
        let cells = parse(text).unwrap();
        assert_eq!(cells["FDRE"], 10);
        assert_eq!(used(&cells), Used { ff: 10, lut: 19, multipliers: 5, brams: 5 });
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }

    #[test]
    fn other_json_is_refused() {
        for text in ["", "{}", r#"{"design": {"num_cells_by_type": {"FDRE": "many"}}}"#] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
