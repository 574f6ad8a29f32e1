//! Features to frames and back.

use super::{
    FasmError,
    database::{Bit, Block, Database, Name, Tile},
    lines::Feature,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt::Write,
};

/// Words of a frame.
pub const WORDS: usize = 101;

/// Frames by address; those that are not here are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    frames: BTreeMap<u32, [u32; WORDS]>,
}

impl Frames {
    fn get(&self, place: Place) -> bool {
        self.frames.get(&place.frame).is_some_and(|words| words[place.word] >> place.bit & 1 == 1)
    }

    fn set(&mut self, place: Place) {
        self.frames.entry(place.frame).or_insert([0; WORDS])[place.word] |= 1 << place.bit;
    }

    /// Reads what `bitread -y` lists: a line `bit_FRAME_WORD_BIT` for every bit that is one.
    pub fn from_bits(text: &str) -> Result<Self, FasmError> {
        let mut frames = Self::default();
        for (number, line) in text.lines().enumerate() {
            let place = || {
                let mut parts = line.trim().strip_prefix("bit_")?.split('_');
                let frame = u32::from_str_radix(parts.next()?, 16).ok()?;
                let (word, bit) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
                (word < WORDS && bit < 32).then_some(Place { frame, word, bit })
            };
            let bad = || FasmError::Line { line: number + 1, reason: format!("`{line}` is no bit") };
            frames.set(place().ok_or_else(bad)?);
        }
        Ok(frames)
    }

    /// How many bits are one.
    pub fn ones(&self) -> u64 {
        self.frames.values().flatten().map(|word| u64::from(word.count_ones())).sum()
    }

    /// In xc7frames2bit's format: an address and all words of it, line by line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (address, words) in &self.frames {
            let words: Vec<String> = words.iter().map(|word| format!("0x{word:08X}")).collect();
            let _ = writeln!(text, "0x{address:08X} {}", words.join(","));
        }
        text
    }
}

/// A bit of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Place {
    frame: u32,
    word: usize,
    bit: u32,
}

/// Where a tile's bit is in the device, unless it is outside the tile.
fn place(block: &Block, bit: Bit) -> Option<Place> {
    let first = block.alias.as_ref().map_or(0, |alias| alias.start_offset);
    let word = (bit.bit / 32).checked_sub(first)?;
    let inside = bit.frame < block.frames && word < block.words;
    let place = Place {
        frame: block.baseaddr.checked_add(bit.frame)?,
        word: (block.offset.checked_add(word)?) as usize,
        bit: bit.bit % 32,
    };
    (inside && place.word < WORDS).then_some(place)
}

/// The database's name for a tile's feature on a bus: other tile types name their sites differently.
fn database_name(block: &Block, name: &str) -> String {
    let renamed = block.alias.as_ref().and_then(|alias| {
        let (site, rest) = name.split_once('.')?;
        Some(format!("{}.{rest}", alias.sites.get(site)?))
    });
    renamed.unwrap_or_else(|| name.to_owned())
}

fn kind_of<'a>(tile: &'a Tile, block: &'a Block) -> &'a str {
    block.alias.as_ref().map_or(&tile.kind, |alias| &alias.kind)
}

/// The bits of a feature; none for a connection that is always there.
fn bits_of(database: &mut Database, feature: &Feature) -> Result<Vec<(Block, Vec<Bit>)>, FasmError> {
    let unknown = || FasmError::Unknown(feature.to_string());
    let tile = database.tiles.get(&feature.tile).ok_or_else(unknown)?.clone();
    let mut found = Vec::new();
    for (bus, block) in &tile.bits {
        let kind = database.kind(kind_of(&tile, block), bus)?;
        let name = database_name(block, &feature.name);
        let mut bits = kind.features.get(&(name.clone(), feature.index));
        // A single bit may be written with or without its index.
        bits = match (bits, feature.index) {
            (None, Some(0)) => kind.features.get(&(name, None)),
            (None, None) => kind.features.get(&(name, Some(0))),
            (bits, _) => bits,
        };
        found.extend(bits.map(|bits| (block.clone(), bits.clone())));
    }
    if found.is_empty() && !database.pseudo(&tile.kind)?.contains(&feature.name) {
        return Err(unknown());
    }
    Ok(found)
}

