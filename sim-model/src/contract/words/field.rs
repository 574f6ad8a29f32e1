//! A part of a word: where it is, and how a number gets into it and out of it.

use serde::Serialize;

/// A part of a register or of an item in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The word of the item it is in.
    pub word: u32,
    /// Its lowest bit in that word.
    pub low: u32,
    /// Its width.
    pub bits: u32,
    /// Whether it is a signed number; it is sign-extended when it is alone in its word.
    pub signed: bool,
    /// A sentence about it.
    pub doc: &'static str,
    /// What its values from 0 on are called, if they have names.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub values: &'static [&'static str],
    /// Its own parts, if it has any: places within the field.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub parts: &'static [Field],
}

impl Field {
    /// What it keeps of a number: the low bits, as a signed number if it is one.
    pub const fn keep(&self, number: i64) -> i64 {
        let Some(shift) = 64u32.checked_sub(self.bits) else { return number };
        match (shift, self.signed) {
            (64, _) => 0,
            (_, true) => (number << shift) >> shift,
            (_, false) => (((number as u64) << shift) >> shift) as i64,
        }
    }

    /// Its bits in its word.
    pub const fn mask(&self) -> u32 {
        (((1u64 << self.bits) - 1) as u32) << self.low
    }
}

/// Numbers of fields as bus words.
pub fn pack(fields: &[Field], numbers: &[i64]) -> Vec<u32> {
    let mut words = vec![0; fields.iter().map(|f| f.word as usize + 1).max().unwrap_or(0)];
    for (field, number) in fields.iter().zip(numbers) {
        let alone = fields.iter().filter(|f| f.word == field.word).count() == 1;
        let filled = if alone && field.signed { u32::MAX << field.low } else { field.mask() };
        words[field.word as usize] |= ((*number as u32) << field.low) & filled;
    }
    words
}

/// Numbers of fields from bus words; words that are missing are zero.
pub fn unpack(fields: &[Field], words: &[u32]) -> Vec<i64> {
    let word = |f: &Field| words.get(f.word as usize).copied().unwrap_or(0);
    fields.iter().map(|f| f.keep((word(f) >> f.low).into())).collect()
}
