//! Every parser of nendo as a function of bytes: for the fuzzer (`scripts/fuzz`) and for the tests, which damage samples.
//!
//! A parser must end, in an error or with something that passes its own checks; what it takes is in proportion to what it
//! was given. Anything else panics here.

use nendo_hdl::target::Target;
use nendo_host::{
    device::{Device, record::Replay},
    synth::{SynthReport, cells},
    view::Command,
};
use nendo_model::{
    engine::{reference::Integrator, snapshot::Snapshot, stability::Stability},
    mesh::import::{self, Format, ImportError, Imported},
    scene::Scene,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A parser.
pub struct Parser {
    /// What `scripts/fuzz` calls it.
    pub name: &'static str,
    /// Files to begin with, below the repository's root; a folder stands for all files in it.
    pub samples: &'static [&'static str],
    /// More of them.
    pub made: fn() -> Vec<Vec<u8>>,
    /// Gives bytes to it.
    pub run: fn(&[u8]),
}

fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

/// All of them.
pub const PARSERS: &[Parser] = &[
    Parser { name: "scene", samples: &["scenes", "docs/press.toml"], made: none, run: scene },
    Parser {
        name: "gmsh",
        samples: &[
            "tests/meshes/roll41.msh",
            "tests/meshes/roll22.msh",
            "tests/meshes/bun41.msh",
            "tests/meshes/bun22.msh",
        ],
        made: none,
        run: |bytes| mesh(import::read(Format::Gmsh, bytes, "x.msh")),
    },
    Parser { name: "tetgen", samples: &[], made: tetgen_samples, run: tetgen },
    Parser {
        name: "vtk",
        samples: &["tests/meshes/bar.vtk", "tests/meshes/bar-binary.vtk"],
        made: none,
        run: |bytes| mesh(import::read(Format::Vtk, bytes, "x.vtk")),
    },
    Parser {
        name: "vtu",
        samples: &[
            "tests/meshes/bar.vtu",
            "tests/meshes/bar-text.vtu",
            "tests/meshes/bar-appended.vtu",
            "tests/meshes/bar-appended-plain.vtu",
            "tests/meshes/bar-appended-text.vtu",
        ],
        made: none,
        run: |bytes| mesh(import::read(Format::Vtu, bytes, "x.vtu")),
    },
    Parser {
        name: "obj",
        samples: &[],
        made: obj_samples,
        run: |bytes| mesh(import::read(Format::Obj, bytes, "x.obj")),
    },
    Parser {
        name: "stl",
        samples: &["tests/meshes/pebble.stl", "tests/meshes/pebble-text.stl"],
        made: none,
        run: |bytes| mesh(import::read(Format::Stl, bytes, "x.stl")),
    },
    Parser { name: "recording", samples: &[], made: recording_samples, run: recording },
    Parser { name: "command", samples: &[], made: command_samples, run: command },
    Parser { name: "state", samples: &[], made: state_samples, run: state },
    Parser {
        name: "target",
        samples: &["bitstreams/ecp5-85k/target.toml", "bitstreams/xc2v6000/target.toml"],
        made: none,
        run: target,
    },
    Parser { name: "report", samples: &["bitstreams/ecp5-85k/report.json"], made: none, run: report },
    Parser { name: "cells", samples: &[], made: cells_samples, run: cells },
];

/// The parser of that name.
pub fn parser(name: &str) -> Option<&'static Parser> {
    PARSERS.iter().find(|parser| parser.name == name)
}

impl Parser {
    /// What to begin with.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let files = self.samples.iter().flat_map(|sample| files(&root.join(sample)));
        let read = |path: PathBuf| fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        files.map(read).chain((self.made)()).collect()
    }
}

/// The files of a folder, or the file itself.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Small objects only: the engines are not what is tried here.
const SMALL: usize = 20_000;

fn scene(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(scene) = Scene::parse(text, "x.toml") else { return };
    assert_eq!(scene.mesh.check(), Ok(()));
    if scene.mesh.edges.len() < SMALL {
        Stability::of(&scene, Integrator::Euler);
    }
}

/// An imported mesh is counted right, and what is made of it can be simulated.
fn mesh(result: Result<Imported, ImportError>) {
    let Ok(imported) = result else { return };
    let quality = imported.quality();
    assert_eq!(quality.nodes, imported.particles.len());
    quality.warnings();
    // A pitch that suits the body: a few cubes each way.
    let width = imported.particles.iter().map(|p| p.amax()).fold(0.0, f64::max);
    let pitch = imported.is_surface().then_some((width / 8.0).max(1e-9));
    let Ok(mesh) = imported.into_mesh(pitch) else { return };
    assert_eq!(mesh.check(), Ok(()));
    let (particles, tetrahedra) = (mesh.particles.len() as u32, mesh.tetrahedra.len() as u32);
    for group in mesh.groups.values() {
        assert!(group.particles.iter().all(|&p| p < particles));
        assert!(group.tetrahedra.iter().all(|&t| t < tetrahedra));
    }
}

