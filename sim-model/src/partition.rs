//! Particles in groups, one per main module, and who computes which edge.
//!
//! ```text
//!   group 0          group 1          group 2
//!   0 1 2 3 4 5 ...  0 1 2 3 4 5 ...  0 1 2 ...     rank of a particle in its group
//!   |________________^ an edge belongs to the end of lower rank: particles are done in order of rank
//! ```
//! A module computes the edges of its particles in order of rank, so a particle has all its forces when its own edges
//! are done, wherever its neighbours are. In a clock a module reads one particle of its memory for an edge that ends
//! there, whoever computes it: what an edge costs is a clock of its owner and a clock of its end's group.

use crate::{mesh::Vec3, order};
use serde::Serialize;

/// How often the borders between groups are moved in search of balance.
const ROUNDS: usize = 12;

/// Particles in groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The particles of each group, by rank.
    pub groups: Vec<Vec<u32>>,
    /// Group and rank of each particle.
    pub place: Vec<(u32, u32)>,
}

/// An edge as its owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owned {
    /// Group and rank of the particle that owns it.
    pub owner: (u32, u32),
    /// Group and rank of its other particle.
    pub other: (u32, u32),
    /// Whether the owner is the edge's end in the scene.
    pub reversed: bool,
}

/// How well a partition shares the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shares {
    /// Particles of each group.
    pub particles: Vec<u64>,
    /// Edges each group computes.
    pub edges: Vec<u64>,
    /// Edges whose other particle is in each group.
    pub ends: Vec<u64>,
    /// Edges between groups.
    pub cut: u64,
    /// Which groups have edges in common, lower number first.
    pub neighbours: Vec<[u32; 2]>,
}

impl Shares {
    /// Clocks no schedule can do with less: the busiest owner's, or the busiest end's.
    pub fn clocks(&self) -> u64 {
        self.edges.iter().chain(&self.ends).copied().max().unwrap_or(0)
    }
}

impl Partition {
    /// Cuts a mesh into so many groups of about equal work: slabs, if it fills a grid.
    pub fn slabs(points: &[Vec3], edges: &[[u32; 2]], groups: usize) -> Self {
        let part = points.len().div_ceil(groups.max(1)).max(1);
        Self::balanced(order::particles(points, edges, part), edges, groups)
    }

    /// The same in blocks: where slabs would be thinner than a layer, fewer edges lead from one to another.
    pub fn blocks(points: &[Vec3], edges: &[[u32; 2]], groups: usize) -> Self {
        let part = points.len().div_ceil(groups.max(1)).max(1);
        Self::balanced(order::by_place(points, part), edges, groups)
    }

    /// Stretches of an order with about equal work.
    fn balanced(order: Vec<u32>, edges: &[[u32; 2]], groups: usize) -> Self {
        let groups = groups.clamp(1, order.len().max(1));
        let mut valence = vec![0u32; order.len()];
        edges.iter().flatten().for_each(|&p| valence[p as usize] += 1);
        let weights: Vec<f64> = order.iter().map(|&p| f64::from(valence[p as usize])).collect();
        let mut targets = vec![1.0; groups];
        let mut best: Option<(u64, Self)> = None;
        for _ in 0..ROUNDS {
            let found = Self::cut(&order, &weights, &targets);
            let shares = found.shares(edges);
            let busiest = shares.clocks();
            if best.as_ref().is_none_or(|(clocks, _)| busiest < *clocks) {
                best = Some((busiest, found));
            }
            if groups == 1 {
                break;
            }
            // Who has more to do than the others gets less.
            let mean = edges.len() as f64 / groups as f64;
            for (target, (&own, &ends)) in targets.iter_mut().zip(shares.edges.iter().zip(&shares.ends)) {
                *target *= (mean / own.max(ends).max(1) as f64).sqrt();
            }
        }
        best.map_or_else(|| Self::of(vec![order]), |(_, partition)| partition)
    }

    /// Stretches of the order with weights in proportion to the targets; every group has a particle.
    fn cut(order: &[u32], weights: &[f64], targets: &[f64]) -> Self {
        let (all, wanted): (f64, f64) = (weights.iter().sum(), targets.iter().sum());
        let (mut groups, mut next, mut weight, mut limit) = (Vec::new(), 0, 0.0, 0.0);
        for (k, target) in targets.iter().enumerate() {
            limit += target / wanted * all;
            let first = next;
            let last = order.len() - (targets.len() - 1 - k);
            while next < last
                && (next == first || k + 1 == targets.len() || weight + weights[next] / 2.0 <= limit)
            {
                weight += weights[next];
                next += 1;
            }
            groups.push(order[first..next].to_vec());
        }
        Self::of(groups)
    }

