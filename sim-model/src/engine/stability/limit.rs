//! What sets the largest step, in words that lead to the place in the scene.

use serde::{Serialize, Serializer};
use std::fmt;

/// What of a force an integrator bears only so long a step with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its damping: the fastest decay in the object.
    Damping,
    /// The decay of its own state.
    Relaxation,
    /// Its spring: an oscillation that is damped too little.
    Spring,
}

/// What a limit comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Edges of a material.
    Material(String),
    /// A force beside those of edges: what messages call it, and its table in scene files.
    Force(&'static str, &'static str),
    /// Nothing: no particle is moved by forces.
    Nothing,
}

/// What sets the largest step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What of it.
    pub kind: Kind,
    /// What it comes from.
    pub of: Source,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Material(name) => write!(f, "material `{name}`"),
            Self::Force(name, _) => write!(f, "the {name}"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            _ if self.of == Source::Nothing => return f.write_str("nothing"),
            Kind::Damping => "damping",
            Kind::Relaxation => "relaxation",
            Kind::Spring => "spring",
        };
        write!(f, "the {kind} of {}", self.of)
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Source {
    /// The key in scene files that gives its spring damping.
    pub(super) fn damping_key(&self) -> String {
        match self {
            Self::Material(name) => format!("materials.{name}.c1"),
            Self::Force(_, table) => format!("{table}.damping"),
            Self::Nothing => String::new(),
        }
    }
}

/// The largest number of four digits below a limit: it can be printed, copied, and is still below.
pub(super) fn copyable(limit: f64) -> f64 {
    if !(limit.is_finite() && limit > 0.0) {
        return limit;
    }
    let rounded = format!("{limit:.3e}");
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let digits = mantissa.replace('.', "").parse().unwrap_or(1000u32);
    let exponent = exponent.parse().unwrap_or(0) - 3;
    let number = |digits: u32| format!("{digits}e{exponent}").parse().unwrap_or(0.0);
    (digits - 1..=digits).rev().map(number).find(|&step: &f64| step < limit).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_round_limit_is_not_printed_as_a_stable_step() {
        for (limit, printed) in [
            (5e-4, "0.0004999"),
            (1e-3, "0.000999"),
            (1.2346e-3, "0.001234"),
            (1.2344e-3, "0.001234"),
            (740.02, "740"),
        ] {
            assert_eq!(copyable(limit).to_string(), printed);
        }
        assert_eq!((copyable(0.0), copyable(f64::INFINITY)), (0.0, f64::INFINITY));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_below_the_limit(limit in 1e-12..1e6f64) {
            let read: f64 = copyable(limit).to_string().parse().unwrap();
            prop_assert!(read < limit && read > 0.998 * limit, "{read} for {limit}");
        }
    }
}
