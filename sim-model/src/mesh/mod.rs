//! Meshes: particles, directed edges and, where known, the tetrahedra they came from.

pub mod import;
mod lattice;
mod memory;
pub mod orientation;
mod quality;

pub use lattice::{Lattice, LatticeError};
pub use quality::{Quality, Spread};

use crate::{
    machine::memory::{MemoryError, demand},
    text::count,
};
use nalgebra::Vector3;
use std::collections::{BTreeMap, HashMap};

/// A point or vector in SI units.
pub type Vec3 = Vector3<f64>;

/// Particles and the edges between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Particle positions in metres.
    pub particles: Vec<Vec3>,
    /// Directed edges: start and end particle.
    pub edges: Vec<[u32; 2]>,
    /// Surface triangles, outward orientation where the mesh has tetrahedra.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra, where known.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Named groups, where a file has such.
    pub groups: BTreeMap<String, Group>,
}

/// Particles that have a name together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its particles, in order.
    pub particles: Vec<u32>,
    /// Its tetrahedra, if it is a volume.
    pub tetrahedra: Vec<u32>,
}

/// What makes a mesh unusable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// Nothing to simulate.
    #[error(
        "the mesh has {} and {}; at least two particles and one edge are needed",
        count(*particles, "particle"), count(*edges, "edge")
    )]
    TooSmall {
        /// Number of particles.
        particles: usize,
        /// Number of edges.
        edges: usize,
    },
    /// An index beyond the particle list.
    #[error(
        "{kind} {item} names particle {index}, but the mesh has {particles} particles (0 to {last})",
        last = particles.saturating_sub(1)
    )]
    OutOfRange {
        /// "edge", "tetrahedron" or "triangle".
        kind: &'static str,
        /// Its number in the list, from 0.
        item: usize,
        /// The index it names.
        index: u64,
        /// Number of particles.
        particles: usize,
    },
    /// A coordinate that is not a finite number.
    #[error("particle {particle} has a coordinate that is not a finite number")]
    NonFinite {
        /// The number of the particle in the scene.
        particle: usize,
    },
    /// Both ends the same, or in the same place.
    #[error("edge {edge} ({start} to {end}) has length zero")]
    ZeroLength {
        /// The number of the edge in the scene.
        edge: usize,
        /// Its start particle.
        start: u32,
        /// Its end particle.
        end: u32,
    },
    /// Two edges between the same particles, in either direction.
    #[error("edge {second} ({start} to {end}) repeats edge {first}")]
    DuplicateEdge {
        /// The earlier edge.
        first: usize,
        /// The later edge.
        second: usize,
        /// Start particle of the later edge.
        start: u32,
        /// End particle of the later edge.
        end: u32,
    },
    /// More tetrahedra than this machine has memory for.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A particle that no edge touches.
    #[error("particle {particle} is isolated: no edge touches it")]
    Isolated {
        /// The number of the particle in the scene.
        particle: usize,
    },
}

impl MeshError {
    /// The list (`particles`, `edges`, ...) and the item in it that the error is about.
    pub fn place(&self) -> Option<(&'static str, usize)> {
        match *self {
            Self::TooSmall { .. } | Self::Memory(_) => None,
            Self::OutOfRange { kind: "edge", item, .. } => Some(("edges", item)),
            Self::OutOfRange { kind: "triangle", item, .. } => Some(("triangles", item)),
            Self::OutOfRange { item, .. } => Some(("tetrahedra", item)),
            Self::NonFinite { particle } | Self::Isolated { particle } => Some(("particles", particle)),
            Self::ZeroLength { edge, .. } => Some(("edges", edge)),
            Self::DuplicateEdge { second, .. } => Some(("edges", second)),
        }
    }
}

impl Mesh {
    /// A mesh of tetrahedra: its edges in order of first appearance, its boundary as triangles.
    pub fn from_tetrahedra(particles: Vec<Vec3>, tetrahedra: Vec<[u32; 4]>) -> Result<Self, MeshError> {
        check_range("tetrahedron", &tetrahedra, particles.len())?;
        let what = || format!("a mesh of {} tetrahedra", tetrahedra.len());
        // A body has about seven edges for six tetrahedra.
        demand(what, memory::making(0, tetrahedra.len() * 7 / 6, tetrahedra.len()))?;
        let edges = tetrahedron_edges(&tetrahedra);
        let triangles = boundary(&particles, &tetrahedra);
        let mesh = Self { particles, edges, triangles, tetrahedra, groups: BTreeMap::new() };
        mesh.check()?;
        Ok(mesh)
    }

