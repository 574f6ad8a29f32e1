//! A closed surface filled with a lattice.
//!
//! The box around the surface is cut into cubes of side `pitch`; those whose centres are inside stay, each as
//! five tetrahedra. So the filled body has steps where the surface is slanted, and parts thinner than a
//! cube may be lost: `volume_ratio` says how much was.
//!
//! A centre is inside if a ray upwards from below has crossed the surface an odd number of times. Which side of
//! a triangle's edge the ray passes is decided once per edge, so that neighbours agree.

use super::compact;
use crate::mesh::{Lattice, Mesh, Vec3};
use std::collections::{BTreeMap, HashMap};

/// More crossings of rays and triangles than anyone waits for.
const MAX_WORK: u64 = 1 << 33;

/// A filled surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    /// The body.
    pub mesh: Mesh,
    /// Its cubes.
    pub cubes: usize,
    /// Its volume over that within the surface; nothing if the triangles do not all face the same side.
    pub volume_ratio: Option<f64>,
}

pub(super) fn fill(particles: &[Vec3], triangles: &[[u32; 3]], pitch: f64) -> Result<Fill, String> {
    if !(pitch.is_finite() && pitch > 0.0) {
        return Err(format!("a pitch of {pitch} m: it must be a positive number"));
    }
    let surface = Surface::new(particles, triangles);
    let oriented = surface.check_closed()?;
    let grid = Grid::around(&surface, pitch)?;
    let inside = grid.inside(&surface)?;
    let [nx, ny, nz] = grid.cubes;
    let is_inside = |at: [u32; 3]| inside[((at[1] * nx + at[0]) * nz + at[2]) as usize];
    let cubes = inside.iter().filter(|i| **i).count();
    if cubes == 0 {
        return Err(format!(
            "no cube of {pitch} m has its centre inside; choose a smaller pitch (the surface is {nx}x{ny}x{nz} of them)"
        ));
    }
    let lattice = Lattice { size: grid.cubes.map(|n| n + 1), pitch, center: grid.center };
    let particles: Vec<Vec3> = lattice.positions().map(|at| lattice.position(at)).collect();
    let mesh = compact(particles, lattice.tetrahedra(is_inside).map_err(|e| e.to_string())?, BTreeMap::new())
        .map_err(|e| e.to_string())?;
    let volume_ratio = oriented.then(|| cubes as f64 * pitch.powi(3) / surface.volume().abs());
    Ok(Fill { mesh, cubes, volume_ratio: volume_ratio.filter(|r| r.is_finite()) })
}

/// Triangles whose equal corners are one.
struct Surface {
    corners: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Surface {
    fn new(particles: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let mut corners = Vec::new();
        let mut known = HashMap::new();
        let mut merged = |i: u32| {
            let at = particles[i as usize];
            // Zero has two signs but is one place.
            *known.entry(at.map(|c| (c + 0.0).to_bits())).or_insert_with(|| {
                corners.push(at);
                corners.len() as u32 - 1
            })
        };
        let mut kept: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(&mut merged)).collect();
        kept.retain(|[a, b, c]| a != b && b != c && c != a);
        Self { corners, triangles: kept }
    }

