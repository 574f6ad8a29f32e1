//! A tiny database, written by hand: a tile type with a table, a choice and a connection; block memory; and a tile
//! that is half of another's type.

use super::{database::read_line, encode, lines, *};
use proptest::prelude::*;
use std::fs;

const GRID: &str = r#"{
    "CLB_X0Y0": {"type": "CLB", "bits": {"CLB_IO_CLK": {"baseaddr": "0x00400000", "frames": 4, "offset": 0, "words": 2}}},
    "CLB_X0Y1": {"type": "CLB", "bits": {"CLB_IO_CLK": {"baseaddr": "0x00400000", "frames": 4, "offset": 2, "words": 2}}},
    "MEM_X1Y0": {"type": "MEM", "bits": {
        "BLOCK_RAM": {"baseaddr": "0x00C00000", "frames": 2, "offset": 99, "words": 2},
        "CLB_IO_CLK": {"baseaddr": "0x00400080", "frames": 1, "offset": 0, "words": 1}}},
    "IO_SING_X2Y0": {"type": "IO_SING", "bits": {"CLB_IO_CLK": {"baseaddr": "0x00400100", "frames": 2, "offset": 7, "words": 1,
        "alias": {"type": "IO", "start_offset": 1, "sites": {"PAD_Y0": "PAD_Y1"}}}}},
    "NULL_X9Y9": {"type": "NULL", "bits": {}}
}"#;

const SEGBITS: [(&str, &str); 5] = [
    (
        "segbits_clb.db",
        "CLB.TABLE.INIT[00] 00_00\nCLB.TABLE.INIT[01] 00_63\nCLB.TABLE.INIT[02] 03_31\nCLB.TABLE.INIT[03] 03_32\n\
         CLB.MUX.A 01_05 !01_06\nCLB.MUX.B !01_05 01_06\nCLB.MUX.BOTH 01_05 01_06 02_07\nCLB.MUX.ALSO_BOTH 01_05 01_06 02_07\n\
         CLB.FF.ZERO !02_10\nCLB.FF.LATCH 02_10\n",
    ),
    ("segbits_mem.db", "MEM.ENABLE 00_00\n"),
    ("segbits_mem.block_ram.db", "MEM.INIT_00[000] 00_01\nMEM.INIT_00[001] 01_40\n"),
    ("segbits_io.db", "IO.PAD_Y1.DRIVE 01_33\nIO.PAD_Y0.DRIVE 01_01\n"),
    ("ppips_clb.db", "CLB.OUT.IN always\n"),
];

fn database() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("xc7t")).unwrap();
    fs::write(folder.path().join("xc7t/tilegrid.json"), GRID).unwrap();
    for (name, text) in SEGBITS {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let database = Database::open(folder.path(), "xc7tpkg-1").unwrap();
    (folder, database)
}

fn made(fasm: &str) -> Result<Frames, FasmError> {
    let (folder, _) = database();
    frames(folder.path(), "xc7tpkg-1", fasm)
}

fn line_of(address: &str, text: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.starts_with(address)).unwrap_or_else(|| panic!("{text}"));
    line.split_once(' ').unwrap().1.split(',').map(str::to_owned).collect()
}

#[test]
fn features_become_the_bits_the_database_says() {
    let text = made(
        "# a comment\nCLB_X0Y1.TABLE.INIT[3:0] = 4'b1011\nCLB_X0Y0.MUX.A\nCLB_X0Y0.OUT.IN\nCLB_X0Y0.FF.ZERO\n\
         MEM_X1Y0.INIT_00[1] = 1\nMEM_X1Y0.ENABLE { note = \"x\" }\nIO_SING_X2Y0.PAD_Y0.DRIVE\n",
    )
    .unwrap()
    .text();
    let first = line_of("0x00400000", &text);
    assert_eq!(first.len(), WORDS);
    assert_eq!((first[2].as_str(), first[3].as_str()), ("0x00000001", "0x80000000"));
    assert_eq!(line_of("0x00400003", &text)[3], "0x00000001");
    assert_eq!(line_of("0x00400001", &text)[0], "0x00000020");
    assert_eq!(line_of("0x00C00001", &text)[100], "0x00000100");
    assert_eq!(line_of("0x00400101", &text)[7], "0x00000002");
}

