//! Which engine computes a scene: what `nendo scene check` says, what `--engine auto` takes, what is refused.
#![cfg(feature = "cli")]

mod common;

use common::{json, nendo, number, ok, stderr};
use serde_json::Value;
use std::{fs, path::Path};

const SCENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes");

fn shipped() -> Vec<String> {
    let files = fs::read_dir(SCENES).unwrap().map(|entry| entry.unwrap().path());
    let mut scenes: Vec<String> = files
        .filter(|f| f.extension().is_some_and(|e| e == "toml"))
        .map(|f| f.display().to_string())
        .collect();
    scenes.sort();
    assert!(scenes.len() > 30);
    scenes
}

fn scene(folder: &Path, text: &str) -> String {
    let path = folder.join("scene.toml");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

const BOX: &str = "step = 0.001\nmass = 0.001\n[mesh.box]\nsize = [3, 3, 3]\npitch = 0.01\n\
                   [materials.dough]\nk1 = 60\nc1 = 0.1\nc2 = 20\n[[pins]]\non = { face = \"z-min\" }\n";

/// 29 of 36 shipped scenes were called not sound, because the fixed-point engines have not their forces.
#[test]
fn shipped_scenes_are_sound_and_run_on_the_engine_that_the_check_names() {
    let mut taken = Vec::new();
    for file in shipped() {
        let check = ok(&["scene", "check", &file]);
        assert_eq!(check["sound"], true, "{file}");
        let engines = check["engines"].as_object().unwrap();
        assert_eq!(engines.keys().collect::<Vec<_>>(), ["board", "f32", "f64", "hybrid", "model", "rtl"]);
        assert!(
            engines.values().all(|v| *v == true || v.as_str().is_some_and(|why| !why.is_empty())),
            "{check}"
        );
        let run = ok(&["run", &file, "--steps", "2"]);
        let expected = if engines["model"] == true { "model" } else { "f32" };
        assert_eq!(run["engine"], expected, "{file}");
        if let Some(why) = engines["model"].as_str() {
            assert!(run["engine_why"].as_str().unwrap().contains(why), "{run}");
        }
        taken.push(expected);
    }
    assert!(taken.contains(&"model") && taken.contains(&"f32"), "{taken:?}");
}

/// For people the choice and its reason are on stderr; an engine that is asked for needs none.
#[test]
fn the_engine_taken_is_told_with_its_reason() {
    let roller = format!("{SCENES}/x2-roller.toml");
    for (args, engine, why) in [
        (&["cube9"][..], "model", "the first of model, f32 and f64 that can compute the scene"),
        (&[&roller], "f32", "volume effect, contact"),
        (&["cube9", "--integrator", "rk4"], "f64", "the only one that goes with the options given"),
        (&["cube9", "--device", "model"], "board", "a device is named"),
    ] {
        let args = [&["run"], args, &["--steps", "1"]].concat();
        let report = ok(&args);
        assert_eq!(report["engine"], engine);
        assert!(report["engine_why"].as_str().unwrap().contains(why), "{report}");
        let said = stderr(&nendo(&args));
        assert!(said.contains(&format!("engine {engine}: ")) && said.contains(why), "{said}");
    }
    let asked = ["run", "cube9", "--steps", "1", "--engine", "f64"];
    assert_eq!(ok(&asked)["engine_why"], "asked for");
    assert!(!stderr(&nendo(&asked)).contains("engine f64:"));
    // The same rule for every command.
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("p.svg");
    let drawn = ok(&["picture", &roller, "--at", "0,0.001", "-o", picture.to_str().unwrap()]);
    assert_eq!(drawn["engine"], "f32");
    assert!(drawn["engine_why"].is_string());
    assert_eq!(ok(&["compare", &roller, "--seconds", "0.002", "--samples", "1"])["engine"], "f32");
}

/// One picture is of one engine, though each of its rows could be on another.
#[test]
fn a_picture_is_of_an_engine_that_computes_all_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let limits = "limits = { least = 0.1, most = 0.9, start = 0.5, form = \"assign\" }";
    let other = format!("[materials.other]\nk1 = 60\nc1 = 0.1\nc2 = 20\n{limits}\n");
    let text = BOX.replace("mass = 0.001\n", "mass = 0.001\nmaterial = \"dough\"\n") + &other;
    let path = scene(folder.path(), &text);
    assert_eq!(ok(&["run", &path, "--steps", "1"])["engine"], "model");
    let picture = folder.path().join("p.svg");
    let drawn = ok(&["picture", &path, "--each-material", "--at", "0,0.01", "-o", picture.to_str().unwrap()]);
    assert_eq!((&drawn["engine"], drawn["rows"].as_array().unwrap().len()), (&"f32".into(), 2));
}

