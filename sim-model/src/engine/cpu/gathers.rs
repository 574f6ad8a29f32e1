//! Edges between particles that are not in a row: computed from a copy of the particles in which a particle is
//! one vector, so that it takes one load to read and one addition to push.

use super::{
    columns::{Columns, View},
    edges::{Block, Lanes8, Placed, Stored},
    element::{self, BLOCK, Factors, Lanes},
};
use crate::{machine::swap::Swap, plan::order};

/// A particle: x, y, z, 0 of position, then of velocity.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Row(Lanes);

/// A force: x, y, z, 0.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
struct Force([f32; 4]);

/// Blocks computed in one pass: within a pass nothing waits for the block before.
const PASS: usize = 8;

/// Edges in no order, of a part to itself and to others.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathers {
    blocks: Vec<Block<[[u32; BLOCK]; 2]>>,
    stored: Stored,
    /// The part's own particles, then those abroad, each to a whole number of blocks.
    rows: Vec<Row>,
    forces: Vec<Force>,
}

impl Gathers {
    /// From edges within a part, and from those that lead abroad.
    pub(super) fn new(own: usize, abroad: usize, inner: Vec<Placed>, outer: Vec<Placed>) -> Self {
        let mut gathers = Self::default();
        let first_abroad = own.next_multiple_of(BLOCK);
        let outer = outer.into_iter().map(|mut edge| {
            edge.ends[1] += first_abroad as u32;
            edge
        });
        let mut list: Vec<Placed> = inner.into_iter().chain(outer).collect();
        list.sort_by_key(|e| e.class);
        for class in list.chunk_by(|a, b| a.class == b.class) {
            let ends: Vec<[u32; 2]> = class.iter().map(|e| e.ends).collect();
            let ordered: Vec<Placed> = order::edges(&ends).iter().map(|&k| class[k as usize]).collect();
            for chunk in ordered.chunks(BLOCK) {
                let lanes: Lanes8<Placed> = std::array::from_fn(|l| chunk.get(l).copied());
                // Lanes without an edge look at the first one's particles.
                let end = |which: usize| lanes.map(|e| e.unwrap_or(chunk[0]).ends[which]);
                let live = gathers.stored.push(&lanes);
                gathers.blocks.push(Block { ends: [end(0), end(1)], class: chunk[0].class, live });
            }
        }
        if !gathers.blocks.is_empty() {
            let particles = first_abroad + abroad.next_multiple_of(BLOCK);
            gathers.rows = vec![Row::default(); particles];
            gathers.forces = vec![Force::default(); particles];
        }
        gathers
    }

    pub(super) fn stored(&self) -> &Stored {
        &self.stored
    }

    pub(super) fn stored_mut(&mut self) -> &mut Stored {
        &mut self.stored
    }

    /// All elements; adds their forces to those on the own particles and on those abroad.
    #[inline(always)]
    pub(super) fn compute(
        &mut self,
        how: impl Swap,
        classes: &[Factors],
        (own, abroad): (&Columns<6>, &Columns<6>),
        (on_own, on_abroad): (&mut Columns<3>, &mut Columns<3>),
    ) {
        if self.blocks.is_empty() {
            return;
        }
        let first_abroad = own.len().next_multiple_of(BLOCK);
        let (own_rows, abroad_rows) = self.rows.split_at_mut(first_abroad);
        fill(how, own_rows, own.view());
        fill(how, abroad_rows, abroad.view());
        self.forces.fill(Force::default());
        self.elements(how, classes);
        let (own_forces, abroad_forces) = self.forces.split_at(first_abroad);
        add(how, own_forces, on_own);
        add(how, abroad_forces, on_abroad);
    }

    #[inline(always)]
    fn elements(&mut self, how: impl Swap, classes: &[Factors]) {
        let Self { blocks, stored, rows, forces, .. } = self;
        let (rows, forces) = (rows.as_slice(), &mut forces[..rows.len()]);
        let mut differences = [[[0.0; BLOCK]; 4]; 2 * PASS];
        let mut pushes = [[[0.0; BLOCK]; 4]; PASS];
        for (blocks, u) in blocks.chunks(PASS).zip(stored.u.chunks_mut(PASS)) {
            for (block, to) in blocks.iter().zip(differences.as_chunks_mut::<2>().0) {
                let mut difference = [[0.0; BLOCK]; BLOCK];
                for l in 0..BLOCK {
                    let [start, end] = block.ends.each_ref().map(|ends| &rows[ends[l] as usize].0);
                    difference[l] = how.subtract(*end, *start);
                }
                // Edges l and l + 4 share a vector.
                let (mut place, mut velocity) = ([[0.0; BLOCK]; 4], [[0.0; BLOCK]; 4]);
                for l in 0..4 {
                    place[l] = how.first_halves(difference[l], difference[l + 4]);
                    velocity[l] = how.second_halves(difference[l], difference[l + 4]);
                }
                *to = [how.transpose(place), how.transpose(velocity)];
            }
            let inputs = differences.as_chunks::<2>().0;
            for (((block, u), [d, w]), push) in blocks.iter().zip(u).zip(inputs).zip(&mut pushes) {
                let class = &classes[usize::from(block.class)];
                let [x, y, z] =
                    element::advance(class, [d[0], d[1], d[2]], [w[0], w[1], w[2]], block.live, u);
                // The fourth column is zero, but the compiler must not know: it would add three numbers one
                // by one instead of four at once.
                *push = how.transpose([x, y, z, d[3]]);
            }
            for (block, push) in blocks.iter().zip(&pushes) {
                for l in 0..BLOCK {
                    let pairs: [[f32; 4]; 2] = pulp::cast(push[l % 4]);
                    let push = pairs[l / 4];
                    let start = &mut forces[block.ends[0][l] as usize];
                    *start = Force(std::array::from_fn(|c| start.0[c] - push[c]));
                    let end = &mut forces[block.ends[1][l] as usize];
                    *end = Force(std::array::from_fn(|c| end.0[c] + push[c]));
                }
            }
        }
    }
}

/// Rows from columns.
#[inline(always)]
fn fill(how: impl Swap, rows: &mut [Row], columns: View<'_, 6>) {
    for (k, rows) in rows.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let [x, y, z, p, q, r] = columns.load(k * BLOCK);
        let place = how.transpose([x, y, z, [0.0; BLOCK]]);
        let velocity = how.transpose([p, q, r, [0.0; BLOCK]]);
        for l in 0..4 {
            rows[l] = Row(how.first_halves(place[l], velocity[l]));
            rows[l + 4] = Row(how.second_halves(place[l], velocity[l]));
        }
    }
}

/// Adds rows to columns.
#[inline(always)]
fn add(how: impl Swap, rows: &[Force], columns: &mut Columns<3>) {
    let mut columns = columns.view_mut();
    for (k, rows) in rows.as_chunks::<BLOCK>().0.iter().enumerate() {
        // Forces l and l + 4 share a vector.
        let pair = |l: usize| pulp::cast([rows[l].0, rows[l + 4].0]);
        let [x, y, z, _] = how.transpose([pair(0), pair(1), pair(2), pair(3)]);
        columns.add(k * BLOCK, [x, y, z]);
    }
}
