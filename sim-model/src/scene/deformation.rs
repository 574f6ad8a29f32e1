//! What kind of deformation was it? From three shapes: initial, loaded, released.
//!
//! *Residual* is what is left of the initial shape's change after release, *return* what has come back since the
//! load ended. Elastic objects return and keep nothing, viscoplastic ones keep and return nothing, rheological
//! ones do both.

use crate::mesh::Vec3;
use serde::Serialize;

/// The kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeformationKind {
    /// Nothing worth mentioning has moved.
    Undeformed,
    /// Returns.
    Elastic,
    /// Stays.
    Viscoplastic,
    /// Returns in part.
    Rheological,
}

impl DeformationKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Undeformed, Self::Elastic, Self::Viscoplastic, Self::Rheological];

    /// Its name in scene files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Undeformed => "undeformed",
            Self::Elastic => "elastic",
            Self::Viscoplastic => "viscoplastic",
            Self::Rheological => "rheological",
        }
    }
}

/// A deformation's measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Deformation {
    /// What kind it is.
    pub kind: DeformationKind,
    /// Root of the mean square of what is left, in metres.
    pub residual_m: f64,
    /// The same of what has come back.
    pub return_m: f64,
}

/// Below this share of residual and return together, one of them counts as none.
pub const TOLERANCE: f64 = 0.05;

/// Below this share of the object's width, nothing counts as deformed.
const UNMOVED: f64 = 1e-6;

impl Deformation {
    /// Compares three shapes. Motion as a whole (the mean over all particles) does not count.
    pub fn of(initial: &[Vec3], loaded: &[Vec3], released: &[Vec3]) -> Self {
        let (residual_m, return_m) = (change(initial, released), change(loaded, released));
        let first = initial.first().copied().unwrap_or_default();
        let (low, high) = initial.iter().fold((first, first), |(l, h), p| (l.inf(p), h.sup(p)));
        let all = residual_m + return_m;
        let kind = if all <= UNMOVED * (high - low).max() {
            DeformationKind::Undeformed
        } else if residual_m < TOLERANCE * all {
            DeformationKind::Elastic
        } else if return_m < TOLERANCE * all {
            DeformationKind::Viscoplastic
        } else {
            DeformationKind::Rheological
        };
        Self { kind, residual_m, return_m }
    }
}

/// Root of the mean square of displacements, without their mean.
fn change(from: &[Vec3], to: &[Vec3]) -> f64 {
    let count = from.len().max(1) as f64;
    let mean = from.iter().zip(to).map(|(a, b)| b - a).sum::<Vec3>() / count;
    (from.iter().zip(to).map(|(a, b)| (b - a - mean).norm_squared()).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn kinds_follow_from_what_is_left(left in 0.0f64..1.0, shift in -9.0f64..9.0) {
            let initial: Vec<Vec3> = (0..9).map(|k| Vec3::new(f64::from(k), 0.0, 0.0)).collect();
            let stretched = |by: f64| -> Vec<Vec3> { initial.iter().map(|p| p * (1.0 + by) + Vec3::repeat(shift)).collect() };
            let d = Deformation::of(&initial, &stretched(0.1), &stretched(0.1 * left));
            let wanted = match left {
                l if l < TOLERANCE => DeformationKind::Elastic,
                l if 1.0 - l < TOLERANCE => DeformationKind::Viscoplastic,
                _ => DeformationKind::Rheological,
            };
            prop_assert_eq!(d.kind, wanted);
            prop_assert_eq!(Deformation::of(&initial, &stretched(0.0), &initial).kind, DeformationKind::Undeformed);
        }
    }
}
