//! One thread's share of the edges, with force accumulators of its own.

use super::{
    Contract,
    vector::{self, BLOCK, Factors},
    words::{Ends, Quad, Scatter, input},
};
use crate::{
    contract::{
        image::{Constants, Edge},
        overflow::Overflow,
    },
    machine::{
        swap::{Plain, Swap},
        vectors::{Vectors, vectorize},
    },
    twin::{blocks::InverseForm, tem},
};

/// Edges and accumulators. Sums are kept in 32 bits, of which the hardware has the low ones.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    edges: Vec<(u32, u32, u8)>,
    pub(super) u: Vec<i32>,
    forces: Forces,
    pub(super) overflow: Overflow,
}

/// Sums of forces per particle: of the edges that start there, and of those that end there.
#[derive(Clone, Debug)]
struct Forces {
    starting: Vec<Quad>,
    ending: Vec<Quad>,
}

impl Forces {
    #[inline(always)]
    fn add(&mut self, how: impl Swap, start: u32, end: u32, force: Quad) {
        for sum in [&mut self.starting[start as usize], &mut self.ending[end as usize]] {
            *sum = how.add_words(*sum, force);
        }
    }
}

impl Lane {
    pub(super) fn new(edges: impl Iterator<Item = Edge> + Clone, particles: usize) -> Self {
        Self {
            edges: edges.clone().map(|e| (e.start, e.end, e.class)).collect(),
            u: edges.map(|e| e.u).collect(),
            forces: Forces { starting: vec![[0; 4]; particles], ending: vec![[0; 4]; particles] },
            overflow: Overflow::NONE,
        }
    }

    fn clear(&mut self) {
        self.forces.starting.fill([0; 4]);
        self.forces.ending.fill([0; 4]);
    }

    /// TEM over all edges: new extensions, and the forces of this step in the accumulators.
    pub(super) fn compute<C: Contract>(&mut self, form: impl InverseForm, k: &Constants, ends: &[Ends]) {
        self.clear();
        self.integers::<C>(form, k, ends, 0..self.edges.len());
    }

    /// The same on vectors; blocks in which a value leaves its word go through the integer code.
    pub(super) fn compute_vectors<C: Contract>(
        &mut self,
        vectors: Vectors,
        factors: &Factors,
        form: impl InverseForm,
        k: &Constants,
        ends: &[Ends],
    ) {
        self.clear();
        let whole = self.edges.len() - self.edges.len() % BLOCK;
        let mut first = 0;
        while first < whole {
            // As far as vectors go; then the block that needs the integer code.
            first =
                vectorize_blocks(vectors, factors, ends, &self.edges, &mut self.u, &mut self.forces, first);
            if first < whole {
                self.integers::<C>(form, k, ends, first..first + BLOCK);
                first += BLOCK;
            }
        }
        self.integers::<C>(form, k, ends, whole..self.edges.len());
    }

    fn integers<C: Contract>(
        &mut self,
        form: impl InverseForm,
        k: &Constants,
        ends: &[Ends],
        range: std::ops::Range<usize>,
    ) {
        let mut overflow = self.overflow;
        for (&(start, end, class), u) in self.edges[range.clone()].iter().zip(&mut self.u[range]) {
            let input = input(&ends[start as usize], &ends[end as usize], *u);
            let out = tem::tem(&C::N, form, k, &k.elements[usize::from(class)], &input);
            overflow = overflow.union(out.overflow);
            *u = out.u as i32;
            let [x, y, z] = out.force.map(|c| c as i32);
            self.forces.add(Plain, start, end, [x, y, z, 0]);
        }
        self.overflow = overflow;
    }
}

/// Blocks from edge `first` on, up to one that vectors cannot do: its first edge, or the end of the blocks.
fn vectorize_blocks(
    vectors: Vectors,
    factors: &Factors,
    ends: &[Ends],
    edges: &[(u32, u32, u8)],
    u: &mut [i32],
    forces: &mut Forces,
    first: usize,
) -> usize {
    vectorize(
        vectors,
        #[inline(always)]
        || {
            let (edges, _) = edges[first..].as_chunks::<BLOCK>();
            let (u, _) = u[first..].as_chunks_mut::<BLOCK>();
            let mut scatter = Scatter::default();
            for (k, (edges, u)) in edges.iter().zip(u).enumerate() {
                if !vector::elements(vectors, factors, ends, edges, u, &mut scatter) {
                    return first + k * BLOCK;
                }
                for (l, &(start, end, _)) in edges.iter().enumerate() {
                    forces.add(vectors, start, end, scatter.0[l % 4][l / 4]);
                }
            }
            first + edges.len() * BLOCK
        },
    )
}

/// Sum of the forces on a particle over all lanes: of edges that end there, less those that start there.
#[inline(always)]
pub(super) fn forces(lanes: &[Lane], particle: usize) -> Quad {
    let mut sum: Quad = [0; 4];
    for lane in lanes {
        let (r, s) = (&lane.forces.starting[particle], &lane.forces.ending[particle]);
        for c in 0..4 {
            sum[c] = sum[c].wrapping_add(s[c]).wrapping_sub(r[c]);
        }
    }
    sum
}
