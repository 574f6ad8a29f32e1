//! Imports, exports and what surrounds them, from the outside.
#![cfg(feature = "cli")]

mod common;

use common::{json, nendo, ok};
use std::{path::Path, process::Command};

fn mesh(name: &str) -> String {
    format!("{}/../tests/meshes/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Import, scene, check and run, as a person would.
#[test]
fn an_imported_mesh_becomes_a_scene_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("bar.toml");
    let scene = scene.to_str().unwrap();
    for name in ["bar.node", "bar.ele"] {
        std::fs::copy(mesh(name), folder.path().join(name)).unwrap();
    }
    let file = folder.path().join("bar.ele");
    let import = ["scene", "import", file.to_str().unwrap(), "--scale", "0.001", "-o", scene];
    let report = ok(&import);
    assert_eq!((&report["particles"], &report["tetrahedra"]), (&175.into(), &352.into()));
    assert_eq!(report["format"], "tetgen");
    assert_eq!(report["groups"][0]["name"], "marker-1");
    assert_eq!(report["quality"]["degenerate"], 0);
    assert!((report["quality"]["volume"].as_f64().unwrap() - 2.4e-5).abs() < 1e-12);
    assert!(text(folder.path(), "bar.toml").contains("file = \"bar.ele\""));
    assert_eq!(json(&import).0, 2, "an existing file is not replaced");
    ok(&["scene", "check", scene, "--profile", "wide"]);
    let run = ok(&["run", scene, "--steps", "10"]);
    assert_eq!(run["edges"], report["edges"]);
}

#[test]
fn surfaces_are_filled_and_bad_files_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("pebble.toml");
    let pebble = mesh("pebble.stl");
    let filled = ok(&[
        "scene",
        "import",
        &pebble,
        "--scale",
        "0.001",
        "--pitch",
        "0.004",
        "-o",
        scene.to_str().unwrap(),
    ]);
    let ratio = filled["fill"]["volume_ratio"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    ok(&["run", scene.to_str().unwrap(), "--steps", "1"]);
    let hollow = folder.path().join("hollow.obj");
    std::fs::write(&hollow, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let broken = folder.path().join("broken.msh");
    std::fs::write(&broken, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\nmany\n").unwrap();
    let (hollow, broken) = (hollow.to_str().unwrap(), broken.to_str().unwrap());
    for (args, complaint) in [
        (vec!["scene", "import", &pebble], "give `pitch`"),
        (vec!["scene", "import", hollow, "--pitch", "0.1"], "open: 3 sides"),
        (
            vec!["scene", "import", broken],
            "broken.msh:5: the number of blocks must be a whole number, not `many`",
        ),
        (vec!["scene", "import", "/nowhere.vtu"], "/nowhere.vtu"),
        (vec!["scene", "import", hollow, "--scale", "0"], ""),
    ] {
        let out = nendo(&args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(said.contains(complaint), "{args:?}: {said}");
    }
}

#[test]
fn groups_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(mesh("bun41.msh"), folder.path().join("bun41.msh")).unwrap();
    let path = folder.path().join("bun.toml");
    let wrong = std::fs::read_to_string(mesh("bun.toml")).unwrap().replace("\"base\"", "\"bass\"");
    std::fs::write(&path, wrong).unwrap();
    let (code, report) = json(&["scene", "check", path.to_str().unwrap()]);
    let error = report["error"].as_str().unwrap();
    assert!(code == 2 && error.contains("no group `bass`; the mesh has base, core, dough"), "{error}");
}

#[test]
fn a_run_leaves_whole_files_for_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let bun = mesh("bun.toml");
    let report = ok(&[
        "run",
        &bun,
        "--steps",
        "50",
        "--out",
        out.to_str().unwrap(),
        "--frames",
        "5",
        "--watch",
        "3,7",
    ]);
    let plain = ok(&["run", &bun, "--steps", "50"]);
    assert_eq!(report["state_digest"], plain["state_digest"], "taking frames changes nothing");
    for list in ["frames.pvd", "edges.pvd"] {
        assert_eq!(text(&out, list).matches("<DataSet").count(), 6, "{list}");
    }
    assert_eq!(std::fs::read_dir(out.join("frames")).unwrap().count(), 2 * 6, "nothing is around it");
    let last = ok(&["scene", "import", out.join("frames/00005.vtu").to_str().unwrap()]);
    assert_eq!((&last["particles"], &last["tetrahedra"]), (&183.into(), &573.into()));
    let watch = text(&out, "watch.csv");
    assert_eq!(watch.lines().count(), 1 + 51, "a line for each of at most a hundred moments");
    // The last line is the final state.
    let state = text(&out, "state.csv");
    let end: Vec<&str> = state.lines().nth(1 + 3).unwrap().split(',').skip(1).take(3).collect();
    assert!(watch.lines().last().unwrap().contains(&end.join(",")), "{watch}");
    let page = text(&out, "report.html");
    for part in ["<svg", "Clock cycles of a step", report["state_digest"].as_str().unwrap(), "material firm"]
    {
        assert!(page.contains(part), "{part}");
    }
    // A page one sends on: a picture, what happened, curves; what only we want to know is folded at the end.
    let places =
        ["class=\"scale\"", ">What happened<", "<th>mass</th>", "change [%]", "<details>", "state digest"];
    let places = places.map(|part| page.find(part).unwrap_or_else(|| panic!("{part}")));
    assert!(places.is_sorted(), "{places:?}");
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org/").count()
    );
    assert_eq!(&std::fs::read(out.join("model.glb")).unwrap()[..4], b"glTF");
    for bad in [vec!["--frames", "3"], vec!["--watch", "3"]] {
        assert_eq!(
            nendo(&[&["run", "box:2x2x2"], &bad[..]].concat()).status.code(),
            Some(2),
            "{bad:?} needs --out"
        );
    }
    let beyond = json(&["run", "box:2x2x2", "--out", out.to_str().unwrap(), "--watch", "8"]);
    assert!(beyond.0 == 2 && beyond.1["error"].as_str().unwrap().contains("8 particles"), "{beyond:?}");
}

#[test]
fn comparisons_and_pictures_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("compare");
    ok(&["compare", "box:3x3x3", "--seconds", "0.1", "--samples", "5", "--out", out.to_str().unwrap()]);
    assert_eq!(text(&out, "error.csv").lines().count(), 6);
    assert!(text(&out, "report.html").contains("Error over time"));
    assert!(text(&out, "report.json").contains("final_mean_percent"));
    let picture = folder.path().join("rows.svg");
    let made = ok(&[
        "picture",
        &mesh("bun.toml"),
        "--each-material",
        "--at",
        "0,0.05",
        "-o",
        picture.to_str().unwrap(),
    ]);
    assert_eq!(made["rows"], serde_json::json!(["dough", "firm"]));
    let svg = text(folder.path(), "rows.svg");
    assert!(svg.contains("dough") && svg.contains("0.05 s"));
    assert_eq!(json(&["picture", "box:2x2x2", "--at", "1,0", "-o", "x.png"]).0, 2);
    assert_eq!(nendo(&["picture", "box:2x2x2", "-o", "x.pdf"]).status.code(), Some(2));
}

