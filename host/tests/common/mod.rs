//! `nendo` as a test calls it.
// Not every test needs everything.
#![allow(dead_code)]

use serde_json::Value;
use std::process::{Command, Output};

pub(crate) fn nendo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nendo")).args(args).output().expect("the binary runs")
}

/// Runs with `--json`; stdout must be exactly one JSON object.
pub(crate) fn json(args: &[&str]) -> (i32, Value) {
    let out = nendo(&[args, &["--json"]].concat());
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "{text}");
    (out.status.code().unwrap(), serde_json::from_str(&text).expect("one JSON object"))
}

pub(crate) fn ok(args: &[&str]) -> Value {
    let (code, value) = json(args);
    assert_eq!(code, 0, "{args:?}: {value}");
    value
}

pub(crate) fn stderr(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

pub(crate) fn stdout(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned()
}

pub(crate) fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}
