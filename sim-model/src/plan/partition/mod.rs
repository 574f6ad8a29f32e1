//! Particles in groups, one per main module, and who computes which edge.
//!
//! ```text
//!   group 0          group 1          group 2
//!   0 1 2 3 4 5 ...  0 1 2 3 4 5 ...  0 1 2 ...     rank of a particle in its group
//!   |___|   |________|                             inside a group an edge belongs to the end that comes first;
//!                                                  of those between two groups, half belong to each
//! ```
//! A module computes the edges of its particles in order of rank. In a clock a module reads one particle of its memory
//! for an edge that ends there, whoever computes it: what an edge costs is a clock of its owner and a clock of its
//! end's group. So cutting an edge costs nothing, if for every edge that leads out another leads in: groups are cut
//! for equal work, not for few edges between them.

mod blocks;

pub(crate) use blocks::Blocks;
use serde::Serialize;
use std::collections::BTreeMap;

/// Particles in groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The particles of each group, by rank.
    pub groups: Vec<Vec<u32>>,
    /// Group and rank of each particle.
    pub place: Vec<(u32, u32)>,
    /// Whether each edge belongs to its end.
    reversed: Vec<bool>,
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
    /// The blocks of a mesh with their particles in the order of a sweep: layers along its first axis, rows along the
    /// second. Of the edges between two groups the one may own `lead` more than the other, so that most belong to the
    /// particle that comes first.
    pub(crate) fn new(blocks: &Blocks, edges: &[[u32; 2]], sweep: [usize; 3], lead: i64) -> Self {
        let groups = blocks.swept(sweep);
        // When a particle has its turn, as a share of its group's work.
        let mut turn = vec![0.0; groups.iter().map(Vec::len).sum()];
        for group in &groups {
            let all: u64 = group.iter().map(|&p| blocks.valence(p)).sum();
            let mut before = 0;
            for &particle in group {
                turn[particle as usize] = before as f64 / all.max(1) as f64;
                before += blocks.valence(particle);
            }
        }
        let mut partition = Self { place: places(&groups), groups, reversed: vec![false; edges.len()] };
        partition.share_edges(edges, &turn, lead);
        partition
    }

    /// Gives every edge to one of its ends.
    fn share_edges(&mut self, edges: &[[u32; 2]], turn: &[f64], lead: i64) {
        let mut between: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        for (number, &[start, end]) in edges.iter().enumerate() {
            let [(group, rank), (other, other_rank)] = [start, end].map(|p| self.place[p as usize]);
            self.reversed[number] = other_rank < rank;
            if group != other {
                between.entry([group.min(other), group.max(other)]).or_default().push(number);
            }
        }
        let turns = |number: usize| edges[number].map(|p| turn[p as usize]);
        for ([lower, _], mut numbers) in between {
            let first = |number: usize| turns(number)[0].min(turns(number)[1]);
            numbers.sort_by(|&a, &b| first(a).total_cmp(&first(b)).then(a.cmp(&b)));
            let mut balance = 0;
            for number in numbers {
                let [start, end] = turns(number);
                let start_is_lower = self.place[edges[number][0] as usize].0 == lower;
                let lower_owns = match balance {
                    _ if balance >= lead => false,
                    _ if balance <= -lead => true,
                    _ => (start <= end) == start_is_lower,
                };
                balance += if lower_owns { 1 } else { -1 };
                self.reversed[number] = lower_owns != start_is_lower;
            }
        }
    }

    /// The same groups and owners with the particles of each group in another order.
    pub(crate) fn reordered(self, groups: Vec<Vec<u32>>) -> Self {
        Self { place: places(&groups), groups, ..self }
    }

    /// Who computes an edge, given by its number and its ends.
    pub fn owned(&self, number: u32, [start, end]: [u32; 2]) -> Owned {
        let [start, end] = [start, end].map(|p| self.place[p as usize]);
        let reversed = self.reversed[number as usize];
        let (owner, other) = if reversed { (end, start) } else { (start, end) };
        Owned { owner, other, reversed }
    }

    /// What each group has to do.
    pub fn shares(&self, edges: &[[u32; 2]]) -> Shares {
        let count = self.groups.len();
        let (mut own, mut ends, mut neighbours) = (vec![0; count], vec![0; count], Vec::new());
        for (&edge, number) in edges.iter().zip(0..) {
            let Owned { owner, other, .. } = self.owned(number, edge);
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

/// Group and rank of each particle.
fn places(groups: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let mut place = vec![(0, 0); groups.iter().map(Vec::len).sum()];
    for (group, particles) in (0..).zip(groups) {
        particles.iter().zip(0..).for_each(|(&p, rank)| place[p as usize] = (group, rank));
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mesh::Vec3, scene::Scene};
    use proptest::prelude::*;

    /// No group of a box has much more to do than the others, neither as owner nor as end.
    #[test]
    fn blocks_of_a_box_share_alike() {
        for (scene, groups, most) in [("cube9", 2, 1.01), ("block16", 4, 1.01), ("box:32x32x32", 16, 1.01)] {
            let mesh = Scene::open(scene).unwrap().mesh;
            let blocks = Blocks::all(&mesh.particles, &mesh.edges, groups).remove(0);
            let found = Partition::new(&blocks, &mesh.edges, blocks.axes(), 4).shares(&mesh.edges);
            let ratio = found.clocks() as f64 * groups as f64 / mesh.edges.len() as f64;
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
            lead in 1i64..9,
        ) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            let inside = |(a, b): (usize, usize)| [(a % points.len()) as u32, (b % points.len()) as u32];
            let edges: Vec<[u32; 2]> = ends.into_iter().map(inside).filter(|[a, b]| a != b).collect();
            let blocks = Blocks::all(&points, &edges, groups);
            let found = Partition::new(&blocks[groups % blocks.len()], &edges, [1, 2, 0], lead);
            prop_assert_eq!(found.groups.len(), groups.min(points.len()));
            prop_assert!(found.groups.iter().all(|g| !g.is_empty()));
            let mut all: Vec<u32> = found.groups.concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..points.len() as u32));
            let shares = found.shares(&edges);
            prop_assert_eq!(shares.edges.iter().sum::<u64>(), edges.len() as u64);
            prop_assert_eq!(shares.ends.iter().sum::<u64>(), edges.len() as u64);
            let mut balance = std::collections::HashMap::new();
            for (&edge, number) in edges.iter().zip(0..) {
                let Owned { owner, other, reversed } = found.owned(number, edge);
                let [start, end] = edge.map(|p| found.place[p as usize]);
                prop_assert_eq!((owner, other), if reversed { (end, start) } else { (start, end) });
                if owner.0 == other.0 {
                    prop_assert!(owner.1 <= other.1);
                } else {
                    *balance.entry((owner.0, other.0)).or_insert(0) += 1;
                    *balance.entry((other.0, owner.0)).or_insert(0) -= 1;
                }
            }
            prop_assert!(balance.values().all(|b: &i64| b.abs() <= lead));
        }
    }
}
