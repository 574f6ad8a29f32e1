//! An order of particles and edges in which neighbours in space are neighbours in memory.
//!
//! In a mesh that fills a grid, whole rows of edges then lead from consecutive particles to consecutive
//! particles, and vectors of them are loaded at once; in any other mesh nearby particles share cache lines.

use crate::mesh::Vec3;

/// Particles of a stretch so small that order within it no longer matters.
const LEAF: usize = 32;

/// Particle numbers in an order that depends on the mesh alone; stretches of `part` are compact.
pub(crate) fn particles(points: &[Vec3], edges: &[[u32; 2]], part: usize) -> Vec<u32> {
    by_grid(points, edges).unwrap_or_else(|| by_place(points, part))
}

/// Edge numbers in the order of their particles, but those that share a start apart: an addition to a force has
/// to wait for the one before.
pub(crate) fn edges(edges: &[[u32; 2]]) -> Vec<u32> {
    const GROUP: u32 = 32;
    let mut order: Vec<u32> = (0..edges.len() as u32).collect();
    let ends = |k: u32| edges[k as usize];
    order.sort_unstable_by_key(|&k| (ends(k), k));
    let mut keyed = Vec::with_capacity(order.len());
    for same_start in order.chunk_by(|&a, &b| ends(a)[0] == ends(b)[0]) {
        keyed.extend(same_start.iter().enumerate().map(|(rank, &k)| (ends(k)[0] / GROUP, rank, ends(k), k)));
    }
    keyed.sort_unstable();
    keyed.into_iter().map(|(.., k)| k).collect()
}

/// Layer by layer and row by row, if the particles fill a grid. Rows are in two halves, as the squares of a chess
/// board: the diagonals of a lattice alternate.
fn by_grid(points: &[Vec3], edges: &[[u32; 2]]) -> Option<Vec<u32>> {
    let ranks = grid(points, edges)?;
    // The longest side counts layers: few edges lead from one part to the next.
    let mut axes = [2, 1, 0];
    axes.sort_by_key(|&axis| std::cmp::Reverse(ranks[axis].1));
    let [layer, row, column] = [axes[0], axes[2], axes[1]];
    let at = |axis: usize, k: u32| ranks[axis].0[k as usize];
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by_key(|&k| {
        let colour = (at(0, k) + at(1, k) + at(2, k)) % 2;
        (at(layer, k), at(row, k), colour, at(column, k), k)
    });
    Some(order)
}

/// Layer, row and column of each particle: those of its grid, or of one that is a little finer than the mesh.
pub(crate) fn sites(points: &[Vec3], edges: &[[u32; 2]]) -> Vec<[u32; 3]> {
    if let Some(ranks) = grid(points, edges) {
        return (0..points.len()).map(|k| ranks.each_ref().map(|(ranks, _)| ranks[k])).collect();
    }
    let mean = edges.iter().map(|e| length(points, e)).sum::<f64>() / edges.len().max(1) as f64;
    let low = points.iter().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(p));
    // Without any length this is no number, and everything is one site.
    points
        .iter()
        .map(|p| ((p - low) / (0.6 * mean)).into())
        .map(|site: [f64; 3]| site.map(|s| s as u32))
        .collect()
}

fn length(points: &[Vec3], &[a, b]: &[u32; 2]) -> f64 {
    (points[a as usize] - points[b as usize]).norm()
}

/// The rank of each particle along each axis and how many there are, if the particles fill most of a grid along the
/// axes.
fn grid(points: &[Vec3], edges: &[[u32; 2]]) -> Option<[(Vec<u32>, u64); 3]> {
    let shortest = edges.iter().map(|e| length(points, e)).fold(f64::INFINITY, f64::min);
    let ranks: [(Vec<u32>, u64); 3] =
        std::array::from_fn(|axis| ranks(points.iter().map(|p| p[axis]), 0.1 * shortest));
    let sites = ranks.iter().fold(1u64, |n, (_, count)| n.saturating_mul(*count));
    // In a crowd all values are neighbours of neighbours: fewer sites than particles is no grid either.
    let particles = points.len() as u64;
    (particles..=2 * particles).contains(&sites).then_some(ranks)
}

