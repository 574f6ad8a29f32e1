//! Edges between rows of consecutive particles, as regular meshes have them: whole vectors are loaded and stored.
//!
//! ```text
//!   starts  i  i+1  i+2  ...  i+7      eight edges or, with gaps, a few less
//!           |   |         \\    |
//!   ends    j  j+1  j+2  ...  j+7
//! ```

use super::{
    columns::{Columns, View},
    edges::{Block, Lanes8, Placed, Stored},
    element::{self, BLOCK, Factors, Lanes},
};
use std::collections::BTreeMap;

/// A window has at least this many edges; fewer are cheaper to gather.
const FEWEST: usize = 4;

/// Windows start within so many particles before those further on are computed: these stay in the first cache.
const STRETCH: u32 = 256;

/// Edges between two sets of particles.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    /// By their first particles.
    blocks: Vec<Block<[u32; 2]>>,
    stored: Stored,
}

impl Windows {
    /// Finds the windows among some edges; also returns the others.
    pub(super) fn new(list: Vec<Placed>) -> (Self, Vec<Placed>) {
        let mut groups: BTreeMap<(u16, i64), Vec<Placed>> = BTreeMap::new();
        for edge in list {
            let distance = i64::from(edge.ends[1]) - i64::from(edge.ends[0]);
            groups.entry((edge.class, distance)).or_default().push(edge);
        }
        let (mut found, mut rest) = (Vec::new(), Vec::new());
        for mut group in groups.into_values() {
            group.sort_unstable_by_key(|e| (e.ends, e.number));
            let mut edges = group.as_slice();
            while let Some(&first) = edges.first() {
                let place = |e: &Placed| (e.ends[0] - first.ends[0]) as usize;
                let (these, others) = edges.split_at(edges.partition_point(|e| place(e) < BLOCK));
                let mut lanes: Lanes8<Placed> = [None; BLOCK];
                these.iter().for_each(|e| lanes[place(e)] = Some(*e));
                // Of edges between the same particles only one has room.
                let all_in = lanes.iter().flatten().count() == these.len();
                if these.len() >= FEWEST && all_in {
                    found.push((first, lanes));
                } else {
                    rest.extend(these);
                }
                edges = others;
            }
        }
        // Stable: within a stretch, in order of class and distance.
        found.sort_by_key(|(first, _)| first.ends[0] / STRETCH);
        let mut windows = Self::default();
        for (first, lanes) in found {
            let live = windows.stored.push(&lanes);
            windows.blocks.push(Block { ends: first.ends, class: first.class, live });
        }
        (windows, rest)
    }

    /// How many edges there are, and how many lanes.
    pub(super) fn count(&self) -> (u32, usize) {
        (self.blocks.iter().map(|w| w.live.count_ones()).sum(), self.blocks.len() * BLOCK)
    }

    pub(super) fn stored(&self) -> &Stored {
        &self.stored
    }

    pub(super) fn stored_mut(&mut self) -> &mut Stored {
        &mut self.stored
    }

    /// All elements between particles of one set.
    #[inline(always)]
    pub(super) fn compute_within(&mut self, classes: &[Factors], own: &Columns<6>, forces: &mut Columns<3>) {
        let (own, mut forces) = (own.view(), forces.view_mut());
        for (block, u) in self.blocks.iter().zip(&mut self.stored.u) {
            let [i, j] = block.ends.map(|k| k as usize);
            let force = block.elements(classes, own, own, u);
            forces.subtract(i, force);
            forces.add(j, force);
        }
    }

    /// All elements from particles of one set to another's.
    #[inline(always)]
    pub(super) fn compute_across(
        &mut self,
        classes: &[Factors],
        (starts, ends): (&Columns<6>, &Columns<6>),
        (on_starts, on_ends): (&mut Columns<3>, &mut Columns<3>),
    ) {
        let (starts, mut on_starts) = (starts.view(), on_starts.view_mut());
        let (ends, mut on_ends) = (ends.view(), on_ends.view_mut());
        for (block, u) in self.blocks.iter().zip(&mut self.stored.u) {
            let [i, j] = block.ends.map(|k| k as usize);
            let force = block.elements(classes, starts, ends, u);
            on_starts.subtract(i, force);
            on_ends.add(j, force);
        }
    }
}

impl Block<[u32; 2]> {
    #[inline(always)]
    fn elements(
        &self,
        classes: &[Factors],
        starts: View<'_, 6>,
        ends: View<'_, 6>,
        u: &mut Lanes,
    ) -> [Lanes; 3] {
        let [i, j] = self.ends.map(|k| k as usize);
        let (starts, ends) = (starts.load(i), ends.load(j));
        let mut differences = [[[0.0; BLOCK]; 3]; 2];
        for c in 0..6 {
            for l in 0..BLOCK {
                differences[c / 3][c % 3][l] = ends[c][l] - starts[c][l];
            }
        }
        let [d, w] = differences;
        element::advance(&classes[usize::from(self.class)], d, w, self.live, u)
    }
}
