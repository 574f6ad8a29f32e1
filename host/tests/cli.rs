//! The command line from the outside: exit codes, JSON, messages, and the figures the project promises.

use serde_json::Value;
use std::{
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

fn nendo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nendo")).args(args).output().expect("the binary runs")
}

/// Runs with `--json`; stdout must be exactly one JSON object.
fn json(args: &[&str]) -> (i32, Value) {
    let out = nendo(&[args, &["--json"]].concat());
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "{text}");
    (out.status.code().unwrap(), serde_json::from_str(&text).expect("one JSON object"))
}

fn ok(args: &[&str]) -> Value {
    let (code, value) = json(args);
    assert_eq!(code, 0, "{args:?}: {value}");
    value
}

fn stderr(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

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

/// Table 3 of 2003: the circuit column bit for bit, the theory column to its digits.
#[test]
fn table3() {
    let circuit = ok(&["run", "table3", "--profile", "paper-2003", "--steps", "0", "--probe-edge", "0"]);
    assert_eq!(circuit["probe"]["force_raw"], serde_json::json!([-338, -203, -68]));
    assert_eq!(circuit["probe"]["voigt_rate_raw"], -992);
    let out = nendo(&["run", "table3", "--engine", "f64", "--steps", "0", "--probe-edge", "0"]);
    assert!(
        stderr(&out).contains("F = (-1.3015, -0.7809, -0.2603) N, lv' = -3.8811 m/s"),
        "{}",
        stderr(&out)
    );
}

/// The single element of Fig. 2.10: the seed reports 0.407 % with optimised constants.
#[test]
fn single_element_error() {
    let wide = ok(&["compare", "single", "--engine", "model", "--reference", "f64"]);
    assert!(number(&wide, "mean_percent") <= 0.05, "{}", wide["mean_percent"]);
    let paper = ok(&["compare", "single", "--profile", "paper-2005"]);
    assert!(number(&paper, "mean_percent") > number(&wide, "mean_percent"));
}

/// Fig. 2.11: 4.22 % at 30 s in the seed.
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
        &["run", "cube9", "--modules", "3"],
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
    assert_eq!(value["overflow_sources"], serde_json::json!(["position"]));
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
    assert!(number(&one, "cycles_per_step") <= 3672.0 + 729.0 + 60.0);
    let block = ok(&["estimate", "block16", "--target", "xc2v6000"]);
    assert_eq!((block["brams"].as_u64(), &block["fits"]), (Some(141), &true.into()));
    assert!(number(&block, "steps_per_s") > 1000.0);
    let large = ok(&["estimate", "box:32x32x32"]);
    assert_eq!(large["fits"], false);
    assert_eq!(ok(&["estimate", "--profile", "paper-2005"])["multipliers"], 25);
}

/// The hardware and its model print the same digest; the hardware's clocks are measured, the model's predicted.
#[test]
fn rtl_and_model_print_the_same_digest() {
    let run = |engine: &str, extra: &[&str]| {
        ok(&[&["run", "cube9", "--engine", engine, "--steps", "200"], extra].concat())
    };
    let (rtl, model) = (run("rtl", &[]), run("model", &[]));
    assert_eq!(rtl["state_digest"], model["state_digest"]);
    assert_eq!((&rtl["cycles_per_step"], &rtl["overflow"]), (&model["cycles_per_step"], &false.into()));
    assert_eq!(run("rtl", &["--shuffle-edges", "3"])["state_digest"], model["state_digest"]);
}

#[test]
fn table3_through_the_hardware() {
    for inverse in ["cordic", "table"] {
        let args = [
            "run",
            "table3",
            "--engine",
            "rtl",
            "--profile",
            "paper-2003",
            "--inverse",
            inverse,
            "--steps",
            "0",
            "--probe-edge",
            "0",
        ];
        let probe = &ok(&args)["probe"];
        assert_eq!(
            (&probe["force_raw"], &probe["voigt_rate_raw"]),
            (&serde_json::json!([-338, -203, -68]), &(-992).into())
        );
    }
}

