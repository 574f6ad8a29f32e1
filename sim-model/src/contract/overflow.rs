//! Sticky overflow flags, one per source.
//!
//! A value that does not fit its word wraps and sets its flag; nothing saturates in silence. Because an
//! element force beyond the scene's force limit is already an overflow, no sum of forces can wrap without a
//! flag, whatever the order of summation: the flags depend on the state only.

use serde::Serialize;
use std::fmt;

/// Where an overflow arises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Source {
    /// Inverse length: an edge too short for the word, or of length zero.
    Inverse = 0,
    /// Length rate l', or the Voigt rate.
    Rate = 1,
    /// Scalar force of an element.
    Force = 2,
    /// A component of an element's force is beyond the limit that keeps sums safe.
    ForceLimit = 3,
    /// Voigt extension.
    Extension = 4,
    /// Sum of all forces on a particle.
    ForceSum = 5,
    /// Velocity, or acceleration.
    Velocity = 6,
    /// Position.
    Position = 7,
}

impl Source {
    /// All sources in the order of their bits.
    pub const ALL: [Self; 8] = [
        Self::Inverse,
        Self::Rate,
        Self::Force,
        Self::ForceLimit,
        Self::Extension,
        Self::ForceSum,
        Self::Velocity,
        Self::Position,
    ];

    /// Name and remedy, for people.
    pub const fn advice(self) -> (&'static str, &'static str) {
        match self {
            Self::Inverse => (
                "inverse",
                "an edge collapsed or is too short for the unit of length; use a smaller scaling.length",
            ),
            Self::Rate => ("rate", "edges change their length too fast; raise scaling.velocity_exponent"),
            Self::Force => ("force", "element forces are too large; raise scaling.mass"),
            Self::ForceLimit => {
                ("force-limit", "element forces are too large for safe sums; raise scaling.mass")
            }
            Self::Extension => ("extension", "Voigt parts stretch too far; raise scaling.extension_exponent"),
            Self::ForceSum => ("force-sum", "forces on a particle are too large; raise scaling.mass"),
            Self::Velocity => ("velocity", "particles move too fast; raise scaling.velocity_exponent"),
            Self::Position => ("position", "particles leave the range; raise scaling.length"),
        }
    }
}

/// A set of sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow(u8);

impl Overflow {
    /// Nothing has overflowed.
    pub const NONE: Self = Self(0);

    /// The flag register's bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// From the flag register's bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Sets a flag unless `fits`.
    #[inline(always)]
    pub const fn check(&mut self, source: Source, fits: bool) {
        self.0 |= (!fits as u8) << source as u8;
    }

    /// Both sets.
    #[inline(always)]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any flag is set.
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// The sources set.
    pub fn sources(self) -> impl Iterator<Item = Source> {
        Source::ALL.into_iter().filter(move |s| self.0 >> *s as u8 & 1 != 0)
    }
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.sources().map(|s| s.advice().0).collect();
        f.write_str(&if names.is_empty() { "none".to_owned() } else { names.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stick_and_have_names() {
        let mut o = Overflow::NONE;
        o.check(Source::Velocity, true);
        assert!(!o.any());
        o.check(Source::Velocity, false);
        o.check(Source::Velocity, true);
        o.check(Source::Inverse, false);
        assert_eq!(o.to_string(), "inverse, velocity");
        assert_eq!(Overflow::from_bits(o.bits()), o);
        assert!(Source::ALL.iter().enumerate().all(|(bit, &s)| s as usize == bit));
    }
}