    /// Refuses what no engine can simulate.
    pub fn check(&self) -> Result<(), MeshError> {
        if self.particles.len() < 2 || self.edges.is_empty() {
            return Err(MeshError::TooSmall { particles: self.particles.len(), edges: self.edges.len() });
        }
        if let Some(particle) = self.particles.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
            return Err(MeshError::NonFinite { particle });
        }
        check_range("edge", &self.edges, self.particles.len())?;
        check_range("triangle", &self.triangles, self.particles.len())?;
        check_range("tetrahedron", &self.tetrahedra, self.particles.len())?;
        let mut touched = vec![false; self.particles.len()];
        let mut seen = HashMap::with_capacity(self.edges.len());
        for (edge, &[start, end]) in self.edges.iter().enumerate() {
            if self.particles[start as usize] == self.particles[end as usize] {
                return Err(MeshError::ZeroLength { edge, start, end });
            }
            if let Some(first) = seen.insert((start.min(end), start.max(end)), edge) {
                return Err(MeshError::DuplicateEdge { first, second: edge, start, end });
            }
            touched[start as usize] = true;
            touched[end as usize] = true;
        }
        match touched.iter().position(|t| !t) {
            Some(particle) => Err(MeshError::Isolated { particle }),
            None => Ok(()),
        }
    }

    /// A group by its name, or why there is none.
    pub fn group(&self, wanted: &str) -> Result<&Group, String> {
        self.groups.get(wanted).ok_or_else(|| {
            let known: Vec<&str> = self.groups.keys().map(String::as_str).take(20).collect();
            match known.is_empty() {
                true => format!(
                    "no group `{wanted}`: the mesh has no groups (only several boxes and mesh files have)"
                ),
                false => format!("no group `{wanted}`; the mesh has {}", known.join(", ")),
            }
        })
    }

    /// How good its tetrahedra are.
    pub fn quality(&self) -> Quality {
        Quality::of(&self.particles, &self.tetrahedra)
    }

    /// Smallest and largest corner of the box around all particles.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let first = self.particles.first().copied().unwrap_or_default();
        self.particles.iter().fold((first, first), |(low, high), p| (low.inf(p), high.sup(p)))
    }

    /// The longest side of the box around all particles.
    pub fn width(&self) -> f64 {
        let (low, high) = self.bounds();
        (high - low).max()
    }

    /// Length of an edge.
    pub fn edge_length(&self, edge: usize) -> f64 {
        let [start, end] = self.edges[edge];
        (self.particles[end as usize] - self.particles[start as usize]).norm()
    }

    /// The edges of some of the tetrahedra, in order.
    pub fn edges_of(&self, tetrahedra: &[u32]) -> Vec<usize> {
        let chosen: Vec<[u32; 4]> =
            tetrahedra.iter().filter_map(|&t| self.tetrahedra.get(t as usize).copied()).collect();
        let sorted = |&[a, b]: &[u32; 2]| [a.min(b), a.max(b)];
        let pairs: std::collections::HashSet<[u32; 2]> = tetrahedron_edges(&chosen).into_iter().collect();
        (0..self.edges.len()).filter(|&k| pairs.contains(&sorted(&self.edges[k]))).collect()
    }

    /// For each particle, how many edges start or end at it.
    pub fn valences(&self) -> Vec<u32> {
        let mut count = vec![0; self.particles.len()];
        self.edges.iter().flatten().for_each(|&p| count[p as usize] += 1);
        count
    }
}

fn check_range<const N: usize>(
    kind: &'static str,
    items: &[[u32; N]],
    particles: usize,
) -> Result<(), MeshError> {
    for (item, corners) in items.iter().enumerate() {
        if let Some(&index) = corners.iter().find(|&&c| c as usize >= particles) {
            return Err(MeshError::OutOfRange { kind, item, index: index.into(), particles });
        }
    }
    Ok(())
}

