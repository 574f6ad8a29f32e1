//! How good the tetrahedra of a mesh are.

use super::{Vec3, tetrahedron_edges};
use crate::text::count;
use std::collections::HashSet;

/// Smallest, mean and largest of something.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut count, mut sum, mut min, mut max) = (0u64, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for v in values {
            count += 1;
            sum += v;
            min = min.min(v);
            max = max.max(v);
        }
        (count > 0).then(|| Self { min, mean: sum / count as f64, max })
    }
}

/// What can be said about a mesh before it is simulated.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Quality {
    /// Nodes in the file.
    pub nodes: usize,
    /// Nodes that no tetrahedron uses: they are left out.
    pub isolated_nodes: usize,
    /// Nodes in the place of an earlier one: the mesh may be torn there.
    pub duplicate_nodes: usize,
    /// Tetrahedra.
    pub tetrahedra: usize,
    /// Tetrahedra whose corners are listed the other way round; harmless, for edges have no inside.
    pub inverted: usize,
    /// Tetrahedra without volume: their edges cannot hold them open.
    pub degenerate: usize,
    /// Tetrahedra listed before.
    pub repeated: usize,
    /// Parts that no tetrahedron joins.
    pub pieces: usize,
    /// Volume in m^3.
    pub volume: f64,
    /// Shape of tetrahedra: 1 is regular, 0 is flat (12 (3V)^(2/3) over the sum of squared edges).
    pub shape: Option<Spread>,
    /// Tetrahedra with a shape below 0.1.
    pub slivers: usize,
    /// Edges.
    pub edges: usize,
    /// Their lengths in metres.
    pub edge_length: Option<Spread>,
}

impl Quality {
    /// Looks at every tetrahedron, whose nodes must be there.
    pub(super) fn of(particles: &[Vec3], tetrahedra: &[[u32; 4]]) -> Self {
        let place = |i: u32| particles[i as usize];
        let mut used = vec![false; particles.len()];
        let mut piece = Pieces::new(particles.len());
        let mut seen = HashSet::new();
        let mut repeated = 0;
        for t in tetrahedra {
            let mut sorted = *t;
            sorted.sort_unstable();
            repeated += usize::from(!seen.insert(sorted));
            for &corner in t {
                used[corner as usize] = true;
                piece.join(t[0], corner);
            }
        }
        let mut places = HashSet::new();
        // Zero has two signs but is one place.
        let duplicate_nodes =
            particles.iter().filter(|p| !places.insert(p.map(|c| (c + 0.0).to_bits()))).count();
        let signed: Vec<f64> = tetrahedra.iter().map(|t| volume(t.map(place))).collect();
        let shapes: Vec<f64> =
            tetrahedra.iter().zip(&signed).map(|(t, v)| shape(t.map(place), v.abs())).collect();
        let edges = tetrahedron_edges(tetrahedra);
        Self {
            nodes: particles.len(),
            isolated_nodes: used.iter().filter(|u| !**u).count(),
            duplicate_nodes,
            tetrahedra: tetrahedra.len(),
            inverted: signed.iter().filter(|v| **v < 0.0).count(),
            degenerate: shapes.iter().filter(|s| s.is_nan() || **s < 1e-6).count(),
            repeated,
            pieces: (0..particles.len() as u32).filter(|&p| used[p as usize] && piece.root(p) == p).count(),
            volume: signed.iter().map(|v| v.abs()).sum(),
            slivers: shapes.iter().filter(|s| **s < 0.1).count(),
            shape: Spread::of(shapes.into_iter()),
            edge_length: Spread::of(edges.iter().map(|&[a, b]| (place(a) - place(b)).norm())),
            edges: edges.len(),
        }
    }

    /// What deserves a second look, for people.
    pub fn warnings(&self) -> Vec<String> {
        let mut list = Vec::new();
        let mut warn = |number: usize, thing: &str, text: &str| {
            if number > 0 {
                list.push(format!("{}{text}", count(number, thing)));
            }
        };
        warn(self.isolated_nodes, "node", " in no tetrahedron, left out");
        warn(
            self.duplicate_nodes,
            "node",
            " exactly on others: the mesh may be torn there; merge them (in Gmsh: Coherence Mesh)",
        );
        warn(self.degenerate, "tetrahedron", " without volume; optimise the mesh (gmsh -optimize)");
        warn(
            self.slivers - self.degenerate.min(self.slivers),
            "tetrahedron",
            " nearly flat, slivers (shape below 0.1); optimise the mesh (gmsh -optimize)",
        );
        warn(self.repeated, "tetrahedron", " listed twice");
        if self.pieces > 1 {
            warn(self.pieces, "separate piece", "");
        }
        if let Some(Spread { min, max, .. }) = self.edge_length.filter(|l| l.max > 20.0 * l.min) {
            list.push(format!(
                "edge lengths differ by a factor of {:.0}: short edges need small steps",
                max / min
            ));
        }
        list
    }
}

/// Six times this is the determinant; positive if the corners turn the right way.
fn volume([a, b, c, d]: [Vec3; 4]) -> f64 {
    (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
}

fn shape([a, b, c, d]: [Vec3; 4], volume: f64) -> f64 {
    let squares: f64 = [b - a, c - a, d - a, c - b, d - b, d - c].iter().map(|e| e.norm_squared()).sum();
    12.0 * (3.0 * volume).powf(2.0 / 3.0) / squares
}

/// Which particles hang together.
struct Pieces(Vec<u32>);

impl Pieces {
    fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    fn root(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            self.0[at as usize] = self.0[self.0[at as usize] as usize];
            at = self.0[at as usize];
        }
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Lattice;

    #[test]
    fn a_lattice_is_sound_and_its_figures_are_known() {
        let mesh = Lattice { size: [3, 3, 3], pitch: 0.1, center: Vec3::zeros() }.mesh().unwrap();
        let q = Quality::of(&mesh.particles, &mesh.tetrahedra);
        assert_eq!((q.nodes, q.tetrahedra, q.edges), (27, 40, mesh.edges.len()));
        assert_eq!(
            (q.isolated_nodes, q.duplicate_nodes, q.degenerate, q.repeated, q.pieces),
            (0, 0, 0, 0, 1)
        );
        assert!((q.volume - 0.008).abs() < 1e-12);
        // The middle tetrahedron of each cube is regular.
        let (shape, length) = (q.shape.unwrap(), q.edge_length.unwrap());
        assert!((shape.max - 1.0).abs() < 1e-9 && shape.min > 0.8, "{shape:?}");
        assert!((length.min - 0.1).abs() < 1e-12 && (length.max - 0.1 * 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(q.warnings(), Vec::<String>::new());
    }

    #[test]
    fn each_defect_is_counted() {
        let mut particles = vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        particles.extend(particles.clone());
        particles.push(Vec3::new(1.0, 1.0, 0.0));
        particles.push(Vec3::new(9.0, 9.0, 9.0));
        let tetrahedra = [[0, 1, 2, 3], [3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 2, 8], [0, 2, 1, 3]];
        let q = Quality::of(&particles, &tetrahedra);
        assert_eq!((q.isolated_nodes, q.duplicate_nodes, q.pieces), (1, 4, 2));
        assert_eq!((q.degenerate, q.repeated, q.inverted), (1, 2, 1));
        assert_eq!(q.warnings().len(), 5, "{:?}", q.warnings());
    }
}
