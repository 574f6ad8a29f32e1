//! Careless command lines: what they are told, and the exit codes.
#![cfg(feature = "cli")]

mod common;

use common::{nendo, ok, stderr, stdout};
use nendo_host::cli;

const NO_HARDWARE: &str = "there is no hardware in profile paper-2005-plain";

/// Each with its exit code and some of the words it gets.
const LINES: &[(&str, i32, &str)] = &[
    // Numbers that cannot be.
    ("run cube9 --steps -5", 2, "a whole number of steps"),
    ("run cube9 --steps 1e3", 2, "a whole number of steps"),
    ("run cube9 --steps 99999999999999999999", 2, "a whole number of steps"),
    ("run cube9 --seconds -1", 2, "a number of seconds, zero or more"),
    ("run cube9 --seconds nan", 2, "a number of seconds, zero or more"),
    ("run cube9 --seconds 1e300", 2, "give fewer --seconds"),
    ("run cube9 --steps 5 --seconds 1", 2, "cannot be used with"),
    ("run cube9 --threads 0", 2, "1..=1024"),
    ("run cube9 --threads -1", 2, "1..=1024"),
    ("run cube9 --modules 0", 2, "1..=128"),
    ("run cube9 --modules 999", 2, "1..=128"),
    ("run cube9 --steps 1 --probe-edge 99999", 2, "3672 edges"),
    ("run cube9 --frames 3", 2, "--out"),
    ("compare cube9 --samples 0", 2, "1..=100000"),
    ("picture cube9 --at 2,1 -o never.png", 2, "that rise"),
    ("picture cube9 --at -1 -o never.png", 2, "from 0 on"),
    ("scene box 9x9 -o never.toml", 2, "three numbers of particles"),
    ("scene box 9x9x-9 -o never.toml", 2, "three numbers of particles"),
    ("scene box 1x1x1 -o never.toml", 2, "between 2 and"),
    ("scene box 9x9x9 --pitch -1 -o never.toml", 2, "a pitch of -1 m: it must be a positive number"),
    ("scene box 9x9x9 --pitch 0 -o never.toml", 2, "it must be a positive number"),
    ("scene box 9x9x9 --mass 1e300 -o never.toml", 2, "quantities between 1e-30 and 1e30"),
    ("scene box 9x9x9 --mass nan -o never.toml", 2, "a number"),
    ("scene box 9x9x9 --step 1e-20 --duration 1e9 -o never.toml", 2, "more than a run can have"),
    ("view --listen 8080", 2, "an address and a port: 127.0.0.1:8080"),
    ("view --listen localhost:8080", 2, "an address and a port: 127.0.0.1:8080"),
    // Names of nothing.
    ("", 2, "Usage"),
    ("frobnicate", 2, "unrecognized subcommand"),
    ("comparee cube9", 2, "similar subcommand"),
    ("run", 2, "<SCENE>"),
    ("run cube99", 2, "no such scene file, and no built-in scene of that name"),
    ("run nothing.toml", 2, "nothing.toml"),
    ("run .", 2, "not a file"),
    ("run box:3x3", 2, "box:9x9x9"),
    ("run box:0x1x1", 2, "between 2 and"),
    ("run box:-3x3x3", 2, "box:9x9x9"),
    ("run chain:x", 2, "generalized-maxwell"),
    ("run cube9 --engine gpu", 2, "possible values: auto, f64, f32, hybrid, model, rtl, board"),
    ("run cube9 --profile narrow", 2, "one of paper-2003, paper-2005-plain, paper-2005, wide"),
    ("run cube9 --device nothing", 2, "one of rtl, model"),
    ("run cube9 --device pci:9", 2, "is no PCI address"),
    ("run cube9 --step 5", 2, "a similar argument exists: '--steps'"),
    ("estimate --target nope", 2, "one of acorn"),
    ("synth --target nope", 2, "one of acorn"),
    ("board info --device replay:absent.jsonl", 1, "absent.jsonl"),
    ("scene import absent.msh", 2, "absent.msh"),
    ("completions tcsh", 2, "possible values"),
    // Options that do not go together.
    ("run cube9 --engine f64 --threads 2", 2, "--threads needs --engine f32, model or board"),
    ("run cube9 --engine model --integrator rk4", 2, "--integrator needs --engine f64"),
    ("run cube9 --engine f32 --profile wide", 2, "--profile needs --engine hybrid, model, rtl or board"),
    ("run cube9 --engine f32 --device model", 2, "--device needs --engine board"),
    ("run cube9 --integrator rk4 --modules 2", 2, "--integrator needs --engine f64"),
    ("run cube9 --resume", 2, "in the folder of --out"),
    ("run cube9 --points 3", 2, "--live"),
    ("run single --engine hybrid --inverse table", 2, "--inverse needs --engine model, rtl or board"),
    ("run single --engine hybrid --modules 2", 2, "--modules needs --engine model, rtl or board"),
    // Hardware in a profile that is there to compare arithmetic.
    ("run single --engine rtl --profile paper-2005-plain", 2, NO_HARDWARE),
    ("run single --device model --profile paper-2005-plain", 2, NO_HARDWARE),
    ("cosim single --profile paper-2005-plain", 2, NO_HARDWARE),
    ("gen --profile paper-2005-plain -o never", 2, NO_HARDWARE),
    ("gen --for single --profile paper-2005-plain -o never", 2, NO_HARDWARE),
    ("estimate --profile paper-2005-plain", 2, NO_HARDWARE),
    ("estimate single --profile paper-2005-plain", 2, NO_HARDWARE),
    ("estimate --rate 1000 --profile paper-2005-plain", 2, NO_HARDWARE),
    ("synth --target ecp5-85k --profile paper-2005-plain", 2, NO_HARDWARE),
    ("board info --device model --profile paper-2005-plain", 2, NO_HARDWARE),
    // Places that cannot be written.
    ("run cube9 --steps 1 -o /dev/null/out", 1, "/dev/null/out cannot be written"),
    ("run cube9 --steps 1 -o /proc/out", 1, "/proc/out cannot be written"),
    ("picture cube9 -o never.jpg", 2, ".svg or .png"),
    ("picture cube9", 2, "--out"),
    ("compare cube9 --seconds 0.01 --plot /proc/plot.svg", 1, "/proc/plot.svg cannot be written"),
    // Scenes that an engine cannot compute.
    ("run chain:yielding --engine model", 2, "cannot compute law yielding of material `element`"),
    ("run chain:yielding --engine hybrid", 2, "cannot compute law yielding of material `element`"),
    ("run chain:yielding --modules 2", 2, "leave them out"),
    ("cosim chain:yielding", 2, "--engine f64 and f32 can"),
];

