//! The command line from the outside: scenes, errors, reports.
#![cfg(feature = "cli")]

mod common;

use common::{json, nendo, number, ok, stderr, stdout};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

#[test]
fn run_reports_every_promised_field() {
    let report = ok(&["run", "cube9", "--engine", "model", "--steps", "20"]);
    for key in [
        "scene",
        "engine",
        "profile",
        "modules",
        "particles",
        "edges",
        "steps",
        "simulated_s",
        "wall_s",
        "edges_per_s",
        "cycles_per_step",
        "state_digest",
        "overflow",
    ] {
        assert!(report.get(key).is_some(), "{key}");
    }
    assert_eq!((report["particles"].as_u64(), report["edges"].as_u64()), (Some(729), Some(3672)));
    assert_eq!((&report["engine"], &report["profile"]), (&"model".into(), &"wide".into()));
    assert_eq!(report["state_digest"].as_str().unwrap().len(), 64);
    assert_eq!(report["overflow"], false);
    let exact = ok(&["run", "cube9", "--engine", "f64", "--steps", "20"]);
    assert_eq!((&exact["cycles_per_step"], &exact["profile"]), (&Value::Null, &Value::Null));
}

/// T03 Table 3: the circuit column bit for bit, the theory column to its digits.
#[test]
fn table3() {
    let circuit = ok(&["run", "table3", "--profile", "paper-2003", "--steps", "0", "--probe-edge", "0"]);
    assert_eq!(circuit["probe"]["force_raw"], serde_json::json!([-338, -203, -68]));
    assert_eq!(circuit["probe"]["voigt_rate_raw"], -992);
    let out = nendo(&["run", "table3", "--engine", "f64", "--steps", "0", "--probe-edge", "0"]);
    let said = stdout(&out);
    assert!(said.contains("F = (-1.3015, -0.7809, -0.2603) N, lv' = -3.8811 m/s"), "{said}");
}

/// The single element of H05 Fig. 2.10, which reports 0.407 % with optimised constants.
#[test]
fn single_element_error() {
    let wide = ok(&["compare", "single", "--engine", "model", "--reference", "f64"]);
    assert!(number(&wide, "mean_percent") <= 0.05, "{}", wide["mean_percent"]);
    let paper = ok(&["compare", "single", "--profile", "paper-2005"]);
    assert!(number(&paper, "mean_percent") > number(&wide, "mean_percent"));
    let particles = ok(&["compare", "single", "--engine", "hybrid", "--profile", "paper-2005-plain"]);
    assert!((10.0..16.0).contains(&number(&particles, "mean_percent")), "{particles}");
    assert_eq!(
        (&particles["profile"], &particles["inverse"]),
        (&"paper-2005-plain".into(), &serde_json::Value::Null)
    );
    // There is no hardware to plan for.
    let plain = ok(&["run", "single", "--profile", "paper-2005-plain", "--steps", "10"]);
    assert_eq!((&plain["engine"], &plain["cycles_per_step"]), (&"model".into(), &serde_json::Value::Null));
}

/// H05 Fig. 2.11: 4.22 % at 30 s.
#[test]
fn cube9_error_over_thirty_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("error.svg");
    let report =
        ok(&["compare", "cube9", "--seconds", "30", "--samples", "15", "--plot", plot.to_str().unwrap()]);
    assert!(number(&report, "final_mean_percent") <= 0.1, "{}", report["final_mean_percent"]);
    let samples = report["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 15);
    assert!((number(&samples[14], "t") - 30.0).abs() < 1e-9);
    assert!(number(&samples[14], "max_percent") >= number(&samples[14], "mean_percent"));
    assert!(std::fs::read_to_string(plot).unwrap().starts_with("<svg"));
}

#[test]
fn one_digest_for_any_threads_and_edge_order() {
    let run = |extra: &[&str]| {
        ok(&[&["run", "block16", "--engine", "model", "--steps", "50"], extra].concat())["state_digest"]
            .clone()
    };
    let expected = run(&["--threads", "1"]);
    assert_eq!(expected, run(&["--threads", "1"]));
    assert_eq!(expected, run(&["--threads", "2"]));
    assert_eq!(expected, run(&["--threads", "2", "--shuffle-edges", "7"]));
    assert_eq!(expected, run(&["--threads", "1", "--shuffle-edges", "8"]));
}

