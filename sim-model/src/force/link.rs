//! Coarse-fine connection: a particle that belongs on an edge of a coarser part is held at its place there.
//!
//! Two Voigt elements of natural length zero, along and across the edge, with the same coefficients: together
//! f = -K q - C q', q from the place on the edge to the particle. The reaction goes to the edge's ends by the place's
//! fixed ratio. Forces add up to zero; so do the moments of the springs.

use crate::{
    force::real::{Real, Vector},
    mesh::Mesh,
};

/// A connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link<T> {
    /// The particle.
    pub particle: usize,
    /// The edge's ends.
    pub edge: [usize; 2],
    /// K, N/m.
    pub stiffness: T,
    /// C, N s/m.
    pub damping: T,
    /// Where on the edge: 0 at its start, 1 at its end.
    pub ratio: T,
}

impl Link<f64> {
    /// A connection where the particle is now; none if that is not between the edge's ends.
    pub fn new(mesh: &Mesh, particle: u32, edge: [u32; 2], stiffness: f64, damping: f64) -> Option<Self> {
        let [i, j] = edge.map(|p| p as usize);
        let along = mesh.particles[j] - mesh.particles[i];
        let ratio =
            (mesh.particles[particle as usize] - mesh.particles[i]).dot(&along) / along.norm_squared();
        let inside = (0.0..=1.0).contains(&ratio);
        inside.then_some(Self { particle: particle as usize, edge: [i, j], stiffness, damping, ratio })
    }

    /// The same in an engine's numbers.
    pub fn narrow<T: Real>(&self) -> Link<T> {
        let Self { particle, edge, stiffness, damping, ratio } = *self;
        let [stiffness, damping, ratio] = [stiffness, damping, ratio].map(T::of);
        Link { particle, edge, stiffness, damping, ratio }
    }
}

impl<T: Real> Link<T> {
    /// Adds its forces: 45 operations.
    pub fn add(&self, x: &[Vector<T>], v: &[Vector<T>], force: &mut [Vector<T>]) {
        let [i, j] = self.edge;
        let away = |of: &[Vector<T>]| of[self.particle] - of[i] - (of[j] - of[i]) * self.ratio;
        let pull = away(x) * -self.stiffness - away(v) * self.damping;
        let on_j = pull * self.ratio;
        force[self.particle] += pull;
        force[j] -= on_j;
        force[i] -= pull - on_j;
    }
}
