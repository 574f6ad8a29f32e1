//! The two circuits of the inverse length: which one, and how wide its words are.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Width of a normalised argument: 2 integer and 18 fraction bits.
pub const ARGUMENT_BITS: u32 = 20;
/// Fraction bits of a normalised inverse root (it lies below 1, so this is its width too).
pub const MANTISSA_BITS: u32 = 18;

/// The circuit that computes an inverse square root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inverse {
    /// CORDIC square root, then a divider, as in H05 2.3.2. No multiplier, no memory.
    Cordic,
    /// Table with linear interpolation: one block of memory, one multiplier, far fewer stages.
    #[default]
    Table,
}

impl Inverse {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Cordic, Self::Table];

    /// The name users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cordic => "cordic",
            Self::Table => "table",
        }
    }
}

impl fmt::Display for Inverse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Inverse {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|i| i.name() == s)
            .ok_or_else(|| format!("unknown inverse `{s}`; one of cordic, table"))
    }
}
