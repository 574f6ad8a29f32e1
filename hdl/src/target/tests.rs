use super::*;
use proptest::prelude::*;
use std::fs;

#[test]
fn every_target_file_parses() {
    let names: Vec<&str> = Target::names().collect();
    assert!(names.is_sorted() && names.contains(&"xc2v6000"), "{names:?}");
    assert_eq!(Target::all().len(), names.len());
    assert_eq!(Target::by_name("xc2v6000").unwrap().brams, 144);
    for target in Target::all() {
        assert!(target.part.contains(&target.package), "{target:?}");
        // What the program has in it is what is in the folder.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bitstreams").join(&target.name);
        let on_disk = Target {
            name: target.name.clone(),
            files: target.files.clone(),
            ..Target::read(Files::folder(&folder)).unwrap()
        };
        assert_eq!(on_disk, target);
        assert_eq!(
            fs::read_to_string(folder.join(&target.constraints)).unwrap(),
            target.file(&target.constraints).unwrap()
        );
    }
    assert!(Target::by_name("nope").unwrap_err().to_string().contains("xc2v6000"));
}

/// A folder that is a copy of a built-in target, with its `target.toml` changed.
fn copy(of: &str, from: &str, to: &str) -> (tempfile::TempDir, Result<Target, TargetError>) {
    let folder = tempfile::Builder::new().prefix("board-").tempdir().unwrap();
    let files = Files::built_in(of).unwrap();
    for name in files.list() {
        fs::write(folder.path().join(&name), files.read(&name).unwrap().as_ref()).unwrap();
    }
    let text = files.read(KEYS).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    fs::write(folder.path().join(KEYS), text.replacen(from, to, 1)).unwrap();
    let target = Target::open(folder.path().to_str().unwrap());
    (folder, target)
}

#[test]
fn a_folder_is_a_target() {
    for name in Target::names() {
        let (folder, target) = copy(name, "clock_mhz = ", "clock_mhz = 1");
        let target = target.unwrap();
        assert_eq!(target.name, folder.path().file_name().unwrap().to_str().unwrap());
        let built_in = Target::by_name(name).unwrap();
        assert_eq!((&target.part, &target.synthesis), (&built_in.part, &built_in.synthesis));
        assert_eq!(target.routed_clock(1).map(|c| c.clock), built_in.routed_clock(1).map(|c| c.clock));
    }
}