/// Stands between the two files of a pair.
const BETWEEN: &[u8] = b"\n%%\n";

fn tetgen(bytes: &[u8]) {
    let at = bytes.windows(BETWEEN.len()).position(|w| w == BETWEEN).unwrap_or(bytes.len());
    let elements = bytes.get(at + BETWEEN.len()..).unwrap_or_default();
    mesh(import::read_pair([&bytes[..at], elements], ["x.node", "x.ele"].map(str::to_owned), "x".to_owned()));
}

fn tetgen_samples() -> Vec<Vec<u8>> {
    let node: &[u8] =
        b"5 3 1 1\n1 0 0 0 7 0\n2 1 0 0 7 1\n3 0 1 0 7 1\n4 0 0 1 7 0\n5 1 1 1 7 2 # the last\n";
    vec![[node, BETWEEN, b"2 4 1\n1 1 2 3 4 1\n2 2 3 4 5 2\n"].concat()]
}

fn obj_samples() -> Vec<Vec<u8>> {
    let cube: &[u8] =
        b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\no cube # quadrangles\n\
        f 1/1 4/2 3/3 2/4\nf 5 6 7 8\nf 1 2 6 5\nf 2//1 3//1 7//1 6//1\nf 3 4 8 7\nf -8 -4 -1 -5\n";
    vec![cube.to_vec(), b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n".to_vec()]
}

/// A file of this process alone, in memory where that can be had.
fn with_file(name: &str, bytes: &[u8], then: impl Fn(&Path)) {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = base.join(format!("nendo-fuzz-{}", std::process::id()));
    let path = folder.join(name);
    fs::create_dir_all(&folder).and_then(|()| fs::write(&path, bytes)).expect("a temporary file");
    then(&path);
    fs::remove_dir_all(&folder).expect("a temporary file");
}

fn recording(bytes: &[u8]) {
    with_file("x.jsonl", bytes, |path| {
        let Ok(mut replay) = Replay::new(path) else { return };
        for address in 0..64 {
            let (read, write) = (replay.read(4 * address), replay.write(4 * address, 1));
            if read.is_err() && write.is_err() && replay.reset().is_err() {
                break;
            }
        }
    });
}

fn recording_samples() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"nendo_recording":1,"device":"x"}"#,
        r#"{"do":"read","at":0,"value":7}"#,
        r#"{"do":"write","at":0,"value":1}"#,
        r#"{"do":"refused","at":4,"write":true}"#,
        r#"{"do":"reset"}"#,
        r#"{"do":"failed","message":"gone"}"#,
    ];
    vec![lines.join("\n").into_bytes()]
}

fn command(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Command::parse(text);
}

fn command_samples() -> Vec<Vec<u8>> {
    [
        r#"{"do":"play"}"#,
        r#"{"do":"step","steps":5}"#,
        r#"{"do":"speed","speed":0.5}"#,
        r#"{"do":"open","scene":0,"engine":"f32","profile":"wide"}"#,
        r#"{"do":"color","by":"stress"}"#,
        r#"{"do":"pull","particle":3,"force":[0,1e300,-2.5]}"#,
        r#"{"do":"touch","center":[0,0,0],"radius":0.01}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// What is read is what is written again.
fn state(bytes: &[u8]) {
    if let Ok(state) = Snapshot::from_bytes(bytes) {
        assert!(Snapshot::from_bytes(&state.to_bytes()).is_ok());
    }
}

fn state_samples() -> Vec<Vec<u8>> {
    let state = Snapshot::new("f64".to_owned(), 7, 0);
    vec![state.with("x", vec![1.0f64, -2.0]).with("v", vec![3i32]).with("u", vec![0.5f32]).to_bytes()]
}

fn target(bytes: &[u8]) {
    with_file("target.toml", bytes, |path| {
        let folder = path.parent().unwrap_or(path);
        let _ = folder.to_str().map(Target::open);
    });
}

fn report(bytes: &[u8]) {
    if let Ok(report) = serde_json::from_slice::<SynthReport>(bytes) {
        report.table();
        assert!(report.differences(&report).is_empty());
    }
}

fn cells(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(cells) = cells::parse(text) {
        cells::used(&cells);
    }
}

fn cells_samples() -> Vec<Vec<u8>> {
    vec![br#"{"modules":{"\\top":{"num_cells_by_type":{"$lut":3,"FDRE":4}}},"design":{"num_cells_by_type":{"LUT4":3,"TRELLIS_FF":4,"DP16KD":1}}}"#.to_vec()]
}
