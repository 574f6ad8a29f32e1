//! Running a flow: one tool after another, each with a log file and a line that says how it went.

use super::{SynthError, tools::Tool};
use crate::output;
use nendo_hdl::tools::command;
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Instant,
};

/// A stage that was run, or could not be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What it does.
    pub name: String,
    /// `done`, `failed`, or `needs ...`.
    pub status: String,
    /// How long it took.
    pub seconds: f64,
}

/// The stages of a run.
pub(super) struct Stages<'a> {
    /// Where files go.
    pub folder: &'a Path,
    /// What has been done.
    pub list: Vec<Stage>,
    /// Tools used and their versions.
    pub tools: Vec<(String, String)>,
    say: &'a dyn Fn(&str),
}

impl<'a> Stages<'a> {
    /// Nothing done yet.
    pub(super) fn new(folder: &'a Path, say: &'a dyn Fn(&str)) -> Self {
        Self { folder, list: Vec::new(), tools: Vec::new(), say }
    }

    /// A file in the folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs a piece of work as a stage.
    pub(super) fn work<T>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<T, SynthError>,
    ) -> Result<T, SynthError> {
        (self.say)(&format!("{name} ..."));
        let started = Instant::now();
        let result = work();
        let status = match &result {
            Ok(_) => "done".to_owned(),
            Err(SynthError::Missing(missing)) => format!("needs {}", missing.product),
            Err(_) => "failed".to_owned(),
        };
        let seconds = (started.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        (self.say)(&format!("{name}: {status}, {seconds:.1} s"));
        self.list.push(Stage { name: name.to_owned(), status, seconds });
        result
    }

    /// Runs a tool in the folder as a stage; what it prints goes to `NAME.log`.
    pub(super) fn run<S: AsRef<OsStr>>(
        &mut self,
        name: &str,
        tool: Result<Tool, super::tools::Missing>,
        args: impl IntoIterator<Item = S>,
    ) -> Result<(), SynthError> {
        let folder = self.folder;
        let log = self.file(&format!("{}.log", name.replace(' ', "-")));
        if let Ok(tool) = &tool {
            let entry = (tool.name.clone(), tool.version.clone());
            if !self.tools.contains(&entry) {
                self.tools.push(entry);
            }
        }
        self.work(name, || {
            let tool = tool?;
            let failed =
                |reason: String| SynthError::Stage { stage: name.to_owned(), log: log.clone(), reason };
            let io = |e: std::io::Error| failed(e.to_string());
            let output = output::log(&log).map_err(io)?;
            let errors = output.try_clone().map_err(io)?;
            let status = command(&tool.path)
                .args(args)
                .current_dir(folder)
                .stdin(Stdio::null())
                .stdout(output)
                .stderr(errors)
                .status()
                .map_err(io)?;
            if status.success() {
                return Ok(());
            }
            let text = fs::read(&log).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let last = text.lines().rev().find(|line| line.to_lowercase().contains("error:"));
            let last = last.or_else(|| text.lines().next_back()).unwrap_or("it printed nothing");
            Err(failed(format!("{}, {status}", last.trim())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tools::Missing, *};

    #[test]
    fn what_happened_is_recorded_and_logged() {
        let folder = tempfile::tempdir().unwrap();
        let said = std::cell::RefCell::new(Vec::new());
        let say = |line: &str| said.borrow_mut().push(line.to_owned());
        let mut stages = Stages::new(folder.path(), &say);
        stages.run("good", Tool::open("cargo", "rust"), ["--version"]).unwrap();
        let bad = stages.run("bad", Tool::open("cargo", "rust"), ["no-such-verb"]).unwrap_err().to_string();
        assert!(bad.contains("bad.log") && bad.contains("no-such-verb"), "{bad}");
        let missing = Missing { product: "Vendor 1".to_owned(), fix: "buy it".to_owned() };
        let missing = stages.run("none", Err(missing), [""; 0]).unwrap_err().to_string();
        assert_eq!(missing, "needs Vendor 1: buy it");
        let status: Vec<&str> = stages.list.iter().map(|s| s.status.as_str()).collect();
        assert_eq!(status, ["done", "failed", "needs Vendor 1"]);
        assert!(fs::read_to_string(folder.path().join("good.log")).unwrap().starts_with("cargo 1."));
        assert_eq!(said.borrow().len(), 6);
    }
}
