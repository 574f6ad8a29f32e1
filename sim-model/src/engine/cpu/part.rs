//! A compact part of the object: the edges that start in it, and the forces they exert.
//!
//! ```text
//!   part a                    part b
//!   o---o---o                 o---o      forces of the edge between a and b:
//!   |   |   |====== edge ====>|   |      on its start: a.forces, on its end: a.across
//!   o---o---o                 o---o      b adds a.across when it moves its particles
//! ```
//! Parts depend on the mesh alone and each adds up its forces in its own order, so results do not depend
//! on how many threads share the parts.

use super::{
    abroad::{Abroad, Pushes},
    body::Body,
    columns::Columns,
    edges::{Placed, Stored},
    element::Factors,
    gathers::Gathers,
    windows::Windows,
};
use crate::machine::{
    swap::{Plain, Swap},
    vectors::{Vectors, vectorize},
};
use std::{borrow::Borrow, ops::Deref};

/// A part's edges and their forces.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Between particles of this part.
    inner: Windows,
    /// To particles of other parts.
    outer: Windows,
    /// Both, where they are not regular.
    gathers: Gathers,
    pub(super) abroad: Vec<Abroad>,
    /// The motion of the particles abroad in this step.
    visitors: Columns<6>,
    /// On the part's own particles.
    forces: Columns<3>,
    /// On the particles abroad.
    across: Columns<3>,
}

impl Pushes for Part {
    fn on_own(&self) -> &Columns<3> {
        &self.forces
    }

    fn on_others(&self) -> &Columns<3> {
        &self.across
    }
}

impl Part {
    /// A part of so many particles. The ends of `outer` edges are part and particle there.
    pub(super) fn new(particles: usize, inner: Vec<Placed>, outer: Vec<(Placed, u32)>) -> Self {
        let mut places: Vec<(u32, u32)> = outer.iter().map(|(edge, part)| (*part, edge.ends[1])).collect();
        places.sort_unstable();
        places.dedup();
        let slot_of = |place: (u32, u32)| places.partition_point(|p| *p < place) as u32;
        let outer = outer.into_iter().map(|(edge, part)| {
            let [start, end] = edge.ends;
            Placed { ends: [start, slot_of((part, end))], ..edge }
        });
        let mut abroad: Vec<Abroad> = Vec::new();
        for (slot, &(part, particle)) in places.iter().enumerate() {
            let (part, particle) = (part as usize, particle as usize);
            match abroad.last_mut().filter(|a| (a.part, a.particle + a.count) == (part, particle)) {
                Some(run) => run.count += 1,
                None => abroad.push(Abroad { part, particle, slot, count: 1 }),
            }
        }
        let (inner, inner_rest) = Windows::new(inner);
        let (outer, outer_rest) = Windows::new(outer.collect());
        Self {
            inner,
            outer,
            gathers: Gathers::new(particles, places.len(), inner_rest, outer_rest),
            visitors: Columns::new(places.len()),
            forces: Columns::new(particles),
            across: Columns::new(places.len()),
            abroad,
        }
    }

    /// How many edges are in windows, and how many lanes those have.
    pub(super) fn in_windows(&self) -> (u32, usize) {
        let (inner, outer) = (self.inner.count(), self.outer.count());
        (inner.0 + outer.0, inner.1 + outer.1)
    }

    /// Scene numbers and extensions of the edges.
    pub(super) fn extensions(&self) -> impl Iterator<Item = (u32, f32)> {
        let stored = [self.inner.stored(), self.outer.stored(), self.gathers.stored()];
        stored.into_iter().flat_map(Stored::extensions)
    }

    /// Sets the extensions of the edges, by scene number.
    pub(super) fn set_extensions(&mut self, all: &[f32]) {
        let stored = [self.inner.stored_mut(), self.outer.stored_mut(), self.gathers.stored_mut()];
        stored.into_iter().for_each(|stored| stored.set_extensions(all));
    }

    /// All elements: new extensions, and the forces of this step.
    pub(super) fn compute<B: Deref<Target: Borrow<Body>>>(
        &mut self,
        vectors: Option<Vectors>,
        classes: &[Factors],
        body: impl Fn(usize) -> B,
        own: usize,
    ) {
        for abroad in self.abroad.chunk_by(|a, b| a.part == b.part) {
            let other = body(abroad[0].part);
            let other: &Body = (*other).borrow();
            for &Abroad { particle, slot, count, .. } in abroad {
                self.visitors.copy(slot, &other.motion, particle, count);
            }
        }
        let own = body(own);
        let own: &Body = (*own).borrow();
        let own = &own.motion;
        match vectors {
            Some(simd) => vectorize(
                simd,
                #[inline(always)]
                || self.elements(simd, classes, own),
            ),
            None => self.elements(Plain, classes, own),
        }
    }

    #[inline(always)]
    fn elements(&mut self, how: impl Swap, classes: &[Factors], own: &Columns<6>) {
        let Self { inner, outer, gathers, visitors, forces, across, .. } = self;
        forces.clear();
        across.clear();
        inner.compute_within(classes, own, forces);
        outer.compute_across(classes, (own, visitors), (forces, across));
        gathers.compute(how, classes, (own, visitors), (forces, across));
    }
}
