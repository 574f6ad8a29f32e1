//! Boxes of particles, each cube cut into five tetrahedra.
//!
//! The cut alternates with the parity of the cube, so that the diagonals of neighbours meet: all axis edges
//! plus one diagonal on every unit square. A lattice of one layer is a sheet of triangles, one row a chain.

use super::{Mesh, Vec3, memory};
use crate::machine::memory::{MemoryError, demand, reserved};

/// A regular box of particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Particles along x, y and z.
    pub size: [u32; 3],
    /// Distance between neighbours in metres.
    pub pitch: f64,
    /// Centre of the box.
    pub center: Vec3,
}

/// Why a lattice cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LatticeError {
    /// Fewer than two or more than [`Lattice::MAX_PARTICLES`] particles.
    #[error("a box of {}x{}x{} particles: between 2 and {max} particles in all are possible", size[0], size[1], size[2], max = Lattice::MAX_PARTICLES)]
    Size {
        /// The size asked for.
        size: [u32; 3],
    },
    /// More particles than this machine has memory for.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A pitch that is not a positive number.
    #[error("a pitch of {0} m: it must be a positive number")]
    Pitch(f64),
    /// A centre that is not finite, or so far away that neighbours coincide.
    #[error("the centre of the box must be finite and near enough that neighbouring particles differ")]
    Center,
}

impl Lattice {
    /// More than this is surely a mistake, and must not eat all memory.
    pub const MAX_PARTICLES: u64 = 1 << 24;

    /// The number of the particle at lattice position `at`.
    pub fn index(&self, at: [u32; 3]) -> u32 {
        (at[2] * self.size[1] + at[1]) * self.size[0] + at[0]
    }

    pub(super) fn position(&self, at: [u32; 3]) -> Vec3 {
        let offset = |k: usize| (f64::from(at[k]) - f64::from(self.size[k] - 1) / 2.0) * self.pitch;
        self.center + Vec3::new(offset(0), offset(1), offset(2))
    }

    pub(super) fn positions(&self) -> impl Iterator<Item = [u32; 3]> {
        let [nx, ny, nz] = self.size;
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
    }

    /// Particles, edges and, for a lattice of at least two layers each way, tetrahedra and surface.
    pub fn mesh(&self) -> Result<Mesh, LatticeError> {
        let count = self.size.iter().try_fold(1u64, |n, &side| n.checked_mul(side.into()));
        if !count.is_some_and(|n| (2..=Self::MAX_PARTICLES).contains(&n)) {
            return Err(LatticeError::Size { size: self.size });
        }
        if !(self.pitch.is_finite() && self.pitch > 0.0) {
            return Err(LatticeError::Pitch(self.pitch));
        }
        self.check_memory()?;
        let mut particles: Vec<Vec3> = reserved("particles", self.count())?;
        particles.extend(self.positions().map(|at| self.position(at)));
        let edges = self.edges()?;
        let distinct = |&[a, b]: &[u32; 2]| particles[a as usize] != particles[b as usize];
        if !particles.iter().all(|p| p.iter().all(|c| c.is_finite())) || !edges.iter().all(distinct) {
            return Err(LatticeError::Center);
        }
        let tetrahedra = self.tetrahedra(|_| true)?;
        let triangles = if tetrahedra.is_empty() {
            self.sheet_triangles()
        } else {
            super::boundary(&particles, &tetrahedra)
        };
        Ok(Mesh { particles, edges, triangles, tetrahedra, ..Mesh::default() })
    }

    /// Particles, which must be few enough to be counted.
    fn count(&self) -> usize {
        self.size.iter().map(|&side| side as usize).product()
    }

    /// Cubes between them.
    fn cubes(&self) -> usize {
        self.size.iter().map(|&side| side.saturating_sub(1) as usize).product()
    }

    /// Refuses what takes more memory than there is. A particle has six edges, a cube five tetrahedra.
    pub(super) fn check_memory(&self) -> Result<(), MemoryError> {
        let [x, y, z] = self.size;
        let bytes = memory::making(self.count(), 6 * self.count(), 5 * self.cubes());
        demand(|| format!("a box of {x}x{y}x{z} particles"), bytes)
    }

    fn edges(&self) -> Result<Vec<[u32; 2]>, MemoryError> {
        let mut edges = reserved("edges", 6 * self.count())?;
        for at in self.positions() {
            let step = |axes: &[usize]| {
                let mut to = at;
                for &a in axes {
                    to[a] += 1;
                }
                (0..3).all(|a| to[a] < self.size[a]).then_some(to)
            };
            for axis in 0..3 {
                edges.extend(step(&[axis]).map(|to| [self.index(at), self.index(to)]));
            }
            for (a, b) in [(0, 1), (1, 2), (0, 2)] {
                if let Some(to) = step(&[a, b]) {
                    edges.push(self.diagonal(at, to, a));
                }
            }
        }
        Ok(edges)
    }