/// Words that hold a fifth of what is needed were called "fits"; the run ended with an overflow.
#[test]
fn a_headroom_below_one_is_not_a_fit() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{BOX}[[forces]]\non = {{ face = \"z-max\" }}\nforce = [0, 0, -0.05]\n[scaling]\nlength = 0.0005\nmass = 1\n"
    );
    let path = scene(folder.path(), &text);
    let check = ok(&["scene", "check", &path]);
    let wide = &check["profiles"]["wide"];
    let room = wide["headroom"].as_object().unwrap();
    assert!(room.values().any(|ratio| ratio.as_f64().unwrap() < 1.0), "{wide}");
    assert!(wide["fits"] == false && wide["reason"].as_str().unwrap().contains("--rehearse"), "{wide}");
    assert!(
        check["engines"]["model"].as_str().unwrap().contains("headroom") && check["engines"]["f32"] == true
    );
    assert_eq!(ok(&["run", &path])["engine"], "f32");
    // A profile that is asked for must hold it; an engine that is asked for tries, and warns.
    let (code, refused) = json(&["run", &path, "--profile", "wide"]);
    let said = refused["error"].as_str().unwrap();
    assert!(code == 2 && said.contains("headroom") && said.contains("--engine model"), "{said}");
    assert_eq!(json(&["scene", "check", &path, "--profile", "wide"]).0, 1);
    let tried = nendo(&["run", &path, "--engine", "model"]);
    assert!(stderr(&tried).contains("warning: profile wide holds less"), "{}", stderr(&tried));
    assert_eq!(tried.status.code(), Some(1), "it does overflow");
}

/// A fixed-point option alone asks for fixed point: f32 would have ignored it.
#[test]
fn a_fixed_point_option_is_not_dropped_by_auto() {
    let roller = format!("{SCENES}/x2-roller.toml");
    for option in [["--profile", "wide"], ["--modules", "2"], ["--inverse", "cordic"]] {
        assert_eq!(ok(&["run", "cube9", "--steps", "1", option[0], option[1]])["engine"], "model");
        let (code, report) = json(&["run", &roller, "--steps", "1", option[0], option[1]]);
        let said = report["error"].as_str().unwrap();
        assert!(code == 2 && said.contains("cannot compute") && said.contains("leave them out"), "{said}");
    }
}

