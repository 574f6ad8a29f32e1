//! Frames as VTK's unstructured grids, and collections of them with their times, for ParaView.
//!
//! A frame is up to three grids: the object, its edges where its cells are others, and the boundaries around it.

use super::{displacements, elongations, escape};
use crate::{around::Solid, sample::Sample};
use base64::{Engine, prelude::BASE64_STANDARD};
use nendo_model::{
    mesh::{Mesh, Vec3},
    scene::{Scene, Support},
};
use std::{cmp::Reverse, collections::HashMap, fmt::Write};

/// Cells of one kind.
struct Cells {
    corners: Vec<u32>,
    /// Corners of each.
    each: usize,
    /// VTK's number of the kind.
    kind: u8,
}

impl Cells {
    fn new<const N: usize>(list: &[[u32; N]], kind: u8) -> Self {
        Self { corners: list.concat(), each: N, kind }
    }

    /// What the object consists of: tetrahedra, or else surface triangles, or else edges.
    fn of(mesh: &Mesh) -> Self {
        if !mesh.tetrahedra.is_empty() {
            Self::new(&mesh.tetrahedra, 10)
        } else if !mesh.triangles.is_empty() {
            Self::new(&mesh.triangles, 5)
        } else {
            Self::new(&mesh.edges, 3)
        }
    }

    fn count(&self) -> usize {
        self.corners.len() / self.each
    }
}

/// Whether edges are not what the object's own grid consists of.
pub fn has_edges_apart(scene: &Scene) -> bool {
    !scene.mesh.triangles.is_empty() || !scene.mesh.tetrahedra.is_empty()
}

/// The object: particles with displacement, velocity, elongation and support; cells with material, strain and, where forces
/// were asked for, force, each the mean of the cell's edges (the material is that of most).
pub fn object(scene: &Scene, sample: &Sample) -> String {
    let (cells, edges) = (Cells::of(&scene.mesh), EdgeData::of(scene, sample));
    let positions = &sample.positions;
    let support = |(p, support): (usize, &Support)| match support {
        _ if scene.free_from(p).is_some_and(|first| sample.step >= first) => 0u8,
        Support::Free => 0,
        Support::Pinned => 1,
        Support::Moved(_) => 2,
    };
    let mut xml = Grid::new(positions.len(), cells.count());
    xml.open("PointData Vectors=\"displacement\" Scalars=\"elongation\"");
    xml.vectors("displacement", &displacements(scene, positions));
    xml.vectors("velocity", &sample.velocities);
    xml.numbers("elongation", &elongations(scene, positions));
    xml.array("UInt8", "support", 1, scene.support.iter().enumerate().map(support).map(u8::to_le_bytes));
    xml.close("PointData");
    let places: HashMap<[u32; 2], usize> =
        scene.mesh.edges.iter().enumerate().map(|(k, &[a, b])| ([a.min(b), a.max(b)], k)).collect();
    let of_cells = cells.corners.chunks(cells.each).map(|corners| {
        let pairs = (0..corners.len()).flat_map(|i| (0..i).map(move |j| (corners[i], corners[j])));
        pairs.filter_map(|(a, b)| places.get(&[a.min(b), a.max(b)]).copied()).collect()
    });
    edges.of_cells(of_cells).write(&mut xml);
    xml.geometry(positions, &cells)
}

/// The edges of the object: cells with material, strain and, where forces were asked for, force.
pub fn edges(scene: &Scene, sample: &Sample) -> String {
    let cells = Cells::new(&scene.mesh.edges, 3);
    let mut xml = Grid::new(sample.positions.len(), cells.count());
    EdgeData::of(scene, sample).write(&mut xml);
    xml.geometry(&sample.positions, &cells)
}

