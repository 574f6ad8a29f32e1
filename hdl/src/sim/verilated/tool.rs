//! Finding Verilator.

use super::VerilatedError;
use crate::tools;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A Verilator that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its program.
    pub program: PathBuf,
    /// Where its C++ headers and sources are.
    pub root: PathBuf,
    /// What it says of its version.
    pub version: String,
    /// Whether it must be told where its root is.
    packaged: bool,
}

impl Tool {
    /// A command line to be completed.
    pub fn command(&self) -> Command {
        let mut command = tools::command(&self.program);
        if self.packaged {
            command.env("VERILATOR_ROOT", &self.root);
        }
        command
    }
}

/// Finds Verilator: `NENDO_VERILATOR` (a program), else where all tools are ([`tools`]), else in a Python environment:
/// `NENDO_PYTHON`, or the one among the private tools.
pub fn find() -> Result<Tool, VerilatedError> {
    if let Some(program) = tools::variable("NENDO_VERILATOR") {
        let program = Some(program).filter(|program| program.is_absolute());
        return program.and_then(|program| probe(&program)).ok_or(VerilatedError::NoVerilator);
    }
    let packaged = tools::python_packages().into_iter().map(|folder| folder.join("verilator/bin/verilator"));
    tools::find_all("verilator")
        .into_iter()
        .chain(packaged.filter(|program| program.is_file()))
        .find_map(|program| probe(&program))
        .ok_or(VerilatedError::NoVerilator)
}

fn probe(program: &Path) -> Option<Tool> {
    // A packaged Verilator sits in its own root; an installed one knows where its root is.
    let own_root = program.parent()?.parent()?.to_path_buf();
    let packaged = own_root.join("include/verilated.cpp").is_file();
    let mut command = tools::command(program);
    if packaged {
        command.env("VERILATOR_ROOT", &own_root);
    }
    let output = command.arg("--version").output().ok().filter(|o| o.status.success())?;
    let version = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
    let root = if packaged {
        own_root
    } else {
        let output = tools::command(program).args(["--getenv", "VERILATOR_ROOT"]).output().ok()?;
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    };
    root.join("include/verilated.cpp").is_file().then(|| Tool {
        program: program.to_owned(),
        root,
        version,
        packaged,
    })
}
