//! Three-element materials: a Voigt part (k1, c1) in series with a damper (c2).
//!
//! One model, three kinds of object: with c2 infinite it returns to its shape (*elastic*), with k1 zero it
//! stays as pressed (*viscoplastic*), in between it returns in part (*rheological*).

use super::{Memory, Stretch};
use crate::force::real::Real;
use serde::Serialize;

/// Coefficients of one element class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Material {
    /// Stiffness of the Voigt part, N/m.
    pub k1: f64,
    /// Viscosity of the Voigt part, N s/m.
    pub c1: f64,
    /// Viscosity of the single damper, N s/m; infinite for an elastic object.
    pub c2: f64,
}

/// A coefficient outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MaterialError {
    /// k1 negative or not finite.
    #[error("k1 = {0} N/m: it must be zero or a positive number")]
    K1(f64),
    /// c1 negative or not finite.
    #[error("c1 = {0} N s/m: it must be zero or a positive number")]
    C1(f64),
    /// c2 zero, negative or NaN.
    #[error("c2 = {0} N s/m: it must be positive (inf makes an elastic object)")]
    C2(f64),
    /// k1 and c1 both zero: the element carries no force.
    #[error("k1 and c1 are both zero: the element would carry no force")]
    Forceless,
    /// Plasticity outside 0 to 1.
    #[error("plasticity = {0}: it must lie between 0 (elastic) and 1 (viscoplastic)")]
    Plasticity(f64),
}

impl Material {
    /// A checked material.
    pub fn new(k1: f64, c1: f64, c2: f64) -> Result<Self, MaterialError> {
        if !(k1.is_finite() && k1 >= 0.0) {
            return Err(MaterialError::K1(k1));
        }
        if !(c1.is_finite() && c1 >= 0.0) {
            return Err(MaterialError::C1(c1));
        }
        if c2.is_nan() || c2 <= 0.0 {
            return Err(MaterialError::C2(c2));
        }
        if k1 == 0.0 && c1 == 0.0 {
            return Err(MaterialError::Forceless);
        }
        Ok(Self { k1, c1, c2 })
    }

    /// Returns to its shape: a Voigt element.
    pub fn elastic(k1: f64, c1: f64) -> Result<Self, MaterialError> {
        Self::new(k1, c1, f64::INFINITY)
    }

    /// Stays as pressed: two dampers in series.
    pub fn viscoplastic(c1: f64, c2: f64) -> Result<Self, MaterialError> {
        Self::new(0.0, c1, c2)
    }

    /// The continuum between the kinds: 0 is elastic, 1 viscoplastic, 1/2 the material itself.
    ///
    /// Below one half the damper stiffens (c2 grows without bound), above it the spring weakens.
    pub fn with_plasticity(self, plasticity: f64) -> Result<Self, MaterialError> {
        if !(0.0..=1.0).contains(&plasticity) {
            return Err(MaterialError::Plasticity(plasticity));
        }
        let k1 = self.k1 * (2.0 - 2.0 * plasticity).min(1.0);
        Self::new(k1, self.c1, self.c2 / (2.0 * plasticity).min(1.0))
    }

    /// Share of a length rate that the Voigt part takes: B = c2/(c1+c2).
    pub fn b(self) -> f64 {
        1.0 / (1.0 + self.c1 * self.flow())
    }

    /// A = -k1/(c1+c2).
    pub fn a(self) -> f64 {
        -self.k1 / (self.c1 + self.c2)
    }

    /// Force per Voigt extension: K = k1 c2/(c1+c2).
    pub fn k(self) -> f64 {
        self.k1 * self.b()
    }

    /// Force per length rate: C = c1 c2/(c1+c2).
    pub fn c(self) -> f64 {
        self.c1 * self.b()
    }

    /// Damper rate per force: D = 1/c2.
    pub fn flow(self) -> f64 {
        1.0 / self.c2
    }
}

/// The Voigt part in an engine's numbers, in series with a damper that may depend on the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct VoigtPart<T> {
    pub(super) k1: T,
    pub(super) c1: T,
}

impl VoigtPart<f64> {
    pub(super) fn of<T: Real>(material: &Material) -> VoigtPart<T> {
        VoigtPart { k1: T::of(material.k1), c1: T::of(material.c1) }
    }
}

impl<T: Real> VoigtPart<T> {
    /// Three elements with a damper of 1/c2 = `flow`: 9 operations, one of them a division.
    pub(super) fn tension(&self, flow: T, stretch: &Stretch<T>, memory: &mut Memory<'_, T>) -> T {
        let Self { k1, c1 } = *self;
        let tension = (k1 * memory.state(0) + c1 * stretch.rate) / (T::one() + c1 * flow);
        memory.set_rate(0, stretch.rate - flow * tension);
        tension
    }

    /// What its spring holds.
    pub(super) fn stored(&self, memory: &Memory<'_, T>) -> T {
        super::spring(self.k1, memory.state(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_are_exact() {
        let elastic = Material::elastic(250.0, 20.0).unwrap();
        assert_eq!(
            (elastic.k(), elastic.c(), elastic.flow(), elastic.a(), elastic.b()),
            (250.0, 20.0, 0.0, -0.0, 1.0)
        );
        let plastic = Material::viscoplastic(20.0, 100.0).unwrap();
        assert_eq!((plastic.k(), plastic.a()), (0.0, -0.0));
        let base = Material::new(250.0, 20.0, 100.0).unwrap();
        assert_eq!(base.with_plasticity(0.0), Ok(elastic));
        assert_eq!(base.with_plasticity(0.5), Ok(base));
        assert_eq!(base.with_plasticity(1.0), Ok(plastic));
    }

    #[test]
    fn nonsense_is_refused() {
        for (k1, c1, c2) in [
            (-1.0, 1.0, 1.0),
            (f64::INFINITY, 1.0, 1.0),
            (1.0, f64::NAN, 1.0),
            (1.0, 1.0, 0.0),
            (0.0, 0.0, 1.0),
        ] {
            assert!(Material::new(k1, c1, c2).is_err());
        }
        assert!(Material::elastic(1.0, 1.0).unwrap().with_plasticity(1.5).is_err());
        // A forceless element must not come out of a blend either.
        assert_eq!(Material::new(1.0, 0.0, 1.0).unwrap().with_plasticity(1.0), Err(MaterialError::Forceless));
    }

    proptest! {
        /// The force form is the rate form: lv' = A u + B l' and f = -c2 (l' - lv').
        #[test]
        fn both_laws_are_one(k1 in 0.0f64..1e3, c1 in 1e-3f64..1e3, c2 in 1e-3f64..1e3, u in -1.0f64..1.0, rate in -1.0f64..1.0) {
            let m = Material::new(k1, c1, c2).unwrap();
            let force = -(m.k() * u + m.c() * rate);
            let voigt_rate = rate + m.flow() * force;
            let printed_rate = m.a() * u + m.b() * rate;
            let scale = 1.0 + (m.a() * u).abs() + rate.abs();
            prop_assert!((voigt_rate - printed_rate).abs() < 1e-9 * scale);
            prop_assert!((force + c2 * (rate - printed_rate)).abs() < 1e-9 * c2 * scale);
        }
    }
}
