//! However a run ends, what it computed is kept, in whole files, and can be gone on with.
#![cfg(feature = "cli")]

mod common;

use common::{json, nendo, ok, stderr};
use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const NENDO: &str = env!("CARGO_BIN_EXE_nendo");

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Every file that a run leaves whatever its end; its report.
fn kept(folder: &Path) -> Value {
    let report: Value = serde_json::from_str(&text(folder, "report.json")).unwrap();
    let error = report["error"].as_str().expect("the report has the error");
    let first = error.lines().next().unwrap().split(':').next().unwrap();
    assert!(text(folder, "report.html").contains(first), "the page has the error: {error}");
    assert!(text(folder, "forces.csv").lines().count() > 1);
    assert!(text(folder, "frames.pvd").ends_with("</VTKFile>\n"));
    for name in ["state.csv", "state.nendo", "model.glb", "picture.svg", "picture.png"] {
        assert!(fs::metadata(folder.join(name)).is_ok_and(|file| file.len() > 0), "{name}");
    }
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
    report
}

/// Starts a run that takes minutes, and waits until it has something to lose.
fn start(folder: &Path, args: &[&str]) -> std::process::Child {
    let child = Command::new(NENDO)
        .args(args)
        .args(["--json", "--quiet", "-o"])
        .arg(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !folder.join("frames/00002.vtu").exists() {
        assert!(Instant::now() < end, "no frame was written");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

const LONG: [&str; 7] = ["run", "cube9", "--steps", "6000", "--frames", "120", "--engine"];

/// Ctrl-C left no report and nothing to go on from.
#[test]
fn an_interrupted_run_keeps_what_it_computed_and_goes_on() {
    for engine in ["f32", "model"] {
        let folder = tempfile::tempdir().unwrap();
        let args = [&LONG[..], &[engine]].concat();
        let child = start(folder.path(), &args);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let out = child.wait_with_output().unwrap();
        let said: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(out.status.code(), Some(1), "{said}");
        let report = kept(folder.path());
        assert!(report["error"].as_str().unwrap().starts_with("interrupted after "), "{report}");
        assert_eq!(said["state_digest"], report["state_digest"]);
        let done = report["steps"].as_u64().unwrap();
        assert!(done < 6_000, "{done}");
        // A little farther, in one piece and in two.
        let steps = (done + 200).to_string();
        let folder = folder.path().to_str().unwrap();
        let run = ["run", "cube9", "--steps", &steps, "--engine", engine];
        let resumed = ok(&[&run[..], &["-o", folder, "--resume"]].concat());
        assert_eq!((&resumed["resumed_from"], &resumed["steps"]), (&done.into(), &(done + 200).into()));
        assert_eq!(resumed["state_digest"], ok(&run)["state_digest"], "{engine}");
    }
}

/// A run that was killed had nothing but frames without a list.
#[test]
fn a_killed_run_goes_on_from_its_last_state() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(folder.path(), &[&LONG[..], &["model"]].concat());
    // States are kept every second.
    let end = Instant::now() + Duration::from_secs(60);
    while !folder.path().join("state.nendo").exists() {
        assert!(Instant::now() < end, "no state was kept");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let list = text(folder.path(), "frames.pvd");
    assert!(list.ends_with("</VTKFile>\n") && list.contains("frames/00002.vtu"), "a whole list");
    assert!(text(folder.path(), "forces.csv").ends_with('\n'));
    let path = folder.path().to_str().unwrap();
    let resumed = ok(&[&LONG[..], &["model", "-o", path, "--resume"]].concat());
    assert!(resumed["resumed_from"].as_u64().unwrap() > 0);
    let whole = tempfile::tempdir().unwrap();
    let whole_path = whole.path().to_str().unwrap();
    let straight = ok(&[&LONG[..], &["model", "-o", whole_path]].concat());
    assert_eq!(resumed["state_digest"], straight["state_digest"]);
    for name in ["frames.pvd", "forces.csv", "frames/00119.vtu"] {
        assert!(text(folder.path(), name) == text(whole.path(), name), "{name} differs");
    }
}

/// Its state was lost with everything else.
#[test]
fn a_run_that_diverges_or_overflows_keeps_its_last_sound_state() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("burst.toml");
    let burst = "step = 0.02\nduration = 20\nmass = 0.001\n[mesh.box]\nsize = [4, 4, 4]\npitch = 0.01\n\
        [materials.m]\nk1 = 60\nc1 = 0.1\nc2 = inf\n[[pins]]\non = { face = \"z-min\" }\n\
        [[velocities]]\non = { face = \"z-max\" }\nvelocity = [0, 0, 0.001]\n";
    fs::write(&scene, burst).unwrap();
    for (engine, words) in
        [("f64", "the simulation diverged"), ("f32", "the simulation diverged"), ("model", "overflow in")]
    {
        let out = folder.path().join(engine);
        let run = ["run", scene.to_str().unwrap(), "--engine", engine, "--force", "--frames", "100"];
        let (code, report) = json(&[&run[..], &["-o", out.to_str().unwrap()]].concat());
        assert_eq!(code, 1, "{report}");
        let error = report["error"].as_str().unwrap();
        assert!(error.starts_with("stopped within ") && error.contains(words), "{error}");
        assert_eq!(kept(&out)["error"], report["error"]);
        // The last sound state is of the last frame, and all its numbers are some.
        let frames = text(&out, "frames.pvd").matches("<DataSet").count();
        assert!(frames >= 1, "{engine}: {frames} frames");
        assert!(!text(&out, "state.csv").contains("NaN") && !text(&out, "state.csv").contains("inf"));
        assert!(report["volume_ratio"].as_f64().is_some_and(f64::is_finite), "{report}");
    }
}

/// A limit on the size of files is as good as a full disk: what fits is there and whole, the rest is named.
#[test]
fn a_full_disk_is_an_error_and_leaves_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    // In blocks of 1 KiB (bash): frames of cube9 are larger, tables are smaller.
    let command = "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"";
    let run = ["run", "cube9", "--steps", "40", "--frames", "4", "--engine", "f32", "--json", "-o", "run"];
    let out = Command::new("bash")
        .args(["-c", command, NENDO])
        .args(run)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = stderr(&out);
    assert_eq!(out.status.code(), Some(1), "{said}");
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    let error = report["error"].as_str().unwrap();
    assert!(
        error.contains("writing a frame") && error.contains("not everything could be written"),
        "{error}"
    );
    let folder = folder.path().join("run");
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        assert!(!name.starts_with('.'), "{name} was left");
    }
    assert!(serde_json::from_str::<Value>(&text(&folder, "report.json")).unwrap()["error"].is_string());
    assert!(text(&folder, "forces.csv").ends_with('\n'));
    assert!(fs::read_dir(folder.join("frames")).unwrap().next().is_none(), "half a frame is none");
}

