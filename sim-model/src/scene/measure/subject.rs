//! What a measure is about: particles, what holds and bounds them, and what touches.

use crate::force::contact::force::{ContactForce, Partner};

/// One of two that touch.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// These particles: for each particle of the mesh whether it is one of them.
    Particles(Vec<bool>),
    /// The boundary with this number.
    Boundary(usize),
    /// Whatever there is.
    Anything,
}

/// Two that touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Touching {
    /// The force on this one is measured.
    pub on: Subject,
    /// The other.
    pub from: Subject,
}

impl Subject {
    /// Those of a mesh of so many particles.
    pub(super) fn of(particles: &[u32], count: usize) -> Self {
        let mut inside = vec![false; count];
        particles.iter().for_each(|&p| inside[p as usize] = true);
        Self::Particles(inside)
    }

    fn is(&self, partner: &Partner) -> bool {
        match (self, partner) {
            (Self::Anything, _) => true,
            (Self::Boundary(number), Partner::Boundary(other)) => number == other,
            (Self::Particles(inside), Partner::Particle(p)) => inside[*p],
            (Self::Particles(inside), Partner::Edge(ends)) => ends.iter().all(|&p| inside[p]),
            (Self::Particles(inside), Partner::Face(corners)) => corners.iter().all(|&p| inside[p]),
            _ => false,
        }
    }
}

impl Touching {
    /// Whether a contact is between the two: 1 if its force is on the first, -1 if on the second, 0 if it is none of theirs.
    /// One of a thing with itself counts as it stands.
    pub fn sign(&self, contact: &ContactForce<f64>) -> f64 {
        let [a, b] = &contact.between;
        if self.on.is(a) && self.from.is(b) {
            1.0
        } else if self.on.is(b) && self.from.is(a) {
            -1.0
        } else {
            0.0
        }
    }
}
