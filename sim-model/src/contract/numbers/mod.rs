//! The number contract: every word of the engine, declared once per profile.
//!
//! A *profile* says how wide each variable is, where its binary point lies, how products are rounded and
//! how constants are stored. The bit-accurate model computes from this table, the hardware is generated
//! from it and the host converts with it; there is no second list of widths anywhere.
//!
//! State words may be wider than what the arithmetic sees: the top [`State::operand_bits`] bits feed the
//! multipliers, the [`State::residual`] bits below keep what an Euler increment would otherwise lose.

mod constant;
mod inverse;
mod word;

pub use constant::{Constant, ConstantRule, Rounding};
pub use inverse::{ARGUMENT_BITS, Inverse, MANTISSA_BITS};
pub use word::{State, Word, wrap};

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Which two of the three element quantities are computed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LawForm {
    /// The papers' order (H05 2.3.1): lv' = A u + B l', then f = -c2 (l' - lv'). Cancels badly when c2 is large.
    Rate,
    /// The same algebra, force first: f = -(K u + C l'), then lv' = l' + D f with K = k1 c2/(c1+c2),
    /// C = c1 c2/(c1+c2), D = 1/c2. As many multipliers, no cancellation, and c2 = inf is exact (D = 0).
    Force,
}

/// Every word of the engine under one profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// Particle position.
    pub x: State,
    /// Particle velocity. Its binary point moves up by the scene's velocity exponent.
    pub v: State,
    /// Voigt extension u = l_voigt - L. Its binary point moves up by the scene's extension exponent.
    pub u: State,
    /// Difference of two operands (x_j - x_i, v_j - v_i): one bit more than an operand, never overflows.
    pub difference_bits: u32,
    /// How far each square is cut before the three are summed.
    pub square_shift: u32,
    /// Width of the unsigned sum of squares.
    pub square_bits: u32,
    /// Inverse length.
    pub inverse: Word,
    /// A component of the unit vector.
    pub unit: Word,
    /// Length rates l' and lv'.
    pub rate: Word,
    /// Whether the three products of the scalar product are cut one by one (else their sum is cut once).
    pub dot_cut_each: bool,
    /// Scalar force of an element.
    pub force: Word,
    /// A component of the force vector of an element, and of an external force.
    pub edge_force: Word,
    /// A force accumulator, and the sum of all forces on a particle.
    pub force_sum: Word,
    /// Order of the element law.
    pub law: LawForm,
    /// Rounding of every product.
    pub rounding: Rounding,
    /// How constants are stored.
    pub constants: ConstantRule,
    /// The time unit is the step, so that Euler's method needs no multiplication.
    pub unit_step: bool,
    /// Largest velocity and extension exponent a scene may choose.
    pub max_exponent: u32,
}

impl Numbers {
    /// How far a product of inverse length and difference is cut to a component of the unit vector.
    pub const fn unit_shift(&self) -> u32 {
        (self.x.frac + self.inverse.frac - self.unit.frac) as u32
    }

    /// How far the scalar product of unit vector and relative velocity is cut to a length rate.
    pub const fn rate_shift(&self) -> u32 {
        (self.unit.frac + self.v.frac - self.rate.frac) as u32
    }

    /// How far a product of scalar force and unit vector is cut to a force component.
    pub const fn force_shift(&self) -> u32 {
        (self.unit.frac + self.force.frac - self.edge_force.frac) as u32
    }

    /// What is added to the normaliser's exponent to shift the mantissa of the inverse length into place.
    pub const fn inverse_offset(&self) -> i32 {
        let square_frac = 2 * self.x.frac - self.square_shift as i32;
        MANTISSA_BITS as i32 - self.inverse.frac - square_frac / 2
    }

    /// The position increment per velocity unit: a right shift, less the velocity exponent.
    pub const fn position_shift(&self, velocity_exponent: u32) -> u32 {
        (self.v.word().frac - self.x.word().frac) as u32 - velocity_exponent
    }

    /// The extension increment per length rate: `(rate << max_exponent) >> this`.
    pub const fn extension_shift(&self, velocity_exponent: u32, extension_exponent: u32) -> u32 {
        self.max_exponent + extension_exponent - velocity_exponent
    }
}

const Q8_8: State = State { bits: 16, residual: 0, frac: 8 };
const Q8_8_WORD: Word = Word { bits: 16, frac: 8 };

