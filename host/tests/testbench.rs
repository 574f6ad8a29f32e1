//! `nendo gen --testbench` in the simulators that people have.
#![cfg(feature = "cli")]

mod common;

use common::{nendo, ok, stderr};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// A line of README.md as a shell runs it, in the folder.
fn shell(folder: &Path, line: &str) -> Output {
    Command::new("sh").current_dir(folder).args(["-c", line]).output().unwrap()
}

fn text(output: &Output) -> String {
    [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat()
}

/// The command lines of the README, as they stand there.
fn commands(folder: &Path) -> Vec<String> {
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let lines = readme.split("```").nth(1).unwrap().lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// There was no way to see the engine run but our own: an engineer's simulators read none of our recordings.
#[test]
fn a_testbench_runs_in_icarus_and_verilator_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let report =
        ok(&["gen", "--for", "table3", "--testbench", "--clock-mhz", "62.5", "-o", out.to_str().unwrap()]);
    let words = report["testbench"]["words_compared"].as_u64().unwrap();
    assert!(words > 100 && report["clock_khz"] == 62500);
    let bench = fs::read_to_string(out.join("nendo_testbench.v")).unwrap();
    assert!(bench.contains("always #8.000 clock") && bench.contains("--for table3 --testbench"), "{bench}");
    assert_eq!(
        fs::read_to_string(out.join("nendo_engine.sdc")).unwrap(),
        "create_clock -name clock -period 16.000000 [get_ports clock]\n"
    );
    let commands = commands(out);
    assert!(commands[0].starts_with("iverilog") && commands[1].starts_with("verilator"), "{commands:?}");
    for line in &commands {
        let passed = shell(out, line);
        assert!(passed.status.success(), "{line}\n{}", text(&passed));
        assert!(text(&passed).contains(&format!("PASS: {words} words as recorded")), "{}", text(&passed));
    }

    // One bit of one word that is read, the register of the clock (62500 kHz) or the last word of a memory.
    let vectors = fs::read_to_string(out.join("nendo_vectors.hex")).unwrap();
    assert!(vectors.contains("\n02000000280000f424\n"));
    let last = vectors.rmatch_indices("\n02").next().unwrap().0 + 18;
    let mut flipped = vectors.clone().into_bytes();
    flipped[last] = if flipped[last] == b'0' { b'1' } else { b'0' };
    let simulators = ["vvp -n nendo.vvp", "obj_dir/Vnendo_testbench"];
    for wrong in [
        vectors.replace("02000000280000f424", "02000000280000f425").into_bytes(),
        flipped,
        vectors.lines().next().unwrap().as_bytes().to_vec(),
    ] {
        fs::write(out.join("nendo_vectors.hex"), wrong).unwrap();
        for line in simulators {
            let failed = shell(out, line);
            assert!(!failed.status.success() && text(&failed).contains("FAIL"), "{line}\n{}", text(&failed));
            assert!(!text(&failed).contains("PASS"));
        }
    }
    fs::remove_file(out.join("nendo_vectors.hex")).unwrap();
    for line in simulators {
        let failed = shell(out, line);
        assert!(!failed.status.success() && text(&failed).contains("FAIL"), "{line}\n{}", text(&failed));
    }
}

/// Motions, forces that change, several modules, another profile: all of it goes over the bus.
#[test]
fn any_scene_and_configuration_has_a_testbench() {
    for options in
        [&["--for", "single", "--profile", "paper-2005"][..], &["--for", "box:3x3x3", "--modules", "3"]]
    {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap();
        ok(&[&["gen", "--testbench", "--steps", "25", "-o", out], options].concat());
        let passed = shell(folder.path(), &commands(folder.path())[0]);
        assert!(passed.status.success() && text(&passed).contains("PASS"), "{options:?}\n{}", text(&passed));
    }
}

/// Whatever is asked of the clock is seen in the register that tells it, or refused.
#[test]
fn every_clock_has_an_effect_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let clock = |mhz: &str| {
        ok(&["gen", "--clock-mhz", mhz, "-o", out]);
        let map = fs::read_to_string(folder.path().join("map.json")).unwrap();
        let map: serde_json::Value = serde_json::from_str(&map).unwrap();
        let registers = map["registers"].as_array().unwrap().clone();
        assert!(
            registers.iter().map(|r| r["address"].as_u64()).is_sorted(),
            "registers were listed out of order"
        );
        registers.into_iter().find(|r| r["name"] == "clock_khz").unwrap()["access"]["value"].as_u64()
    };
    assert_eq!([clock("0.001"), clock("33.333"), clock("1000")], [Some(1), Some(33333), Some(1_000_000)]);
    for mhz in ["0", "-5", "0.0001", "33.33333", "1001", "nan", "inf", "fast"] {
        let refused = nendo(&["gen", "--clock-mhz", mhz, "-o", out]);
        assert_eq!(refused.status.code(), Some(2), "{mhz}");
        assert!(stderr(&refused).contains("whole kHz"), "{}", stderr(&refused));
    }
    // A testbench is of a run; a run is of a scene.
    assert_eq!(nendo(&["gen", "--testbench", "-o", out]).status.code(), Some(2));
    assert_eq!(nendo(&["gen", "--for", "single", "--steps", "3", "-o", out]).status.code(), Some(2));
}

/// `1 edges`, `1 steps`, `1 tetrahedra`: what is one was many, wherever a number met a word.
#[test]
fn messages_said_1_edges() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let tetrahedron = "4 3 0 0\n";
    fs::write(at("one.ele"), format!("1 {tetrahedron}1 1 2 3 4\n").replace("4 3 0 0\n", "4 0\n")).unwrap();
    fs::write(at("one.node"), format!("{tetrahedron}1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")).unwrap();
    let (bench, mesh, scene) = (at("bench"), at("one.ele"), at("one.toml"));
    for words in [
        &["scene", "info", "table3"][..],
        &["scene", "info", "table3", "--modules", "1"],
        &["scene", "check", "table3"],
        &["run", "table3", "--steps", "1"],
        &["run", "table3", "--probe-edge", "7"],
        &["run", "table3", "--device", "model", "--steps", "1", "--modules", "1", "--live"],
        &["estimate", "table3"],
        &["gen", "--for", "table3", "--testbench", "--steps", "1", "-o", &bench],
        &["scene", "import", &mesh, "-o", &scene],
    ] {
        let out = nendo(words);
        let said = text(&out);
        assert!(!said.is_empty() && !said.contains("panicked"), "{words:?}: {said}");
        let words_of: Vec<&str> = said.split(|c: char| !c.is_alphanumeric() && !"._-".contains(c)).collect();
        let many = |pair: &[&str]| {
            let plural = (pair[1].ends_with('s') && pair[1].len() > 3 && !pair[1].ends_with("ss"))
                || pair[1] == "tetrahedra";
            pair[0] == "1" && plural
        };
        let wrong: Vec<_> = words_of.windows(2).filter(|pair| many(pair)).collect();
        assert!(wrong.is_empty(), "{words:?}: {wrong:?} in\n{said}");
    }
}
