//! Marks: one bit that travels with an item.

use crate::circuit::{Build, Net};

/// Whether there is an item: a chain of registers that start as "no item", tapped where it is needed.
pub(super) struct Mark {
    chain: Vec<Net>,
    first: u32,
}

impl Mark {
    /// A mark that is there at a stage.
    pub(super) fn new(valid: &Net, stage: u32) -> Self {
        Self { chain: vec![valid.clone()], first: stage }
    }

    /// The mark at a later stage.
    pub(super) fn at(&mut self, b: &mut Build, stage: u32) -> Net {
        let clocks = (stage - self.first) as usize;
        while self.chain.len() <= clocks {
            let next = b.reg_from_zero(&self.chain[self.chain.len() - 1]);
            self.chain.push(next);
        }
        self.chain[clocks].clone()
    }
}
