//! Limits of the Voigt part's length, as shares of the element's length: a_min l <= l_voigt <= a_max l.
//!
//! Without them a damper flows until the Voigt part is longer than its element, or shorter than nothing.

use super::{
    ElementLaw, Law, Memory, Stretch,
    three_element::{Material, VoigtPart},
};
use crate::{
    force::real::Real,
    reader::{SceneError, Value},
};

/// What happens at a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The damper is stuck while the Voigt part is outside: the element is a Voigt element.
    Switch,
    /// The Voigt part is put back to the limit after every step.
    Assign,
}

/// The limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits<T> {
    /// a_min.
    pub least: T,
    /// a_max.
    pub most: T,
    /// Share of the Voigt part at rest.
    pub start: T,
    /// What happens at a limit.
    pub form: Form,
}

impl Limits<f64> {
    /// Limits in their order, the Voigt part at rest between them.
    pub fn new(least: f64, most: f64, start: f64, form: Form) -> Option<Self> {
        let sound = 0.0 <= least && least <= start && start <= most && most <= 1.0;
        sound.then_some(Self { least, most, start, form })
    }

    pub(super) fn narrow<T: Real>(self) -> Limits<T> {
        let Self { least, most, start, form } = self;
        Limits { least: T::of(least), most: T::of(most), start: T::of(start), form }
    }
}

impl<T: Real> Limits<T> {
    /// Whether the damper of an element moves: 3 multiplications, 1 addition, 2 comparisons.
    pub fn slides(&self, u: T, length: T, rest: T) -> bool {
        let voigt = self.start * rest + u;
        self.least * length <= voigt && voigt <= self.most * length
    }

    /// The extension, put back into its range: 3 multiplications, 2 additions, 2 comparisons.
    pub fn clamp(&self, u: T, length: T, rest: T) -> T {
        let at_rest = self.start * rest;
        (at_rest + u).max(self.least * length).min(self.most * length) - at_rest
    }
}

impl Law for Limits<f64> {
    const NAME: &'static str = "slider";

    fn states(&self) -> usize {
        1
    }

    fn acting<T: Real>(&self, material: &Material) -> Box<dyn ElementLaw<T>> {
        let flow = T::of(material.flow());
        Box::new(Slider { part: VoigtPart::of(material), flow, limits: self.narrow() })
    }
}

/// Three elements whose Voigt part has limits.
#[derive(Clone, Copy, Debug)]
struct Slider<T> {
    part: VoigtPart<T>,
    flow: T,
    limits: Limits<T>,
}

impl<T: Real> ElementLaw<T> for Slider<T> {
    fn settle(&self, length: T, rest: T, first: T) -> T {
        self.limits.settle(length, rest, first)
    }

    fn tension(&self, stretch: &Stretch<T>, memory: &mut Memory<'_, T>) -> T {
        self.part.tension(self.limits.flow(self.flow, memory.state(0), stretch), stretch, memory)
    }

    fn stored(&self, _: &Stretch<T>, memory: &Memory<'_, T>) -> T {
        self.part.stored(memory)
    }

    fn operations(&self) -> u64 {
        15
    }
}

impl<T: Real> Limits<T> {
    /// 1/c2 of a damper that is stuck while the Voigt part is outside, if that is what happens at a limit.
    pub(super) fn flow(&self, flow: T, u: T, stretch: &Stretch<T>) -> T {
        let stuck = self.form == Form::Switch && !self.slides(u, stretch.length, stretch.rest);
        if stuck { T::zero() } else { flow }
    }

    /// The extension before a step: put back into its range, where that is what happens at a limit.
    pub(super) fn settle(&self, length: T, rest: T, u: T) -> T {
        if self.form == Form::Assign { self.clamp(u, length, rest) } else { u }
    }
}

impl Limits<f64> {
    /// Those of the key `limits` in a material.
    pub(super) fn read(value: &Value<'_>) -> Result<Self, SceneError> {
        let t = value.table(&["least", "most", "start", "form"])?;
        let (least, most) = (t.need("least")?.number()?, t.need("most")?.number()?);
        let start = t.optional("start", Value::number)?.unwrap_or((least + most) / 2.0);
        let form = match t.optional("form", Value::string)? {
            None | Some("assign") => Form::Assign,
            Some("switch") => Form::Switch,
            Some(other) => {
                return Err(t.need("form")?.error(format!(
                    "unknown form `{other}`; assign (the Voigt part is put back) or switch (the damper is stuck)"
                )));
            }
        };
        Self::new(least, most, start, form).ok_or_else(|| {
            value.error(format!(
                "limits {least} to {most}, {start} at rest: they are shares of an edge's length, 0 <= least <= start <= most <= 1"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_clamped_is_in_its_range(a in 0.0f64..0.5, b in 0.5f64..1.0, u in -9.0f64..9.0, length in 0.1f64..9.0) {
            let limits = Limits::new(a, b, 0.5, Form::Assign).unwrap();
            let voigt = 0.5 + limits.clamp(u, length, 1.0);
            prop_assert!(voigt >= a * length - 1e-12 && voigt <= b * length + 1e-12);
            if limits.slides(u, length, 1.0) {
                prop_assert!((limits.clamp(u, length, 1.0) - u).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn limits_out_of_order_are_refused() {
        for (least, most, start) in [(0.5, 0.4, 0.45), (-0.1, 1.0, 0.5), (0.0, 1.1, 0.5), (0.2, 0.4, 0.5)] {
            assert_eq!(Limits::new(least, most, start, Form::Switch), None);
        }
    }
}