/// Every kind of bad input: exit code 2, a message with its place, one JSON object, nothing written.
#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let good = "step = 0.001\nmass = 1\n[materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[mesh]\n\
                particles = [[0,0,0],[1,0,0],[0,1,0]]\nedges = [[0,1],[1,2]]\n";
    let cases = [
        ("unknown key", good.replace("step", "stepp"), ":1:1: unknown key `stepp`; did you mean `step`?"),
        (
            "missing material",
            good.replace("mass = 1", "mass = 1\nmaterial = \"x\""),
            ":3:12: no material `x`",
        ),
        ("index out of range", good.replace("[1,2]]", "[1,3]]"), ":9:16: edge 1 names particle 3"),
        ("non-finite number", good.replace("k1 = 1", "k1 = nan"), ":4:6: `k1` is not a number"),
        ("duplicate edge", good.replace("[1,2]]", "[1,2],[1,0]]"), ":9:22: edge 2 (1 to 0) repeats edge 0"),
        (
            "zero-length edge",
            good.replace("[1,2]]", "[1,2],[2,2]]"),
            ":9:22: edge 2 (2 to 2) has length zero",
        ),
        ("isolated particle", good.replace(",[1,2]]", "]"), ":8:30: particle 2 is isolated"),
        ("not TOML", "<xml/>".to_owned(), ":1:"),
    ];
    for (name, text, message) in cases {
        let path = folder.path().join("scene.toml");
        std::fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        for command in [
            vec!["run", path, "--out", out.to_str().unwrap()],
            vec!["compare", path, "--plot", out.to_str().map(|o| format!("{o}/p.svg")).unwrap().leak()],
            vec!["scene", "check", path],
            vec!["estimate", path],
        ] {
            let (code, value) = json(&command);
            let error = value["error"].as_str().unwrap_or_default().to_owned();
            assert_eq!(code, 2, "{name}: {value}");
            assert!(error.contains(&format!("scene.toml{message}")), "{name}: {error}");
        }
        assert!(!out.exists(), "{name}");
    }
}

