//! The force of one contact, as it is reported.

use crate::{
    force::real::{Real, Vector},
    mesh::Vec3,
};

/// What touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// A particle.
    Particle(usize),
    /// An edge of the surface.
    Edge([usize; 2]),
    /// A triangle of the surface.
    Face([usize; 3]),
    /// The boundary with this number.
    Boundary(usize),
    /// The ball in somebody's hand.
    Hand,
}

/// A contact and its force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce<T: Real> {
    /// The two that touch.
    pub between: [Partner; 2],
    /// Where.
    pub place: Vector<T>,
    /// From the second to the first.
    pub normal: Vector<T>,
    /// How deep they are in each other; negative within the region outside the surface.
    pub depth: T,
    /// On the first; the second feels the opposite.
    pub force: Vector<T>,
}

impl<T: Real> ContactForce<T> {
    /// The number of the boundary that touches, if one does.
    pub fn boundary(&self) -> Option<usize> {
        match self.between[1] {
            Partner::Boundary(number) => Some(number),
            _ => None,
        }
    }

    /// Whether somebody's hand touches.
    pub fn is_of_hand(&self) -> bool {
        self.between[1] == Partner::Hand
    }

    /// The same in metres and newtons, of places relative to `origin`.
    pub fn wide(&self, origin: Vec3) -> ContactForce<f64> {
        let wide = |v: &Vector<T>| v.map(Real::wide);
        ContactForce {
            between: self.between,
            place: wide(&self.place) + origin,
            normal: wide(&self.normal),
            depth: self.depth.wide(),
            force: wide(&self.force),
        }
    }
}