/// 2003: all Q8.8, constants to the nearest Q8.8, products truncated. Reproduces the printed circuit.
pub const PAPER_2003: Numbers = Numbers {
    x: Q8_8,
    v: Q8_8,
    u: Q8_8,
    difference_bits: 17,
    square_shift: 8,
    square_bits: 26,
    inverse: Q8_8_WORD,
    unit: Q8_8_WORD,
    rate: Q8_8_WORD,
    dot_cut_each: true,
    force: Q8_8_WORD,
    edge_force: Q8_8_WORD,
    force_sum: Word { bits: 18, frac: 8 },
    law: LawForm::Rate,
    rounding: Rounding::Truncate,
    constants: ConstantRule::Fixed(8),
    unit_step: false,
    max_exponent: 0,
};

/// 2005: Q8.8 with round half up and optimised binary points of constants (H05 (2.18)).
pub const PAPER_2005: Numbers =
    Numbers { rounding: Rounding::HalfUp, constants: ConstantRule::Optimal(16), ..PAPER_2003 };

/// 2005 as it would be without [`PAPER_2005`]'s constants: their binary points stay at 8 bits, as H05 2.3.3 prints the step
/// (Fig. 2.10).
pub const PAPER_2005_PLAIN: Numbers = Numbers { constants: ConstantRule::Cut(8), ..PAPER_2005 };

/// The default: 16-bit operands with a binary point each, 24-bit state words, the step as time unit.
/// Inner words use the multipliers' full 18 bits.
pub const WIDE: Numbers = Numbers {
    x: State { bits: 24, residual: 8, frac: 8 },
    v: State { bits: 24, residual: 8, frac: 21 },
    u: State { bits: 24, residual: 8, frac: 14 },
    difference_bits: 17,
    square_shift: 0,
    square_bits: 34,
    inverse: Word { bits: 18, frac: 17 },
    unit: Word { bits: 18, frac: 16 },
    rate: Word { bits: 18, frac: 22 },
    dot_cut_each: false,
    force: Word { bits: 18, frac: 26 },
    edge_force: Word { bits: 16, frac: 26 },
    force_sum: Word { bits: 18, frac: 26 },
    law: LawForm::Force,
    rounding: Rounding::HalfUp,
    constants: ConstantRule::Optimal(Constant::MAX_SHIFT),
    unit_step: true,
    max_exponent: 7,
};

/// A named number contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// [`PAPER_2003`]
    #[serde(rename = "paper-2003")]
    Paper2003,
    /// [`PAPER_2005`]
    #[serde(rename = "paper-2005")]
    Paper2005,
    /// [`PAPER_2005_PLAIN`]: what H05 compares its constants with. No circuit is made for it.
    #[serde(rename = "paper-2005-plain")]
    Paper2005Plain,
    /// [`WIDE`]
    #[default]
    Wide,
}

impl Profile {
    /// All profiles, oldest first.
    pub const ALL: [Self; 4] = [Self::Paper2003, Self::Paper2005Plain, Self::Paper2005, Self::Wide];

    /// Those that circuits are made for and compared in; the others are there to compare arithmetic, on the model and the
    /// hybrid engine.
    pub const HARDWARE: [Self; 3] = [Self::Paper2003, Self::Paper2005, Self::Wide];

    /// The same profile, if there are circuits for it.
    pub fn in_hardware(self) -> Result<Self, NoHardware> {
        if Self::HARDWARE.contains(&self) { Ok(self) } else { Err(NoHardware(self)) }
    }

    /// Names of profiles, as messages list them.
    fn names(profiles: &[Self]) -> String {
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
        names.join(", ")
    }

    /// The profile's words.
    pub const fn numbers(self) -> &'static Numbers {
        match self {
            Self::Paper2003 => &PAPER_2003,
            Self::Paper2005 => &PAPER_2005,
            Self::Paper2005Plain => &PAPER_2005_PLAIN,
            Self::Wide => &WIDE,
        }
    }

    /// The circuit of the inverse length where none is asked for: the papers' own for their profiles.
    pub const fn usual_inverse(self) -> Inverse {
        match self {
            Self::Paper2003 | Self::Paper2005 | Self::Paper2005Plain => Inverse::Cordic,
            Self::Wide => Inverse::Table,
        }
    }

    /// The name users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper2003 => "paper-2003",
            Self::Paper2005 => "paper-2005",
            Self::Paper2005Plain => "paper-2005-plain",
            Self::Wide => "wide",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|p| p.name() == s)
            .ok_or_else(|| format!("unknown profile `{s}`; one of {}", Self::names(&Self::ALL)))
    }
}

/// Hardware was asked for in a profile that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no hardware in profile {0}: it is there to compare arithmetic, with --engine model or hybrid; hardware has {hardware}",
    hardware = Profile::names(&Profile::HARDWARE)
)]
pub struct NoHardware(pub Profile);

