//! Tools of the flows: where they are and which version they have.

pub use nendo_hdl::tools::private_folder;
use nendo_hdl::tools::{command, find};
use std::path::{Path, PathBuf};

/// A tool that a stage needs and this machine has not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs {product}: {fix}")]
pub struct Missing {
    /// What people call it.
    pub product: String,
    /// How to get on.
    pub fix: String,
}

/// A tool that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it says of itself.
    pub version: String,
}

impl Tool {
    /// Finds a tool among those that `scripts/install-toolchain TOOLCHAIN` installs, or on the PATH.
    pub fn open(name: &str, toolchain: &str) -> Result<Self, Missing> {
        let path = find(name).ok_or_else(|| Missing {
            product: name.to_owned(),
            fix: format!("run `scripts/install-toolchain {toolchain}`, or put it on the PATH"),
        })?;
        let version = version(&path);
        Ok(Self { name: name.to_owned(), path, version })
    }

    /// Finds a vendor's tool, which no script can install.
    pub fn vendor(name: &str, product: &str, proceed: &str) -> Result<Self, Missing> {
        let path =
            find(name).ok_or_else(|| Missing { product: product.to_owned(), fix: proceed.to_owned() })?;
        // Vendor tools take long to say their version, and their logs say it again.
        Ok(Self { name: name.to_owned(), path, version: product.to_owned() })
    }
}

/// Where a tool is, without asking it anything: some take seconds to say their version.
pub fn place(name: &str) -> Option<PathBuf> {
    find(name)
}

/// The first line that has a digit in what a tool prints about its version.
fn version(path: &Path) -> String {
    let Ok(output) = command(path).arg("--version").output() else { return "unknown".to_owned() };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()));
    // Without the path by which it was called.
    let words = line.unwrap_or("unknown").split_whitespace().map(|word| {
        word.rsplit_once('/').filter(|_| word.starts_with(['/', '"'])).map_or(word, |(_, name)| name)
    });
    words.collect::<Vec<_>>().join(" ").replace('"', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_says_how_to_get_it() {
        let error = Tool::open("no-such-tool", "ecp5").unwrap_err().to_string();
        assert_eq!(error, "needs no-such-tool: run `scripts/install-toolchain ecp5`, or put it on the PATH");
        let error = Tool::vendor("no-such-tool", "Vendor 2020", "then run it").unwrap_err().to_string();
        assert_eq!(error, "needs Vendor 2020: then run it");
    }

    #[test]
    fn what_is_here_has_a_version() {
        assert!(Tool::open("cargo", "rust").unwrap().version.starts_with("cargo 1."));
    }
}