/// Each was taken and forgotten.
#[test]
fn options_that_do_not_apply_are_refused() {
    for (args, says) in [
        (&["run", "cube9", "--engine", "f32", "--device", "xdma:0"][..], "--device needs --engine board"),
        (&["run", "cube9", "--engine", "model", "--integrator", "rk4"], "--integrator needs --engine f64"),
        (
            &["run", "cube9", "--engine", "f32", "--profile", "wide"],
            "--profile needs --engine hybrid, model, rtl or board",
        ),
        (
            &["run", "cube9", "--engine", "f64", "--threads", "2"],
            "--threads needs --engine f32, model or board",
        ),
        (&["run", "cube9", "--engine", "f64", "--shuffle-edges", "2"], "--shuffle-edges needs"),
        (
            &["compare", "cube9", "--engine", "model", "--completion", "poll"],
            "--completion needs --engine rtl or board",
        ),
        (&["view", "cube9", "--engine", "f64", "--modules", "2"], "--modules needs"),
        (
            &["run", "cube9", "--integrator", "rk4", "--profile", "wide"],
            "--profile needs --engine hybrid, model, rtl or board; --integrator needs --engine f64",
        ),
        (&["run", "cube9", "--device", "rtl", "--threads", "2"], "--threads goes with --device model"),
        (
            &["board", "run", "cube9", "--device", "model", "--integrator", "euler"],
            "--integrator needs --engine f64",
        ),
        (&["board", "info", "--device", "pci:03:00.0", "--modules", "2"], "pci:03:00.0 is what it is"),
        (&["board", "selftest", "--device", "xdma:0", "--profile", "wide"], "xdma:0 is what it is"),
    ] {
        let (code, value) = json(args);
        assert_eq!(code, 2, "{args:?}: {value}");
        assert!(value["error"].as_str().unwrap().contains(says), "{args:?}: {value}");
    }
    // There is nothing to choose behind `nendo board run`.
    let out = nendo(&["board", "run", "cube9", "--engine", "f32"]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
}

/// The step that was printed had been rounded upwards: a scene with it was refused again.
#[test]
fn the_step_that_a_refusal_prints_can_be_copied() {
    let folder = tempfile::tempdir().unwrap();
    for tables in [
        "",
        "[topology]\nstiffness = 6\ndamping = 0.002\n",
        "[contact]\nstiffness = 90\ndamping = 3\n[[boundaries]]\nplane = { point = [0, 0, -0.1], normal = [0, 0, 1] }\n",
    ] {
        let text = BOX.replace("step = 0.001", "step = 1") + tables;
        let path = scene(folder.path(), &text);
        let (code, refused) = json(&["run", &path, "--steps", "1"]);
        let said = refused["error"].as_str().unwrap();
        assert_eq!(code, 2, "{said}");
        let step = said.split("the largest stable step is ").nth(1).unwrap().split(' ').next().unwrap();
        let path = scene(folder.path(), &text.replace("step = 1\n", &format!("step = {step}\n")));
        assert_eq!(ok(&["run", &path, "--steps", "1"])["steps"], 1, "{step}");
        // So can the one of `scene info` and of `scene check`.
        for info in [ok(&["scene", "info", &path]), ok(&["scene", "check", &path])] {
            let step = number(&info, "largest_stable_step_s");
            let path = scene(folder.path(), &text.replace("step = 1\n", &format!("step = {step}\n")));
            assert_eq!(ok(&["scene", "check", &path])["stable"], true, "{step}");
        }
    }
}

/// A scene whose topology forces had no damping was told to give its edges some c1.
#[test]
fn an_undamped_force_is_named_with_its_key_and_what_else_helps() {
    let folder = tempfile::tempdir().unwrap();
    let path = scene(folder.path(), &(BOX.to_owned() + "[topology]\nstiffness = 5\n"));
    let (code, report) = json(&["scene", "check", &path]);
    assert_eq!((code, &report["sound"], &report["stable"]), (1, &false.into(), &false.into()));
    assert_eq!(report["limited_by"], "the spring of the topology forces");
    let why = report["engines"]["f32"].as_str().unwrap();
    assert!(why.contains("`topology.damping`") && !why.contains("c1"), "{why}");
    let said = report["error"].as_str().unwrap();
    assert!(said.contains("--engine f64 --integrator rk4"), "{said}");
    let rk4 = ok(&["run", &path, "--steps", "20", "--integrator", "rk4"]);
    assert_eq!((&rk4["engine"], &rk4["steps"]), (&"f64".into(), &20.into()));
}

/// The everyday scene: on every engine, the hardware's numbers included, from the start to its end.
#[test]
fn press9_fits_the_fixed_point_engines() {
    let path = format!("{SCENES}/press9.toml");
    let check = ok(&["scene", "check", &path]);
    assert!(check["engines"].as_object().unwrap().values().all(|v| *v == true), "{check}");
    let room = check["profiles"]["wide"]["headroom"].as_object().unwrap();
    assert!(room.values().all(|ratio| ratio.as_f64().unwrap() >= 1.0), "{room:?}");
    let run = ok(&["run", &path, "--engine", "model"]);
    assert_eq!((&run["overflow"], &run["steps"]), (&false.into(), &3000.into()));
    assert_eq!(run["deformation"]["kind"], "rheological");
    // Elastic it comes back.
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(&path).unwrap().replace("material = \"dough\"", "material = \"elastic\"");
    let run = ok(&["run", &scene(folder.path(), &text), "--engine", "model"]);
    assert_eq!((&run["overflow"], &run["deformation"]["kind"]), (&false.into(), &"elastic".into()));
    let compared = ok(&["compare", &path, "--engine", "model", "--samples", "4"]);
    assert!(number(&compared, "mean_percent") < 0.1, "{}", compared["mean_percent"]);
}

/// That the papers' cube is as large as a house was said nowhere.
#[test]
fn scene_info_says_how_large_the_papers_cube_is() {
    let info = ok(&["scene", "info", "cube9"]);
    assert_eq!(info["size_m"], serde_json::json!([80.0, 80.0, 80.0]));
    assert!(info["about"].as_str().unwrap().contains("10 m apart"), "{info}");
    let said = common::stdout(&nendo(&["scene", "info", "cube9"]));
    assert!(said.contains("size 80 x 80 x 80 m") && said.contains("taken as SI units"), "{said}");
    let own = ok(&["scene", "info", &format!("{SCENES}/press9.toml")]);
    assert!(own["about"].as_str().unwrap().contains("8 cm"), "{own}");
}

/// What a clock leaves out is said by everything that shows it.
#[test]
fn an_estimate_by_a_clock_without_multipliers_says_so() {
    let args = ["estimate", "cube9", "--target", "acorn", "--modules", "1"];
    let report = ok(&args);
    assert_eq!(report["not_timed"], serde_json::json!(["multipliers"]));
    assert_eq!(report["routed_clock"]["not_timed"], serde_json::json!(["multipliers"]));
    let said = common::stdout(&nendo(&args));
    assert!(said.contains("routed at 168.9 MHz (multipliers not timed)"), "{said}");
    let report = ok(&["estimate", "cube9", "--target", "ecp5-85k"]);
    assert_eq!(report["not_timed"], Value::Array(Vec::new()));
    let bench = ok(&["bench", "--quick", "--size", "4x4x4"]);
    let rows = bench["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["engine"] == name).unwrap();
    assert_eq!(row("hardware acorn")["not_timed"], serde_json::json!(["multipliers"]));
    assert!(row("hardware ecp5-85k").get("not_timed").is_none());
}
