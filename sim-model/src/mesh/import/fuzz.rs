//! Real files, the same files damaged at random, and random text: never a panic, never more than an error.

use super::*;
use proptest::prelude::*;
use std::path::PathBuf;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/meshes")
}

pub(super) fn load_sample(name: &str, scale: f64) -> Imported {
    load(&folder().join(name), scale).unwrap_or_else(|e| panic!("{e}"))
}

pub(super) fn sizes(imported: &Imported) -> Vec<(&str, usize, usize)> {
    imported.groups.iter().map(|(n, g)| (n.as_str(), g.particles.len(), g.tetrahedra.len())).collect()
}

#[test]
fn gmsh_files_of_both_versions_are_the_same_mesh() {
    let (new, old) = (load_sample("bun41.msh", 1.0), load_sample("bun22.msh", 1.0));
    assert_eq!((new.particles.len(), new.tetrahedra.len()), (183, 573));
    assert_eq!(sizes(&new), [("base", 62, 0), ("core", 39, 78), ("dough", 175, 495)]);
    assert_eq!(
        (&new.particles, &new.tetrahedra, &new.groups),
        (&old.particles, &old.tetrahedra, &old.groups)
    );
    let q = new.quality();
    assert_eq!((q.degenerate, q.duplicate_nodes, q.isolated_nodes, q.pieces), (0, 0, 0, 1));
    // A half ball of 40 mm, a little less for its flat facets.
    let ball = 2.0 / 3.0 * std::f64::consts::PI * 0.04f64.powi(3);
    assert!(q.volume < ball && q.volume > 0.9 * ball, "{}", q.volume);
    let mesh = new.into_mesh(None).unwrap();
    assert!(mesh.groups["base"].particles.iter().all(|&p| mesh.particles[p as usize].z.abs() < 1e-9));
    // Core and dough share the edges of the face between them, and have all edges together.
    let edges = |name: &str| mesh.edges_of(&mesh.groups[name].tetrahedra);
    let mut all = [edges("core"), edges("dough")].concat();
    assert!(all.len() > mesh.edges.len());
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), mesh.edges.len());
}

#[test]
fn tetgen_vtk_and_vtu_files_are_the_same_mesh() {
    let tetgen = load_sample("bar.node", 0.001);
    assert_eq!(tetgen.particles, load_sample("bar.ele", 0.001).particles);
    assert_eq!((tetgen.particles.len(), tetgen.tetrahedra.len()), (175, 352));
    assert!((tetgen.quality().volume - 0.02 * 0.02 * 0.06).abs() < 1e-12);
    assert_eq!(tetgen.groups["marker-1"].particles.len(), 92);
    for name in SAMPLES.into_iter().filter(|name| name.ends_with(".vtk") || name.ends_with(".vtu")) {
        let other = load_sample(name, 0.001);
        assert_eq!(tetgen.tetrahedra, other.tetrahedra, "{name}");
        let worst =
            tetgen.particles.iter().zip(&other.particles).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        // Text has twelve digits.
        assert!(worst < if name == "bar-text.vtu" { 1e-12 } else { 1e-15 }, "{name}: {worst}");
        assert_eq!(tetgen.groups["region-1"], other.groups["region-1"], "{name}");
        assert_eq!(tetgen.groups["region-2"], other.groups["region-2"], "{name}");
    }
}

#[test]
fn surfaces_are_filled_or_refused() {
    let (binary, text) = (load_sample("pebble.stl", 0.001), load_sample("pebble-text.stl", 0.001));
    assert_eq!(binary.triangles.len(), 222);
    assert_eq!(text.triangles, binary.triangles);
    let fill = binary.fill(0.003).unwrap();
    assert!((fill.volume_ratio.unwrap() - 1.0).abs() < 0.03, "{:?}", fill.volume_ratio);
    let none = binary.clone().into_mesh(None).unwrap_err().to_string();
    assert!(none.contains("give `pitch`"), "{none}");
    let mut open = binary;
    open.triangles.pop();
    let open = open.into_mesh(Some(0.003)).unwrap_err().to_string();
    assert!(open.contains("pebble.stl: the surface is open: 3 sides"), "{open}");

    let cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\no cube # quadrangles\n\
         f 1/1 4/2 3/3 2/4\nf 5 6 7 8\nf 1 2 6 5\nf 2//1 3//1 7//1 6//1\nf 3 4 8 7\nf -8 -4 -1 -5\n";
    let mesh = read_text(Format::Obj, cube).unwrap().into_mesh(Some(0.5)).unwrap();
    assert_eq!((mesh.particles.len(), mesh.tetrahedra.len()), (27, 40));
}

fn read_text(format: Format, text: &str) -> Result<Imported, Fault> {
    let mut parts = Parts::default();
    parse(format, text.as_bytes(), &mut parts)?;
    Ok(parts.finish(format, "text".to_owned()))
}