/// A raw word as a decimal number, for people: the shortest that tells it apart (the `fixed` crate prints it).
pub fn text(raw: i64, frac: i32) -> String {
    use fixed::{FixedI64, types::extra::U32};
    match u32::try_from(frac) {
        Ok(frac @ 0..=32) if Word { bits: 31, frac: 0 }.fits(raw) => {
            FixedI64::<U32>::from_bits(raw << (32 - frac)).to_string()
        }
        _ => format!("{}", raw as f64 * 2f64.powi(-frac)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_papers_constants() {
        // h = 0.01 in Q8.8 is off by far, with an optimised point hardly (H05 2.3.3).
        let plain = Constant::new(0.01, ConstantRule::Fixed(8)).unwrap();
        assert_eq!((plain.mantissa, plain.shift), (3, 8));
        // 0.0078125, 21.9 % off: what is printed is cut, not rounded.
        let printed = Constant::new(0.01, PAPER_2005_PLAIN.constants).unwrap();
        assert_eq!((printed.value(), printed.shift), (0.0078125, 8));
        assert_eq!(Constant::new(-0.01, PAPER_2005_PLAIN.constants).unwrap().mantissa, -3);
        let optimal = Constant::new(0.01, ConstantRule::Optimal(16)).unwrap();
        assert_eq!((optimal.mantissa, optimal.shift), (655, 16));
        // w = 14 - floor(log2 |c|) below the cap
        assert_eq!(Constant::new(2.3, ConstantRule::Optimal(16)).unwrap().shift, 13);
        assert_eq!(Constant::new(-0.178, ConstantRule::Optimal(16)).unwrap().shift, 16);
        assert_eq!(Constant::new(40000.0, ConstantRule::Optimal(16)), None);
        assert_eq!(Constant::new(0.0, ConstantRule::Optimal(16)), Some(Constant::default()));
    }

    #[test]
    fn text_for_people() {
        assert_eq!(text(-338, 8), "-1.3203125");
        assert_eq!(text(1, 16), "0.0000152588");
        assert_eq!(text(3, 40), (3.0 / 2f64.powi(40)).to_string());
    }

    #[test]
    fn derived_shifts() {
        assert_eq!((WIDE.unit_shift(), WIDE.rate_shift(), WIDE.force_shift()), (9, 15, 16));
        assert_eq!((PAPER_2003.unit_shift(), PAPER_2003.rate_shift(), PAPER_2003.force_shift()), (8, 8, 8));
        assert_eq!((WIDE.inverse_offset(), PAPER_2003.inverse_offset()), (-7, 6));
        assert_eq!(WIDE.position_shift(0), 13);
    }

    /// The plain profile differs from the papers' in how constants are stored, and in nothing else.
    #[test]
    fn the_plain_profile_has_no_hardware() {
        let differs = Numbers { constants: PAPER_2005.constants, ..PAPER_2005_PLAIN };
        assert_eq!(differs, PAPER_2005);
        for profile in Profile::ALL {
            assert_eq!(profile.name().parse(), Ok(profile));
            assert_eq!(profile.in_hardware().is_ok(), profile != Profile::Paper2005Plain, "{profile}");
        }
        let text = Profile::Paper2005Plain.in_hardware().unwrap_err().to_string();
        assert!(text.ends_with("hardware has paper-2003, paper-2005, wide"), "{text}");
    }

    proptest! {
        #[test]
        fn round_half_up_is_floor_of_x_plus_half(p in -(1i64 << 40)..(1i64 << 40), s in 0u32..32) {
            let exact = (p as f64 / 2f64.powi(s as i32) + 0.5).floor();
            prop_assert_eq!(Rounding::HalfUp.shift(p, s), exact as i64);
        }

        #[test]
        fn constants_are_within_half_a_mantissa_step(c in -3.0e4f64..3.0e4, limit in 16u32..32) {
            let k = Constant::new(c, ConstantRule::Optimal(limit)).unwrap();
            prop_assert!((k.value() - c).abs() <= 0.5 * 2f64.powi(-(k.shift as i32)));
            prop_assert!(k.shift == limit || k.mantissa.abs() >= 1 << 14);
        }

        #[test]
        fn wrap_keeps_what_fits(v in any::<i32>(), bits in 2u32..40) {
            let w = Word { bits, frac: 0 };
            prop_assert_eq!(w.fits(v.into()), i64::from(v) <= w.max() && i64::from(v) >= -w.max() - 1);
        }
    }
}
