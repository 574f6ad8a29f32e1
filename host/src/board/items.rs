//! Items of the board's memories, to it and from it.

use super::{Board, BoardError};
use crate::device::Device;
use nendo_model::contract::{map::WindowName, words::Item};

/// Words moved between two looks at the sums.
const BLOCK: usize = 4096;

impl<D: Device> Board<D> {
    /// Writes items to a module, from an item on.
    pub(crate) fn store<I: Item>(
        &mut self,
        place: (u32, u32),
        items: impl IntoIterator<Item = I>,
    ) -> Result<(), BoardError> {
        let words: Vec<Vec<u32>> = items.into_iter().map(|item| self.map.pack(&item)).collect();
        self.store_words(I::WINDOW, place, &words)
    }

    /// Writes the words of items to a window of a module, from an item on.
    pub(crate) fn store_words(
        &mut self,
        window: WindowName,
        (module, item): (u32, u32),
        items: &[Vec<u32>],
    ) -> Result<(), BoardError> {
        let window = self.map.window(window);
        let mut words = Vec::new();
        for item in items {
            words.extend(item);
            words.resize(words.len().next_multiple_of(window.stride as usize), 0);
        }
        let doing = format!("writing to {}", window.name.name());
        for (block, at) in words.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            let address = self.map.address(window, module, item, at);
            self.link.writing(&doing, |link| link.write_block(address, block))?;
        }
        Ok(())
    }

    /// Reads the first items of a module.
    pub(crate) fn fetch<I: Item>(&mut self, module: u32, items: u32) -> Result<Vec<I>, BoardError> {
        let words = self.fetch_words(I::WINDOW, module, items)?;
        Ok(words.iter().map(|item| self.map.unpack(item)).collect())
    }

    /// Reads the words of the first items of a window of a module.
    pub(crate) fn fetch_words(
        &mut self,
        window: WindowName,
        module: u32,
        items: u32,
    ) -> Result<Vec<Vec<u32>>, BoardError> {
        let window = self.map.window(window);
        let stride = window.stride as usize;
        let mut words = vec![0; items as usize * stride];
        let doing = format!("reading from {}", window.name.name());
        for (block, at) in words.chunks_mut(BLOCK).zip((0..).step_by(BLOCK)) {
            let address = self.map.address(window, module, 0, at);
            self.link.reading(&doing, |link| link.read_block(address, block))?;
        }
        Ok(words.chunks(stride).map(<[u32]>::to_vec).collect())
    }

    /// Items of all particles, in the order of the image.
    pub(super) fn all<I: Item + Default>(&mut self) -> Result<Vec<I>, BoardError> {
        let mut found = Vec::new();
        for (module, particles) in self.layout.particles_in_modules() {
            found.push(self.fetch(module, particles)?);
        }
        Ok(self.layout.in_order(found))
    }
}
