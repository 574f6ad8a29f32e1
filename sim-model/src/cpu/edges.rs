//! Edges in blocks of eight.
//!
//! ```text
//!   window:   start  i   i+1 i+2 ... i+7      consecutive particles at both ends (gaps allowed):
//!             end    j   j+1 j+2 ... j+7      whole vectors are loaded and stored
//!   gather:   start  i0  i1  i2  ... i7       whatever is left, one particle at a time
//!             end    j0  j1  j2  ... j7
//! ```

use super::{
    columns::{Columns, View},
    element::{self, BLOCK, Factors, Lanes},
};
use std::collections::BTreeMap;

/// An edge on its way into a part: ends there, class, extension, scene number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) ends: [u32; 2],
    pub(super) class: u16,
    pub(super) u: f32,
    pub(super) number: u32,
}

/// Edges in a window have at least this many of the lanes.
const FEWEST: usize = 4;

/// Starts of windows are taken so many at a time, for the sake of the first cache, but not fewer: a vector that
/// overlaps one stored just before has to wait for it.
const STRETCH: u32 = 256; const APART: u32 = 8;

/// No edge in this lane.
const NONE: u32 = u32::MAX;

/// Eight edges or fewer of one class.
#[derive(Clone, Debug)]
struct Block<E> {
    ends: E,
    class: u16,
    live: u8,
}

/// First particles of a window.
type Window = [u32; 2];
/// All particles, starts and ends.
type Gather = [[u32; BLOCK]; 2];

/// Edges between two sets of particles.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    windows: Vec<Block<Window>>,
    gathers: Vec<Block<Gather>>,
    /// Extensions, windows first.
    u: Vec<Lanes>,
    /// Scene numbers.
    numbers: Vec<[u32; BLOCK]>,
}

impl Edges {
    pub(super) fn new(list: Vec<Placed>) -> Self {
        let (windows, rest) = windows(list);
        let mut edges = Self::default();
        for (ends, lanes) in windows {
            let (live, class) = edges.add(&lanes);
            edges.windows.push(Block { ends, class, live });
        }
        for class in rest.chunk_by(|a, b| a.class == b.class) {
            for chunk in spread(class).chunks(BLOCK) {
                let lanes: [Option<Placed>; BLOCK] = std::array::from_fn(|l| chunk.get(l).copied());
                let (live, class) = edges.add(&lanes);
                // Lanes without an edge look at the first one's particles.
                let end = |which: usize| lanes.map(|e| e.unwrap_or(chunk[0]).ends[which]);
                edges.gathers.push(Block { ends: [end(0), end(1)], class, live });
            }
        }
        edges
    }

    fn add(&mut self, lanes: &[Option<Placed>; BLOCK]) -> (u8, u16) {
        self.u.push(lanes.map(|e| e.map_or(0.0, |e| e.u)));
        self.numbers.push(lanes.map(|e| e.map_or(NONE, |e| e.number)));
        let live = (0..BLOCK).filter(|&l| lanes[l].is_some()).fold(0, |bits, l| bits | 1 << l);
        (live, lanes.iter().flatten().next().map_or(0, |e| e.class))
    }

    /// How many edges are in windows, and how many lanes those have.
    pub(super) fn in_windows(&self) -> (u32, usize) {
        (self.windows.iter().map(|w| w.live.count_ones()).sum(), self.windows.len() * BLOCK)
    }

    /// Scene numbers and extensions.
    pub(super) fn extensions(&self) -> impl Iterator<Item = (u32, f32)> {
        let lanes = self.numbers.iter().flatten().copied().zip(self.u.iter().flatten().copied());
        lanes.filter(|(number, _)| *number != NONE)
    }

    /// All elements between particles of one set.
    #[inline(always)]
    pub(super) fn compute_within(&mut self, classes: &[Factors], own: &Columns<6>, forces: &mut Columns<3>) {
        let (own, mut forces) = (own.view(), forces.view_mut());
        let (window_u, gather_u) = self.u.split_at_mut(self.windows.len());
        for (block, u) in self.windows.iter().zip(window_u) {
            let [i, j] = block.ends.map(|k| k as usize);
            let force = block.window(classes, own, own, u);
            forces.subtract(i, force);
            forces.add(j, force);
        }
        for (block, u) in self.gathers.iter().zip(gather_u) {
            let force = block.gather(classes, own, own, u);
            for l in 0..BLOCK {
                let [i, j] = block.ends.map(|ends| ends[l] as usize);
                let force = force.map(|c| c[l]);
                forces.subtract_one(i, force);
                forces.add_one(j, force);
            }
        }
    }