#[test]
fn complaints_say_what_to_do() {
    let head = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
    let hexahedron = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 5 0 1 1 1 1 1 1 1 1\n$EndElements\n";
    let vtu = |array: &str| {
        format!(
            "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"1\" NumberOfCells=\"0\"><Points>{array}</Points></Piece></UnstructuredGrid></VTKFile>"
        )
    };
    for (format, text, complaint) in [
        (Format::Gmsh, "$MeshFormat\n4.1 1 8\n", "the file ends within the number one"),
        (Format::Gmsh, "$MeshFormat\n4.1 1 8\nabcd", "the number one is not where"),
        (Format::Gmsh, "$MeshFormat\n4 0 8\n", "only 2.2 and 4.1"),
        (Format::Gmsh, "solid", "not a Gmsh file"),
        (Format::Gmsh, head, "no $Nodes"),
        (Format::Gmsh, &format!("{head}$Nodes\n1 99999999999 1 1\n"), "the number of nodes is 99999999999"),
        (Format::Gmsh, &format!("{head}$Nodes\n1 1 1 1\n3 1 0 1\n1\n0 0 nan\n"), "z must be a finite number"),
        (Format::Gmsh, hexahedron, "only tetrahedra"),
        (Format::Vtk, "<VTKFile>", "not a legacy VTK file"),
        (Format::Vtk, "# vtk DataFile Version 3.0\n\nASCII\nDATASET STRUCTURED_GRID\n", "UNSTRUCTURED_GRID"),
        (Format::Vtu, "<VTKFile type=\"PolyData\"/>", "not a VTU file"),
        (Format::Vtu, "<a><b></a>", "not sound XML"),
        (
            Format::Vtu,
            "<VTKFile type=\"UnstructuredGrid\"><AppendedData encoding=\"raw\">_",
            "<UnstructuredGrid> is missing",
        ),
        (Format::Vtu, "<VTKFile type=\"UnstructuredGrid\"><AppendedData>_", "<AppendedData encoding="),
        (
            Format::Vtu,
            &vtu("<DataArray type=\"Float64\" format=\"appended\" offset=\"0\"/>"),
            "should be appended, but nothing is",
        ),
        (Format::Vtu, &vtu("<DataArray type=\"Float64\" format=\"binary\">////</DataArray>"), "head"),
        (Format::Obj, "v 0 0 0\nf 1 2 3\n", "names vertex `2` of 1"),
        (Format::Obj, "v 0 0\n", "three coordinates"),
        (Format::Stl, "solid\nfacet\nouter loop\nvertex 0 0 0\nendloop", "1 corners"),
        (Format::Stl, "junk", "too short"),
    ] {
        let fault = read_text(format, text).unwrap_err();
        assert!(fault.message.contains(complaint), "{text}: {}", fault.message);
    }
    let missing = load(Path::new("/nowhere/x.msh"), 1.0).unwrap_err().to_string();
    assert!(missing.starts_with("/nowhere/x.msh: "), "{missing}");
    assert!(load(Path::new("x.step"), 1.0).unwrap_err().to_string().contains(".msh .node"));
    assert!(load(&folder(), 1.0).is_err());
    assert!(load(&folder().join("bar.node"), f64::NAN).is_err());
}

/// Whatever the file: an error or a mesh that passes every check.
fn survives(format: Format, bytes: &[u8], elements: &[u8]) -> Result<(), TestCaseError> {
    let mut parts = Parts::default();
    let read = if format == Format::Tetgen {
        tetgen::read_nodes(bytes, &mut parts).and_then(|n| tetgen::read_elements(elements, &n, &mut parts))
    } else {
        parse(format, bytes, &mut parts)
    };
    if read.is_err() {
        return Ok(());
    }
    let imported = parts.finish(format, String::new());
    let quality = imported.quality();
    prop_assert_eq!(quality.nodes, imported.particles.len());
    quality.warnings();
    let pitch = imported.is_surface().then_some(5.0);
    if let Ok(mesh) = imported.into_mesh(pitch) {
        prop_assert_eq!(mesh.check(), Ok(()));
        let (particles, tetrahedra) = (mesh.particles.len() as u32, mesh.tetrahedra.len() as u32);
        for group in mesh.groups.values() {
            prop_assert!(group.particles.iter().all(|&p| p < particles));
            prop_assert!(group.tetrahedra.iter().all(|&t| t < tetrahedra));
        }
    }
    Ok(())
}

