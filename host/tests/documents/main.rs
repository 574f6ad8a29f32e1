//! What README and docs print is true: commands are ours, run, and do what the text says; figures keep their caveats.
#![cfg(feature = "cli")]

mod commands;

use commands::{Printed, of_markdown, of_scene};
use nendo_host::cli;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Files of some kind in some folders of the repository, with their texts.
fn files(folders: &[&str], kind: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(format!("{REPOSITORY}/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == kind) {
                let name = format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap());
                found.push((name.trim_start_matches("./").to_owned(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

/// README, docs and what stands beside them; not what was true once.
fn documents() -> Vec<(String, String)> {
    let mut found = files(&[".", "docs", "scenes"], "md");
    found.retain(|(name, _)| name != "CHANGELOG.md");
    found
}

/// A stale option stood in a document for months: nothing read it but people.
#[test]
fn every_command_that_is_printed_is_one_of_ours() {
    let mut printed: Vec<Printed> =
        documents().iter().flat_map(|(name, text)| of_markdown(name, text)).collect();
    printed.extend(files(&["docs", "scenes"], "toml").iter().flat_map(|(name, text)| of_scene(name, text)));
    assert!(printed.len() > 80, "{}", printed.len());
    let mut wrong = Vec::new();
    for p in printed {
        let mut words = p.words();
        if !p.whole {
            // What is asked for need not be complete, but it must be known.
            words.push("--help".to_owned());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        wrong.extend(cli::check(&words).err().map(|why| format!("{}: {}\n{why}", p.place, p.line)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for stale in [
        &["nendo", "run", "cube9", "--fast", "--help"][..],
        &["nendo", "run", "cube9", "--engine", "abacus", "--help"],
        &["nendo", "run", "cube9", "--engine", "f32", "--profile", "wide"],
        &["nendo", "frobnicate", "--help"],
    ] {
        assert!(cli::check(stale).is_err(), "{stale:?}");
    }
}

#[test]
fn every_example_of_help_is_one_of_ours() {
    let examples = cli::examples();
    assert!(examples.len() > 40, "{}", examples.len());
    for example in examples {
        // The command, without what is said of it, what it is piped to, and quotes of a shell.
        let command = example.split("  ").next().unwrap().split([';', '|', '>']).next().unwrap();
        let words: Vec<&str> = command.split_whitespace().collect();
        cli::check(&words).unwrap_or_else(|why| panic!("{example}\n{why}"));
    }
}

/// Printed, but not run here: the command, or with `*` how it begins, and why.
const NOT_RUN: [(&str, &str); 17] = [
    ("nendo view *", "serves until it is interrupted: tests/view.rs"),
    ("nendo board emulate *", "serves until it is interrupted: scripts/test-pci"),
    ("nendo board info --device xdma:0", "needs a board"),
    ("nendo board selftest --device xdma:0", "needs a board"),
    ("nendo board reset --device xdma:0", "needs a board"),
    ("nendo board run cube9 --device xdma:0 *", "needs a board"),
    ("nendo run cube9 --engine rtl", "30 s of the papers' box, clock by clock: a minute"),
    ("nendo compare cube9 --plot error.svg", "30 s of the papers' box, twice: tests/cli.rs"),
    ("nendo estimate --target vcu118", "plans a hundred modules: a minute"),
    ("nendo estimate --rate 1000", "runs and plans for a minute: tests/cli.rs"),
    ("nendo bench", "measures for minutes: tests/cpu.rs runs --quick"),
    ("nendo synth --target ecp5-85k", "places and routes"),
    ("nendo synth --target acorn", "places and routes"),
    ("nendo synth --target xc2v6000", "synthesises for minutes: scripts/test virtex2"),
    ("nendo synth --target vc707 --flow yosys", "synthesises for minutes, where Yosys is"),
    ("nendo synth --target path/to/folder", "stands for a folder of the user's: tests/own_board.rs"),
    ("nendo * --target ./my-board", "stands for a folder of the user's: tests/own_board.rs"),
];

/// Whether a command is one of these.
fn is_like(line: &str, pattern: &str) -> bool {
    let (start, end) = pattern.split_once('*').unwrap_or((pattern, ""));
    let open = pattern.contains('*');
    line.starts_with(start) && line.ends_with(end) && (open || line == pattern)
}

/// Printed because it is refused, and then says something of use.
const REFUSED: [(&str, &str); 1] = [("nendo run chain:x", "generalized-maxwell")];

/// No command of a document takes as long; a busy machine may.
const PATIENCE: Duration = Duration::from_secs(100);

/// A folder as a user has it after the clone, with a mesh of another program's.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["docs", "scenes", "bitstreams"] {
        symlink(Path::new(REPOSITORY).join(name), folder.path().join(name)).unwrap();
    }
    fs::copy(format!("{REPOSITORY}/tests/meshes/bun41.msh"), folder.path().join("part.msh")).unwrap();
    folder
}

/// Runs a command; its JSON object.
fn run(p: &Printed, folder: &Path) -> Value {
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_nendo"))
        .args(&p.words()[1..])
        .arg("--json")
        .current_dir(folder)
        .stdout(fs::File::create(&stdout).unwrap())
        .stderr(fs::File::create(&stderr).unwrap())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{}: {}: still running; is it short?", p.place, p.line);
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    println!("{:5.2} s  {}: {}", started.elapsed().as_secs_f64(), p.place, p.line);
    let said = fs::read_to_string(&stderr).unwrap();
    match REFUSED.iter().find(|(line, _)| *line == p.line) {
        Some((_, says)) => assert!(status.code() == Some(2) && said.contains(says), "{}: {said}", p.line),
        None => assert!(status.success(), "{}: {}: {status}\n{said}", p.place, p.line),
    }
    serde_json::from_slice(&fs::read(&stdout).unwrap()).unwrap()
}

/// The files and folders a command is told to write.
fn outputs(words: &[String]) -> Vec<PathBuf> {
    let names = words.windows(2).filter(|w| ["-o", "--out", "--plot"].contains(&w[0].as_str()));
    names.map(|w| PathBuf::from(&w[1])).collect()
}

/// Runs the commands of a document in their order, all in one folder.
fn run_all(document: &str) -> usize {
    let text = fs::read_to_string(format!("{REPOSITORY}/{document}")).unwrap();
    let folder = workplace();
    let (mut ran, mut digest) = (0, Value::Null);
    for p in of_markdown(document, &text) {
        let words = p.words();
        // A mention that says what with, and leaves nothing out.
        let known = || cli::check(&words.iter().map(String::as_str).collect::<Vec<_>>()).is_ok();
        let complete = p.whole || words.len() > 2 && p.is_exact() && known();
        if !complete || NOT_RUN.iter().any(|(pattern, _)| is_like(&p.line, pattern)) {
            continue;
        }
        outputs(&words).iter().for_each(|file| drop(fs::remove_file(folder.path().join(file))));
        let report = run(&p, folder.path());
        for file in outputs(&words) {
            assert!(folder.path().join(&file).exists(), "{}: {} is not there", p.place, file.display());
        }
        if p.says.contains("the same digest") {
            assert!(digest.is_string(), "{}: the same as what?", p.place);
            assert_eq!(report["state_digest"], digest, "{}: {}", p.place, p.line);
        }
        digest = report.get("state_digest").cloned().unwrap_or(Value::Null);
        ran += 1;
    }
    ran
}

#[test]
fn the_readmes_commands_do_what_it_says() {
    assert!(run_all("README.md") >= 15);
}

#[test]
fn the_commands_of_the_documents_do_what_they_say() {
    let mut ran = BTreeMap::new();
    for (name, _) in documents().iter().filter(|(name, _)| name != "README.md") {
        ran.insert(name.clone(), run_all(name));
    }
    assert!(ran["docs/meshes.md"] >= 3 && ran.values().sum::<usize>() >= 8, "{ran:?}");
}

/// What is left out of the runs is still printed somewhere.
#[test]
fn no_command_is_excused_that_is_not_printed() {
    let printed: Vec<Printed> = documents().iter().flat_map(|(name, text)| of_markdown(name, text)).collect();
    let refused = REFUSED.map(|(line, _)| (line, "refused"));
    for (pattern, why) in NOT_RUN.iter().chain(&refused) {
        assert!(printed.iter().any(|p| is_like(&p.line, pattern)), "{pattern} ({why})");
    }
}

/// The first example of docs/scenes.md ended with an overflow after 31 of 2000 steps.
#[test]
fn the_first_scene_of_the_documents_runs_as_it_stands() {
    let text = fs::read_to_string(format!("{REPOSITORY}/docs/scenes.md")).unwrap();
    let scene = text.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("press.toml"), scene).unwrap();
    for line in
        ["nendo scene check press.toml", "nendo run press.toml --engine model", "nendo run press.toml"]
    {
        let p = of_markdown("scenes.md", &format!("```\n{line}\n```")).remove(0);
        let report = run(&p, folder.path());
        if line.contains("check") {
            let room = report["profiles"]["wide"]["headroom"].as_object().unwrap();
            assert!(room.values().all(|ratio| ratio.as_f64().unwrap() >= 1.0), "{report}");
        } else {
            assert_eq!((&report["engine"], &report["steps"]), (&"model".into(), &2000.into()));
        }
    }
}

/// "168.9 MHz routed" stood alone, though the tool had timed no multiplier.
#[test]
fn a_clock_without_multipliers_is_printed_with_its_caveat() {
    let report: Value = serde_json::from_str(
        &fs::read_to_string(format!("{REPOSITORY}/bitstreams/acorn/report.json")).unwrap(),
    )
    .unwrap();
    let clock = format!("{:.1} MHz", report["fmax_mhz"].as_f64().unwrap());
    let mut seen = 0;
    for (name, text) in documents() {
        for line in text.lines().filter(|line| line.contains(&clock)) {
            let after = &line[line.find(&clock).unwrap()..];
            let caveat = after.find("multipliers not timed");
            assert!(caveat.is_some_and(|at| at < clock.len() + 30), "{name}: {line}");
            seen += 1;
        }
    }
    assert!(seen >= 2, "{clock} is printed nowhere");
    // The benchmark's record, too.
    let bench: Value =
        serde_json::from_str(&fs::read_to_string(format!("{REPOSITORY}/docs/bench.json")).unwrap()).unwrap();
    let rows = bench["rows"].as_array().unwrap().iter().filter(|row| row["clock_mhz"] == report["fmax_mhz"]);
    assert!(rows.clone().count() > 0 && rows.clone().all(|row| row["not_timed"] == report["not_timed"]));
}
