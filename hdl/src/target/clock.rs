//! Clocks that routed reports have shown: `report.json` of one module, `report-N.json` of N.

use super::{Files, Flow, Target, TargetError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Kinds of cells whose delays a clock leaves out, because its tool does not know them. Written behind every such clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NotTimed(pub Vec<String>);

impl NotTimed {
    /// Whether everything is timed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for NotTimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() { Ok(()) } else { write!(f, " ({} not timed)", self.0.join(", ")) }
    }
}

/// A clock as a routed report has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clock {
    /// In MHz.
    pub mhz: f64,
    /// What it leaves out.
    pub not_timed: NotTimed,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MHz{}", self.mhz, self.not_timed)
    }
}

/// A clock that a routed report has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoutedClock {
    /// The clock.
    #[serde(flatten)]
    pub clock: Clock,
    /// The target whose report it is.
    pub target: String,
    /// How many modules it has.
    pub modules: u64,
}

/// Why a report shows no clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoClock {
    /// It is not there.
    #[error("there is no routed report {0}")]
    Missing(String),
    /// It is no report.
    #[error("{file}: {reason}")]
    Malformed {
        /// The path of the file.
        file: String,
        /// What was wrong with it.
        reason: String,
    },
    /// Its design was not routed.
    #[error("the design of {0} is not routed")]
    NotRouted(String),
}

fn report_name(modules: u64) -> String {
    if modules == 1 { "report.json".to_owned() } else { format!("report-{modules}.json") }
}

fn modules_of(report: &str) -> Option<u64> {
    let number = report.strip_prefix("report")?.strip_suffix(".json")?;
    if number.is_empty() { Some(1) } else { number.strip_prefix('-')?.parse().ok() }
}

impl Files {
    /// The clock of the report of exactly so many modules.
    pub fn routed_clock(&self, modules: u64) -> Result<Clock, NoClock> {
        let name = report_name(modules);
        let file = self.place(&name);
        let text = match self.read(&name) {
            Ok(text) => text,
            Err(TargetError::File { source, .. }) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(NoClock::Malformed { file, reason: source.to_string() });
            }
            Err(_) => return Err(NoClock::Missing(file)),
        };
        let report: Value = match serde_json::from_str(&text) {
            Ok(report) => report,
            Err(e) => return Err(NoClock::Malformed { file, reason: e.to_string() }),
        };
        match (report["routed"].as_bool(), report["fmax_mhz"].as_f64()) {
            (Some(true), Some(mhz)) if mhz > 0.0 => Ok(Clock { mhz, not_timed: not_timed(&report) }),
            _ => Err(NoClock::NotRouted(file)),
        }
    }
}

/// What a report's clock leaves out; one from before that was written down: what its flow leaves out.
fn not_timed(report: &Value) -> NotTimed {
    let read = |key: &str| report.get(key).cloned();
    let written = read("not_timed").and_then(|list| serde_json::from_value(list).ok());
    let flow = || read("flow").and_then(|name| serde_json::from_value::<Flow>(name).ok());
    written.or_else(|| flow().map(Flow::not_timed)).unwrap_or_default()
}

impl Target {
    /// The clock a routed report has shown, of this target or of a slower one: with as many modules as possible of those
    /// asked for, and of those the fastest.
    pub fn routed_clock(&self, modules: u64) -> Option<RoutedClock> {
        let slower = self.slower.iter().filter_map(|name| Some((name, Files::built_in(name)?)));
        let devices = std::iter::once((&self.name, self.files.clone())).chain(slower);
        let clocks = devices.flat_map(|(target, files)| {
            let counts = files.list().into_iter().filter_map(|name| modules_of(&name));
            let counts: Vec<u64> = counts.filter(|&n| n <= modules).collect();
            counts.into_iter().filter_map(move |modules| {
                Some(RoutedClock {
                    clock: files.routed_clock(modules).ok()?,
                    target: target.clone(),
                    modules,
                })
            })
        });
        clocks.max_by(|a, b| a.modules.cmp(&b.modules).then(a.clock.mhz.total_cmp(&b.clock.mhz)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn no_clock_is_invented() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::folder(folder.path());
        let report = |text: &str| {
            std::fs::write(folder.path().join("report.json"), text).unwrap();
            files.routed_clock(1)
        };
        assert!(
            matches!(files.routed_clock(1), Err(NoClock::Missing(file)) if file.ends_with("report.json"))
        );
        let clock = report(r#"{"routed": true, "fmax_mhz": 104.5}"#).unwrap();
        assert_eq!((clock.mhz, clock.to_string().as_str()), (104.5, "104.5 MHz"));
        for bad in
            ["", "[]", r#"{"fmax_mhz": 100}"#, r#"{"routed": false, "fmax_mhz": 100}"#, r#"{"routed": true}"#]
        {
            assert!(report(bad).is_err(), "{bad}");
        }
        report(r#"{"routed": true, "fmax_mhz": 100}"#).unwrap();
        // One module's clock is not four modules'.
        assert!(files.routed_clock(4).unwrap_err().to_string().contains("report-4.json"));
        let names =
            ["report.json", "report-16.json", "report-.json", "report-x.json", "report", "target.toml"];
        assert_eq!(names.map(modules_of), [Some(1), Some(16), None, None, None, None]);
    }

    /// "168.9 MHz" was printed of a design whose multipliers the tool had not timed at all.
    #[test]
    fn a_clock_says_what_its_tool_left_out() {
        let shown = |target: &str| Target::by_name(target).unwrap().routed_clock(1).unwrap().clock;
        assert_eq!(shown("acorn").to_string(), "168.9 MHz (multipliers not timed)");
        assert_eq!(shown("ecp5-85k").to_string(), "139.5 MHz");
        // A slower device's clock brings its caveat along.
        assert_eq!(shown("vcu118"), shown("acorn"));
        // A report from before that was written down.
        let old = serde_json::json!({ "flow": "nextpnr-xilinx", "routed": true, "fmax_mhz": 100 });
        assert_eq!(not_timed(&old), Flow::NextpnrXilinx.not_timed());
        let timed = serde_json::json!({ "flow": "nextpnr-xilinx", "not_timed": [] });
        assert!(not_timed(&timed).is_empty());
    }

    /// What a flow would write today is what is kept.
    #[test]
    fn kept_reports_say_what_their_flows_leave_out() {
        for target in Target::all() {
            for name in target.files.list().iter().filter(|name| modules_of(name).is_some()) {
                let report: Value = serde_json::from_str(&target.file(name).unwrap()).unwrap();
                let flow: Flow = serde_json::from_value(report["flow"].clone()).unwrap();
                let written: NotTimed =
                    serde_json::from_value(report["not_timed"].clone()).unwrap_or_default();
                let expected = if report["routed"] == true { flow.not_timed() } else { NotTimed::default() };
                assert_eq!(written, expected, "{}/{name}", target.name);
            }
        }
    }

    /// The name of the file says how many modules a report has; the report must agree.
    #[test]
    fn kept_reports_are_of_as_many_modules_as_their_names_say() {
        for target in Target::all() {
            for (name, modules) in
                target.files.list().iter().filter_map(|name| Some((name, modules_of(name)?)))
            {
                let report: Value = serde_json::from_str(&target.file(name).unwrap()).unwrap();
                assert_eq!(
                    (&report["modules"], &report["target"]),
                    (&modules.into(), &target.name.as_str().into())
                );
            }
        }
    }
}
