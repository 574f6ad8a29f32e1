//! Clocks that routed reports have shown: `report.json` of one module, `report-N.json` of N.

use super::{Files, Target, TargetError};
use serde::Serialize;
use serde_json::Value;

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
    /// The clock in MHz of the report of exactly so many modules.
    pub fn routed_clock(&self, modules: u64) -> Result<f64, NoClock> {
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
            (Some(true), Some(mhz)) if mhz > 0.0 => Ok(mhz),
            _ => Err(NoClock::NotRouted(file)),
        }
    }
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
                Some(RoutedClock { mhz: files.routed_clock(modules).ok()?, target: target.clone(), modules })
            })
        });
        clocks.max_by(|a, b| a.modules.cmp(&b.modules).then(a.mhz.total_cmp(&b.mhz)))
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
        assert_eq!(report(r#"{"routed": true, "fmax_mhz": 104.5}"#), Ok(104.5));
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