    /// Whether every triangle has a neighbour at each side; tells if they all face the same way.
    fn check_closed(&self) -> Result<bool, String> {
        if self.triangles.is_empty() {
            return Err("it has no triangles".to_owned());
        }
        let mut sides: HashMap<[u32; 2], (u32, i32)> = HashMap::new();
        for &[a, b, c] in &self.triangles {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                let side = sides.entry([from.min(to), from.max(to)]).or_default();
                side.0 += 1;
                side.1 += if from < to { 1 } else { -1 };
            }
        }
        let open = sides.values().filter(|(count, _)| *count == 1).count();
        let crowded = sides.values().filter(|(count, _)| *count > 2).count();
        if open > 0 {
            return Err(format!(
                "the surface is open: {open} sides of triangles have no neighbour; close its holes (in MeshLab or Blender: fill holes, merge vertices by distance)"
            ));
        }
        if crowded > 0 {
            return Err(format!(
                "the surface is not a simple one: {crowded} sides belong to more than two triangles; separate the bodies that touch there (in Blender: select non-manifold)"
            ));
        }
        Ok(sides.values().all(|(_, turn)| *turn == 0))
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        let first = self.corners[0];
        self.corners.iter().fold((first, first), |(low, high), p| (low.inf(p), high.sup(p)))
    }

    fn volume(&self) -> f64 {
        let origin = self.corners[0];
        let part = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| self.corners[i as usize] - origin);
            a.cross(&b).dot(&c) / 6.0
        };
        self.triangles.iter().map(part).sum()
    }

    /// The height at which the vertical line through (x, y) crosses a triangle, if it does.
    fn crossing(&self, triangle: [u32; 3], x: f64, y: f64) -> Option<f64> {
        let side = |from: u32, to: u32| {
            // Always computed from the lower to the higher corner: the neighbour finds the same number.
            let (a, b) = (self.corners[from.min(to) as usize], self.corners[from.max(to) as usize]);
            let cross = (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
            if from < to { (cross, cross >= 0.0) } else { (-cross, cross < 0.0) }
        };
        let [a, b, c] = triangle;
        let (opposite_c, opposite_a, opposite_b) = (side(a, b), side(b, c), side(c, a));
        if opposite_c.1 != opposite_a.1 || opposite_a.1 != opposite_b.1 {
            return None;
        }
        let z = |i: u32| self.corners[i as usize].z;
        let total = opposite_a.0 + opposite_b.0 + opposite_c.0;
        Some((opposite_a.0 * z(a) + opposite_b.0 * z(b) + opposite_c.0 * z(c)) / total)
    }
}

/// Cubes in a box.
struct Grid {
    low: Vec3,
    center: Vec3,
    pitch: f64,
    cubes: [u32; 3],
}

impl Grid {
    fn around(surface: &Surface, pitch: f64) -> Result<Self, String> {
        let (low, high) = surface.bounds();
        // A body of a whole number of cubes gets just these.
        let counts = (high - low).map(|length| (length / pitch - 1e-6).ceil().max(1.0));
        let total: f64 = counts.iter().map(|n| n + 1.0).product();
        if total.is_nan() || total > Lattice::MAX_PARTICLES as f64 {
            return Err(format!(
                "with a pitch of {pitch} m the surface's box would take {total:.2e} particles, more than {}; choose a larger pitch, or a scale if its unit is not the metre",
                Lattice::MAX_PARTICLES
            ));
        }
        let center = (low + high) / 2.0;
        let cubes = [counts.x as u32, counts.y as u32, counts.z as u32];
        let lattice = Lattice { size: cubes.map(|n| n + 1), pitch, center };
        lattice.check_memory().map_err(|e| format!("{e}; or choose a larger pitch"))?;
        Ok(Self { low: center - counts * (pitch / 2.0), center, pitch, cubes })
    }

    /// Whether each cube's centre is inside, column by column.
    fn inside(&self, surface: &Surface) -> Result<Vec<bool>, String> {
        let [nx, ny, nz] = self.cubes.map(|n| n as usize);
        // `flips` holds, for every column, the cubes at which the ray comes in or out, and one more above.
        let mut flips = vec![false; nx * ny * (nz + 1)];
        let mut work = 0u64;
        let mut add_work = |more: u64| {
            work += more;
            let few = work <= MAX_WORK;
            few.then_some(())
                .ok_or("too many large triangles for so small a pitch; choose a larger one".to_owned())
        };
        for &t in &surface.triangles {
            let [a, b, c] = t.map(|i| surface.corners[i as usize]);
            let (low, high) = (a.inf(&b).inf(&c), a.sup(&b).sup(&c));
            let range = |axis: usize, n: usize| {
                let cell = |at: f64| ((at - self.low[axis]) / self.pitch).floor().clamp(0.0, n as f64);
                (cell(low[axis]) as usize).saturating_sub(1)..(cell(high[axis]) as usize + 1).min(n)
            };
            let (xs, ys) = (range(0, nx), range(1, ny));
            add_work((xs.len() * ys.len()) as u64)?;
            for j in ys {
                for i in xs.clone() {
                    let (x, y) = self.ray(i, j, 0);
                    if let Some(z) = surface.crossing(t, x, y) {
                        flips[(j * nx + i) * (nz + 1) + self.first_above(z)] ^= true;
                    }
                }
            }
        }
        let mut inside = Vec::with_capacity(nx * ny * nz);
        for (column, flips) in flips.chunks_exact_mut(nz + 1).enumerate() {
            let mut attempt = 0;
            // A ray that comes in must go out; where rounding hides a crossing, one close by is taken.
            while flips.iter().fold(false, |odd, f| odd ^ f) {
                attempt += 1;
                if attempt > 8 {
                    return Err("rays through the surface enter but do not leave it: triangles overlap; repair it (in MeshLab: remove self-intersections)".to_owned());
                }
                add_work(surface.triangles.len() as u64)?;
                flips.fill(false);
                let (x, y) = self.ray(column % nx, column / nx, attempt);
                for z in surface.triangles.iter().filter_map(|&t| surface.crossing(t, x, y)) {
                    flips[self.first_above(z)] ^= true;
                }
            }
            inside.extend(flips[..nz].iter().scan(false, |now, flip| {
                *now ^= flip;
                Some(*now)
            }));
        }
        Ok(inside)
    }

