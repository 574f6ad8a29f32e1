//! `nendo synth` from the outside, without any synthesis tool: `scripts/test` runs those.
#![cfg(feature = "cli")]

use serde_json::Value;
use std::{fs, path::Path, process::Command};

/// Runs with `--json` and a PATH of its own; returns exit code and object.
fn synth(args: &[&str], path: &Path) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_nendo"))
        .args(["synth", "--json"])
        .args(args)
        .env("PATH", path)
        .env("NENDO_TOOLS", path)
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    (output.status.code().unwrap(), serde_json::from_str(&text).unwrap_or(Value::Null))
}

#[test]
fn wrong_usage_is_refused() {
    let empty = tempfile::tempdir().unwrap();
    for (args, says) in [
        (&["--target", "nope"][..], "vc707, vcu118, xc2v6000"),
        (&["--target", "ecp5-85k", "--flow", "ise"], "flow `ise` does not build ecp5-85k"),
        (&["--target", "ecp5-85k", "--check", "no/such/report.json"], "no/such/report.json"),
    ] {
        let out = empty.path().join("out").display().to_string();
        let (code, value) = synth(&[args, &["-o", &out]].concat(), empty.path());
        assert_eq!(code, 2, "{args:?}: {value}");
        assert!(value["error"].as_str().unwrap().contains(says), "{value}");
    }
}

/// Without the vendor's tool, everything before it is made, and the report says what is missing and how to go on.
#[test]
fn a_missing_vendor_tool_is_said() {
    for target in ["vc707", "vcu118"] {
        let empty = tempfile::tempdir().unwrap();
        let out = empty.path().join("out");
        let folder = out.display().to_string();
        let (code, value) = synth(&["--target", target, "-o", &folder], empty.path());
        assert_eq!(code, 1);
        assert_eq!(value["stages"][0]["status"], "done", "{value}");
        assert_eq!(value["stages"][1]["status"], "needs Vivado 2023.2", "{value}");
        let command = format!("cd {folder} && vivado -mode batch -source build.tcl");
        assert!(value["error"].as_str().unwrap().contains(&command), "{value}");
        for key in ["target", "flow", "ff", "lut", "slices", "multipliers", "brams", "fmax_mhz", "bitstream"]
        {
            assert!(value.get(key).is_some(), "{key} in {value}");
        }
        assert_eq!(value["bitstream"], Value::Null);
        for file in ["nendo_engine.v", "build.tcl", "report.json"] {
            assert!(out.join(file).is_file(), "{target}: {file}");
        }
        let top = fs::read_to_string(out.join(format!("{target}.v"))).unwrap();
        assert!(!top.contains("ADDRESS_BITS"), "the width of addresses is filled in");
    }
}

#[test]
fn a_missing_open_tool_names_the_script_that_installs_it() {
    let empty = tempfile::tempdir().unwrap();
    for (target, toolchain) in [("ecp5-85k", "ecp5"), ("acorn", "ecp5"), ("xc2v6000", "virtex2")] {
        let out = empty.path().join(target).display().to_string();
        let (code, value) = synth(&["--target", target, "-o", &out], empty.path());
        assert_eq!(code, 1);
        let error = value["error"].as_str().unwrap();
        assert!(error.contains(&format!("scripts/install-toolchain {toolchain}")), "{error}");
    }
}
