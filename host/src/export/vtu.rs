//! Frames as VTK's unstructured grids, and a collection of them with their times, for ParaView.

use super::{displacements, elongations, escape};
use base64::{Engine, prelude::BASE64_STANDARD};
use nendo_model::{
    mesh::Vec3,
    scene::{Scene, Support},
};
use std::fmt::Write;

/// One frame: tetrahedra, or else surface triangles, or else edges.
pub fn vtu(scene: &Scene, positions: &[Vec3]) -> String {
    let mesh = &scene.mesh;
    let (cells, corners, kind): (Vec<u32>, usize, u8) = if !mesh.tetrahedra.is_empty() {
        (mesh.tetrahedra.concat(), 4, 10)
    } else if !mesh.triangles.is_empty() {
        (mesh.triangles.concat(), 3, 5)
    } else {
        (mesh.edges.concat(), 2, 3)
    };
    let count = cells.len() / corners;
    let flat = |list: &[Vec3]| list.iter().flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<f64>>();
    let support = |s: &Support| match s {
        Support::Free => 0u8,
        Support::Pinned => 1,
        Support::Moved(_) => 2,
    };
    let mut xml = format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
         <UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{count}\">\n\
         <PointData Vectors=\"displacement\" Scalars=\"elongation\">\n",
        positions.len()
    );
    array(&mut xml, "Float64", "displacement", 3, flat(&displacements(scene, positions)), f64::to_le_bytes);
    array(&mut xml, "Float64", "elongation", 1, elongations(scene, positions), f64::to_le_bytes);
    array(&mut xml, "UInt8", "support", 1, scene.support.iter().map(support).collect(), u8::to_le_bytes);
    xml.push_str("</PointData>\n<Points>\n");
    array(&mut xml, "Float64", "Points", 3, flat(positions), f64::to_le_bytes);
    xml.push_str("</Points>\n<Cells>\n");
    let ends = (1..=count as u64).map(|k| k * corners as u64).collect();
    let nodes = cells.into_iter().map(u64::from).collect();
    array(&mut xml, "Int64", "connectivity", 1, nodes, u64::to_le_bytes);
    array(&mut xml, "Int64", "offsets", 1, ends, u64::to_le_bytes);
    array(&mut xml, "UInt8", "types", 1, vec![kind; count], u8::to_le_bytes);
    xml.push_str("</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
    xml
}

/// An inline base64 array: its length in bytes, then the numbers.
fn array<T, const N: usize>(
    xml: &mut String,
    kind: &str,
    name: &str,
    components: u32,
    values: Vec<T>,
    bytes: impl Fn(T) -> [u8; N],
) {
    let mut raw = ((values.len() * N) as u64).to_le_bytes().to_vec();
    raw.extend(values.into_iter().flat_map(bytes));
    let _ = writeln!(
        xml,
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"binary\">{}</DataArray>",
        BASE64_STANDARD.encode(raw)
    );
}

/// The collection: time and file of every frame.
pub fn pvd(frames: &[(f64, String)]) -> String {
    let mut xml =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n".to_owned();
    for (time, file) in frames {
        let _ = writeln!(xml, "<DataSet timestep=\"{time}\" part=\"0\" file=\"{}\"/>", escape(file));
    }
    xml + "</Collection>\n</VTKFile>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use nendo_model::mesh::import;

    /// The importer, which reads files of other programs too, reads back every bit.
    #[test]
    fn frames_are_read_back_exactly() {
        let scene = Scene::open("box:3x4x2").unwrap();
        let moved: Vec<Vec3> =
            scene.mesh.particles.iter().map(|p| p * 1.1 + Vec3::new(0.1, 1e-7, 3.0)).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frame.vtu");
        std::fs::write(&path, vtu(&scene, &moved)).unwrap();
        let back = import::load(&path, 1.0).unwrap();
        assert_eq!((back.particles, back.tetrahedra), (moved, scene.mesh.tetrahedra));
    }

    #[test]
    fn sheets_and_chains_have_frames_too() {
        for (name, kind) in [("box:3x3x1", "AwAAAAAAAAA"), ("box:3x1x1", "AgAAAAAAAAA")] {
            let scene = Scene::open(name).unwrap();
            let frame = vtu(&scene, &scene.mesh.particles);
            assert!(
                frame.contains("NumberOfPoints=\"") && !frame.contains(kind) || frame.contains("offsets")
            );
        }
        let list = pvd(&[(0.0, "frames/0.vtu".to_owned()), (0.5, "a&b.vtu".to_owned())]);
        assert!(list.contains("timestep=\"0.5\"") && list.contains("a&amp;b.vtu"));
    }
}