    /// Where the ray of a column stands: at the centre of its cubes, but a little beside it, because surfaces
    /// like to have their edges at round numbers.
    fn ray(&self, i: usize, j: usize, attempt: u32) -> (f64, f64) {
        let beside = 1e-6 * (1.0 + f64::from(attempt));
        let at = |axis: usize, n: usize, shift: f64| self.low[axis] + (n as f64 + 0.5 + shift) * self.pitch;
        (at(0, i, beside * std::f64::consts::FRAC_1_PI), at(1, j, -beside * std::f64::consts::FRAC_1_SQRT_2))
    }

    /// The lowest cube of a column whose centre is above `z`.
    fn first_above(&self, z: f64) -> usize {
        let n = self.cubes[2];
        ((z - self.low.z) / self.pitch - 0.5).ceil().clamp(0.0, f64::from(n)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The surface of a box of unit cubes.
    fn cube_surface(side: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mesh = Lattice { size: [side + 1; 3], pitch: 1.0, center: Vec3::zeros() }.mesh().unwrap();
        (mesh.particles, mesh.triangles)
    }

    #[test]
    fn a_box_is_filled_exactly() {
        let (particles, triangles) = cube_surface(3);
        let fill = fill(&particles, &triangles, 0.5).unwrap();
        assert_eq!((fill.cubes, fill.mesh.particles.len()), (216, 343));
        assert!((fill.volume_ratio.unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(fill.mesh.bounds(), (Vec3::repeat(-1.5), Vec3::repeat(1.5)));
    }

    #[test]
    fn a_ball_is_filled_to_its_volume() {
        let (mut particles, triangles) = cube_surface(8);
        for p in &mut particles {
            *p = p.normalize();
        }
        let fill = fill(&particles, &triangles, 0.05).unwrap();
        let ratio = fill.volume_ratio.unwrap();
        assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn what_cannot_be_filled_is_refused_with_the_reason() {
        let (particles, triangles) = cube_surface(2);
        let reason = |t: &[[u32; 3]], pitch| fill(&particles, t, pitch).unwrap_err();
        assert!(reason(&triangles[1..], 0.5).contains("open: 3 sides"));
        let doubled = [&triangles[..], &triangles[..1]].concat();
        assert!(reason(&doubled, 0.5).contains("more than two triangles"));
        assert!(reason(&triangles, 1e-6).contains("larger pitch"));
        assert!(reason(&triangles, 0.0).contains("positive"));
        assert!(reason(&[], 0.5).contains("no triangles"));
        // A flat body has no inside.
        let flat = [[0, 1, 2], [2, 1, 0]];
        assert!(fill(&particles, &flat, 0.3).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Turned and moved at random, the volume stays, and no ray is lost. Turned so far that no face is nearly
        /// along the grid: there a whole layer of cells is in or out, a tenth of the volume in all.
        #[test]
        fn turned_boxes_keep_their_volume(axis in prop::array::uniform3(-1.0..1.0f64), angle in 0.25..1.3f64, side in 1u32..4) {
            let (mut particles, triangles) = cube_surface(side);
            let Some(axis) = nalgebra::Unit::try_new(Vec3::from(axis), 1e-3) else { return Ok(()) };
            let turn = nalgebra::Rotation3::from_axis_angle(&axis, angle);
            for p in &mut particles {
                *p = turn * (*p / f64::from(side)) + Vec3::new(0.3, 5.0, -2.0);
            }
            let ratio = fill(&particles, &triangles, 0.06).unwrap().volume_ratio.unwrap();
            prop_assert!((ratio - 1.0).abs() < 0.08, "{}", ratio);
        }
    }
}
