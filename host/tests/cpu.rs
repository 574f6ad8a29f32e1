//! The command line and the engines without hardware: f32, its bench, laws and reports that only they have.
#![cfg(feature = "cli")]

mod common;

use common::{nendo, number, ok, stderr};
use serde_json::Value;

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
    let (ms, cycles) =
        (number(hardware("acorn"), "ms_per_step"), number(hardware("acorn"), "cycles_per_step"));
    assert!((ms - cycles / 1e5).abs() < 1e-12, "{ms} ms for {cycles} cycles");
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
    for engine in [["--engine", "model"], ["--device", "model"]] {
        let out = nendo(&[&["run", "chain:yielding", "--steps", "5"], &engine[..]].concat());
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