#[test]
fn cosim_compares_every_word() {
    let report = ok(&["cosim", "box:4x4x4", "--steps", "6"]);
    assert_eq!((report["steps"].as_u64(), report["mismatches"].as_u64()), (Some(6), Some(0)));
    assert_eq!(report["first_mismatch"], Value::Null);
    // Per step: edges 4; sums of forces 6 twice; x, v, external and class, display 13.
    assert_eq!(report["words_compared"].as_u64(), Some(6 * (252 * 4 + 64 * (6 + 6 + 13))));
}

#[test]
fn gen_writes_everything() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("engine");
    let report = ok(&["gen", "--for", "block16", "-o", out.to_str().unwrap()]);
    for file in report["files"].as_array().unwrap() {
        assert!(out.join(file.as_str().unwrap()).is_file(), "{file}");
    }
    let hash = report["config_hash"].as_str().unwrap();
    let verilog = std::fs::read_to_string(out.join("nendo_engine.v")).unwrap();
    assert!(verilog.contains(hash) && verilog.contains("4096 particles, 20480 edges"));
    let map: Value = serde_json::from_slice(&std::fs::read(out.join("map.json")).unwrap()).unwrap();
    assert_eq!(map["config"]["particles"], 4096);
}

#[test]
fn waveforms_are_written_and_only_where_there_are_signals() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wave.fst");
    let args = [
        "run",
        "box:3x3x3",
        "--engine",
        "rtl",
        "--steps",
        "3",
        "--trace",
        file.to_str().unwrap(),
        "--trace-from",
        "50",
        "--trace-len",
        "100",
    ];
    ok(&args);
    assert!(std::fs::metadata(&file).unwrap().len() > 1000);
    assert_eq!(json(&["run", "cube9", "--steps", "1", "--trace", "x.fst"]).0, 2);
    assert_eq!(nendo(&["run", "cube9", "--trace-from", "5"]).status.code(), Some(2));
}

#[test]
fn a_missing_verilator_is_explained() {
    let out = Command::new(env!("CARGO_BIN_EXE_nendo"))
        .args(["run", "cube9", "--engine", "rtl", "--steps", "1"])
        .env("NENDO_VERILATOR", "/nowhere/verilator")
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(stderr(&out).contains("apt-get install verilator"), "{}", stderr(&out));
}

/// The same scene, the same digest: on the model, on every device, and on a recording of one.
#[test]
fn every_device_prints_the_same_digest() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let file = file.to_str().unwrap();
    let run =
        |more: &[&str]| ok(&[&["run", "box:3x3x3", "--steps", "20"], more].concat())["state_digest"].clone();
    let expected = run(&[]);
    assert_eq!(run(&["--engine", "rtl", "--record", file]), expected);
    let replay = format!("replay:{file}");
    for device in ["model", "rtl", &replay] {
        assert_eq!(run(&["--engine", "board", "--device", device]), expected, "{device}");
    }
    assert_eq!(ok(&["board", "run", "box:3x3x3", "--steps", "20", "--device", "model"])["engine"], "board");
}

#[test]
fn live_runs_report_latencies() {
    let args = ["run", "cube9", "--engine", "board", "--device", "rtl", "--live", "--seconds", "0.05"];
    let report = ok(&args);
    let live = &report["live"];
    assert_eq!((live["ticks"].as_u64(), live["steps_per_tick"].as_u64()), (Some(50), Some(1)));
    let latency: Vec<f64> =
        ["min", "p50", "p99", "p99_9", "max"].iter().map(|k| number(&live["latency_us"], k)).collect();
    assert!(latency[0] > 0.0 && latency.is_sorted(), "{latency:?}");
    assert!(live["overruns"].as_u64().unwrap() <= 50 && live["scheduling"].is_string());
    let plain = ok(&["run", "cube9", "--seconds", "0.05"]);
    assert_eq!(report["state_digest"], plain["state_digest"]);
    let out = nendo(&["run", "cube9", "--live"]);
    assert_eq!((out.status.code(), stderr(&out).contains("--live needs --engine board")), (Some(2), true));
    let out = nendo(&["run", "cube9", "--engine", "board", "--live", "--points", "9999"]);
    assert_eq!((out.status.code(), stderr(&out).contains("729 particles")), (Some(2), true));
}