#[test]
fn what_cannot_be_is_refused() {
    for (fasm, reason) in [
        ("CLB_X0Y0.MUX.A\nCLB_X0Y0.MUX.B", "CLB_X0Y0.MUX.B contradicts another feature"),
        ("CLB_X0Y0.FF.LATCH\nCLB_X0Y0.FF.ZERO", "contradicts"),
        ("CLB_X0Y0.NONSENSE", "knows no CLB_X0Y0.NONSENSE"),
        ("NOWHERE.MUX.A", "knows no NOWHERE"),
        ("NULL_X9Y9.MUX.A", "knows no"),
        ("CLB_X0Y0.TABLE.INIT[4:0] = 5'h10", "knows no CLB_X0Y0.TABLE.INIT[4]"),
        ("IO_SING_X2Y0.PAD_Y1.NONE", "knows no"),
        ("ok.ok\n\nCLB", "line 3: no feature of a tile"),
        ("CLB_X0Y0.TABLE.INIT[0:3] = 1", "line 1: this range makes no sense"),
        ("CLB_X0Y0.TABLE.INIT[1:0] = 4'b1011", "line 1: the value does not fit"),
        ("CLB_X0Y0.TABLE.INIT = 4'b1011", "line 1: a value of several bits needs a range"),
        ("CLB_X0Y0.TABLE.INIT[3:0] = 4'd9", "line 1: a value in b or h was expected"),
    ] {
        let error = made(fasm).unwrap_err().to_string();
        assert!(error.contains(reason), "{fasm}: {error}");
    }
    let (folder, _) = database();
    assert!(Database::open(folder.path(), "xc6other").is_err());
    fs::write(folder.path().join("xc7t/tilegrid.json"), "{\"A\": 1}").unwrap();
    assert!(Database::open(folder.path(), "xc7tpkg-1").is_err());
    fs::write(folder.path().join("xc7t/tilegrid.json"), GRID).unwrap();
    fs::write(folder.path().join("segbits_clb.db"), "CLB.TABLE.INIT[00] here\n").unwrap();
    let error = frames(folder.path(), "xc7tpkg-1", "CLB_X0Y0.MUX.A").unwrap_err().to_string();
    assert!(error.contains("segbits_clb.db: line 1"), "{error}");
}

/// The check itself finds what is wrong: a bit too few, a bit too many, a bit no feature explains.
#[test]
fn frames_that_were_changed_do_not_pass() {
    let (_folder, mut database) = database();
    let features = lines::parse("CLB_X0Y0.MUX.BOTH\nCLB_X0Y1.TABLE.INIT[1:0] = 2'b11").unwrap();
    let good = encode::encode(&mut database, &features).unwrap();
    encode::verify(&mut database, &features, &good).unwrap();
    let list = |frames: &Frames| {
        let mut lines = Vec::new();
        for line in frames.text().lines() {
            let (address, words) = line.split_once(' ').unwrap();
            for (k, word) in words.split(',').enumerate() {
                let word = u32::from_str_radix(&word[2..], 16).unwrap();
                let bits = (0..32).filter(|bit| word >> bit & 1 == 1);
                lines.extend(bits.map(|bit| format!("bit_{}_{k:03}_{bit:02}", &address[2..])));
            }
        }
        lines
    };
    let all = list(&good);
    assert_eq!((Frames::from_bits(&all.join("\n")).unwrap(), all.len() as u64), (good.clone(), good.ones()));
    for skip in 0..all.len() {
        let rest: Vec<&str> =
            all.iter().enumerate().filter(|(k, _)| *k != skip).map(|(_, l)| l.as_str()).collect();
        let less = Frames::from_bits(&rest.join("\n")).unwrap();
        assert!(encode::verify(&mut database, &features, &less).is_err(), "without {}", all[skip]);
    }
    for more in ["bit_00400003_003_00", "bit_00400003_050_00", "bit_00c00000_099_01"] {
        let text = format!("{}\n{more}", all.join("\n"));
        let more = Frames::from_bits(&text).unwrap();
        assert!(encode::verify(&mut database, &features, &more).is_err(), "{text}");
    }
    for bad in ["bit_x_0_0", "bit_00400000_101_00", "bit_00400000_000_32", "nothing", "bit_00400000"] {
        assert!(Frames::from_bits(bad).is_err(), "{bad}");
    }
}

/// Features that can be chosen together in a tile: part of the table, at most one choice, the latch.
fn tile_features() -> impl Strategy<Value = Vec<String>> {
    let choice = prop::option::of(prop::sample::select(vec!["MUX.A", "MUX.B", "MUX.BOTH", "MUX.ALSO_BOTH"]));
    (0u32..16, choice, any::<bool>()).prop_map(|(table, choice, latch)| {
        let mut lines = vec![format!("TABLE.INIT[3:0] = 4'h{table:x}")];
        lines.extend(choice.map(str::to_owned));
        lines.extend(latch.then(|| "FF.LATCH".to_owned()));
        lines
    })
}

proptest! {
    /// Any legal design goes there and back, and bits differ when features differ.
    #[test]
    fn round_trip(first in tile_features(), second in tile_features(), memory in 0u32..4) {
        let fasm = |a: &[String], b: &[String]| {
            let a = a.iter().map(|line| format!("CLB_X0Y0.{line}\n"));
            let b = b.iter().map(|line| format!("CLB_X0Y1.{line}\n"));
            a.chain(b).chain([format!("MEM_X1Y0.INIT_00[1:0] = 2'h{memory:x}\n")]).collect::<String>()
        };
        let frames = made(&fasm(&first, &second)).unwrap();
        let swapped = made(&fasm(&second, &first)).unwrap();
        let plain = |lines: &[String]| lines.join(" ").replace("ALSO_", "");
        prop_assert_eq!(frames == swapped, plain(&first) == plain(&second));
    }

    #[test]
    fn no_text_makes_it_panic(fasm in "([A-Z_.]{0,12}[\\[\\]:='bh0-9# \n]{0,12}){0,6}", line in "\\PC{0,40}") {
        let _ = made(&fasm);
        let _ = lines::parse(&line);
        let _ = read_line(&line);
        let _ = Frames::from_bits(&line);
    }
}
