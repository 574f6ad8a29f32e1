//! Project X-Ray's database: where tiles are and which bits their features have.

use super::FasmError;
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

/// A bit of a feature, relative to its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Bit {
    /// Frame of the tile.
    pub(super) frame: u32,
    /// Bit of the tile's words.
    pub(super) bit: u32,
    /// Whether it is one or zero.
    pub(super) one: bool,
}

/// A feature's name within its tile type, and its index where it has one.
pub(super) type Name = (String, Option<u32>);

/// What a tile type can do, on one configuration bus.
#[derive(Debug, Default)]
pub(super) struct Kind {
    pub(super) features: HashMap<Name, Vec<Bit>>,
}

/// Where a tile's bits are, on one configuration bus.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Block {
    #[serde(deserialize_with = "hexadecimal")]
    pub(super) baseaddr: u32,
    pub(super) frames: u32,
    pub(super) offset: u32,
    pub(super) words: u32,
    pub(super) alias: Option<Alias>,
}

/// A tile that is a part of another type's.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Alias {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) start_offset: u32,
    pub(super) sites: HashMap<String, String>,
}

/// A tile.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Tile {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) bits: BTreeMap<String, Block>,
}

fn hexadecimal<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let text = String::deserialize(from)?;
    let digits = text.strip_prefix("0x").unwrap_or(&text);
    u32::from_str_radix(digits, 16).map_err(serde::de::Error::custom)
}

/// The database of one part. Tile types are read when they are needed.
pub struct Database {
    folder: PathBuf,
    pub(super) tiles: BTreeMap<String, Tile>,
    kinds: HashMap<(String, String), Rc<Kind>>,
    pseudo: HashMap<String, Rc<HashSet<String>>>,
}

impl Database {
    /// Opens the database of a family for a part.
    pub fn open(folder: &Path, part: &str) -> Result<Self, FasmError> {
        let error = |path: &Path, reason: String| FasmError::Database { path: path.to_owned(), reason };
        let entries = fs::read_dir(folder).map_err(|e| error(folder, e.to_string()))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let grids =
            names.filter(|name| part.starts_with(name)).map(|name| folder.join(name).join("tilegrid.json"));
        let grid = grids.filter(|grid| grid.is_file()).max_by_key(|grid| grid.as_os_str().len());
        let grid = grid.ok_or_else(|| error(folder, format!("no tile grid for {part}")))?;
        let text = fs::read_to_string(&grid).map_err(|e| error(&grid, e.to_string()))?;
        let tiles = serde_json::from_str(&text).map_err(|e| error(&grid, e.to_string()))?;
        Ok(Self { folder: folder.to_owned(), tiles, kinds: HashMap::new(), pseudo: HashMap::new() })
    }

    /// The features of a tile type on a configuration bus.
    pub(super) fn kind(&mut self, kind: &str, bus: &str) -> Result<Rc<Kind>, FasmError> {
        let key = (kind.to_owned(), bus.to_owned());
        if let Some(known) = self.kinds.get(&key) {
            return Ok(Rc::clone(known));
        }
        let middle = if bus == "CLB_IO_CLK" { String::new() } else { format!(".{}", bus.to_lowercase()) };
        let path = self.folder.join(format!("segbits_{}{middle}.db", kind.to_lowercase()));
        let read = Rc::new(if path.is_file() { read_kind(&path)? } else { Kind::default() });
        self.kinds.insert(key, Rc::clone(&read));
        Ok(read)
    }

    /// Connections of a tile type that are always there and have no bits.
    pub(super) fn pseudo(&mut self, kind: &str) -> Result<Rc<HashSet<String>>, FasmError> {
        if let Some(known) = self.pseudo.get(kind) {
            return Ok(Rc::clone(known));
        }
        let path = self.folder.join(format!("ppips_{}.db", kind.to_lowercase()));
        let mut names = HashSet::new();
        if path.is_file() {
            let text = read(&path)?;
            let first = |line: &str| Some(line.split_whitespace().next()?.split_once('.')?.1.to_owned());
            names.extend(text.lines().filter_map(first));
        }
        let names = Rc::new(names);
        self.pseudo.insert(kind.to_owned(), Rc::clone(&names));
        Ok(names)
    }
}

fn read(path: &Path) -> Result<String, FasmError> {
    fs::read_to_string(path).map_err(|e| FasmError::Database { path: path.to_owned(), reason: e.to_string() })
}

/// Reads `KIND.NAME[index] 12_34 !56_78 ...` lines.
fn read_kind(path: &Path) -> Result<Kind, FasmError> {
    let text = read(path)?;
    let mut kind = Kind::default();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (name, bits) = read_line(line).ok_or_else(|| FasmError::Database {
            path: path.to_owned(),
            reason: format!("line {}: `{line}`", number + 1),
        })?;
        kind.features.insert(name, bits);
    }
    Ok(kind)
}

pub(super) fn read_line(line: &str) -> Option<(Name, Vec<Bit>)> {
    let mut words = line.split_whitespace();
    let (_, name) = words.next()?.split_once('.')?;
    let name = match name.split_once('[') {
        Some((name, index)) => (name.to_owned(), Some(index.strip_suffix(']')?.parse().ok()?)),
        None => (name.to_owned(), None),
    };
    let bits: Option<Vec<Bit>> = words
        .map(|word| {
            let (one, place) = word.strip_prefix('!').map_or((true, word), |rest| (false, rest));
            let (frame, bit) = place.split_once('_')?;
            Some(Bit { frame: frame.parse().ok()?, bit: bit.parse().ok()?, one })
        })
        .collect();
    Some((name, bits?))
}
