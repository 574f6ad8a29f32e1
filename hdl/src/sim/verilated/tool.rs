//! Finding Verilator.

use super::VerilatedError;
use std::{
    env,
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
        let mut command = Command::new(&self.program);
        if self.packaged {
            command.env("VERILATOR_ROOT", &self.root);
        }
        command
    }
}

/// Finds Verilator: `NENDO_VERILATOR` (a program), else the search path, else a Python environment named by
/// `NENDO_PYTHON` or `.tools/python` below this or a parent folder.
pub fn find() -> Result<Tool, VerilatedError> {
    if let Some(program) = env::var_os("NENDO_VERILATOR") {
        return probe(Path::new(&program)).ok_or(VerilatedError::NoVerilator);
    }
    let on_path =
        env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let named = env::var_os("NENDO_PYTHON").map(PathBuf::from);
    let here = env::current_dir().unwrap_or_default();
    let private = named.into_iter().chain(here.ancestors().map(|folder| folder.join(".tools/python")));
    on_path
        .map(|folder| folder.join("verilator"))
        .chain(private.flat_map(|folder| packaged(&folder)))
        .filter(|program| program.is_file())
        .find_map(|program| probe(&program))
        .ok_or(VerilatedError::NoVerilator)
}

/// Verilator programs inside a Python environment.
fn packaged(environment: &Path) -> Vec<PathBuf> {
    let versions = std::fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    versions.map(|version| version.path().join("site-packages/verilator/bin/verilator")).collect()
}

fn probe(program: &Path) -> Option<Tool> {
    // A packaged Verilator sits in its own root; an installed one knows where its root is.
    let own_root = program.parent()?.parent()?.to_path_buf();
    let packaged = own_root.join("include/verilated.cpp").is_file();
    let mut command = Command::new(program);
    if packaged {
        command.env("VERILATOR_ROOT", &own_root);
    }
    let output = command.arg("--version").output().ok().filter(|o| o.status.success())?;
    let version = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
    let root = if packaged {
        own_root
    } else {
        let output = Command::new(program).args(["--getenv", "VERILATOR_ROOT"]).output().ok()?;
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    };
    root.join("include/verilated.cpp").is_file().then(|| Tool {
        program: program.to_owned(),
        root,
        version,
        packaged,
    })
}