#[test]
fn board_commands() {
    let info = ok(&["board", "info", "--device", "model"]);
    assert_eq!((info["particles"].as_u64(), info["profile"].as_str()), (Some(1024), Some("wide")));
    assert!(ok(&["board", "list"])["boards"].is_array());
    for device in ["model", "rtl"] {
        let report = ok(&["board", "selftest", "--device", device]);
        assert_eq!((&report["passed"], &report["wrong"]), (&Value::Bool(true), &Value::from(0)), "{device}");
    }
    assert_eq!(ok(&["board", "reset", "--device", "model"])["reset"], true);
    for (device, code, says) in [
        ("pci:ffff:ff:1f.7", 1, "there is no PCI device ffff:ff:1f.7"),
        ("xdma:99", 1, "xdma99_user is not there"),
        ("vfio:ffff:ff:1f.7", 1, "no IOMMU group"),
        ("replay:absent.jsonl", 1, "absent.jsonl"),
        ("pci:03:00", 2, "is no PCI address"),
        ("usb:1", 2, "unknown device"),
    ] {
        let out = nendo(&["board", "info", "--device", device]);
        assert_eq!(out.status.code(), Some(code), "{device}");
        assert!(stderr(&out).contains(says), "{device}: {}", stderr(&out));
    }
    // Too large for what is there: refused with the numbers.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.jsonl");
    ok(&[
        "run",
        "table3",
        "--engine",
        "board",
        "--device",
        "model",
        "--steps",
        "1",
        "--record",
        file.to_str().unwrap(),
    ]);
    let replay = format!("replay:{}", file.display());
    let out = nendo(&["run", "block16", "--engine", "board", "--device", &replay, "--steps", "1"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        stderr(&out).contains("3600 particles and 19531 edges") && stderr(&out).contains("1024 and 1024")
    );
}

/// Ctrl-C ends a run between two steps: what was computed so far is whole, and is reported.
#[test]
fn an_interrupted_run_ends_between_steps() {
    let binary = env!("CARGO_BIN_EXE_nendo");
    for device in ["model", "rtl"] {
        let args = ["run", "cube9", "--engine", "board", "--device", device, "--seconds", "100000", "--json"];
        let child =
            Command::new(binary).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(if device == "rtl" { 6 } else { 2 }));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert!(report["error"].as_str().unwrap().contains("interrupted after"), "{report}");
        let steps = report["steps"].as_u64().unwrap().to_string();
        let expected = ok(&["run", "cube9", "--steps", &steps]);
        assert_eq!(report["state_digest"], expected["state_digest"], "{device}, {steps} steps");
    }
}

#[test]
fn the_f32_engine_is_an_engine_like_the_others() {
    let run = |threads: &str| {
        ok(&[
            "run",
            "block16",
            "--engine",
            "f32",
            "--steps",
            "200",
            "--threads",
            threads,
            "--probe-edge",
            "5",
        ])
    };
    let (one, two) = (run("1"), run("2"));
    assert_eq!((&one["engine"], &one["profile"]), (&"f32".into(), &Value::Null));
    assert_eq!((&one["cycles_per_step"], &one["overflow"]), (&Value::Null, &false.into()));
    assert_eq!(one["state_digest"], two["state_digest"]);
    let exact = ok(&["run", "block16", "--engine", "f64", "--steps", "200", "--probe-edge", "5"]);
    let rate = |report: &Value| number(&report["probe"], "voigt_rate");
    assert!((rate(&one) - rate(&exact)).abs() < 1e-5, "{} {}", rate(&one), rate(&exact));
}

/// The promise is 0.01 % over 30 s.
#[test]
fn f32_is_close_to_f64() {
    let report = ok(&["compare", "cube9", "--engine", "f32", "--seconds", "30", "--samples", "10"]);
    assert!(number(&report, "final_mean_percent") < 1e-3, "{report}");
    assert!(number(&report, "final_max_percent") < 1e-3, "{report}");
}