    /// The diagonal of the square between opposite corners `low` and `high`, `a` one of its axes.
    fn diagonal(&self, low: [u32; 3], high: [u32; 3], a: usize) -> [u32; 2] {
        if low.iter().sum::<u32>() % 2 == 0 {
            return [self.index(low), self.index(high)];
        }
        let (mut from, mut to) = (low, high);
        from[a] += 1;
        to[a] -= 1;
        let (from, to) = (self.index(from), self.index(to));
        [from.min(to), from.max(to)]
    }

    /// Five tetrahedra for each cube that `keep` chooses by its lowest corner.
    pub(super) fn tetrahedra(&self, keep: impl Fn([u32; 3]) -> bool) -> Result<Vec<[u32; 4]>, MemoryError> {
        let mut all = reserved("tetrahedra", 5 * self.cubes())?;
        let is_cube = |at: &[u32; 3]| (0..3).all(|a| at[a] + 1 < self.size[a]);
        for at in self.positions().filter(|at| is_cube(at) && keep(*at)) {
            let corner = |x, y, z| self.index([at[0] + x, at[1] + y, at[2] + z]);
            // The four even corners span the middle tetrahedron; each odd corner cuts one off.
            let odd = at.iter().sum::<u32>() % 2;
            let c = |x, y, z| corner(x ^ odd, y, z);
            let even = [c(0, 0, 0), c(1, 1, 0), c(1, 0, 1), c(0, 1, 1)];
            all.push(even);
            all.push([c(1, 0, 0), even[0], even[1], even[2]]);
            all.push([c(0, 1, 0), even[0], even[1], even[3]]);
            all.push([c(0, 0, 1), even[0], even[2], even[3]]);
            all.push([c(1, 1, 1), even[1], even[2], even[3]]);
        }
        Ok(all)
    }

    /// Two triangles per square of a lattice that is one layer thick.
    fn sheet_triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles = Vec::new();
        for at in self.positions() {
            for (a, b) in [(0, 1), (1, 2), (0, 2)] {
                let corner = |da, db| {
                    let mut to = at;
                    to[a] += da;
                    to[b] += db;
                    self.index(to)
                };
                if at[a] + 1 >= self.size[a] || at[b] + 1 >= self.size[b] {
                    continue;
                }
                let ring = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                let first = (at.iter().sum::<u32>() % 2) as usize;
                let r = |k: usize| ring[(first + k) % 4];
                triangles.extend([[r(0), r(1), r(2)], [r(0), r(2), r(3)]]);
            }
        }
        triangles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lattice(size: [u32; 3]) -> Lattice {
        Lattice { size, pitch: 1.0, center: Vec3::zeros() }
    }

    /// Every edge count the papers print.
    #[test]
    fn printed_edge_counts() {
        for (size, particles, edges) in [
            ([4, 4, 4], 64, 252),
            ([6, 5, 5], 150, 661),
            ([7, 7, 6], 294, 1385),
            ([9, 8, 8], 576, 2857),
            ([9, 9, 9], 729, 3672),
            ([11, 11, 11], 1331, 6930),
            ([15, 15, 16], 3600, 19531),
        ] {
            let mesh = lattice(size).mesh().unwrap();
            assert_eq!((mesh.particles.len(), mesh.edges.len()), (particles, edges), "{size:?}");
        }
    }

    #[test]
    fn impossible_lattices_are_refused() {
        assert!(lattice([1, 1, 1]).mesh().is_err());
        assert!(lattice([0, 9, 9]).mesh().is_err());
        assert!(lattice([u32::MAX; 3]).mesh().is_err());
        for pitch in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Lattice { pitch, ..lattice([2, 2, 2]) }.mesh(), Err(LatticeError::Pitch(_))));
        }
        let far = Vec3::new(1e300, 0.0, 0.0);
        assert_eq!(Lattice { center: far, ..lattice([2, 2, 2]) }.mesh(), Err(LatticeError::Center));
    }

    proptest! {
        /// The edges made directly are those of the tetrahedra, and the volumes add up to the box.
        #[test]
        fn five_tetrahedra_per_cube(nx in 2u32..6, ny in 2u32..6, nz in 2u32..6) {
            let mesh = lattice([nx, ny, nz]).mesh().unwrap();
            prop_assert_eq!(mesh.check(), Ok(()));
            let sorted = |mut edges: Vec<[u32; 2]>| {
                edges.sort_unstable();
                edges
            };
            prop_assert_eq!(sorted(mesh.edges.clone()), sorted(super::super::tetrahedron_edges(&mesh.tetrahedra)));
            let volume: f64 = mesh
                .tetrahedra
                .iter()
                .map(|t| {
                    let [a, b, c, d] = t.map(|i| mesh.particles[i as usize]);
                    (b - a).cross(&(c - a)).dot(&(d - a)).abs() / 6.0
                })
                .sum();
            prop_assert!((volume - f64::from((nx - 1) * (ny - 1) * (nz - 1))).abs() < 1e-9);
        }

        #[test]
        fn sheets_and_chains_are_sound(nx in 1u32..6, ny in 1u32..6) {
            if nx * ny > 1 {
                let mesh = lattice([nx, ny, 1]).mesh().unwrap();
                prop_assert_eq!(mesh.check(), Ok(()));
                prop_assert_eq!(mesh.triangles.len() as u32, 2 * (nx - 1) * (ny - 1));
            }
        }
    }
}
