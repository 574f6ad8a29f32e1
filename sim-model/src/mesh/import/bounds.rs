//! Binary files, and what their heads may claim.

use super::fuzz::{load_sample, sizes};
use super::*;
use flate2::{Compression, write::ZlibEncoder};
use std::io::Write;

fn read(format: Format, bytes: &[u8]) -> Result<Imported, Fault> {
    let mut parts = Parts::default();
    parse(format, bytes, &mut parts)?;
    Ok(parts.finish(format, "bytes".to_owned()))
}

fn complaint(format: Format, bytes: &[u8]) -> String {
    read(format, bytes).unwrap_err().message
}

/// Users were told to save them as text. What they hold is what Gmsh's own interface says (tests/meshes/README.md).
#[test]
fn binary_gmsh_files_were_refused() {
    let (new, old) = (load_sample("roll41.msh", 1.0), load_sample("roll22.msh", 1.0));
    for roll in [&new, &old] {
        assert_eq!((roll.particles.len(), roll.tetrahedra.len()), (72, 190));
        assert_eq!(sizes(roll), [("base", 28, 0), ("core", 15, 19), ("dough", 71, 171)]);
    }
    assert_eq!((&new.particles, &new.tetrahedra), (&old.particles, &old.tetrahedra));
    let base = &new.groups["base"].particles;
    assert!(base.iter().all(|&p| new.particles[p as usize].z.abs() < 1e-9));
}

/// One tetrahedron, written by hand from Gmsh's description of its formats, the highest byte first.
#[test]
fn binary_gmsh_files_of_big_endian_machines_are_read() {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0f64]];
    let int = |bytes: &mut Vec<u8>, all: &[i32]| bytes.extend(all.iter().flat_map(|n| n.to_be_bytes()));
    let size = |bytes: &mut Vec<u8>, all: &[u64]| bytes.extend(all.iter().flat_map(|n| n.to_be_bytes()));
    let real = |bytes: &mut Vec<u8>, all: &[f64]| bytes.extend(all.iter().flat_map(|n| n.to_be_bytes()));
    let names = "\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"clay\"\n$EndPhysicalNames\n";

    let mut new = b"$MeshFormat\n4.1 1 8\n\0\0\0\x01".to_vec();
    new.extend(names.bytes());
    new.extend(b"$Entities\n");
    size(&mut new, &[1, 0, 0, 1]);
    int(&mut new, &[5]);
    real(&mut new, &[0.0; 3]);
    size(&mut new, &[0]);
    int(&mut new, &[9]);
    real(&mut new, &[0.0, 0.0, 0.0, 1.0, 1.0, 2.0]);
    size(&mut new, &[1]);
    int(&mut new, &[7]);
    size(&mut new, &[0]);
    new.extend(b"\n$EndEntities\n$Nodes\n");
    size(&mut new, &[1, 4, 11, 14]);
    int(&mut new, &[3, 9, 0]);
    size(&mut new, &[4, 11, 12, 13, 14]);
    real(&mut new, corners.as_flattened());
    new.extend(b"\n$EndNodes\n$Elements\n");
    size(&mut new, &[1, 1, 1, 1]);
    int(&mut new, &[3, 9, 4]);
    size(&mut new, &[1, 1, 11, 12, 13, 14]);
    new.extend(b"\n$EndElements\n");

    let mut old = b"$MeshFormat\n2.2 1 8\n\0\0\0\x01".to_vec();
    old.extend(names.bytes());
    old.extend(b"$Nodes\n4\n");
    for (at, number) in corners.iter().zip(11..) {
        int(&mut old, &[number]);
        real(&mut old, at);
    }
    old.extend(b"\n$EndNodes\n$Elements\n1\n");
    int(&mut old, &[4, 1, 2, 1, 7, 9, 11, 12, 13, 14]);
    old.extend(b"\n$EndElements\n");

    for (name, bytes) in [("4.1", new), ("2.2", old)] {
        let mesh = read(Format::Gmsh, &bytes).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let found: Vec<[f64; 3]> = mesh.particles.iter().map(|p| [p.x, p.y, p.z]).collect();
        assert_eq!((found.as_slice(), &mesh.tetrahedra[..]), (&corners[..], &[[0, 1, 2, 3]][..]), "{name}");
        assert_eq!(sizes(&mesh), [("clay", 4, 1)], "{name}");
    }
}

/// A grid of points alone, and more XML or bytes behind it.
fn vtu(attributes: &str, points: usize, array: &str, behind: &str) -> String {
    format!(
        "<VTKFile type=\"UnstructuredGrid\" {attributes}><UnstructuredGrid><Piece NumberOfPoints=\"{points}\" \
         NumberOfCells=\"0\"><Points>{array}</Points><Cells><DataArray type=\"Int8\" Name=\"connectivity\"/>\
         <DataArray type=\"Int8\" Name=\"offsets\"/><DataArray type=\"Int8\" Name=\"types\"/></Cells></Piece>\
         </UnstructuredGrid>{behind}"
    )
}