    /// All elements from particles of one set to another's.
    #[inline(always)]
    pub(super) fn compute_across(
        &mut self,
        classes: &[Factors],
        starts: &Columns<6>,
        ends: &Columns<6>,
        on_starts: &mut Columns<3>,
        on_ends: &mut Columns<3>,
    ) {
        let (starts, mut on_starts) = (starts.view(), on_starts.view_mut());
        let (ends, mut on_ends) = (ends.view(), on_ends.view_mut());
        let (window_u, gather_u) = self.u.split_at_mut(self.windows.len());
        for (block, u) in self.windows.iter().zip(window_u) {
            let [i, j] = block.ends.map(|k| k as usize);
            let force = block.window(classes, starts, ends, u);
            on_starts.subtract(i, force);
            on_ends.add(j, force);
        }
        for (block, u) in self.gathers.iter().zip(gather_u) {
            let force = block.gather(classes, starts, ends, u);
            for l in 0..BLOCK {
                let [i, j] = block.ends.map(|ends| ends[l] as usize);
                let force = force.map(|c| c[l]);
                on_starts.subtract_one(i, force);
                on_ends.add_one(j, force);
            }
        }
    }
}

/// The differences of six columns as two vectors.
#[inline(always)]
fn differences(starts: [Lanes; 6], ends: [Lanes; 6]) -> [[Lanes; 3]; 2] {
    let mut out = [[[0.0; BLOCK]; 3]; 2];
    for c in 0..6 {
        for l in 0..BLOCK {
            out[c / 3][c % 3][l] = ends[c][l] - starts[c][l];
        }
    }
    out
}

impl Block<Window> {
    #[inline(always)]
    fn window(
        &self,
        classes: &[Factors],
        starts: View<'_, 6>,
        ends: View<'_, 6>,
        u: &mut Lanes,
    ) -> [Lanes; 3] {
        let [i, j] = self.ends.map(|k| k as usize);
        let [d, w] = differences(starts.load(i), ends.load(j));
        element::advance(&classes[usize::from(self.class)], d, w, self.live, u)
    }
}

impl Block<Gather> {
    #[inline(always)]
    fn gather(
        &self,
        classes: &[Factors],
        starts: View<'_, 6>,
        ends: View<'_, 6>,
        u: &mut Lanes,
    ) -> [Lanes; 3] {
        let [d, w] = differences(starts.gather(&self.ends[0]), ends.gather(&self.ends[1]));
        element::advance(&classes[usize::from(self.class)], d, w, self.live, u)
    }
}

/// A window and the edges that are in it.
type Found = (Window, [Option<Placed>; BLOCK]);

/// Finds the windows among some edges; also returns the others, sorted by class.
fn windows(list: Vec<Placed>) -> (Vec<Found>, Vec<Placed>) {
    let mut groups: BTreeMap<(u16, i64), Vec<Placed>> = BTreeMap::new();
    for edge in list {
        let distance = i64::from(edge.ends[1]) - i64::from(edge.ends[0]);
        groups.entry((edge.class, distance)).or_default().push(edge);
    }
    let (mut found, mut rest): (Vec<Found>, Vec<Placed>) = (Vec::new(), Vec::new());
    for mut group in groups.into_values() {
        group.sort_unstable_by_key(|e| (e.ends, e.number));
        let mut from = 0;
        while from < group.len() {
            let [start, end] = group[from].ends;
            let to = from + group[from..].iter().take_while(|e| e.ends[0] - start < BLOCK as u32).count();
            let mut lanes = [None; BLOCK];
            group[from..to].iter().for_each(|e| lanes[(e.ends[0] - start) as usize] = Some(*e));
            // Edges between the same particles have no room in a window.
            let distinct = lanes.iter().flatten().count() == to - from;
            if to - from >= FEWEST && distinct {
                found.push(([start, end], lanes));
            } else {
                rest.extend(&group[from..to]);
            }
            from = to;
        }
    }
    // Stable otherwise: within a stretch, in order of class and distance.
    let order = |&([start, end], lanes): &Found| (start / STRETCH, lanes.iter().flatten().next().map(|e| e.class), i64::from(end) - i64::from(start), start / 8 % APART, start);
    found.sort_by_key(order);
    rest.sort_by_key(|e| e.class);
    (found, rest)
}

/// Puts edges that share a particle apart: an addition to a force has to wait for the one before.
fn spread(list: &[Placed]) -> Vec<Placed> {
    const GROUP: u32 = 32;
    let mut list = list.to_vec();
    list.sort_unstable_by_key(|e| (e.ends, e.number));
    let mut keyed: Vec<((u32, usize, usize), Placed)> = Vec::with_capacity(list.len());
    for same_start in list.chunk_by(|a, b| a.ends[0] == b.ends[0]) {
        for (rank, edge) in same_start.iter().enumerate() {
            keyed.push(((edge.ends[0] / GROUP, rank, keyed.len()), *edge));
        }
    }
    keyed.sort_unstable_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, edge)| edge).collect()
}
