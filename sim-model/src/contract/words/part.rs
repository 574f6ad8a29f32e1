//! What a part of a word can be.

use super::{
    super::numbers::{Inverse, Profile},
    Field, RegisterWord, TableEntry,
};

/// A part of a word as a value, and as a number on the bus.
pub trait Part: Copy {
    /// Whether the number has a sign.
    const SIGNED: bool = false;
    /// What the numbers from 0 on are called, if they have names.
    const VALUES: &'static [&'static str] = &[];
    /// Parts of its own, if it has any.
    const PARTS: &'static [Field] = &[];

    /// Its number; all ones, as for none, if no hardware has it.
    fn number(self) -> i64;

    /// From its number, of which the field has kept the bits it has.
    fn from_number(number: i64) -> Self;
}

macro_rules! numbers_are_parts {
    ($($kind:ty: $signed:literal),+) => {
        $(impl Part for $kind {
            const SIGNED: bool = $signed;

            fn number(self) -> i64 {
                self.into()
            }

            fn from_number(number: i64) -> Self {
                number as Self
            }
        })+
    };
}

numbers_are_parts! { i32: true, u8: false, u32: false }

impl Part for bool {
    fn number(self) -> i64 {
        self.into()
    }

    fn from_number(number: i64) -> Self {
        number != 0
    }
}

/// One of a few, known on the bus by its place among them.
pub trait Coded: Copy + PartialEq + 'static {
    /// All that hardware can be, which is not all that there are: codes stay what they are.
    const ALL: &'static [Self];
    /// Their names.
    const NAMES: &'static [&'static str];

    /// Its number.
    fn code(self) -> u32 {
        (0..).zip(Self::ALL).find(|(_, one)| **one == self).map_or(u32::MAX, |(code, _)| code)
    }
}

/// None: a number that none of them has. As a number it is all ones.
impl<T: Coded> Part for Option<T> {
    const VALUES: &'static [&'static str] = T::NAMES;

    fn number(self) -> i64 {
        self.map_or(-1, |one| one.code().into())
    }

    fn from_number(number: i64) -> Self {
        usize::try_from(number).ok().and_then(|code| T::ALL.get(code)).copied()
    }
}

/// The names of all of a kind, in their order.
macro_rules! coded {
    ($($kind:ty => $all:expr),+) => {
        $(impl Coded for $kind {
            const ALL: &'static [Self] = &$all;
            const NAMES: &'static [&'static str] = &{
                let mut names = [""; $all.len()];
                let mut code = 0;
                while code < names.len() {
                    names[code] = $all[code].name();
                    code += 1;
                }
                names
            };
        })+
    };
}

coded! { Profile => Profile::HARDWARE, Inverse => Inverse::ALL, super::Mode => super::Mode::ALL }

impl Part for TableEntry {
    const PARTS: &'static [Field] = Self::FIELDS;

    fn number(self) -> i64 {
        self.bits().into()
    }

    fn from_number(number: i64) -> Self {
        Self::from_bits(number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile without hardware, listed between others, moved their numbers in the identity of every engine.
    #[test]
    fn profiles_without_hardware_do_not_move_the_codes_of_others() {
        let codes = [Profile::Paper2003, Profile::Paper2005, Profile::Wide].map(Coded::code);
        assert_eq!(codes, [0, 1, 2]);
        let none = Some(Profile::Paper2005Plain).number();
        assert_eq!((<Option<Profile> as Part>::from_number(none), none & 0xf), (None, 0xf));
    }
}