/// A state was taken by whatever scene, engine or profile.
#[test]
fn a_state_of_another_scene_or_engine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    ok(&["run", "cube9", "--engine", "model", "--steps", "20", "-o", out]);
    let state = format!("--resume={out}/state.nendo");
    for (args, words) in [
        (vec!["run", "box:3x3x3", "--engine", "model", "--steps", "30"], "another scene"),
        (vec!["run", "cube9", "--engine", "f32", "--steps", "30"], "f32"),
        (vec!["run", "cube9", "--engine", "model", "--profile", "paper-2005", "--steps", "30"], "paper-2005"),
        (vec!["run", "cube9", "--engine", "model", "--steps", "10"], "20 steps behind it"),
    ] {
        let (code, report) = json(&[&args[..], &[&state]].concat());
        let error = report["error"].as_str().unwrap();
        assert!(code == 2 && error.contains("state.nendo") && error.contains(words), "{args:?}: {error}");
    }
    let damaged = folder.path().join("damaged.nendo");
    let bytes = fs::read(folder.path().join("state.nendo")).unwrap();
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&damaged, &bytes[..cut]).unwrap();
        let resume = format!("--resume={}", damaged.display());
        let (code, report) = json(&["run", "cube9", "--engine", "model", "--steps", "30", &resume]);
        assert!(code == 2 && report["error"].as_str().unwrap().contains("damaged.nendo"), "{cut}: {report}");
    }
    // The number of modules is no matter of the state, nor is who computes: model, hardware, board.
    let two = ok(&["run", "cube9", "--engine", "model", "--modules", "2", "--steps", "30", &state]);
    let board = ok(&["run", "cube9", "--device", "model", "--steps", "30", &state]);
    let straight = ok(&["run", "cube9", "--engine", "model", "--steps", "30"]);
    assert_eq!(two["resumed_from"], 20);
    assert_eq!(two["state_digest"], straight["state_digest"]);
    assert_eq!(board["state_digest"], straight["state_digest"]);
}

