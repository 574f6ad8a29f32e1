//! A damper that yields: viscous enough to hold its shape under small forces, soft under large ones.
//!
//! ```text
//!   c2 = c_max                 |f| <= f1        A = c_max e^(B f1)
//!        A e^(-B |f|)    f1 <= |f| <= f2        B = ln(c_max/c_min)/(f2 - f1)
//!        c_min           f2 <= |f|
//! ```
//! The force depends on c2 and c2 on the force: with the drive g = |k1 u + c1 l'| it is the root of
//! f = g c2(f)/(c1 + c2(f)). The right side falls with f, so there is one root and no need of the last step's force.

use super::{
    ElementLaw, Law, Memory, Stretch,
    slider::Limits,
    three_element::{Material, VoigtPart},
};
use crate::{
    force::real::Real,
    reader::{SceneError, Value},
};

/// Coefficients of the damper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yielding<T> {
    /// Viscosity up to the first force.
    pub c_max: T,
    /// Viscosity from the second force on.
    pub c_min: T,
    /// First force.
    pub f1: T,
    /// Second force.
    pub f2: T,
    fall: T,
}

impl Yielding<f64> {
    /// A damper whose viscosity does not rise with the force.
    pub fn new(c_max: f64, c_min: f64, f1: f64, f2: f64) -> Option<Self> {
        let sound =
            c_max.is_finite() && c_min > 0.0 && c_min <= c_max && f1 >= 0.0 && f1 < f2 && f2.is_finite();
        sound.then(|| Self { c_max, c_min, f1, f2, fall: (c_max / c_min).ln() / (f2 - f1) })
    }

    pub(super) fn narrow<T: Real>(self) -> Yielding<T> {
        let [c_max, c_min, f1, f2, fall] = [self.c_max, self.c_min, self.f1, self.f2, self.fall].map(T::of);
        Yielding { c_max, c_min, f1, f2, fall }
    }
}

impl<T: Real> Yielding<T> {
    /// c2 at a force: an exponential and 3 operations between the two forces, else none.
    pub fn at(&self, force: T) -> T {
        if force <= self.f1 {
            self.c_max
        } else if force >= self.f2 {
            self.c_min
        } else {
            self.c_max * (self.fall * (self.f1 - force)).exp()
        }
    }

    /// c2 of an element whose Voigt part has viscosity c1 and is driven by g. Outside the two forces 6 operations;
    /// between them Newton's method from the right, where it cannot miss: up to 20 times an exponential and
    /// 11 operations.
    pub fn viscosity(&self, c1: T, g: T) -> T {
        let force = |c2: T| g * c2 / (c1 + c2);
        if force(self.c_max) <= self.f1 {
            return self.c_max;
        }
        if force(self.c_min) >= self.f2 {
            return self.c_min;
        }
        // f (1 + c1/c2(f)) - g is convex and rises.
        let mut f = self.f2.min(g);
        for _ in 0..20 {
            let ratio = c1 / self.at(f);
            let step = (f * (T::one() + ratio) - g) / (T::one() + ratio * (T::one() + f * self.fall));
            f -= step;
            if step <= f * T::of(1e-6) {
                break;
            }
        }
        self.at(f)
    }
}

/// Three elements with such a damper; the Voigt part may have limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YieldingElement {
    /// The damper.
    pub damper: Yielding<f64>,
    /// The Voigt part's limits, if any.
    pub limits: Option<Limits<f64>>,
}

impl Law for YieldingElement {
    const NAME: &'static str = "yielding";

    fn states(&self) -> usize {
        1
    }

    fn acting<T: Real>(&self, material: &Material) -> Box<dyn ElementLaw<T>> {
        let limits = self.limits.map(|limits| limits.narrow());
        Box::new(ActingYielding { part: VoigtPart::of(material), damper: self.damper.narrow(), limits })
    }
}

#[derive(Clone, Copy, Debug)]
struct ActingYielding<T> {
    part: VoigtPart<T>,
    damper: Yielding<T>,
    limits: Option<Limits<T>>,
}

impl<T: Real> ElementLaw<T> for ActingYielding<T> {
    fn settle(&self, length: T, rest: T, first: T) -> T {
        self.limits.as_ref().map_or(first, |limits| limits.settle(length, rest, first))
    }

    fn tension(&self, stretch: &Stretch<T>, memory: &mut Memory<'_, T>) -> T {
        let VoigtPart { k1, c1 } = self.part;
        let u = memory.state(0);
        let drive = (k1 * u + c1 * stretch.rate).abs();
        let flow = T::one() / self.damper.viscosity(c1, drive);
        let flow = self.limits.map_or(flow, |limits| limits.flow(flow, u, stretch));
        self.part.tension(flow, stretch, memory)
    }

    fn stored(&self, _: &Stretch<T>, memory: &Memory<'_, T>) -> T {
        self.part.stored(memory)
    }

    /// Outside the two forces.
    fn operations(&self) -> u64 {
        19 + if self.limits.is_some() { 6 } else { 0 }
    }
}

impl Yielding<f64> {
    /// That of the key `yielding` in a material.
    pub(super) fn read(value: &Value<'_>) -> Result<Self, SceneError> {
        let t = value.table(&["c_max", "c_min", "f1", "f2"])?;
        let number = |key| t.need(key).and_then(|v| v.number());
        let (c_max, c_min, f1, f2) = (number("c_max")?, number("c_min")?, number("f1")?, number("f2")?);
        Self::new(c_max, c_min, f1, f2).ok_or_else(|| {
            value.error(format!(
                "a damper yields from c_max = {c_max} to c_min = {c_min} N s/m between f1 = {f1} and f2 = {f2} N: \
                 0 < c_min <= c_max and 0 <= f1 < f2 are needed"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn viscosity_is_continuous_and_nonsense_is_refused() {
        let y = Yielding::new(100.0, 2.0, 0.5, 3.0).unwrap();
        assert!((y.at(0.5 + 1e-9) - 100.0).abs() < 1e-5 && (y.at(3.0 - 1e-9) - 2.0).abs() < 1e-5);
        for (c_max, c_min, f1, f2) in [
            (1.0, 2.0, 0.0, 1.0),
            (2.0, 0.0, 0.0, 1.0),
            (2.0, 1.0, 1.0, 1.0),
            (2.0, 1.0, -1.0, 1.0),
            (f64::INFINITY, 1.0, 0.0, 1.0),
        ] {
            assert_eq!(Yielding::new(c_max, c_min, f1, f2), None);
        }
    }

    proptest! {
        /// Force and viscosity found together agree with each other, in f64 and f32.
        #[test]
        fn force_and_viscosity_agree(c_min in 0.1f64..10.0, ratio in 1.0f64..1e5, f1 in 0.0f64..5.0, width in 0.1f64..10.0, c1 in 0.01f64..1e3, g in 0.0f64..1e4) {
            let y = Yielding::new(c_min * ratio, c_min, f1, f1 + width).unwrap();
            let c2 = y.viscosity(c1, g);
            let f = g * c2 / (c1 + c2);
            prop_assert!((y.at(f) / c2 - 1.0).abs() < 1e-3, "{} {}", y.at(f), c2);
            let narrow = y.narrow::<f32>().viscosity(c1 as f32, g as f32);
            prop_assert!((f64::from(narrow) / c2 - 1.0).abs() < 1e-2, "{} {}", narrow, c2);
        }
    }
}
