//! What scenes measure, through the command line: values, verdicts, exit codes, tables.
#![cfg(feature = "cli")]

mod common;

use common::{nendo, ok, stderr, stdout};
use serde_json::Value;
use std::{fs, path::Path};

/// A mass of 2 kg on an element without a damper in series, pulled by 20 N: it comes to rest 0.4 m further on.
const PULLED: &str = "step = 0.002\nduration = 8\nmass = 2\n[mesh]\nparticles = [[0,0,0],[4,0,0]]\nedges = [[0,1]]\n\
    [materials.m]\nlaw = \"voigt\"\nk1 = 50\nc1 = 10\n[[pins]]\nname = \"hook\"\non = [0]\n\
    [[forces]]\non = [1]\nforce = [20, 0, 0]\n";

fn file(folder: &Path, name: &str, measures: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("{PULLED}{measures}")).unwrap();
    path.to_str().unwrap().to_owned()
}

const SAG: &str = "[[measure]]\nname = \"sag\"\nof = \"displacement\"\non = [1]\naxis = \"x\"\n";

fn sag(expect: &str) -> String {
    format!("{SAG}expect = {{ {expect} }}\n")
}

/// The element's closed form, at rest: 20 N / 50 N/m; the hook holds the load.
#[test]
fn every_engine_measures_the_same_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let pull = "[[measure]]\nname = \"pull\"\nof = \"force\"\non = { support = \"hook\" }\naxis = \"x\"\nat = 8\n\
        expect = { value = 20, within-percent = 1 }\n";
    let scene = file(folder.path(), "pulled.toml", &(sag("value = 0.4, within-percent = 1") + pull));
    for engine in ["f64", "f32", "model", "rtl", "board --device model"] {
        let mut words = vec!["run", &scene, "--engine"];
        words.extend(engine.split(' '));
        let report = ok(&words);
        assert_eq!(report["measures_ok"], true, "{engine}: {}", report["measures"]);
        let found: Vec<&str> =
            report["measures"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
        assert_eq!(found, ["sag", "pull"], "{engine}");
        assert_eq!(report["measures"][0]["at"], 8.0);
        assert_eq!(report["measures"][0]["expected"]["within-percent"], 1.0);
    }
}

#[test]
fn an_expectation_that_is_not_met_is_exit_code_one_and_loses_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let scene = file(folder.path(), "pulled.toml", &sag("at-most = 0.3"));
    let out = folder.path().join("out");
    let run = nendo(&["run", &scene, "--engine", "f64", "--json", "-o", out.to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(1));
    let value: Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert_eq!(
        (&value["measures_ok"], &value["measures"][0]["ok"]),
        (&Value::Bool(false), &Value::Bool(false))
    );
    assert!(value["error"].is_null(), "it did not stop early: {value}");
    assert!(
        stderr(&run).contains("not as the scene expects: sag at 8.00 s: more than 0.3"),
        "{}",
        stderr(&run)
    );
    let table = fs::read_to_string(out.join("measures.csv")).unwrap();
    assert!(table.starts_with("t_s,sag_m\n0,0\n"), "{table}");
    let last: f64 = table.lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert!((last - 0.4).abs() < 4e-3, "{last}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("NOT MET: more than 0.3") && page.contains("sag at 8.00 s"));
}

#[test]
fn without_expectations_there_is_no_verdict_and_none_for_what_a_run_does_not_come_to() {
    let folder = tempfile::tempdir().unwrap();
    let plain = file(folder.path(), "plain.toml", SAG);
    let report = ok(&["run", &plain, "--engine", "f64"]);
    assert!(report["measures_ok"].is_null() && report["measures"][0]["value"].is_f64(), "{report}");
    let late = file(folder.path(), "late.toml", &sag("at-most = 0.3"));
    let run = nendo(&["run", &late, "--engine", "f64", "--steps", "10", "--json"]);
    let report: Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert_eq!(run.status.code(), Some(0));
    assert!(report["measures_ok"].is_null() && report["measures"][0]["value"].is_null(), "{report}");
    assert!(stderr(&run).contains("not measured, for this run did not come to it: sag"), "{}", stderr(&run));
}

/// The other file runs for its measure; its own expectation is its own affair.
#[test]
fn measures_are_compared_with_those_of_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let soft =
        sag("at-most = 0").replace("[[measure]]", "[[forces]]\non = [1]\nforce = [5, 0, 0]\n[[measure]]");
    file(folder.path(), "more.toml", &soft);
    let less = file(folder.path(), "less.toml", &sag("less-than = \"more.toml:sag\""));
    let report = ok(&["run", &less, "--engine", "f32"]);
    assert_eq!(report["measures_ok"], true, "{report}");
    let wrong = file(folder.path(), "wrong.toml", &sag("more-than = \"more.toml:sag\""));
    let run = nendo(&["run", &wrong, "--engine", "f32"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(stderr(&run).contains("not more than more.toml:sag, which is 0.5"), "{}", stderr(&run));
    for (reference, words) in [("none.toml:sag", "none.toml"), ("more.toml:height", "has no measure height")]
    {
        let scene = file(folder.path(), "lost.toml", &sag(&format!("less-than = \"{reference}\"")));
        let report = ok(&["run", &scene, "--engine", "f32"]);
        assert!(report["measures_ok"].is_null(), "{report}");
        assert!(report["measures"][0]["why"].as_str().unwrap().contains(words), "{report}");
    }
}

#[test]
fn many_files_end_in_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let good = file(folder.path(), "good.toml", &sag("value = 0.4, within = 0.01"));
    let bad = file(folder.path(), "bad.toml", &sag("at-most = 0.3"));
    let broken = folder.path().join("broken.toml").to_str().unwrap().to_owned();
    fs::write(&broken, "step = ").unwrap();
    let out = folder.path().join("out");
    let run = nendo(&["run", &good, &bad, &broken, "--engine", "f64", "-o", out.to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    let table = stdout(&run);
    let line = |name: &str| {
        table.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {table}"))
    };
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(line("good.toml").contains("1 of 1 met") && line("good.toml").contains("f64"));
    assert!(line("bad.toml").contains("0 of 1 met") && line("bad.toml").contains("more than 0.3"));
    assert!(line("broken.toml").contains("broken.toml:1"), "{table}");
    assert!(stderr(&run).contains("2 of 3 scenes went wrong"));
    assert!(out.join("good/measures.csv").is_file() && out.join("bad/report.html").is_file());

    let both = ok(&["run", &good, "box:2x2x2", "--engine", "f64", "--seconds", "8"]);
    assert_eq!(both["measures_ok"], true);
    assert_eq!(
        (both["runs"].as_array().unwrap().len(), &both["runs"][0]["measures_ok"]),
        (2, &Value::Bool(true))
    );
    for (words, said) in [
        (vec!["run", &good, &bad, "--live"], "--live goes with one scene"),
        (vec!["run", &good, &good, "-o", "never"], "would both be in"),
        (vec!["run", &broken, "cube99"], "2 of 2 scenes went wrong"),
    ] {
        let run = nendo(&words);
        assert_eq!(run.status.code(), Some(2), "{words:?}");
        assert!(stderr(&run).contains(said), "{words:?}: {}", stderr(&run));
    }
}