/// A folder may be called as a built-in target is, and has its own reports all the same.
#[test]
fn a_folder_has_its_own_reports() {
    let parent = tempfile::tempdir().unwrap();
    let (copied, _) = copy("ecp5-85k", "part", "part");
    let folder = parent.path().join("acorn");
    fs::rename(copied.path(), &folder).unwrap();
    fs::write(folder.join("report.json"), r#"{"routed": true, "fmax_mhz": 7.5}"#).unwrap();
    let target = Target::open(folder.to_str().unwrap()).unwrap();
    assert_eq!(
        target.routed_clock(1),
        Some(RoutedClock {
            clock: Clock { mhz: 7.5, not_timed: NotTimed::default() },
            target: "acorn".to_owned(),
            modules: 1
        })
    );
}

/// Each is refused, in words that name the file and the key.
#[test]
fn what_cannot_be_meant_is_refused() {
    for (of, from, to, says) in [
        (
            "ecp5-85k",
            "part",
            "parrt",
            "target.toml:2: `parrt = \"LFE5U-85F-8CABGA756\"`: unknown field `parrt`",
        ),
        ("ecp5-85k", "part = \"LFE5U-85F-8CABGA756\"", "", "missing field `part`"),
        ("ecp5-85k", "luts = 83640", "luts = \"many\"", "`luts = \"many\"`: invalid type"),
        ("ecp5-85k", "luts = 83640", "luts = -1", "`luts = -1`"),
        ("ecp5-85k", "\"nextpnr-ecp5\"", "\"diamond\"", "unknown variant `diamond`, expected one of `ise`"),
        ("ecp5-85k", "[place]", "[place]\nscript = 3", "`script = 3`: invalid type"),
        ("ecp5-85k", "[place]", "[place", "target.toml:"),
        ("ecp5-85k", "100.0", "nan", "`clock_mhz`: a number of MHz above zero"),
        ("ecp5-85k", "board.lpf", "other.lpf", "`constraints`: "),
        ("ecp5-85k", "board.lpf", "../../etc/passwd", "named without folders"),
        ("ecp5-85k", "board.lpf", "/etc/passwd", "named without folders"),
        ("ecp5-85k", "board.lpf", "..", "named without folders"),
        ("ecp5-85k", "board.lpf", "", "named without folders"),
        ("ecp5-85k", "LFE5U-85F-8CABGA756", "x; rm", "`part`: letters"),
        ("ecp5-85k", "synth_ecp5 -abc9", "synth_ecp5; exec -- true", "`synthesis.command`: one of Yosys'"),
        ("ecp5-85k", "synth_ecp5 -abc9", "exec", "`synthesis.command`: one of Yosys'"),
        ("ecp5-85k", "[place]", "[place]\nscript = \"vivado.tcl\"", "flow `nextpnr-ecp5` runs no script"),
        ("acorn", "[\"ecp5-85k\"]", "[\"ecp6\"]", "`slower`: no target is `ecp6`; those built in are acorn"),
        ("acorn", "database = \"artix7\"", "", "`place.database`: flow `nextpnr-xilinx` needs one"),
        ("acorn", "\"artix7\"", "\"../x\"", "`place.database`: the name of a folder"),
        ("acorn", "[\"acorn.v\"]", "[]", "`board.sources`: name at least one"),
        ("acorn", "acorn.v", "corn.v", "corn.v"),
        ("acorn", "top = \"acorn\"", "top = \"a corn\"", "`board.top`: the name of a Verilog module"),
        ("acorn", "cells_sim.v", "../../cells_sim.v", "`synthesis.library`: files of Yosys' own"),
        ("vc707", "script = \"vivado.tcl\"", "", "`place.script`: flow `vivado` needs a script"),
        ("vcu118", "GTE4 = \"\"", "GTE4 = \"x\\ny\"", "`board.defines.GTE4`: a macro"),
        ("xc2v6000", "edif = true", "", "`edif = true`"),
        ("xc2v6000", "0.95", "inf", "`estimate.flip_flops`: a finite number"),
    ] {
        let (_folder, target) = copy(of, from, to);
        let error = target.expect_err(to).to_string();
        assert!(error.contains(says) && error.contains("target.toml"), "{to}: {error}");
    }
}

#[test]
fn a_folder_needs_a_usable_name_and_a_target_file() {
    let parent = tempfile::tempdir().unwrap();
    let empty = Target::open(parent.path().to_str().unwrap()).unwrap_err().to_string();
    assert!(empty.contains("target.toml: No such file"), "{empty}");
    for name in ["nendo_engine", "netlist", "two words", "-o"] {
        let (copied, _) = copy("ecp5-85k", "part", "part");
        let folder = parent.path().join(name);
        fs::rename(copied.path(), &folder).unwrap();
        let error = Target::open(folder.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("named as its folder"), "{error}");
    }
    for name in ["", "no/such/folder"] {
        assert!(matches!(Target::open(name), Err(TargetError::Unknown { .. })), "{name}");
    }
}

/// A link is no way out of the folder either, and a folder is no file.
#[cfg(unix)]
#[test]
fn files_are_those_of_the_folder() {
    let (folder, target) = copy("ecp5-85k", "part", "part");
    let target = target.unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("link.lpf")).unwrap();
    fs::create_dir(folder.path().join("folder.lpf")).unwrap();
    fs::write(folder.path().join("latin.lpf"), b"\xff").unwrap();
    for (name, says) in [("link.lpf", "leads out"), ("folder.lpf", "not a file"), ("latin.lpf", "UTF-8")] {
        let error = target.file(name).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    // What is shared is there for every folder.
    assert!(target.file("xdma.v").unwrap().contains("module xdma_board"));
}

/// Who writes a target finds every key explained.
#[test]
fn every_key_is_documented() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/synthesis.md")).unwrap();
    let (_, text) = text.split_once("## Your own board").unwrap();
    let target = serde_json::to_value(Target::by_name("xc2v6000").unwrap()).unwrap();
    for (key, value) in target.as_object().unwrap().iter().filter(|(key, _)| *key != "name") {
        let table = value.as_object().filter(|_| key != "budget" && key != "papers");
        assert!(text.contains(&format!("`{key}`")) || text.contains(&format!("`[{key}]`")), "{key}");
        for inner in table.into_iter().flat_map(|table| table.keys()) {
            assert!(text.contains(&format!("| `{key}.{inner}` |")), "{key}.{inner}");
        }
    }
}

proptest! {
    /// Whatever stands in the file, an answer comes back.
    #[test]
    fn no_text_makes_it_panic(which in 0..5_usize, at in 0..2000_usize, junk in "\\PC{0,40}", cut in any::<bool>()) {
        let name = Target::names().nth(which).unwrap_or("acorn");
        let files = Files::built_in(name).unwrap();
        let text = files.read(KEYS).unwrap();
        let at = text.floor_char_boundary(at.min(text.len()));
        let rest = if cut { "" } else { &text[at..] };
        let _ = Target::parse(&format!("{}{junk}{rest}", &text[..at]), files);
    }
}
