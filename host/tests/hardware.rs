//! The command line and the hardware: generated, simulated, behind every device.
#![cfg(feature = "cli")]

mod common;

use common::{json, nendo, number, ok, stderr};
use serde_json::Value;
use std::{
    process::{Command, Stdio},
    time::Duration,
};

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
    // Per step: edges 4; x, v, external and class, display, sums of forces 16. Every second one: sums of forces 3.
    assert_eq!(report["words_compared"].as_u64(), Some(6 * (252 * 4 + 64 * 16) + 3 * 64 * 3));
    let shared = ok(&["cosim", "box:4x4x4", "--steps", "6", "--modules", "3"]);
    assert_eq!(shared["words_compared"], report["words_compared"]);
    assert_eq!((&shared["mismatches"], &shared["modules"]), (&0.into(), &3.into()));
    assert!(number(&shared, "cycles_per_step") < 0.7 * number(&report, "cycles_per_step"), "{shared}");
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
    assert!(verilog.contains(hash) && verilog.contains("one module of 4096 particles and 20480 edges"));
    let map: Value = serde_json::from_slice(&std::fs::read(out.join("map.json")).unwrap()).unwrap();
    assert_eq!(map["config"]["particles"], 4096);
}

/// The top of every target is in the files that are named, with the bus that its top says.
#[test]
fn gen_writes_what_stands_around_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    for target in nendo_hdl::target::Target::all() {
        let out = folder.path().join(&target.name);
        let report = ok(&["gen", "--target", &target.name, "-o", out.to_str().unwrap()]);
        let text = |name: &Value| std::fs::read_to_string(out.join(name.as_str().unwrap())).unwrap();
        let verilog: String = report["verilog"].as_array().unwrap().iter().map(text).collect();
        let module = format!("module {}", report["top"].as_str().unwrap());
        let heads = verilog.match_indices(&module).filter(|(at, _)| {
            verilog[at + module.len()..].starts_with(|c: char| !(c.is_alphanumeric() || c == '_'))
        });
        assert_eq!(heads.count(), 1, "{}: {module}", target.name);
        let bus = match target.top {
            nendo_hdl::target::Top::Axi => "module nendo_engine",
            nendo_hdl::target::Top::Serial => "module nendo_serial_board",
            nendo_hdl::target::Top::Pci => "module nendo_pci_board",
        };
        assert!(verilog.contains(bus), "{} has no {bus}", target.name);
        let files: Vec<String> = report["files"].as_array().unwrap().iter().map(text).collect();
        assert!(files.contains(&target.file(&target.constraints).unwrap().into_owned()), "{}", target.name);
    }
    let (code, report) = json(&["gen", "--target", "none", "-o", folder.path().to_str().unwrap()]);
    assert!(code == 2 && report["error"].as_str().unwrap().contains("none"), "{report}");
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

/// `--trace FILE` unlinked whatever FILE was, and reported success when nothing had been written.
#[test]
fn a_trace_unlinked_what_was_there_and_lied_of_success() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let run = |file: &str, extra: &[&str]| {
        json(&[&["run", "box:3x3x3", "--engine", "rtl", "--steps", "1", "--trace", file], extra].concat())
    };
    // A run that ends before the first clock of its waveforms writes none, and what was there stays.
    std::fs::write(at("mine"), "mine").unwrap();
    let (code, report) = run(&at("mine"), &["--trace-from", "100000000"]);
    assert_eq!(code, 1);
    assert!(report["error"].as_str().unwrap().contains("before the waveforms' first"), "{report}");
    assert_eq!(std::fs::read(at("mine")).unwrap(), b"mine");
    // A link is followed, a device is written to and stays, one that is full is an error, a socket is refused.
    symlink("wave.fst", at("link")).unwrap();
    assert_eq!(run(&at("link"), &[]).0, 0);
    assert!(std::fs::metadata(at("wave.fst")).unwrap().len() > 1000);
    assert!(std::fs::symlink_metadata(at("link")).unwrap().is_symlink());
    symlink("/dev/null", at("null")).unwrap();
    assert_eq!(run(&at("null"), &[]).0, 0);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let (code, report) = run("/dev/full", &[]);
    assert_eq!(code, 1);
    assert!(report["error"].as_str().unwrap().contains("/dev/full"), "{report}");
    let _listener = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    assert_eq!(run(&at("socket"), &[]).0, 1);
    assert!(std::fs::symlink_metadata(at("socket")).unwrap().file_type().is_socket());
    let mut left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["link", "mine", "null", "socket", "wave.fst"]);
}

/// A recording said nothing of what had been recorded; and the runs of `--each-material` wrote into one file, one over the
/// other.
#[test]
fn a_recording_knows_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my traffic.jsonl").display().to_string();
    ok(&["run", "single", "--device", "model", "--steps", "3", "--record", &file]);
    let text = std::fs::read_to_string(&file).unwrap();
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let command = head["origin"]["command"].as_str().unwrap();
    assert!(command.starts_with("nendo run single --device model --steps 3 --record '"), "{command}");
    assert_eq!(
        (&head["origin"]["scene"], &head["origin"]["nendo"]),
        (&"single".into(), &env!("CARGO_PKG_VERSION").into())
    );
    let (code, report) = json(&["run", "single", "--device", &format!("replay:{file}"), "--steps", "4"]);
    assert_eq!(code, 1);
    assert!(report["error"].as_str().unwrap().contains("it was made by `nendo run single"), "{report}");
    let each =
        ["picture", "materials", "--each-material", "--device", "model", "--record", &file, "-o", "x.png"];
    let refused = nendo(&each);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
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
    // Waited for by interrupt: a recording of that is one, and one of polling is none.
    let interrupt = ["--engine", "board", "--completion", "interrupt", "--device"];
    let out = nendo(&[&["run", "box:3x3x3", "--steps", "20"], &interrupt[..], &[&replay]].concat());
    assert_eq!(out.status.code(), Some(1));
    assert!(stderr(&out).contains("asks to wait for the interrupt"), "{}", stderr(&out));
    assert_eq!(run(&[&interrupt[..], &["rtl", "--record", file]].concat()), expected);
    for device in ["model", &replay] {
        assert_eq!(run(&[&interrupt[..], &[device]].concat()), expected, "{device}");
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
    let out = nendo(&["run", "cube9", "--engine", "board", "--live", "--points", "9999"]);
    assert_eq!((out.status.code(), stderr(&out).contains("729 particles")), (Some(2), true));
}

/// A control loop was for boards alone.
#[test]
fn live_runs_need_no_board() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    for engine in
        [&["--engine", "f64"][..], &["--engine", "f32"], &["--engine", "model"], &["--device", "model"]]
    {
        let run = [&["run", "cube9", "--seconds", "0.05"], engine].concat();
        let live = ok(&[&run[..], &["--live", "--points", "1,728", "-o", out]].concat());
        assert_eq!(live["state_digest"], ok(&run)["state_digest"], "{engine:?}");
        assert_eq!((&live["steps"], &live["live"]["ticks"]), (&50.into(), &50.into()), "{engine:?}");
        let table = std::fs::read_to_string(folder.path().join("live.csv")).unwrap();
        assert!(table.starts_with("tick,latency_us,x1_m,y1_m,z1_m,x728_m,"), "{table}");
        assert_eq!(table.lines().count(), 51, "{engine:?}: every tick is a line");
    }
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
        stderr(&out).contains("3600 particles and 19531 slots")
            && stderr(&out).contains("one module of 1024 particles and 1024 edges")
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
