//! What nextpnr reports: the clock it reached, the slowest path, and what it placed.

use super::SynthError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A routed design's timing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Routed {
    /// The clock reached, of the slowest clock there is.
    pub fmax_mhz: f64,
    /// The slowest path: delay in ns and where it goes.
    pub worst_path: Vec<Step>,
    /// Cells placed and sites there are, by the tool's own names.
    pub placed: BTreeMap<String, (u64, u64)>,
}

/// A part of the slowest path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// `logic`, `routing`, `setup`, `clk-to-q`.
    pub kind: String,
    /// Delay in ns.
    pub ns: f64,
    /// Where it ends.
    pub to: String,
}

/// Reads the report that nextpnr writes with `--report`.
pub(super) fn parse(text: &str) -> Result<Routed, SynthError> {
    let bad =
        |reason: &str| SynthError::Output { what: "nextpnr's report".to_owned(), reason: reason.to_owned() };
    let value: Value = serde_json::from_str(text).map_err(|e| bad(&e.to_string()))?;
    let clocks = value["fmax"].as_object().ok_or_else(|| bad("no clocks"))?;
    let slowest = clocks
        .iter()
        .filter_map(|(name, clock)| Some((name, clock["achieved"].as_f64()?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let (name, fmax_mhz) = slowest.ok_or_else(|| bad("no clock has a rate"))?;
    let paths = value["critical_paths"].as_array().map_or(&[][..], Vec::as_slice);
    // Paths name their clocks with an edge in front: "posedge clock".
    let ends_at = |path: &Value, key: &str| {
        path[key].as_str().is_some_and(|edge| edge.split_whitespace().last() == Some(name))
    };
    let path = paths.iter().find(|path| ends_at(path, "from") && ends_at(path, "to"));
    let steps = path.and_then(|path| path["path"].as_array());
    let worst_path = steps.into_iter().flatten().map(|step| Step {
        kind: step["type"].as_str().unwrap_or("?").to_owned(),
        ns: step["delay"].as_f64().unwrap_or(0.0),
        to: readable(step["net"].as_str().or(step["to"]["cell"].as_str()).unwrap_or("?")),
    });
    let placed = value["utilization"].as_object().into_iter().flatten().filter_map(|(name, cell)| {
        let (used, available) = (cell["used"].as_u64()?, cell["available"].as_u64()?);
        (used > 0).then(|| (name.clone(), (used, available)))
    });
    Ok(Routed { fmax_mhz, worst_path: worst_path.collect(), placed: placed.collect() })
}

/// A net's or cell's name as a person knows it: instances without their prefixes, without what tools appended.
fn readable(cell: &str) -> String {
    let words =
        ["_LUT", "_TRELLIS", "_FDRE", "_CCU2C", "_CARRY4", "_DSP48", "_PFUMX", "_L6MUX", "_FDSE", "_MUXF"];
    let end = words.iter().filter_map(|word| cell.find(word)).min().unwrap_or(cell.len());
    let name = cell.get(..end).unwrap_or(cell).trim_start_matches('\\');
    let parts: Vec<&str> = name.split('.').map(|part| part.strip_prefix("u_").unwrap_or(part)).collect();
    parts.join(".")
}

impl Routed {
    /// The slowest path in words: total delay and the places it passes.
    pub fn path_text(&self) -> String {
        let total: f64 = self.worst_path.iter().map(|step| step.ns).sum();
        let mut places: Vec<&str> = self.worst_path.iter().map(|step| step.to.as_str()).collect();
        // What a tool named itself says nothing.
        places.retain(|place| !place.is_empty() && !place.starts_with('$'));
        places.dedup();
        format!("{total:.2} ns: {}", places.join(" -> "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REPORT: &str = r#"{
        "fmax": {"clock": {"achieved": 101.5, "constraint": 100.0}, "spare": {"achieved": 300.0}},
        "utilization": {"TRELLIS_FF": {"used": 7, "available": 83640}, "PLL": {"used": 0, "available": 4}},
        "critical_paths": [
            {"from": "posedge clock", "to": "<async>", "path": []},
            {"from": "posedge clock", "to": "posedge clock", "path": [
                {"type": "clk-to-q", "delay": 0.5, "from": {"cell": "a"}, "to": {"cell": "u_engine.u_tem.r1_TRELLIS_FF_Q"}},
                {"type": "routing", "delay": 1.25, "from": {"cell": "a"}, "to": {"cell": "u_engine.u_mpm.sum_LUT4_Z_1"}},
                {"type": "setup", "delay": 0.25, "from": {"cell": "a"}, "to": {"cell": "u_engine.u_mpm.sum_LUT4_Z_1"}}]}]
    }"#;

    #[test]
    fn clock_path_and_cells() {
        let routed = parse(REPORT).unwrap();
        assert_eq!(routed.fmax_mhz, 101.5);
        assert_eq!(routed.path_text(), "2.00 ns: engine.tem.r1 -> engine.mpm.sum");
        assert_eq!(routed.placed["TRELLIS_FF"], (7, 83640));
        assert_eq!(routed.placed.len(), 1);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(cut in 0..REPORT.len(), cell in "\\PC{0,30}") {
            let _ = parse(&REPORT[..cut]);
            readable(&cell);
        }
    }
}
