//! Vectors of particles, a column of numbers per component.

use super::element::{BLOCK, Lanes};

/// Some components of some particles. There is a block to spare at the end of a column, so that a vector may
/// start at any particle.
#[derive(Clone, Debug)]
pub(super) struct Columns<const N: usize> {
    /// Column after column.
    numbers: Box<[f32]>,
    stride: usize,
    particles: usize,
}

/// The first cache keeps lines 4 KiB apart in the same few places: columns are this much further apart, so that
/// the nine of a particle do not drive each other out.
const SHIFT: usize = 448 / 4;
const PAGE: usize = 4096 / 4;

impl<const N: usize> Columns<N> {
    pub(super) fn new(particles: usize) -> Self {
        let needed = particles + BLOCK;
        let stride = (needed.saturating_sub(SHIFT)).div_ceil(PAGE) * PAGE + SHIFT;
        Self { numbers: vec![0.0; N * stride].into(), stride, particles }
    }

    pub(super) fn len(&self) -> usize {
        self.particles
    }

    #[inline(always)]
    pub(super) fn column(&self, c: usize) -> &[f32] {
        &self.numbers[c * self.stride..][..self.particles]
    }

    pub(super) fn one(&self, particle: usize) -> [f32; N] {
        std::array::from_fn(|c| self.column(c)[particle])
    }

    pub(super) fn set(&mut self, particle: usize, first: usize, values: impl IntoIterator<Item = f32>) {
        for (c, value) in values.into_iter().enumerate() {
            self.numbers[(first + c) * self.stride + particle] = value;
        }
    }

    pub(super) fn clear(&mut self) {
        let used = self.particles + BLOCK;
        self.numbers.chunks_exact_mut(self.stride).for_each(|c| c[..used].fill(0.0));
    }

    /// Copies `count` particles of another set, from number `from` on, to those from number `to` on.
    #[inline(always)]
    pub(super) fn copy(&mut self, to: usize, other: &Self, from: usize, count: usize) {
        // In an irregular mesh most runs have a particle or two: a call of the library for each would cost more.
        const LONG: usize = 8;
        let mut columns = self.columns_mut();
        for (c, column) in columns.iter_mut().enumerate() {
            let (to, from) = (&mut column[to..to + count], &other.column(c)[from..from + count]);
            if count >= LONG {
                to.copy_from_slice(from);
            } else {
                for k in 0..LONG {
                    if k < count {
                        to[k] = from[k];
                    }
                }
            }
        }
    }

    /// All columns to read. They have the same length: one check of an index serves all.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, N> {
        let (mut columns, mut rest): ([&[f32]; N], &[f32]) = ([&[]; N], &self.numbers);
        for column in &mut columns {
            (*column, rest) = rest.split_at(self.stride);
        }
        View(columns)
    }

    /// All columns to change.
    #[inline(always)]
    pub(super) fn view_mut(&mut self) -> ViewMut<'_, N> {
        let mut rest: &mut [f32] = &mut self.numbers;
        ViewMut(std::array::from_fn(|_| {
            let (column, others) = std::mem::take(&mut rest).split_at_mut(self.stride);
            rest = others;
            column
        }))
    }

    /// All columns to change, no longer than there are particles.
    #[inline(always)]
    pub(super) fn columns_mut(&mut self) -> [&mut [f32]; N] {
        let particles = self.particles;
        self.view_mut().0.map(|column| &mut column[..particles])
    }
}

/// Columns to read.
#[derive(Clone, Copy)]
pub(super) struct View<'a, const N: usize>([&'a [f32]; N]);

impl<const N: usize> View<'_, N> {
    /// Eight particles from number `first` on.
    #[inline(always)]
    pub(super) fn load(&self, first: usize) -> [Lanes; N] {
        let mut out = [[0.0; BLOCK]; N];
        for c in 0..N {
            out[c].copy_from_slice(&self.0[c][first..first + BLOCK]);
        }
        out
    }
}

/// Columns to add to.
pub(super) struct ViewMut<'a, const N: usize>([&'a mut [f32]; N]);

impl<const N: usize> ViewMut<'_, N> {
    #[inline(always)]
    pub(super) fn add(&mut self, first: usize, values: [Lanes; N]) {
        for c in 0..N {
            let to = &mut self.0[c][first..first + BLOCK];
            for l in 0..BLOCK {
                to[l] += values[c][l];
            }
        }
    }

    #[inline(always)]
    pub(super) fn subtract(&mut self, first: usize, values: [Lanes; N]) {
        for c in 0..N {
            let to = &mut self.0[c][first..first + BLOCK];
            for l in 0..BLOCK {
                to[l] -= values[c][l];
            }
        }
    }
}