    /// The partition of given groups.
    fn of(groups: Vec<Vec<u32>>) -> Self {
        let mut place = vec![(0, 0); groups.iter().map(Vec::len).sum()];
        for (group, particles) in (0..).zip(&groups) {
            particles.iter().zip(0..).for_each(|(&p, rank)| place[p as usize] = (group, rank));
        }
        Self { groups, place }
    }

    /// Who computes an edge.
    pub fn owned(&self, [start, end]: [u32; 2]) -> Owned {
        let [start, end] = [start, end].map(|p| self.place[p as usize]);
        let reversed = (end.1, end.0) < (start.1, start.0);
        let (owner, other) = if reversed { (end, start) } else { (start, end) };
        Owned { owner, other, reversed }
    }

    /// What each group has to do.
    pub fn shares(&self, edges: &[[u32; 2]]) -> Shares {
        let count = self.groups.len();
        let (mut own, mut ends, mut neighbours) = (vec![0; count], vec![0; count], Vec::new());
        for &edge in edges {
            let Owned { owner, other, .. } = self.owned(edge);
            own[owner.0 as usize] += 1;
            ends[other.0 as usize] += 1;
            if owner.0 != other.0 {
                neighbours.push([owner.0.min(other.0), owner.0.max(other.0)]);
            }
        }
        let cut = neighbours.len() as u64;
        neighbours.sort_unstable();
        neighbours.dedup();
        Shares {
            particles: self.groups.iter().map(|g| g.len() as u64).collect(),
            edges: own,
            ends,
            cut,
            neighbours,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Scene;
    use proptest::prelude::*;

    fn shares(scene: &str, groups: usize) -> Shares {
        let mesh = Scene::open(scene).unwrap().mesh;
        Partition::slabs(&mesh.particles, &mesh.edges, groups).shares(&mesh.edges)
    }

    /// A box is cut into slabs that have only the next slab as a neighbour, and none has much more to do.
    #[test]
    fn slabs_of_a_box_share_alike() {
        for (scene, groups, most) in [("cube9", 2, 1.10), ("block16", 4, 1.05), ("box:32x32x32", 16, 1.03)] {
            let found = shares(scene, groups);
            let edges: u64 = found.edges.iter().sum();
            assert!((1..groups as u32).map(|g| [g - 1, g]).eq(found.neighbours.iter().copied()), "{scene}");
            let ratio = found.clocks() as f64 * groups as f64 / edges as f64;
            println!("{scene}, {groups} groups: {ratio:.4} of the ideal, {} cut", found.cut);
            assert!(ratio < most, "{scene}: {found:?}");
        }
    }

    proptest! {
        #[test]
        fn every_particle_and_edge_once(
            points in prop::collection::vec(prop::array::uniform3(-1.0f64..1.0), 1..200),
            ends in prop::collection::vec((0usize..200, 0usize..200), 0..400),
            groups in 1usize..20,
        ) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            let inside = |(a, b): (usize, usize)| [(a % points.len()) as u32, (b % points.len()) as u32];
            let edges: Vec<[u32; 2]> = ends.into_iter().map(inside).filter(|[a, b]| a != b).collect();
            for cut in [Partition::slabs, Partition::blocks] {
                let found = cut(&points, &edges, groups);
                prop_assert_eq!(found.groups.len(), groups.min(points.len()));
                prop_assert!(found.groups.iter().all(|g| !g.is_empty()));
                let mut all: Vec<u32> = found.groups.concat();
                all.sort_unstable();
                prop_assert!(all.into_iter().eq(0..points.len() as u32));
                let shares = found.shares(&edges);
                prop_assert_eq!(shares.edges.iter().sum::<u64>(), edges.len() as u64);
                prop_assert_eq!(shares.ends.iter().sum::<u64>(), edges.len() as u64);
                for &edge in &edges {
                    let Owned { owner, other, reversed } = found.owned(edge);
                    let [start, end] = edge.map(|p| found.place[p as usize]);
                    prop_assert_eq!((owner, other), if reversed { (end, start) } else { (start, end) });
                    prop_assert!(owner.1 <= other.1);
                }
            }
        }
    }
}
