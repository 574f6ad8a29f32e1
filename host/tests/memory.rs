//! Memory is estimated, and refused with words, before it is taken.
#![cfg(feature = "cli")]

mod common;

use common::{nendo, ok, stderr};
use std::process::Command;

const NENDO: &str = env!("CARGO_BIN_EXE_nendo");

fn limited(args: &[&str], memory: &str) -> (Option<i32>, String) {
    let out = Command::new(NENDO).args(args).env("NENDO_MEMORY", memory).output().unwrap();
    (out.status.code(), stderr(&out))
}

/// All memory was taken until the system killed the program, and whatever else ran there.
#[test]
fn what_takes_more_memory_than_there_is_is_refused_before_it_is_taken() {
    let pebble = format!("{}/../tests/meshes/pebble.stl", env!("CARGO_MANIFEST_DIR"));
    let fill = ["scene", "import", &pebble, "--scale", "0.001", "--pitch", "0.0002"];
    for args in [
        &["run", "box:256x256x256"][..],
        &["scene", "box", "256x256x255", "-o", "/nowhere/box.toml"],
        &["picture", "box:250x250x250", "-o", "never.png"],
        &fill,
    ] {
        let (code, said) = limited(args, "1G");
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(
            said.contains("would take about") && said.contains("and 1.0 GB are free"),
            "{args:?}: {said}"
        );
        assert!(
            said.contains("take fewer particles or a coarser mesh, or say NENDO_MEMORY="),
            "{args:?}: {said}"
        );
    }
    // The mesh takes 24 MB, the engine f64 28, the engine f32 19: what fits is not refused.
    let run = |engine| limited(&["run", "box:28x28x28", "--steps", "1", "--engine", engine], "26M");
    let (code, said) = run("f64");
    assert!(
        code == Some(2) && said.contains("the engine for 21952 particles would take about 28 MB"),
        "{said}"
    );
    assert_eq!(run("f32").0, Some(0));
    let (code, said) = limited(&["run", "box:64x64x64"], "much");
    assert!(code == Some(2) && said.contains("a number of bytes is needed, such as 500M or 8G"), "{said}");
}

/// The same where a limit of the process leaves little, and nothing is set.
#[test]
fn a_limit_of_the_process_ended_it_by_an_abort() {
    let bounded = format!("ulimit -v 2000000; exec {NENDO} run box:200x200x200");
    let out = Command::new("sh").args(["-c", &bounded]).output().unwrap();
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    assert!(stderr(&out).contains("a box of 200x200x200 particles would take about 9."), "{}", stderr(&out));
}

/// `nendo run part.msh` was told that its first line is no TOML.
#[test]
fn a_mesh_in_place_of_a_scene_is_told_where_it_belongs() {
    for (mesh, scene) in [("part.msh", "part.toml"), ("/nowhere/part.vtu", "/nowhere/part.toml")] {
        let out = nendo(&["run", mesh]);
        assert_eq!(out.status.code(), Some(2));
        let wanted = format!("nendo scene import {mesh} -o {scene}");
        assert!(stderr(&out).contains(&wanted), "{}", stderr(&out));
    }
}

/// Nothing said how much memory an engine takes.
#[test]
fn scene_info_tells_the_memory_of_each_engine() {
    let [small, large] =
        ["box:8x8x8", "box:16x16x16"].map(|name| ok(&["scene", "info", name])["memory_bytes"].clone());
    for engine in ["f64", "f32", "model"] {
        let ratio = large[engine].as_f64().unwrap() / small[engine].as_f64().unwrap();
        // Eight times the particles, a little more for what the surface lacks.
        assert!((8.0..11.0).contains(&ratio), "{engine}: {ratio}");
    }
}