/// Frames of a longer run stayed among those of a shorter one.
#[test]
fn a_second_run_into_a_folder_leaves_nothing_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let run = ["run", "box:3x3x3", "--steps", "20", "-o", out];
    ok(&[&run[..], &["--frames", "10", "--watch", "3"]].concat());
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    ok(&[&run[..], &["--frames", "2"]].concat());
    assert_eq!(
        fs::read_dir(folder.path().join("frames"))
            .unwrap()
            .filter(|e| { e.as_ref().unwrap().file_name().to_string_lossy().len() == "00000.vtu".len() })
            .count(),
        3
    );
    assert!(!folder.path().join("watch.csv").exists());
    assert_eq!(text(folder.path(), "notes.txt"), "mine");
    // What does not begin has changed nothing.
    let (code, _) = json(&["run", "box:3x3x3", "--steps", "0", "-o", "/dev/null/x"]);
    assert_eq!(code, 1);
    let before = text(folder.path(), "report.json");
    assert_eq!(nendo(&["run", "chain:yielding", "--engine", "model", "-o", out]).status.code(), Some(2));
    assert_eq!(text(folder.path(), "report.json"), before);
}

/// A dough under a plate ended with half its elements inside out, exit code 0 and not a word.
#[test]
fn inside_out_elements_were_not_mentioned() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("plate.toml");
    let plate = "step = 0.0005\nduration = 1\nmass = 0.001\n[mesh.box]\nsize = [5, 5, 5]\npitch = 0.01\n\
        [materials.dough]\nk1 = 20\nc1 = 0.1\nc2 = 5\n\
        [contact]\nstiffness = 200\ndamping = 0.2\n\
        [[boundaries]]\nname = \"table\"\nplane = { point = [0, 0, -0.02], normal = [0, 0, 1] }\n\
        [[boundaries]]\nname = \"plate\"\nbar = { min = [-0.1, -0.1, 0.0205], max = [0.1, 0.1, 0.03] }\n\
        frames = [{ t = 0.5, offset = [0, 0, -0.036] }]\n";
    fs::write(&scene, plate).unwrap();
    let scene = scene.to_str().unwrap();
    let report = ok(&["run", scene, "--engine", "f32"]);
    let inverted = report["inverted"].as_u64().unwrap();
    assert!(inverted > 50, "{report}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("inside out") && warnings.contains("[topology]"), "{warnings}");
    let said = stderr(&nendo(&["run", scene, "--engine", "f32"]));
    assert!(said.contains(&format!("warning: {inverted} elements are inside out")), "{said}");
    let forces = report["forces"].as_object().unwrap();
    assert!(
        forces["table"][2].as_f64().unwrap() < 0.0 && forces["plate"][2].as_f64().unwrap() > 0.0,
        "{forces:?}"
    );
    // Nothing is wrong with an object that nobody presses.
    let calm = ok(&["run", "cube9", "--steps", "20"]);
    assert_eq!((&calm["inverted"], &calm["warnings"]), (&0.into(), &Value::Array(vec![])));
    assert!((calm["volume_ratio"].as_f64().unwrap() - 1.0).abs() < 0.01);
}