/// Every line is told what is wrong with it in words of its own, and none gets on.
#[test]
fn careless_lines_are_told_what_is_wrong() {
    assert!(LINES.len() >= 60, "{}", LINES.len());
    let mut wrong = Vec::new();
    for (line, code, words) in LINES {
        let out = nendo(&line.split_whitespace().collect::<Vec<_>>());
        let said = stderr(&out);
        let told = said.contains(words) && !said.contains("panicked") && !said.contains("invalid digit");
        if out.status.code() != Some(*code) || !told || !stdout(&out).is_empty() {
            wrong.push(format!("nendo {line}: {:?}, not {code} and `{words}`\n{said}", out.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A negative number was taken for an unknown option, by some commands and not by others.
#[test]
fn negative_numbers_are_values_everywhere() {
    for line in [
        "run cube9 --steps -5",
        "run cube9 --threads -2",
        "estimate cube9 --modules -1",
        "scene info cube9 --modules -2",
    ] {
        let words: Vec<&str> = ["nendo"].into_iter().chain(line.split_whitespace()).collect();
        let why = cli::check(&words).unwrap_err();
        assert!(why.contains("invalid value '-"), "{line}: {why}");
    }
}

/// With `--json` a line that clap refused had nothing on stdout, where one object was promised.
#[test]
fn what_is_misused_has_its_object_too() {
    let (code, value) = common::json(&["run", "cube9", "--steps", "many"]);
    assert_eq!(code, 2);
    assert!(value["error"].as_str().unwrap().contains("a whole number of steps"), "{value}");
    let help = nendo(&["run", "--help", "--json"]);
    assert!(help.status.success() && stdout(&help).starts_with("Run a scene"), "{}", stdout(&help));
}

/// `--steps 0` computed 0/0 edges per second.
#[test]
fn no_steps_have_no_speed() {
    let report = ok(&["run", "cube9", "--steps", "0"]);
    assert!(report["edges_per_s"].is_null() && report["steps"] == 0, "{report}");
    let out = nendo(&["run", "box:2x1x1", "--steps", "0"]);
    assert!(!stdout(&out).contains("NaN"), "{}", stdout(&out));
    assert!(stderr(&out).contains("2 particles, 1 edge, 0 steps"), "{}", stderr(&out));
}
