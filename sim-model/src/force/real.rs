//! The two kinds of numbers that laws beyond the three-element one are computed in: f32 and f64, one code.

use crate::mesh::Vec3;
use nalgebra::{RealField, Vector3};

/// A point or vector in an engine's numbers.
pub type Vector<T> = Vector3<T>;

/// f32 or f64.
pub trait Real: RealField + Copy + Default {
    /// The nearest number of this kind.
    fn of(value: f64) -> Self;
    /// The number itself, as f64.
    fn wide(self) -> f64;
}

impl Real for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }

    fn wide(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }
}

/// A vector in an engine's numbers.
pub fn vector<T: Real>(v: &Vec3) -> Vector<T> {
    Vector::new(T::of(v.x), T::of(v.y), T::of(v.z))
}
