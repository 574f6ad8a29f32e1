//! Vectors of particles, a column of numbers per component.

use super::element::{BLOCK, Lanes};

/// Some components of some particles. There is a block to spare at the end, so that a vector may start at any
/// particle.
#[derive(Clone, Debug)]
pub(super) struct Columns<const N: usize> {
    columns: [Box<[f32]>; N],
    particles: usize,
}

impl<const N: usize> Columns<N> {
    pub(super) fn new(particles: usize) -> Self {
        Self { columns: std::array::from_fn(|_| vec![0.0; particles + BLOCK].into()), particles }
    }

    pub(super) fn len(&self) -> usize {
        self.particles
    }

    #[inline(always)]
    pub(super) fn column(&self, c: usize) -> &[f32] {
        &self.columns[c][..self.particles]
    }

    /// All columns, to be changed.
    #[inline(always)]
    pub(super) fn columns_mut(&mut self) -> [&mut [f32]; N] {
        let particles = self.particles;
        self.columns.each_mut().map(|c| &mut c[..particles])
    }

    pub(super) fn one(&self, particle: usize) -> [f32; N] {
        self.columns.each_ref().map(|c| c[particle])
    }

    pub(super) fn set(&mut self, particle: usize, first: usize, values: impl IntoIterator<Item = f32>) {
        for (column, value) in self.columns[first..].iter_mut().zip(values) {
            column[particle] = value;
        }
    }

    pub(super) fn clear(&mut self) {
        self.columns.iter_mut().for_each(|c| c.fill(0.0));
    }

    /// To read, every column of the same length: one check of an index serves all.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, N> {
        let length = self.particles + BLOCK;
        View(self.columns.each_ref().map(|c| &c[..length]))
    }

    /// To add to.
    #[inline(always)]
    pub(super) fn view_mut(&mut self) -> ViewMut<'_, N> {
        let length = self.particles + BLOCK;
        ViewMut(self.columns.each_mut().map(|c| &mut c[..length]))
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

    /// Eight particles by number.
    #[inline(always)]
    pub(super) fn gather(&self, particles: &[u32; BLOCK]) -> [Lanes; N] {
        let mut out = [[0.0; BLOCK]; N];
        for l in 0..BLOCK {
            for c in 0..N {
                out[c][l] = self.0[c][particles[l] as usize];
            }
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

    #[inline(always)]
    pub(super) fn add_one(&mut self, particle: usize, values: [f32; N]) {
        for c in 0..N {
            self.0[c][particle] += values[c];
        }
    }

    #[inline(always)]
    pub(super) fn subtract_one(&mut self, particle: usize, values: [f32; N]) {
        for c in 0..N {
            self.0[c][particle] -= values[c];
        }
    }
}