/// The boundaries at a time in seconds: cells with the number of theirs.
pub fn around(solids: &[Solid], time: f64) -> String {
    let (mut places, mut triangles, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (number, solid) in (0u32..).zip(solids) {
        let first = places.len() as u32;
        places.extend(solid.placed(time));
        triangles.extend(solid.triangles.iter().map(|t| t.map(|corner| first + corner)));
        numbers.resize(triangles.len(), number);
    }
    let cells = Cells::new(&triangles, 5);
    let mut xml = Grid::new(places.len(), cells.count());
    xml.open("CellData Scalars=\"boundary\"");
    xml.array("UInt32", "boundary", 1, numbers.into_iter().map(u32::to_le_bytes));
    xml.close("CellData");
    xml.geometry(&places, &cells)
}

/// What is known of edges, or of cells by their edges.
struct EdgeData {
    material: Vec<u16>,
    /// Change of length by the length without load.
    strain: Vec<f64>,
    /// Tension in newtons: negative where the edge pushes its ends apart.
    force: Option<Vec<f64>>,
}

impl EdgeData {
    fn of(scene: &Scene, sample: &Sample) -> Self {
        let (mesh, x) = (&scene.mesh, &sample.positions);
        let along = |&[start, end]: &[u32; 2]| x[end as usize] - x[start as usize];
        let strain = |(k, ends): (usize, &[u32; 2])| along(ends).norm() / mesh.edge_length(k) - 1.0;
        // What a stretched edge's end feels goes to its start.
        let tension = |(ends, force): (&[u32; 2], &Vec3)| {
            let along = along(ends);
            if along.norm() > 0.0 { -force.dot(&along.normalize()) } else { force.norm() }
        };
        Self {
            material: scene.edge_material.clone(),
            strain: mesh.edges.iter().enumerate().map(strain).collect(),
            force: sample
                .sensed
                .as_ref()
                .map(|sensed| mesh.edges.iter().zip(&sensed.elements).map(tension).collect()),
        }
    }

    /// The same of cells that have these edges.
    fn of_cells(&self, cells: impl Iterator<Item = Vec<usize>>) -> Self {
        let mean = |values: &[f64], edges: &[usize]| {
            edges.iter().map(|&k| values[k]).sum::<f64>() / edges.len().max(1) as f64
        };
        let mut means =
            Self { material: Vec::new(), strain: Vec::new(), force: self.force.as_ref().map(|_| Vec::new()) };
        for edges in cells {
            let count = |m: u16| edges.iter().filter(|&&k| self.material[k] == m).count();
            // Of as many, that with the lowest number.
            let most = edges.iter().map(|&k| self.material[k]).max_by_key(|&m| (count(m), Reverse(m)));
            means.material.push(most.unwrap_or_default());
            means.strain.push(mean(&self.strain, &edges));
            if let Some((all, own)) = means.force.as_mut().zip(self.force.as_ref()) {
                all.push(mean(own, &edges));
            }
        }
        means
    }

    fn write(&self, xml: &mut Grid) {
        xml.open("CellData Scalars=\"strain\"");
        xml.array("UInt16", "material", 1, self.material.iter().map(|m| m.to_le_bytes()));
        xml.numbers("strain", &self.strain);
        if let Some(force) = &self.force {
            xml.numbers("force", force);
        }
        xml.close("CellData");
    }
}

/// A file being written.
struct Grid(String);

impl Grid {
    fn new(points: usize, cells: usize) -> Self {
        Self(format!(
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
             <UnstructuredGrid>\n<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n"
        ))
    }

    fn open(&mut self, element: &str) {
        let _ = writeln!(self.0, "<{element}>");
    }

    fn close(&mut self, element: &str) {
        let _ = writeln!(self.0, "</{element}>");
    }

    fn numbers(&mut self, name: &str, values: &[f64]) {
        self.array("Float64", name, 1, values.iter().map(|v| v.to_le_bytes()));
    }

    fn vectors(&mut self, name: &str, values: &[Vec3]) {
        self.array("Float64", name, 3, values.iter().flat_map(|v| [v.x, v.y, v.z]).map(f64::to_le_bytes));
    }

    /// An inline base64 array: its length in bytes, then the numbers.
    fn array<const N: usize>(
        &mut self,
        kind: &str,
        name: &str,
        components: u32,
        values: impl Iterator<Item = [u8; N]>,
    ) {
        let mut raw = vec![0; 8];
        raw.extend(values.flatten());
        let length = raw.len() as u64 - 8;
        raw[..8].copy_from_slice(&length.to_le_bytes());
        // Of one component nothing is said: some readers would make rows of one number each.
        let components = match components {
            1 => String::new(),
            several => format!(" NumberOfComponents=\"{several}\""),
        };
        let _ = write!(self.0, "<DataArray type=\"{kind}\" Name=\"{name}\"{components} format=\"binary\">");
        BASE64_STANDARD.encode_string(raw, &mut self.0);
        self.0.push_str("</DataArray>\n");
    }

    /// Points and cells, and the end.
    fn geometry(mut self, places: &[Vec3], cells: &Cells) -> String {
        self.open("Points");
        self.vectors("Points", places);
        self.close("Points");
        self.open("Cells");
        let ends = (1..=cells.count()).map(|k| ((k * cells.each) as u64).to_le_bytes());
        let corners = cells.corners.iter().map(|&corner| u64::from(corner).to_le_bytes());
        self.array("Int64", "connectivity", 1, corners);
        self.array("Int64", "offsets", 1, ends);
        self.array("UInt8", "types", 1, std::iter::repeat_n(cells.kind.to_le_bytes(), cells.count()));
        self.close("Cells");
        self.0 + "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"
    }
}

/// A collection: time and file of every frame.
pub fn pvd<'a>(frames: impl IntoIterator<Item = (f64, &'a str)>) -> String {
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
    use crate::{around, sample::Sampler};
    use nendo_model::{
        engine::{self, Kind, Options},
        mesh::import,
        scene::health::Doctor,
    };

    /// A state without forces.
    fn still(scene: &Scene, positions: Vec<Vec3>) -> Sample {
        Sample {
            step: 0,
            time: 0.0,
            velocities: vec![Vec3::zeros(); positions.len()],
            sensed: None,
            reactions: Vec::new(),
            health: Doctor::new(scene).look(&positions, 0.0),
            positions,
        }
    }

    /// The bytes of an array, if the file has it.
    fn array(xml: &str, name: &str) -> Option<Vec<u8>> {
        let (_, rest) = xml.split_once(&format!("Name=\"{name}\""))?;
        let text = rest.split_once('>')?.1.split_once('<')?.0;
        Some(BASE64_STANDARD.decode(text).unwrap().split_off(8))
    }

    fn numbers(xml: &str, name: &str) -> Vec<f64> {
        array(xml, name).unwrap().chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect()
    }

    const PAIR: &str = "step = 0.0001\nmass = 2\n[mesh]\nparticles = [[0,0,0],[1,0,0]]\nedges = [[0,1]]\n\
        [materials.m]\nk1 = 10\nc1 = 1\nc2 = 4\n\
        [[pins]]\non = [0]\n[[motions]]\non = [1]\n\
        frames = [{ t = 0.1, offset = [0.1, 0, 0] }]\n";

    /// An edge is drawn out by a tenth in a tenth of a second, and its Voigt part at constant speed v by
    /// u = c2 v / k1 (1 - exp(-k1 t / (c1 + c2))), which holds it with k1 c2 / (c1 + c2) u when it stands.
    #[test]
    fn a_frame_said_nothing_of_strain_and_force() {
        let scene = Scene::parse(PAIR, "pair.toml").unwrap();
        let (k1, c1, c2) = (10.0, 1.0, 4.0);
        let u = c2 / k1 * (1.0 - f64::exp(-k1 * 0.1 / (c1 + c2)));
        let wanted = k1 * c2 / (c1 + c2) * u;
        for kind in [Kind::F64, Kind::F32, Kind::Model] {
            let mut engine = engine::open(&scene, &Options { kind, ..Options::default() }).unwrap();
            let sampler = Sampler::new(&scene);
            engine.advance(500).unwrap();
            let frame = object(&scene, &sampler.take(engine.as_mut(), true).unwrap());
            let [strain, velocity] = ["strain", "velocity"].map(|name| numbers(&frame, name));
            assert!((strain[0] - 0.05).abs() < 1e-4, "{kind:?} half way: {strain:?}");
            assert!((velocity[3] - 1.0).abs() < 1e-3 && velocity[..3] == [0.0; 3], "{kind:?}: {velocity:?}");
            engine.advance(500).unwrap();
            let sample = sampler.take(engine.as_mut(), true).unwrap();
            for frame in [object(&scene, &sample), edges(&scene, &sample)] {
                let [strain, force] = ["strain", "force"].map(|name| numbers(&frame, name)[0]);
                assert!((strain - 0.1).abs() < 1e-4, "{kind:?}: {strain}");
                assert!((force / wanted - 1.0).abs() < 2e-3, "{kind:?}: {force}, not {wanted}");
                assert_eq!(array(&frame, "material").unwrap(), [0, 0]);
            }
            assert_eq!(array(&object(&scene, &sample), "support").unwrap(), [1, 2]);
        }
        let text = PAIR.replace("frames = [", "release = 0.2\nat-rest = true\nframes = [");
        let released = Scene::parse(&text, "released.toml").unwrap();
        for (step, wanted) in [(1999, [1, 2]), (2000, [1, 0])] {
            let sample = Sample { step, ..still(&released, released.mesh.particles.clone()) };
            assert_eq!(array(&object(&released, &sample), "support").unwrap(), wanted, "let go at 0.2 s");
        }
        let silent = object(&scene, &still(&scene, scene.mesh.particles.clone()));
        assert!(array(&silent, "force").is_none(), "what is not known is left out");
    }

    /// Stretched evenly, every cell of a body has the strain of its edges; each has the material of most of them.
    #[test]
    fn cells_have_the_mean_of_their_edges() {
        let mut scene = Scene::open("box:3x4x2").unwrap();
        let low = scene.mesh.bounds().0.x + 1e-9;
        let on_side: Vec<bool> = scene.mesh.particles.iter().map(|p| p.x < low).collect();
        let count = |corners: &[u32]| corners.iter().filter(|&&p| on_side[p as usize]).count();
        scene.edge_material = scene.mesh.edges.iter().map(|ends| u16::from(count(ends) < 2)).collect();
        let stretched: Vec<Vec3> = scene.mesh.particles.iter().map(|p| p * 1.1).collect();
        let frame = object(&scene, &still(&scene, stretched));
        let strain = numbers(&frame, "strain");
        assert_eq!(strain.len(), scene.mesh.tetrahedra.len());
        assert!(strain.iter().all(|s| (s - 0.1).abs() < 1e-12), "{strain:?}");
        // A tetrahedron with a face on that side has three of its six edges there.
        let wanted: Vec<u8> = scene.mesh.tetrahedra.iter().map(|t| u8::from(count(t) < 3)).collect();
        assert!(wanted.contains(&0) && wanted.contains(&1));
        let found: Vec<u8> = array(&frame, "material").unwrap().into_iter().step_by(2).collect();
        assert_eq!(found, wanted);
    }

    /// Boundaries are where they are at the time of the frame.
    #[test]
    fn boundaries_were_not_in_the_frames() {
        let text = PAIR.to_owned()
            + "[contact]\nstiffness = 1\n\
               [[boundaries]]\nplane = { point = [0,0,-1], normal = [0,0,1] }\n\
               [[boundaries]]\nball = { center = [0,0,3], radius = 0.5 }\nframes = [{ t = 1, offset = [0,0,4] }]\n";
        let scene = Scene::parse(&text, "around.toml").unwrap();
        let frame = around(&around::boundaries(&scene), 0.5);
        let places = numbers(&frame, "Points");
        let numbers: Vec<u8> = array(&frame, "boundary").unwrap().into_iter().step_by(4).collect();
        assert_eq!(numbers.iter().filter(|&&n| n == 0).count(), 2, "two triangles of the plane");
        assert!(numbers.iter().filter(|&&n| n == 1).count() > 100, "many of the ball");
        let (plane, ball) = places.split_at(12);
        assert!(plane.iter().skip(2).step_by(3).all(|&z| z == -1.0), "{plane:?}");
        let away = |p: &[f64]| (Vec3::from_column_slice(p) - Vec3::new(0.0, 0.0, 5.0)).norm();
        assert!(ball.chunks(3).all(|p| (away(p) - 0.5).abs() < 1e-12), "half way up");
    }

    /// The importer, which reads files of other programs too, reads back every bit.
    #[test]
    fn frames_are_read_back_exactly() {
        let scene = Scene::open("box:3x4x2").unwrap();
        let moved: Vec<Vec3> =
            scene.mesh.particles.iter().map(|p| p * 1.1 + Vec3::new(0.1, 1e-7, 3.0)).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frame.vtu");
        std::fs::write(&path, object(&scene, &still(&scene, moved.clone()))).unwrap();
        let back = import::load(&path, 1.0).unwrap();
        assert_eq!((back.particles, back.tetrahedra), (moved, scene.mesh.tetrahedra));
    }

    #[test]
    fn sheets_and_chains_have_frames_too() {
        for (name, kind, cells, apart) in [("box:3x3x1", 5, 8, true), ("box:3x1x1", 3, 2, false)] {
            let scene = Scene::open(name).unwrap();
            let frame = object(&scene, &still(&scene, scene.mesh.particles.clone()));
            assert_eq!(array(&frame, "types").unwrap(), vec![kind; cells], "{name}");
            assert_eq!(has_edges_apart(&scene), apart, "{name}");
        }
        let list = pvd([(0.0, "frames/0.vtu"), (0.5, "a&b.vtu")]);
        assert!(list.contains("timestep=\"0.5\"") && list.contains("a&amp;b.vtu"));
    }
}