#[test]
fn bench_times_every_engine_and_invents_no_clock() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir_all(folder.path().join("acorn")).unwrap();
    std::fs::write(folder.path().join("acorn/report.json"), r#"{"routed": true, "fmax_mhz": 100.0}"#)
        .unwrap();
    let (out, plot) = (file("bench.json"), file("bench.svg"));
    let bitstreams = folder.path().to_str().unwrap();
    let report = ok(&[
        "bench",
        "--quick",
        "--size",
        "4x4x4",
        "--out",
        &out,
        "--plot",
        &plot,
        "--bitstreams",
        bitstreams,
    ]);
    let rows = report["rows"].as_array().unwrap();
    for engine in ["scatter", "f64", "f32", "model"] {
        let row = rows.iter().find(|r| r["engine"] == engine && r["threads"] == 1).expect(engine);
        assert_eq!((&row["size"], &row["edges"]), (&"4x4x4".into(), &252.into()));
        assert!(number(row, "ms_per_step") > 0.0 && number(row, "edges_per_s") > 0.0);
    }
    // A row counts only if the machine was quiet.
    for row in rows.iter().filter(|r| !r["threads"].is_null()) {
        let others = row["contention"]["others_cores"].as_f64();
        let busy = row["threads"].as_u64() > Some(1) && others.is_none_or(|cores| cores >= 0.1);
        assert!(!(busy && row["valid"] == true), "{row}");
        assert!(
            row["valid"] == true || row["note"].as_str().is_some_and(|n| n.starts_with("not valid")),
            "{row}"
        );
    }
    let hardware = |target: &str| rows.iter().find(|r| r["engine"] == format!("hardware {target}")).unwrap();
    assert_eq!(number(hardware("acorn"), "ms_per_step"), number(hardware("acorn"), "cycles_per_step") / 1e5);
    assert!(hardware("xc2v6000")["ms_per_step"].is_null());
    assert!(hardware("xc2v6000")["note"].as_str().unwrap().contains("report.json"));
    assert!(number(&report["ratios"][0], "f32_over_scatter") > 0.0);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap();
    assert_eq!(written["rows"], report["rows"]);
    assert!(std::fs::read_to_string(plot).unwrap().starts_with("<svg"));
    assert_eq!(nendo(&["bench", "--size", "4x4"]).status.code(), Some(2));
}

/// A law the hardware does not have is refused by name, with the engines that have it.
#[test]
fn laws_beyond_the_hardware_are_refused_by_name() {
    for engine in ["model", "board"] {
        let out = nendo(&["run", "chain:yielding", "--engine", engine, "--device", "model", "--steps", "5"]);
        assert_eq!(out.status.code(), Some(2));
        let text = stderr(&out);
        assert!(
            text.contains("law yielding of material `element`") && text.contains("f64 and f32"),
            "{text}"
        );
    }
    for engine in ["f64", "f32"] {
        let report = ok(&["run", "chain:yielding", "--engine", engine, "--steps", "5"]);
        assert_eq!(report["edges"].as_u64(), Some(3));
    }
    assert_eq!(nendo(&["run", "chain:maxwell", "--engine", "model", "--steps", "5"]).status.code(), Some(0));
}

/// The run report says what kind of deformation it was, where a load ends during the run.
#[test]
fn the_report_names_the_kind_of_deformation() {
    for (scene, kind) in
        [("x15a-voigt", "elastic"), ("x16a-maxwell", "viscoplastic"), ("x17a-three-element", "rheological")]
    {
        let file = format!("{}/../scenes/{scene}.toml", env!("CARGO_MANIFEST_DIR"));
        let report = ok(&["run", &file, "--engine", "f32"]);
        assert_eq!(report["deformation"]["kind"], kind, "{report}");
    }
    let report = ok(&["run", "cube9", "--engine", "f32", "--steps", "5"]);
    assert!(report.get("deformation").is_none());
}
