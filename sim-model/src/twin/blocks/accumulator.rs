//! Accumulator memory: sums of force vectors, one per particle.
//!
//! The hardware reads, adds and writes in a pipeline, one item per clock, and forwards what is still on its
//! way; what it means is no more than this.

use crate::contract::numbers::Word;

/// Sums of vectors of two's complement words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulator {
    word: Word,
    sums: Vec<[i64; 3]>,
}

impl Accumulator {
    /// All sums zero.
    pub fn new(word: Word, depth: usize) -> Self {
        Self { word, sums: vec![[0; 3]; depth] }
    }

    /// Adds to a sum, wrapping.
    pub fn add(&mut self, address: usize, value: [i64; 3]) {
        for (sum, value) in self.sums[address].iter_mut().zip(value) {
            *sum = self.word.wrap(*sum + value);
        }
    }

    /// Reads a sum and sets it to zero.
    pub fn take(&mut self, address: usize) -> [i64; 3] {
        std::mem::take(&mut self.sums[address])
    }
}
