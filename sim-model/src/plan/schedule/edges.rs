//! Which edge each module takes in each clock.

use super::Slot;
use crate::plan::partition::{Owned, Partition};
use std::collections::VecDeque;

/// From so many owners a module chooses its next one.
const CHOICE: usize = 32;

/// The clocks of a step: per module its slots, with an advance of one where an owner begins, and the owners in order.
pub(super) struct Placed {
    pub(super) modules: Vec<Vec<Slot>>,
    pub(super) owners: Vec<Vec<u32>>,
}

/// A particle with its edges that are left: their numbers and the groups they end in.
struct Owner {
    particle: u32,
    edges: Vec<(u32, u32)>,
}

impl Owner {
    /// Whether one of its edges ends in a group.
    fn reaches(&self, group: u32) -> bool {
        self.edges.iter().any(|&(_, end)| end == group)
    }
}

/// What a module has not computed yet.
struct Queue {
    now: Option<Owner>,
    next: VecDeque<Owner>,
    edges: usize,
}

impl Queue {
    /// The groups in which an edge could end now, the best first: an early owner's, and rather another group than this
    /// one, since its own can wait for any clock.
    fn ends(&self, group: u32, found: &mut Vec<u32>) {
        found.clear();
        let choice = if self.now.is_some() { 0 } else { CHOICE };
        for owner in self.now.iter().chain(self.next.iter().take(choice)) {
            for inside in [false, true] {
                for &(_, end) in owner.edges.iter().filter(|(_, end)| (*end == group) == inside) {
                    if !found.contains(&end) {
                        found.push(end);
                    }
                }
            }
        }
    }

    /// Takes an edge that ends in a group; `owners` gets whose it is, if that is another's turn than before.
    fn take(&mut self, group: u32, owners: &mut Vec<u32>) -> Option<Slot> {
        let mut advance = 0;
        if self.now.is_none() {
            let found = self.next.iter().position(|owner| owner.reaches(group))?;
            self.now = self.next.remove(found);
            owners.extend(self.now.as_ref().map(|owner| owner.particle));
            advance = 1;
        }
        let owner = self.now.as_mut()?;
        let found = owner.edges.iter().position(|&(_, end)| end == group)?;
        let (edge, _) = owner.edges.swap_remove(found);
        let last = owner.edges.is_empty();
        if last {
            self.now = None;
        }
        self.edges -= 1;
        Some(Slot { edge: Some(edge), advance, last, moves: false })
    }
}

/// Edges to clocks, clock after clock: as many modules as possible get one, those with the most left first.
pub(super) fn place_edges(partition: &Partition, edges: &[[u32; 2]]) -> Placed {
    let mut queues = queues(partition, edges);
    let count = queues.len();
    let mut placed = Placed { modules: vec![Vec::new(); count], owners: vec![Vec::new(); count] };
    let mut matching = Matching::new(count);
    while queues.iter().any(|q| q.edges > 0) || placed.modules[0].is_empty() {
        matching.find(&queues);
        for (end, module) in matching.pairs() {
            let slot = queues[module].take(end, &mut placed.owners[module]);
            placed.modules[module].extend(slot);
        }
        // Who got no edge has a bubble.
        let clocks = placed.modules.iter().map(Vec::len).max().unwrap_or(0).max(1);
        placed.modules.iter_mut().for_each(|module| module.resize(clocks, Slot::default()));
    }
    placed
}

fn queues(partition: &Partition, edges: &[[u32; 2]]) -> Vec<Queue> {
    let owner = |&particle: &u32| Owner { particle, edges: Vec::new() };
    let mut owners: Vec<Vec<Owner>> =
        partition.groups.iter().map(|group| group.iter().map(owner).collect()).collect();
    for (&edge, number) in edges.iter().zip(0..) {
        let Owned { owner, other, .. } = partition.owned(number, edge);
        owners[owner.0 as usize][owner.1 as usize].edges.push((number, other.0));
    }
    let queue = |owners: Vec<Owner>| {
        let edges = owners.iter().map(|owner| owner.edges.len()).sum();
        let next = owners.into_iter().filter(|owner| !owner.edges.is_empty()).collect();
        Queue { now: None, next, edges }
    };
    owners.into_iter().map(queue).collect()
}

/// Which module's edge ends in which group in a clock.
struct Matching {
    /// Per end group the module that uses it.
    user: Vec<Option<usize>>,
    order: Vec<usize>,
    seen: Vec<bool>,
    /// Per module the groups that would do.
    ends: Vec<Vec<u32>>,
}

impl Matching {
    fn new(count: usize) -> Self {
        Self {
            user: vec![None; count],
            order: (0..count).collect(),
            seen: vec![false; count],
            ends: vec![Vec::new(); count],
        }
    }

    /// End groups and the modules that use them.
    fn pairs(&self) -> impl Iterator<Item = (u32, usize)> {
        (0..).zip(&self.user).filter_map(|(end, user)| Some((end, (*user)?)))
    }

    /// A largest matching; modules with the most left to do are served first.
    fn find(&mut self, queues: &[Queue]) {
        self.user.fill(None);
        (0..).zip(queues).zip(&mut self.ends).for_each(|((group, queue), ends)| queue.ends(group, ends));
        self.order.sort_by_key(|&m| std::cmp::Reverse(queues[m].edges));
        for k in 0..self.order.len() {
            let module = self.order[k];
            self.seen.fill(false);
            self.augment(module);
        }
    }

    fn augment(&mut self, module: usize) -> bool {
        for k in 0..self.ends[module].len() {
            let end = self.ends[module][k] as usize;
            if std::mem::replace(&mut self.seen[end], true) {
                continue;
            }
            if self.user[end].is_none_or(|user| self.augment(user)) {
                self.user[end] = Some(module);
                return true;
            }
        }
        false
    }
}