#[test]
fn wrong_usage_has_exit_code_2() {
    for args in [
        &["run"][..],
        &["run", "no-such-scene"],
        &["run", "box:1x1x1"],
        &["run", "cube9", "--engine", "abacus"],
        &["run", "cube9", "--profile", "narrow"],
        &["run", "cube9", "--steps", "1", "--seconds", "1"],
        &["run", "cube9", "--seconds", "-1"],
        &["run", "cube9", "--seconds", "nan"],
        &["run", "cube9", "--threads", "0"],
        &["run", "cube9", "--modules", "129"],
        &["run", "single", "--steps", "1", "--modules", "3"],
        &["run", "cube9", "--steps", "1", "--probe-edge", "99999"],
        &["compare", "cube9", "--plot", "error.pdf"],
        &["estimate", "--target", "abacus"],
        &["frobnicate"],
    ] {
        let out = nendo(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(!stderr(&out).is_empty() && out.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn help_has_examples() {
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["compare", "--help"],
        &["scene", "check", "--help"],
        &["estimate", "--help"],
    ] {
        let out = nendo(args);
        assert!(out.status.success());
        assert!(String::from_utf8_lossy(&out.stdout).contains("Example"), "{args:?}");
    }
}

fn write_scene(folder: &Path, text: &str) -> String {
    let path = folder.join("scene.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn unstable_scenes_are_refused_with_the_largest_stable_step() {
    let folder = tempfile::tempdir().unwrap();
    let text = "step = 0.1\nmass = 1\n[mesh.box]\nsize = [3,3,3]\npitch = 10\n[materials.m]\nk1 = 250\nc1 = 20\nc2 = 100\n";
    let path = write_scene(folder.path(), text);
    let out = nendo(&["run", &path, "--engine", "f64", "--steps", "10"]);
    assert_eq!(out.status.code(), Some(2));
    let said = stderr(&out);
    assert!(
        said.contains("a step of 0.1 s is unstable here: the largest stable step is")
            && said.contains("--force"),
        "{said}"
    );
    let forced = nendo(&["run", &path, "--engine", "f64", "--steps", "10", "--force"]);
    assert!(forced.status.success(), "{}", stderr(&forced));
    // Forced for long enough it bursts, which is a failed run, not a result.
    let text = text.replace("duration", "x") + "[[velocities]]\non = [0]\nvelocity = [1, 0, 0]\n";
    let path = write_scene(folder.path(), &text);
    let (code, value) = json(&["run", &path, "--engine", "f64", "--steps", "5000", "--force"]);
    assert_eq!(code, 1);
    assert!(value["error"].as_str().unwrap().contains("diverged"), "{value}");
}

#[test]
fn overflow_is_a_failed_run_that_says_what_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let text = "step = 0.001\nmass = 1\n[mesh.box]\nsize = [3,3,3]\npitch = 10\n[materials.m]\nk1 = 250\nc1 = 20\nc2 = 100\n\
                [[forces]]\non = [26]\nforce = [30, 0, 0]\n[scaling]\nlength = 0.1\n";
    let path = write_scene(folder.path(), text);
    let (code, value) = json(&["run", &path, "--seconds", "10"]);
    assert_eq!((code, &value["overflow"]), (1, &Value::Bool(true)), "{value}");
    assert!(value["overflow_sources"].as_array().unwrap().contains(&"position".into()), "{value}");
    assert!(value["error"].as_str().unwrap().contains("raise scaling.length"), "{value}");
}

#[test]
fn a_box_scene_is_written_checked_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dough.toml");
    let path = path.to_str().unwrap();
    let made = ok(&["scene", "box", "5x5x4", "-o", path]);
    assert_eq!((made["particles"].as_u64(), made["edges"].as_u64()), (Some(100), Some(419)));
    assert_eq!(json(&["scene", "box", "5x5x4", "-o", path]).0, 2, "an existing file is kept");
    assert_eq!(json(&["scene", "box", "5x5x4", "-o", path, "--overwrite"]).0, 0);
    assert_eq!(json(&["scene", "box", "5x0x4", "-o", path, "--overwrite"]).0, 2);
    assert_eq!(json(&["scene", "box", "5x5x4", "--pitch", "nan", "-o", path, "--overwrite"]).0, 2);
    let info = ok(&["scene", "info", path]);
    assert_eq!((info["pinned"].as_u64(), info["max_valence"].as_u64()), (Some(25), Some(18)));
    let ratio = number(&info, "stable_constant_rk4") / number(&info, "stable_constant");
    assert!((ratio - 2.785 / 2.0).abs() < 1e-3, "{ratio}");
    let shared = ok(&["scene", "info", path, "--modules", "3"]);
    let edges: u64 = shared["modules"]["edges"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!((edges, &shared["modules"]["neighbours"]), (419, &serde_json::json!([[0, 1], [1, 2]])));
    assert_eq!(json(&["scene", "info", path, "--modules", "101"]).0, 2, "more modules than particles");
    let check = ok(&["scene", "check", path, "--rehearse"]);
    assert_eq!((&check["stable"], &check["profiles"]["wide"]["fits"]), (&true.into(), &true.into()));
    assert!(number(&check["rehearsal"]["peaks"], "velocity") > 0.0);
    let out = folder.path().join("result");
    let report = ok(&["run", path, "--seconds", "0.2", "--out", out.to_str().unwrap()]);
    assert_eq!(report["overflow"], false);
    let written: Value = serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(written["state_digest"], report["state_digest"]);
    assert_eq!(std::fs::read_to_string(out.join("state.csv")).unwrap().lines().count(), 101);
    assert!(std::fs::read_to_string(out.join("picture.svg")).unwrap().contains("<path"));
    // Gravity bent it down, and the model agrees with the reference.
    let compared = ok(&["compare", path, "--seconds", "0.2", "--samples", "4"]);
    assert!(number(&compared, "final_mean_percent") < 0.05, "{}", compared["final_mean_percent"]);
}

#[test]
fn estimates() {
    let one = ok(&["estimate", "cube9"]);
    assert_eq!(
        (one["brams"].as_u64(), one["multipliers"].as_u64(), &one["fits"]),
        (Some(33), Some(19), &true.into())
    );
    assert!(number(&one, "cycles_per_step") <= 1.04 * 3672.0);
    let block = ok(&["estimate", "block16", "--target", "xc2v6000", "--modules", "1"]);
    assert_eq!((block["brams"].as_u64(), &block["fits"]), (Some(141), &true.into()));
    let four = ok(&["estimate", "block16", "--modules", "4"]);
    assert_eq!(
        (four["brams"].as_u64(), four["multipliers"].as_u64(), &four["fits"]),
        (Some(144), Some(76), &true.into())
    );
    assert!(number(&four, "of_ideal") <= 1.15 && number(&four["largest"], "modules") == 4.0, "{four}");
    assert!(number(&block, "steps_per_s") > 1000.0);
    // A target and no number of modules: the fastest number. Three would need memories of 2048 particles each.
    let fastest = ok(&["estimate", "block16", "--target", "xc2v6000"]);
    assert_eq!((&fastest["modules"], &fastest["room_for"]), (&4.into(), &serde_json::json!([1, 2, 4])));
    assert_eq!((&fastest["cycles_per_step"], &four["room_for"]), (&four["cycles_per_step"], &Value::Null));
    for (scene, said) in [
        ("block16", "room for 3 numbers of modules from 1 to 4 with this scene: 4 are the fastest"),
        ("box:32x32x32", "one is shown"),
    ] {
        let out = nendo(&["estimate", scene, "--target", "xc2v6000"]);
        assert!(stdout(&out).contains(said), "{}", stdout(&out));
    }
    let large = ok(&["estimate", "box:32x32x32"]);
    assert_eq!(large["fits"], false);
    assert_eq!(ok(&["estimate", "--profile", "paper-2005"])["multipliers"], 25);
}

/// `nendo scene info > file` wrote an empty file, and `-q` hid what was asked for.
/// The largest box at a rate: one more on a side is too slow or too large, by the estimate of that very box.
#[test]
fn the_largest_box_at_a_rate() {
    let report = ok(&["estimate", "--rate", "10000", "--target", "xc2v6000"]);
    let rows = report["rows"].as_array().unwrap();
    let engines: Vec<&str> = rows.iter().map(|row| row["engine"].as_str().unwrap()).collect();
    let cpu = engines.iter().position(|engine| *engine == "hardware").unwrap();
    assert!(
        engines[..cpu].iter().filter(|engine| **engine == "f32").count() == 6 && engines[cpu - 1] == "model"
    );
    let forces: HashSet<String> = rows[..cpu - 1].iter().map(|row| row["forces"].to_string()).collect();
    assert_eq!(forces.len(), cpu - 1, "{forces:?}");
    for row in rows[..cpu].iter().filter(|row| !row["size"].is_null()) {
        assert!(number(row, "p99_9_us") <= 100.0 && number(row, "steps_per_s") >= 10000.0, "{row}");
    }
    assert!(rows.len() >= cpu + 2 && engines[cpu..].iter().all(|engine| *engine == "hardware"), "{report}");
    for row in &rows[cpu..] {
        let modules = row["modules"].to_string();
        let side: u64 = row["size"].as_str().unwrap().split('x').next().unwrap().parse().unwrap();
        let of = |side: u64| {
            let scene = format!("box:{side}x{side}x{side}");
            ok(&["estimate", &scene, "--target", "xc2v6000", "--modules", &modules])
        };
        let (this, next) = (of(side), of(side + 1));
        assert_eq!((&this["fits"], &this["edges"]), (&true.into(), &row["edges"]));
        assert!((number(&this, "steps_per_s") - number(row, "steps_per_s")).abs() < 1e-6, "{row}");
        assert!(number(&this, "steps_per_s") >= 10000.0, "{row}");
        assert!(number(&next, "steps_per_s") < 10000.0 || row["limit"] == "memory", "{row}");
    }
    for (words, said) in [
        (vec!["estimate", "--rate", "0"], "a rate in Hz"),
        (vec!["estimate", "cube9", "--sweep"], "box:15x15x16"),
        (vec!["estimate", "cube9", "--rate", "1000"], "box:15x15x16"),
    ] {
        let out = nendo(&words);
        assert!(out.status.code() == Some(2) && stderr(&out).contains(said), "{words:?} {}", stderr(&out));
    }
}

#[test]
fn answers_are_on_stdout_and_quiet_does_not_hide_them() {
    for args in [&["scene", "info", "cube9"][..], &["estimate", "cube9"], &["doctor"], &["synth", "--list"]] {
        let (plain, quiet) = (nendo(args), nendo(&[args, &["-q"]].concat()));
        assert!(!plain.stdout.is_empty(), "{args:?}");
        assert_eq!(stdout(&plain), stdout(&quiet), "{args:?}");
        assert!(quiet.stderr.is_empty(), "{args:?}");
    }
    let run = nendo(&["run", "single", "--steps", "5"]);
    assert!(stdout(&run).contains("state ") && stderr(&run).contains("5 steps"));
}