#[test]
fn the_doctor_names_every_tool_and_its_use() {
    let report = ok(&["doctor"]);
    let tools = report["tools"].as_array().unwrap();
    for name in ["verilator", "yosys", "iverilog", "vivado", "qemu", "chromium", "python: meshio"] {
        let tool = tools.iter().find(|t| t["name"] == name).unwrap_or_else(|| panic!("{name}"));
        assert!(tool["enables"].as_str().is_some_and(|t| !t.is_empty()) && tool["get"].is_string());
        assert_eq!(tool["present"].as_bool().unwrap(), tool["path"].is_string(), "{tool}");
    }
    assert_eq!(report["absent"], tools.iter().filter(|t| t["present"] == false).count());
    // What a target's flow lacks, and which names would do, nobody said.
    let targets = report["targets"].as_array().unwrap();
    let target = |name: &str| targets.iter().find(|t| t["name"] == name).unwrap_or_else(|| panic!("{name}"));
    for (name, flow, count) in
        [("ecp5-85k", "nextpnr-ecp5", 3), ("acorn", "nextpnr-xilinx", 4), ("vc707", "vivado", 1)]
    {
        let of = target(name);
        let (here, missing) = (of["tools"].as_array().unwrap(), of["missing"].as_array().unwrap());
        assert_eq!((&of["flow"], here.len() + missing.len()), (&flow.into(), count), "{of}");
        assert_eq!(of["complete"], missing.is_empty());
        let names =
            |tool: &serde_json::Value| tool["names"].as_array().is_some_and(|names| !names.is_empty());
        assert!(here.iter().chain(missing).all(names), "{of}");
        assert!(
            missing.iter().all(|tool| tool["get"].as_str().is_some_and(|get| get.contains("install"))),
            "{of}"
        );
    }
    // Without a PATH everything is absent, and that is no failure.
    let bare = Command::new(env!("CARGO_BIN_EXE_nendo")).arg("doctor").env("PATH", "").output().unwrap();
    assert!(bare.status.success());
    let said = String::from_utf8_lossy(&bare.stdout).into_owned();
    assert!(said.contains("absent  verilator") && said.contains("Debian package verilator"), "{said}");
    assert!(said.contains("ngdbuild; install ISE 10.1"), "{said}");
}

#[test]
fn completions_and_man_pages_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let out = nendo(&["completions", shell]);
        let script = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.success() && script.contains("cosim") && script.contains("import"), "{shell}");
    }
    let page = String::from_utf8(nendo(&["man"]).stdout).unwrap();
    assert!(page.contains(".TH") && page.contains("compare"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let made = ok(&["man", "-o", folder.path().to_str().unwrap()]);
    assert!(made["files"].as_array().unwrap().len() > 10);
    assert!(text(folder.path(), "nendo-scene-import.1").contains("pitch"));
    assert!(ok(&["completions", "bash"])["text"].as_str().unwrap().contains("_nendo"));
    assert_eq!(nendo(&["completions", "tcsh"]).status.code(), Some(2));
}