/// What packs other data does not concern text.
#[test]
fn text_in_a_vtu_file_that_names_a_compressor_was_refused() {
    let array = "<DataArray type=\"Float64\" format=\"ascii\">0 1 2</DataArray>";
    for compressor in ["vtkZLibDataCompressor", "vtkLZ4DataCompressor", "vtkLZMADataCompressor"] {
        let file = vtu(&format!("compressor=\"{compressor}\""), 1, array, "</VTKFile>");
        assert_eq!(read(Format::Vtu, file.as_bytes()).unwrap().particles, [Vec3::new(0.0, 1.0, 2.0)]);
    }
    let packed = array.replace("ascii", "binary");
    let file = vtu("compressor=\"vtkLZ4DataCompressor\"", 1, &packed, "</VTKFile>");
    assert!(complaint(Format::Vtu, file.as_bytes()).contains("save them with zlib or unpacked"));
}

/// ParaView's own choice: `the data are appended, which is not read`. Every form by VTK itself is one of the samples.
#[test]
fn appended_vtu_files_were_refused() {
    let array = "<DataArray type=\"Float32\" format=\"appended\" offset=\"3\"/>";
    let mut raw = vtu("header_type=\"UInt64\"", 1, array, "<AppendedData encoding=\"raw\">\n_").into_bytes();
    raw.extend(b"<&\xff");
    raw.extend(12u64.to_le_bytes());
    raw.extend([1.0f32, 2.0, -3.0].iter().flat_map(|n| n.to_le_bytes()));
    raw.extend(b"</AppendedData></VTKFile>");
    assert_eq!(read(Format::Vtu, &raw).unwrap().particles, [Vec3::new(1.0, 2.0, -3.0)]);
    let cut = &raw[..raw.len() - 30];
    assert!(complaint(Format::Vtu, cut).contains("its head says 12 bytes, there are"));
    let beyond = vtu("", 1, &array.replace("\"3\"", "\"9999\""), "<AppendedData encoding=\"raw\">_");
    assert!(complaint(Format::Vtu, beyond.as_bytes()).contains("`offset`"));
    // In base64 an array begins at a character, and its head is padded by itself.
    let text =
        vtu("", 1, array, "<AppendedData encoding=\"base64\">_XX=DAAAAA==AACAPwAAAEAAAEDA</AppendedData>");
    assert_eq!(read(Format::Vtu, text.as_bytes()).unwrap().particles, [Vec3::new(1.0, 2.0, -3.0)]);
}

/// A small file that unpacks to gigabytes: the mesh says how much there should be, and more is not unpacked.
#[test]
fn a_zlib_bomb_is_not_unpacked() {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&vec![0; 1 << 24]).unwrap();
    let block = zlib.finish().unwrap();
    assert!(block.len() < 20_000);
    let array = "<DataArray type=\"Int8\" format=\"appended\" offset=\"0\"/>";
    let file = |points: usize, head: [u32; 4]| {
        let open = "<AppendedData encoding=\"raw\">_";
        let mut bytes = vtu("compressor=\"vtkZLibDataCompressor\"", points, array, open).into_bytes();
        bytes.extend(head.iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend(&block);
        bytes
    };
    let packed = block.len() as u32;
    // Its head is honest, the mesh is not.
    let said = complaint(Format::Vtu, &file(1, [1, 1 << 24, 1 << 24, packed]));
    assert!(said.contains("the mesh needs 3 bytes"), "{said}");
    // The head agrees with the mesh; what comes beyond is not looked at.
    assert_eq!(read(Format::Vtu, &file(1, [1, 3, 3, packed])).unwrap().particles, [Vec3::zeros()]);
    // Counts that would overflow, or take all memory for nothing.
    for head in [[u32::MAX, u32::MAX, 3, packed], [u32::MAX, 0, 3, packed], [2, 0, 3, packed]] {
        let said = complaint(Format::Vtu, &file(1, head));
        assert!(said.contains("the mesh needs 3 bytes"), "{head:?}: {said}");
    }
    // More numbers than any mesh has.
    let many = "<DataArray type=\"Int8\" format=\"appended\" offset=\"0\"/>";
    let pieces = vtu("", MAX_NODES, many, "<AppendedData encoding=\"raw\">_");
    assert!(complaint(Format::Vtu, pieces.as_bytes()).contains("its head is cut off"));
    let said = complaint(Format::Vtu, vtu("", MAX_NODES + 1, many, "</VTKFile>").as_bytes());
    assert!(said.contains("NumberOfPoints is `16777217`"), "{said}");
}

/// A million attributes kept the reader busy for minutes: each is compared with all others.
#[test]
fn a_flood_of_attributes_is_refused_at_once() {
    let one_tag: String = (0..1_000_000).map(|k| format!(" a{k} = '>'")).collect();
    let many_tags =
        format!("<a {}/>", (0..60).map(|k| format!("a{k}=\"\" ")).collect::<String>()).repeat(2_000);
    let started = std::time::Instant::now();
    for flood in [format!("<VTKFile{one_tag}/>"), format!("<VTKFile>{many_tags}</VTKFile>")] {
        assert!(complaint(Format::Vtu, flood.as_bytes()).contains("too many attributes"));
    }
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}