/// The rank of each value among all that differ by more than `gap`, and how many there are.
fn ranks(values: impl Iterator<Item = f64>, gap: f64) -> (Vec<u32>, u64) {
    let mut sorted: Vec<(f64, usize)> = values.enumerate().map(|(k, value)| (value, k)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut ranks, mut rank) = (vec![0; sorted.len()], 0);
    for k in 0..sorted.len() {
        if k > 0 && sorted[k].0 - sorted[k - 1].0 > gap {
            rank += 1;
        }
        ranks[sorted[k].1] = rank;
    }
    (ranks, u64::from(rank) + 1)
}

/// By place: the longest side is halved again and again, at whole numbers of `part`.
fn by_place(points: &[Vec3], part: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    halve(points, part, &mut order);
    order
}

fn halve(points: &[Vec3], part: usize, order: &mut [u32]) {
    if order.len() <= LEAF {
        return order.sort_unstable();
    }
    let first = points[order[0] as usize];
    let bounds = |(low, high): (Vec3, Vec3), &k: &u32| {
        let p = &points[k as usize];
        (low.inf(p), high.sup(p))
    };
    let (low, high) = order.iter().fold((first, first), bounds);
    let axis = (high - low).imax();
    let cut = if order.len() > part { order.len().div_ceil(part) / 2 * part } else { order.len() / 2 };
    // Numbers break ties, so that the order depends on the mesh alone.
    order.select_nth_unstable_by(cut, |&a, &b| {
        points[a as usize][axis].total_cmp(&points[b as usize][axis]).then(a.cmp(&b))
    });
    let (left, right) = order.split_at_mut(cut);
    halve(points, part, left);
    halve(points, part, right);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Lattice;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_particle_once(points in prop::collection::vec(prop::array::uniform3(-3i8..3), 2..300), part in 1usize..200) {
            let particles: Vec<Vec3> = points.into_iter().map(|p| Vec3::from(p.map(f64::from))).collect();
            for mut order in [super::particles(&particles, &[[0, 1]], part), by_place(&particles, part)] {
                order.sort_unstable();
                prop_assert!(order.into_iter().eq(0..particles.len() as u32));
            }
        }

        #[test]
        fn every_edge_once(ends in prop::collection::vec(prop::array::uniform2(0u32..90), 0..300)) {
            let mut order = edges(&ends);
            order.sort_unstable();
            prop_assert!(order.into_iter().eq(0..ends.len() as u32));
        }
    }

    /// Eight parts of a cube are its octants, however it was numbered.
    #[test]
    fn parts_are_compact() {
        let points: Vec<Vec3> = (0..4096u32)
            .map(|k| k.wrapping_mul(1237) % 4096)
            .map(|k| Vec3::new(f64::from(k % 16), f64::from(k / 16 % 16), f64::from(k / 256)))
            .collect();
        for part in by_place(&points, 512).chunks(512) {
            let (mut low, mut high) = (points[part[0] as usize], points[part[0] as usize]);
            for &k in part {
                (low, high) = (low.inf(&points[k as usize]), high.sup(&points[k as usize]));
            }
            assert_eq!(high - low, Vec3::repeat(7.0));
        }
    }

    /// A box is seen as a grid even if it is shaken a little, and its longest side counts the layers.
    #[test]
    fn a_box_is_ordered_by_layers() {
        let mut mesh = Lattice { size: [9, 4, 3], pitch: 1.0, center: Vec3::zeros() }.mesh().unwrap();
        mesh.particles.iter_mut().enumerate().for_each(|(k, p)| p.x += 1e-3 * (k % 7) as f64);
        let order = by_grid(&mesh.particles, &mesh.edges).unwrap();
        for (layer, particles) in order.chunks(12).enumerate() {
            for &k in particles {
                assert_eq!(k as usize % 9, layer);
            }
        }
        let whole = mesh.clone();
        mesh.particles.iter_mut().enumerate().for_each(|(k, p)| *p += Vec3::repeat((k as f64).sin()));
        assert_eq!(by_grid(&mesh.particles, &mesh.edges), None);
        // So many particles that no coordinate is far from the next.
        mesh.particles = (0..9999).map(|k| Vec3::repeat(f64::from(k).sin())).collect();
        mesh.particles[..whole.particles.len()].copy_from_slice(&whole.particles);
        assert_eq!(by_grid(&mesh.particles, &mesh.edges), None);
    }
}