/// One way to damage a file.
#[derive(Clone, Debug)]
enum Damage {
    Set(usize, u8),
    Cut(usize, usize),
    Repeat(usize, usize),
    Word(usize, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let words = [
        "-1",
        "0",
        "1",
        "4294967296",
        "99999999999999999999",
        "1e308",
        "nan",
        "inf",
        "$End",
        "<",
        "\"",
        "\0",
        "é",
    ];
    prop_oneof![
        3 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        1 => (any::<usize>(), 0usize..200).prop_map(|(at, n)| Damage::Cut(at, n)),
        1 => (any::<usize>(), 0usize..200).prop_map(|(at, n)| Damage::Repeat(at, n)),
        3 => (any::<usize>(), prop::sample::select(words.to_vec())).prop_map(|(at, word)| Damage::Word(at, word)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let length = bytes.len().max(1);
    let range = |at: usize, n: usize| at % length..(at % length + n).min(length);
    match *damage {
        Damage::Set(at, byte) => bytes[at % length] = byte,
        Damage::Cut(at, n) => drop(bytes.drain(range(at, n))),
        Damage::Repeat(at, n) => {
            let piece = bytes[range(at, n)].to_vec();
            let at = at % length;
            bytes.splice(at..at, piece);
        }
        Damage::Word(at, word) => {
            // In place of the word that stands there.
            let start = (at % length..length).find(|&k| bytes[k].is_ascii_whitespace()).map_or(0, |k| k + 1);
            let end = (start..length).find(|&k| bytes[k].is_ascii_whitespace()).unwrap_or(length);
            bytes.splice(start..end.max(start), word.bytes());
        }
    }
}

const SAMPLES: [&str; 15] = [
    "roll41.msh",
    "roll22.msh",
    "bar-appended.vtu",
    "bar-appended-plain.vtu",
    "bar-appended-text.vtu",
    "bun41.msh",
    "bun22.msh",
    "bar.node",
    "bar.vtk",
    "bar-binary.vtk",
    "bar.vtu",
    "bar-plain.vtu",
    "bar-text.vtu",
    "pebble.stl",
    "pebble-text.stl",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn damaged_files_are_refused_or_read(
        sample in prop::sample::select(SAMPLES.to_vec()),
        in_elements in any::<bool>(),
        all in prop::collection::vec(damage(), 1..6),
    ) {
        let path = folder().join(sample);
        let format = Format::of(&path).unwrap();
        let mut bytes = std::fs::read(path).unwrap();
        let mut elements = std::fs::read(folder().join("bar.ele")).unwrap();
        for one in &all {
            apply(if in_elements && format == Format::Tetgen { &mut elements } else { &mut bytes }, one);
        }
        survives(format, &bytes, &elements)?;
    }

    #[test]
    fn random_text_is_refused_or_read(
        which in 0usize..6,
        words in prop::collection::vec(prop::sample::select(vec![
            "$MeshFormat", "4.1", "2.2", "$EndMeshFormat", "$Nodes", "$EndNodes", "$Elements", "$EndElements",
            "$PhysicalNames", "$Entities", "0", "1", "2", "3", "4", "-1", "1e9", "nan", "67108864", "\n", "\n", "v",
            "f", "1/2/3", "solid", "facet", "outer", "loop", "vertex", "endloop", "# vtk DataFile Version 5.1\n",
            "ASCII", "BINARY", "DATASET", "UNSTRUCTURED_GRID", "POINTS", "CELLS", "OFFSETS", "CONNECTIVITY", "int",
            "double", "CELL_TYPES", "CELL_DATA", "SCALARS", "LOOKUP_TABLE", "FIELD", "METADATA", "\"a b\"", "é",
            "<VTKFile type=\"UnstructuredGrid\">", "<UnstructuredGrid>", "<Piece NumberOfPoints=\"1\" NumberOfCells=\"0\">", "<Points>",
            "<DataArray type=\"Int8\" format=\"binary\">", "</DataArray>", "AAAA", "</Points>", "<Cells>", "\u{fffd}",
        ]), 0..60),
    ) {
        let formats = [Format::Gmsh, Format::Tetgen, Format::Vtk, Format::Vtu, Format::Obj, Format::Stl];
        let start = ["$MeshFormat 4.1 0 8 $EndMeshFormat ", "2 3 0 0\n1 0 0 0\n2 1 1 1\n", "# vtk DataFile Version 2.0\nx\nASCII\n", "", "", "solid\n"];
        let text = start[which].to_owned() + &words.join(" ");
        survives(formats[which], text.as_bytes(), words.join(" ").as_bytes())?;
    }
}

/// Depth and counts that are only claimed cost nothing.
#[test]
fn hostile_files_do_not_exhaust_anything() {
    let deep = "<a>".repeat(1_000_000);
    assert!(read_text(Format::Vtu, &deep).is_err());
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbbbbbbbb\">]><VTKFile>&b;</VTKFile>";
    assert!(read_text(Format::Vtu, bomb).is_err());
    let many = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n16777216 16777216 1 1\n";
    assert!(read_text(Format::Gmsh, many).is_err());
    let wide = format!(
        "# vtk DataFile Version 5.1\nx\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS {MAX_NODES} double\n"
    );
    assert!(read_text(Format::Vtk, &wide).is_err());
    let mut stl = vec![0; 84];
    stl[80..].fill(0xff);
    assert!(parse(Format::Stl, &stl, &mut Parts::default()).is_err());
}
