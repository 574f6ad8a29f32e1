//! The card as bus master: it reads words of the guest's memory, which vfio-user gives it as files.
//!
//! All of it is the client's word: addresses and sizes are checked, and memory is read as a file, never mapped.

use crate::device::pci::dma::{MAGIC, Register, Status};
use std::{collections::BTreeMap, fs::File, io, os::unix::fs::FileExt};

/// Regions that are remembered at most: each has an open file.
const MOST_REGIONS: usize = 256;

/// A piece of the guest's memory.
#[derive(Debug)]
struct Region {
    bytes: u64,
    /// Where it is in its file; none where the client keeps it to itself.
    file: Option<(File, u64)>,
}

/// The guest's memory, by the addresses that the card uses.
#[derive(Debug, Default)]
pub(super) struct Memory {
    regions: BTreeMap<u64, Region>,
}

impl Memory {
    /// The client gives a piece.
    pub(super) fn map(&mut self, address: u64, bytes: u64, file: Option<(File, u64)>) -> io::Result<()> {
        let invalid = io::ErrorKind::InvalidInput;
        let end = address.checked_add(bytes).filter(|_| bytes > 0).ok_or(invalid)?;
        let before = self.regions.range(..end).next_back();
        if self.regions.len() >= MOST_REGIONS || before.is_some_and(|(start, r)| start + r.bytes > address) {
            return Err(invalid.into());
        }
        self.regions.insert(address, Region { bytes, file });
        Ok(())
    }

    /// The client takes all back that lies in this piece.
    pub(super) fn unmap(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        self.regions.retain(|start, r| *start < address || start + r.bytes > end);
    }

    /// The client takes everything back.
    pub(super) fn clear(&mut self) {
        self.regions.clear();
    }

    /// Reads bytes, from as many pieces as they lie in.
    fn read(&self, mut address: u64, mut data: &mut [u8]) -> io::Result<()> {
        while !data.is_empty() {
            let found = self.regions.range(..=address).next_back();
            let inside = found.and_then(|(start, region)| {
                let offset = address - start;
                let left = region.bytes.checked_sub(offset).filter(|left| *left > 0)?;
                let (file, from) = region.file.as_ref()?;
                Some((file, from.checked_add(offset)?, left))
            });
            let (file, at, left) = inside.ok_or(io::ErrorKind::NotFound)?;
            let now = usize::try_from(left).map_or(data.len(), |left| left.min(data.len()));
            let (part, rest) = data.split_at_mut(now);
            file.read_exact_at(part, at)?;
            address = address.checked_add(now as u64).ok_or(io::ErrorKind::InvalidInput)?;
            data = rest;
        }
        Ok(())
    }
}

/// The registers of BAR 1.
#[derive(Debug, Default)]
pub(super) struct Dma {
    address: u64,
    words: u32,
    to: u32,
    status: u32,
}

/// A transfer that is to be made: words and where they go in BAR 0.
pub(super) type Transfer = (u32, Vec<u32>);

const MAGIC_AT: u32 = Register::Magic as u32;
const LOW_AT: u32 = Register::AddressLow as u32;
const HIGH_AT: u32 = Register::AddressHigh as u32;
const WORDS_AT: u32 = Register::Words as u32;
const TO_AT: u32 = Register::To as u32;
const GO_AT: u32 = Register::Go as u32;
const STATUS_AT: u32 = Register::Status as u32;

impl Dma {
    /// The word at an address.
    pub(super) fn read(&self, at: u32) -> u32 {
        match at {
            MAGIC_AT => MAGIC,
            LOW_AT => self.address as u32,
            HIGH_AT => (self.address >> 32) as u32,
            WORDS_AT => self.words,
            TO_AT => self.to,
            STATUS_AT => self.status,
            _ => 0,
        }
    }

    /// Writes a word. If that asks for a transfer that can be made, this is it: [`Self::finish`] afterwards.
    pub(super) fn write(
        &mut self,
        at: u32,
        value: u32,
        bar_bytes: u32,
        memory: Option<&Memory>,
    ) -> Option<Transfer> {
        match at {
            LOW_AT => self.address = self.address >> 32 << 32 | u64::from(value),
            HIGH_AT => self.address = u64::from(value) << 32 | u64::from(self.address as u32),
            WORDS_AT => self.words = value,
            TO_AT => self.to = value,
            GO_AT => match self.fetch(bar_bytes, memory) {
                Ok(transfer) => return Some(transfer),
                Err(status) => self.finish(status),
            },
            _ => {}
        }
        None
    }

