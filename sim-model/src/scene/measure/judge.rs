//! Whether what was measured is what was expected.

use super::Value;
use crate::scene::deformation::DeformationKind;
use serde::Serialize;

/// What is expected of a measure: all that is given. Of a vector without an axis, limits and comparisons look at its length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Expectation {
    /// This value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// So far from it at most, each component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// The same in percent of the value's size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_percent: Option<f64>,
    /// Not more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Not less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// This kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<DeformationKind>,
    /// More than another measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_than: Option<Reference>,
    /// Less than another measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less_than: Option<Reference>,
}

/// Another measure: of the same scene, or of another file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "String")]
pub struct Reference {
    /// The other scene's file, relative to this one's folder.
    pub file: Option<String>,
    /// The measure's name.
    pub name: String,
}

impl Reference {
    /// From `NAME` or `FILE:NAME`.
    pub fn of(text: &str) -> Self {
        match text.rsplit_once(':') {
            Some((file, name)) => Self { file: Some(file.to_owned()), name: name.to_owned() },
            None => Self { file: None, name: text.to_owned() },
        }
    }
}

impl From<Reference> for String {
    fn from(Reference { file, name }: Reference) -> Self {
        file.map_or_else(|| name.clone(), |file| format!("{file}:{name}"))
    }
}

/// A measure at a time, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The measure's name.
    pub name: String,
    /// Simulated seconds; of an extreme the end of its window.
    pub at: f64,
    /// What was measured; nothing if the run did not come to it.
    pub value: Option<Value>,
    /// In this unit.
    pub unit: &'static str,
    /// What was expected.
    pub expected: Option<Expectation>,
    /// Whether it is that; nothing if nothing was expected or measured.
    pub ok: Option<bool>,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Whether a value is what was expected, or why not.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is.
    Met,
    /// It is not.
    Missed(String),
    /// There is nothing to compare it with.
    Unknown(String),
}

impl Value {
    /// Its size: of a vector its length. None of a kind.
    pub fn size(&self) -> Option<f64> {
        match self {
            Self::Number(n) => Some(*n),
            Self::Vector(v) => Some(v.iter().map(|c| c * c).sum::<f64>().sqrt()),
            Self::Class(_) => None,
        }
    }

    fn components(&self) -> &[f64] {
        match self {
            Self::Number(n) => std::slice::from_ref(n),
            Self::Vector(v) => v,
            Self::Class(_) => &[],
        }
    }
}

impl Expectation {
    /// Judges a value; `other` finds what another measure has found.
    pub fn judge(
        &self,
        value: &Value,
        other: &mut dyn FnMut(&Reference) -> Result<Value, String>,
    ) -> Verdict {
        let mut missed = Vec::new();
        let mut must = |met: bool, text: &dyn Fn() -> String| {
            if !met {
                missed.push(text());
            }
        };
        if let Some(wanted) = &self.value {
            let reach = match self.within_percent {
                Some(percent) => wanted.size().unwrap_or(0.0).abs() * percent / 100.0,
                None => self.within.unwrap_or(0.0),
            };
            let (a, b) = (value.components(), wanted.components());
            let near = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= reach);
            must(near, &|| format!("not within {reach:.3e} of what was expected"));
        }
        if let Some(class) = self.class {
            must(*value == Value::Class(class), &|| format!("not {}", class.name()));
        }
        let size = value.size().unwrap_or(f64::NAN);
        if let Some(most) = self.at_most {
            must(size <= most, &|| format!("more than {most}"));
        }
        if let Some(least) = self.at_least {
            must(size >= least, &|| format!("less than {least}"));
        }
        for (reference, more) in [(&self.more_than, true), (&self.less_than, false)] {
            let Some(reference) = reference else { continue };
            match other(reference).map(|other| other.size().unwrap_or(f64::NAN)) {
                Ok(other) => {
                    let met = if more { size > other } else { size < other };
                    let word = if more { "more" } else { "less" };
                    let name = String::from(reference.clone());
                    must(met, &|| format!("not {word} than {name}, which is {other:.6}"));
                }
                Err(why) => return Verdict::Unknown(why),
            }
        }
        if missed.is_empty() { Verdict::Met } else { Verdict::Missed(missed.join("; ")) }
    }

    /// Other measures it looks at.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.more_than.iter().chain(&self.less_than)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(expectation: &Expectation, value: Value) -> Verdict {
        expectation.judge(&value, &mut |reference| match reference.file {
            None => Ok(Value::Number(2.0)),
            Some(_) => Err("no such file".to_owned()),
        })
    }

    #[test]
    fn values_are_met_or_missed() {
        let all = Expectation::default;
        let (number, vector) = (Value::Number, Value::Vector);
        let near = Expectation { value: Some(number(10.0)), within: Some(0.5), ..all() };
        let percent =
            Expectation { value: Some(vector([3.0, 0.0, 4.0])), within_percent: Some(10.0), ..all() };
        let between = Expectation { at_least: Some(1.0), at_most: Some(2.0), ..all() };
        let more = Expectation { more_than: Some(Reference::of("other")), ..all() };
        let elastic = Expectation { class: Some(DeformationKind::Elastic), ..all() };
        for (expectation, value, met) in [
            (&near, number(10.5), true),
            (&near, number(9.4), false),
            (&near, number(f64::NAN), false),
            (&percent, vector([3.5, 0.5, 3.5]), true),
            (&percent, vector([3.6, 0.0, 4.0]), false),
            (&percent, number(5.0), false),
            (&between, number(1.0), true),
            (&between, vector([0.0, 1.2, 1.6]), true),
            (&between, number(2.1), false),
            (&between, number(f64::NAN), false),
            (&more, number(2.1), true),
            (&more, number(2.0), false),
            (&elastic, Value::Class(DeformationKind::Elastic), true),
            (&elastic, Value::Class(DeformationKind::Rheological), false),
            (&elastic, number(1.0), false),
        ] {
            let verdict = judge(expectation, value.clone());
            assert_eq!(verdict == Verdict::Met, met, "{expectation:?} {value:?} {verdict:?}");
        }
        let elsewhere = Expectation { less_than: Some(Reference::of("a/b.toml:slide")), ..all() };
        assert_eq!(judge(&elsewhere, number(1.0)), Verdict::Unknown("no such file".to_owned()));
    }
}