/// The edges of tetrahedra, each once, from the lower to the higher particle number.
fn tetrahedron_edges(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let mut seen = std::collections::HashSet::new();
    let mut edges = Vec::new();
    for t in tetrahedra {
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let edge = [t[a].min(t[b]), t[a].max(t[b])];
            if seen.insert(edge) {
                edges.push(edge);
            }
        }
    }
    edges
}

/// The triangles that belong to one tetrahedron only, turned outwards.
fn boundary(particles: &[Vec3], tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut faces: HashMap<[u32; 3], ([u32; 3], u32)> = HashMap::new();
    let mut order = Vec::new();
    for t in tetrahedra {
        for opposite in 0..4 {
            let mut face = [0; 3];
            for (slot, corner) in face.iter_mut().zip((0..4).filter(|&c| c != opposite)) {
                *slot = t[corner];
            }
            let mut key = face;
            key.sort_unstable();
            let [a, b, c] = face.map(|i| particles[i as usize]);
            if (b - a).cross(&(c - a)).dot(&(particles[t[opposite] as usize] - a)) > 0.0 {
                face.swap(1, 2);
            }
            let entry = faces.entry(key).or_insert_with(|| {
                order.push(key);
                (face, 0)
            });
            entry.1 += 1;
        }
    }
    order.iter().filter_map(|key| faces.get(key)).filter(|(_, count)| *count == 1).map(|(f, _)| *f).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit_tetrahedron() -> Vec<Vec3> {
        vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()]
    }

    #[test]
    fn a_tetrahedron_has_six_edges_and_faces_outwards() {
        let mesh = Mesh::from_tetrahedra(unit_tetrahedron(), vec![[0, 1, 2, 3]]).unwrap();
        assert_eq!((mesh.edges.len(), mesh.triangles.len()), (6, 4));
        let center = mesh.particles.iter().sum::<Vec3>() / 4.0;
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|i| mesh.particles[i as usize]);
            assert!((b - a).cross(&(c - a)).dot(&(a - center)) > 0.0);
        }
    }

    #[test]
    fn each_defect_has_its_error() {
        let good =
            Mesh { particles: unit_tetrahedron(), edges: vec![[0, 1], [1, 2], [2, 3]], ..Mesh::default() };
        assert_eq!(good.check(), Ok(()));
        let broken = |change: fn(&mut Mesh)| {
            let mut mesh = good.clone();
            change(&mut mesh);
            mesh.check().unwrap_err()
        };
        assert!(matches!(broken(|m| m.edges.clear()), MeshError::TooSmall { .. }));
        assert!(matches!(broken(|m| m.edges[1][1] = 4), MeshError::OutOfRange { item: 1, index: 4, .. }));
        assert!(matches!(broken(|m| m.particles[2].y = f64::NAN), MeshError::NonFinite { particle: 2 }));
        assert!(matches!(broken(|m| m.edges[2] = [1, 1]), MeshError::ZeroLength { edge: 2, .. }));
        assert!(matches!(broken(|m| m.particles[1] = Vec3::zeros()), MeshError::ZeroLength { edge: 0, .. }));
        let again = broken(|m| m.edges.push([1, 0]));
        assert!(matches!(again, MeshError::DuplicateEdge { first: 0, second: 3, .. }));
        assert!(matches!(broken(|m| m.edges[2] = [2, 0]), MeshError::Isolated { particle: 3 }));
    }

    proptest! {
        #[test]
        fn the_boundary_of_a_lattice_is_closed(nx in 2u32..5, ny in 2u32..5, nz in 2u32..5) {
            let mesh = Lattice { size: [nx, ny, nz], pitch: 1.0, center: Vec3::zeros() }.mesh().unwrap();
            // Each side of a boundary triangle is shared with exactly one other, in the other direction.
            let mut sides = HashMap::new();
            for &[a, b, c] in &mesh.triangles {
                for (from, to) in [(a, b), (b, c), (c, a)] {
                    *sides.entry((from, to)).or_insert(0) += 1;
                }
            }
            for (&(from, to), &count) in &sides {
                prop_assert_eq!(count, 1);
                prop_assert_eq!(sides.get(&(to, from)), Some(&1));
            }
        }
    }
}
