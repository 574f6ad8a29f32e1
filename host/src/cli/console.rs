//! Where a command's words go: answers to stdout, what happens meanwhile to stderr.

use serde_json::Value;
use std::{
    io::{self, Write},
    sync::OnceLock,
};

/// Why stdout took an answer no more, if it did.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Where a command's words go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Console {
    quiet: bool,
    /// Whether stdout is for one JSON object.
    json: bool,
}

impl Console {
    pub(super) fn new(quiet: bool, json: bool) -> Self {
        Self { quiet, json }
    }

    /// The same for one of many: its answer goes into the answer of all.
    pub(super) fn for_a_part(self) -> Self {
        Self { json: true, ..self }
    }

    /// What happens meanwhile, for people.
    pub(super) fn say(self, text: impl AsRef<str>) {
        if !self.quiet {
            to_stderr(text.as_ref());
        }
    }

    /// What was asked for, in words; with `--json` the object has it.
    pub(super) fn answer(self, text: impl AsRef<str>) {
        if !self.json {
            to_stdout(text.as_ref());
        }
    }

    /// What was asked for, with `--json`.
    pub(super) fn object(self, value: &Value) {
        if self.json {
            to_stdout(&value.to_string());
        }
    }
}

/// What went wrong.
pub(super) fn complain(text: &str) {
    to_stderr(&format!("nendo: {text}"));
}

/// Whether stdout took every answer. A reader that has gone (`nendo ... | head`) wanted no more; a full disk is an error.
pub(super) fn answered() -> bool {
    match FAILED.get() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("writing to stdout: {error}"));
            false
        }
        _ => true,
    }
}

/// A closed or full stderr has nobody to tell.
fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The first failure is kept; a command goes on, for its files' sake.
fn to_stdout(text: &str) {
    let mut out = io::stdout().lock();
    if FAILED.get().is_none()
        && let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
    {
        let _ = FAILED.set(error);
    }
}