pub(super) fn encode(database: &mut Database, features: &[Feature]) -> Result<Frames, FasmError> {
    let mut frames = Frames::default();
    let mut zeros = HashSet::new();
    for feature in features {
        for (block, bits) in bits_of(database, feature)? {
            for bit in bits {
                let place = place(&block, bit).ok_or_else(|| FasmError::Outside(feature.to_string()))?;
                let conflict = if bit.one { zeros.contains(&place) } else { frames.get(place) };
                if conflict {
                    let Place { frame, word, bit } = place;
                    return Err(FasmError::Conflict { feature: feature.to_string(), frame, word, bit });
                }
                if bit.one {
                    frames.set(place);
                } else {
                    zeros.insert(place);
                }
            }
        }
    }
    Ok(frames)
}

/// What the frames say about a tile: every feature all of whose bits are as it wants them. Features without a
/// bit that is one would be found everywhere and are left out.
fn decode_tile(
    database: &mut Database,
    tile: &Tile,
    frames: &Frames,
) -> Result<BTreeMap<Name, BTreeSet<Place>>, FasmError> {
    let mut found = BTreeMap::new();
    for (bus, block) in &tile.bits {
        let used = (0..block.frames).any(|k| {
            let words = frames.frames.get(&(block.baseaddr.wrapping_add(k)));
            let range = block.offset as usize
                ..(block.offset as usize).saturating_add(block.words as usize).min(WORDS);
            words.is_some_and(|words| words.get(range).is_some_and(|words| words.iter().any(|w| *w != 0)))
        });
        if !used {
            continue;
        }
        let kind = database.kind(kind_of(tile, block), bus)?;
        for (name, bits) in &kind.features {
            let agrees = |bit: &Bit| place(block, *bit).is_some_and(|place| frames.get(place) == bit.one);
            if bits.iter().any(|bit| bit.one) && bits.iter().all(agrees) {
                let ones = bits.iter().filter(|bit| bit.one).filter_map(|bit| place(block, *bit));
                found.insert(name.clone(), ones.collect());
            }
        }
    }
    Ok(found)
}

/// Decodes frames and compares with what was encoded. Every feature must be found again; a feature that is found
/// besides must be another name for bits that a single encoded one has set; and nothing may be left over.
pub(super) fn verify(
    database: &mut Database,
    features: &[Feature],
    frames: &Frames,
) -> Result<(), FasmError> {
    let mut meant: BTreeMap<&str, Vec<(&Feature, BTreeSet<Place>)>> = BTreeMap::new();
    for feature in features {
        let mut ones = BTreeSet::new();
        for (block, bits) in bits_of(database, feature)? {
            ones.extend(bits.iter().filter(|bit| bit.one).filter_map(|bit| place(&block, *bit)));
        }
        if !ones.is_empty() {
            meant.entry(&feature.tile).or_default().push((feature, ones));
        }
    }
    let tiles = database.tiles.clone();
    let mut explained = Frames::default();
    for (name, tile) in &tiles {
        let found = decode_tile(database, tile, frames)?;
        let expected = meant.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        for (feature, ones) in expected {
            if !found.values().any(|places| places == ones) {
                return Err(FasmError::Decoded(format!("{feature} is missing")));
            }
            ones.iter().for_each(|place| explained.set(*place));
        }
        for ((feature, _), places) in &found {
            if !expected.iter().any(|(_, ones)| places.is_subset(ones)) && !elsewhere(places, &meant) {
                return Err(FasmError::Decoded(format!("{name}.{feature} was never meant")));
            }
        }
    }
    if explained != *frames { Err(FasmError::Decoded("bits are left over".to_owned())) } else { Ok(()) }
}

/// Whether a feature of one tile is all within a feature of another that shares its bits.
fn elsewhere(places: &BTreeSet<Place>, meant: &BTreeMap<&str, Vec<(&Feature, BTreeSet<Place>)>>) -> bool {
    meant.values().flatten().any(|(_, ones)| places.is_subset(ones))
}
