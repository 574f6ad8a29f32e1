//! The form of a boundary: how far a point is from it, and which way leads out.

use crate::{
    force::real::{Real, Vector, vector},
    mesh::Vec3,
    trajectory::Pose,
};
use nalgebra::Matrix3;

/// The form of a boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape<T: nalgebra::Scalar> {
    /// Everything below a point, against a normal: floors and tables, with a belt a conveyor.
    Plane {
        /// A point of it.
        point: Vector<T>,
        /// Its unit normal.
        normal: Vector<T>,
    },
    /// A cylinder without ends: rollers.
    Roller {
        /// A point of its axis.
        center: Vector<T>,
        /// Direction of its axis.
        axis: Vector<T>,
        /// Radius in metres.
        radius: T,
    },
    /// A box: bars, plates, square prisms.
    Bar {
        /// Its middle.
        center: Vector<T>,
        /// Half its sides, infinite where it has no end.
        half: Vector<T>,
        /// The directions of its sides, in columns.
        axes: Matrix3<T>,
    },
    /// A ball: a finger, the manipulation point.
    Ball {
        /// Its middle.
        center: Vector<T>,
        /// Radius in metres.
        radius: T,
    },
}

impl Shape<f64> {
    /// The point about which it turns, if nothing else is said.
    pub fn pivot(&self) -> Vec3 {
        match self {
            Self::Plane { point, .. } => *point,
            Self::Roller { center, .. } | Self::Bar { center, .. } | Self::Ball { center, .. } => *center,
        }
    }

    /// The same in another pose, in an engine's numbers, seen from `origin`.
    pub fn posed<T: Real>(&self, pose: &Pose, origin: &Vec3) -> Shape<T> {
        let at = |p: &Vec3| vector(&(pose.place(p) - origin));
        let turned = |n: &Vec3| vector(&(pose.rotation * n));
        match self {
            Self::Plane { point, normal } => Shape::Plane { point: at(point), normal: turned(normal) },
            Self::Roller { center, axis, radius } => {
                Shape::Roller { center: at(center), axis: turned(axis), radius: T::of(*radius) }
            }
            Self::Bar { center, half, axes } => {
                let axes = (pose.rotation.matrix() * axes).map(T::of);
                Shape::Bar { center: at(center), half: vector(half), axes }
            }
            Self::Ball { center, radius } => Shape::Ball { center: at(center), radius: T::of(*radius) },
        }
    }
}

impl<T: nalgebra::Scalar> Shape<T> {
    /// Its key in scene files.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Plane { .. } => "plane",
            Self::Roller { .. } => "roller",
            Self::Bar { .. } => "bar",
            Self::Ball { .. } => "ball",
        }
    }
}

impl<T: Real> Shape<T> {
    /// Distance of a point, negative inside, and the direction in which it grows.
    pub fn distance(&self, x: &Vector<T>) -> (T, Vector<T>) {
        match self {
            Self::Plane { point, normal } => ((x - point).dot(normal), *normal),
            Self::Roller { center, axis, radius } => {
                let apart = x - center;
                from_middle(&(apart - axis * apart.dot(axis)), *radius)
            }
            Self::Bar { center, half, axes } => {
                let (distance, direction) = bar(&axes.tr_mul(&(x - center)), half);
                (distance, axes * direction)
            }
            Self::Ball { center, radius } => from_middle(&(x - center), *radius),
        }
    }
}

fn from_middle<T: Real>(apart: &Vector<T>, radius: T) -> (T, Vector<T>) {
    let length = apart.norm();
    let direction = if length > T::zero() { apart / length } else { Vector::z() };
    (length - radius, direction)
}

fn bar<T: Real>(at: &Vector<T>, half: &Vector<T>) -> (T, Vector<T>) {
    let beyond = at.abs() - half;
    let sign = at.map(|c| if c < T::zero() { -T::one() } else { T::one() });
    let outside = beyond.map(|c| c.max(T::zero()));
    let distance = outside.norm();
    if distance > T::zero() {
        return (distance, outside.component_mul(&sign) / distance);
    }
    // Inside: out by the nearest side.
    let nearest = beyond.imax();
    let mut direction = Vector::zeros();
    direction[nearest] = sign[nearest];
    (beyond[nearest], direction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shapes() -> impl Strategy<Value = Shape<f64>> {
        let point = || prop::array::uniform3(-1.0f64..1.0).prop_map(Vec3::from);
        let side = || prop::array::uniform3(0.2f64..1.0).prop_map(Vec3::from);
        prop_oneof![
            (point(), side()).prop_map(|(point, n)| Shape::Plane { point, normal: n.normalize() }),
            (point(), side(), 0.1f64..1.0).prop_map(|(center, axis, radius)| Shape::Roller {
                center,
                axis: axis.normalize(),
                radius
            }),
            (point(), side(), point()).prop_map(|(center, half, turn)| {
                Shape::Bar { center, half, axes: *nalgebra::Rotation3::new(turn).matrix() }
            }),
            (point(), 0.1f64..1.0).prop_map(|(center, radius)| Shape::Ball { center, radius }),
        ]
    }

    proptest! {
        /// A step along the direction makes the distance grow by that much.
        #[test]
        fn directions_lead_out(shape in shapes(), x in prop::array::uniform3(-3.0f64..3.0)) {
            let x = Vec3::from(x);
            let (distance, direction) = shape.distance(&x);
            prop_assert!((direction.norm() - 1.0).abs() < 1e-12);
            let further = shape.distance(&(x + direction * 1e-6)).0;
            prop_assert!((further - distance - 1e-6).abs() < 1e-9, "{} {}", distance, further);
        }
    }
}