    fn fetch(&self, bar_bytes: u32, memory: Option<&Memory>) -> Result<Transfer, Status> {
        let end = u64::from(self.to) + 4 * u64::from(self.words);
        if self.words == 0 || !self.to.is_multiple_of(4) || end > u64::from(bar_bytes) {
            return Err(Status::Invalid);
        }
        let mut bytes = vec![0; 4 * self.words as usize];
        let memory = memory.ok_or(Status::Unreachable)?;
        memory.read(self.address, &mut bytes).map_err(|_| Status::Unreachable)?;
        Ok((self.to, bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()))
    }

    /// What became of the transfer.
    pub(super) fn finish(&mut self, status: Status) {
        self.status = status as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(words: impl IntoIterator<Item = u32>) -> File {
        let file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        file.write_all_at(&bytes, 0).unwrap();
        file
    }

    fn go(memory: Option<&Memory>, address: u64, words: u32, to: u32) -> (Option<Transfer>, u32) {
        let mut dma = Dma::default();
        for (at, value) in [(LOW_AT, address as u32), (HIGH_AT, (address >> 32) as u32), (WORDS_AT, words)] {
            assert_eq!(dma.write(at, value, 4096, memory), None);
            assert_eq!(dma.read(at), value);
        }
        dma.write(TO_AT, to, 4096, memory);
        let transfer = dma.write(GO_AT, 1, 4096, memory);
        (transfer, dma.read(STATUS_AT))
    }

    #[test]
    fn words_are_fetched_across_pieces() {
        let mut memory = Memory::default();
        memory.map(0x1_0000_0000, 8, Some((file([1, 2, 3, 4]), 8))).unwrap();
        memory.map(0x1_0000_0008, 8, Some((file([5, 6]), 0))).unwrap();
        assert_eq!(go(Some(&memory), 0x1_0000_0000, 4, 16).0, Some((16, vec![3, 4, 5, 6])));
        // A byte too far, a piece without a file, pieces that are gone, no master.
        assert_eq!(go(Some(&memory), 0x1_0000_0004, 4, 16), (None, Status::Unreachable as u32));
        memory.map(0x1_0000_0010, 8, None).unwrap();
        assert_eq!(go(Some(&memory), 0x1_0000_0004, 4, 16), (None, Status::Unreachable as u32));
        assert_eq!(go(None, 0x1_0000_0000, 1, 0), (None, Status::Unreachable as u32));
        memory.unmap(0x1_0000_0000, 8);
        assert_eq!(go(Some(&memory), 0x1_0000_0000, 1, 0), (None, Status::Unreachable as u32));
        assert_eq!(go(Some(&memory), 0x1_0000_0008, 1, 0).0, Some((0, vec![5])));
        memory.clear();
        assert_eq!(go(Some(&memory), 0x1_0000_0008, 1, 0), (None, Status::Unreachable as u32));
        // More than the client has put into the file.
        memory.map(0, 4096, Some((file([1]), 0))).unwrap();
        assert_eq!(go(Some(&memory), 0, 2, 0), (None, Status::Unreachable as u32));
        assert_eq!(Dma::default().read(MAGIC_AT), MAGIC);
    }

    #[test]
    fn pieces_that_overlap_are_refused() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000, None).unwrap();
        for (address, bytes) in [(0x1000, 1), (0xfff, 2), (0x1fff, 1), (0, u64::MAX), (u64::MAX, 2), (0, 0)] {
            assert!(memory.map(address, bytes, None).is_err(), "{address:#x} {bytes:#x}");
        }
        memory.map(0x2000, 1, None).unwrap();
        memory.map(0, 0x1000, None).unwrap();
        while memory.regions.len() < MOST_REGIONS {
            memory.map(0x10_0000 + memory.regions.len() as u64, 1, None).unwrap();
        }
        assert!(memory.map(0x20_0000, 1, None).is_err());
    }

    proptest! {
        /// Whatever is asked for, nothing panics, and what does not fit BAR 0 is not fetched.
        #[test]
        fn nonsense(
            pieces in prop::collection::vec((any::<u64>(), any::<u64>()), 0..6),
            address: u64, words in prop_oneof![any::<u32>(), 0..2000u32], to in prop_oneof![any::<u32>(), 0..5000u32],
        ) {
            let mut memory = Memory::default();
            for (at, bytes) in pieces {
                let _ = memory.map(at, bytes, Some((file([]), at)));
                memory.unmap(bytes, at);
            }
            let (transfer, status) = go(Some(&memory), address, words, to);
            prop_assert!(transfer.is_none() && status >= Status::Unreachable as u32);
            let fits = words > 0 && to % 4 == 0 && u64::from(to) + 4 * u64::from(words) <= 4096;
            prop_assert_eq!(status == Status::Unreachable as u32, fits);
        }
    }
}
