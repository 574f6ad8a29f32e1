//! FASM's lines: `TILE.NAME.NAME`, with or without `[high:low] = width'bVALUE`, comments after `#`.

use super::FasmError;

/// One bit that is switched on: a tile and a feature of it, with its index where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Feature {
    pub(super) tile: String,
    pub(super) name: String,
    pub(super) index: Option<u32>,
}

impl std::fmt::Display for Feature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.tile, self.name)?;
        self.index.map_or(Ok(()), |index| write!(f, "[{index}]"))
    }
}

/// No value is wider.
const MOST_BITS: u32 = 4096;

/// The features of a file, each once, in the file's order.
pub(super) fn parse(text: &str) -> Result<Vec<Feature>, FasmError> {
    let mut features = Vec::new();
    for (number, line) in text.lines().enumerate() {
        // Annotations in braces say nothing about bits.
        let line = line.split(['#', '{']).next().unwrap_or_default().trim();
        if !line.is_empty() {
            let line_error = |reason: &str| FasmError::Line { line: number + 1, reason: reason.to_owned() };
            features.extend(parse_line(line).map_err(line_error)?);
        }
    }
    let mut seen = std::collections::HashSet::new();
    features.retain(|feature| seen.insert(feature.clone()));
    Ok(features)
}

fn parse_line(line: &str) -> Result<Vec<Feature>, &'static str> {
    let (left, value) = match line.split_once('=') {
        Some((left, value)) => (left.trim(), Some(value.trim())),
        None => (line, None),
    };
    let (path, range) = match left.split_once('[') {
        Some((path, range)) => (path.trim(), Some(parse_range(range)?)),
        None => (left, None),
    };
    let (tile, name) = path.split_once('.').ok_or("no feature of a tile")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if tile.is_empty() || name.is_empty() || !path.chars().all(plain) {
        return Err("a name of letters, digits and points was expected");
    }
    let feature = |index| Feature { tile: tile.to_owned(), name: name.to_owned(), index };
    let bits = value.map_or(Ok(vec![true]), parse_value)?;
    let Some((high, low)) = range else {
        return match bits.iter().rposition(|bit| *bit) {
            None => Ok(Vec::new()),
            Some(0) => Ok(vec![feature(None)]),
            Some(_) => Err("a value of several bits needs a range"),
        };
    };
    let width = (high - low + 1) as usize;
    if bits.iter().skip(width).any(|bit| *bit) {
        return Err("the value does not fit the range");
    }
    let set = bits.iter().take(width).enumerate().filter(|(_, bit)| **bit);
    Ok(set.map(|(k, _)| feature(Some(low + k as u32))).collect())
}

/// `high:low]` or `index]`.
fn parse_range(text: &str) -> Result<(u32, u32), &'static str> {
    let text = text.strip_suffix(']').ok_or("`]` was expected")?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| "a number was expected in the range");
    let (high, low) = match text.split_once(':') {
        Some((high, low)) => (number(high)?, number(low)?),
        None => (number(text)?, number(text)?),
    };
    if high < low || high - low >= MOST_BITS { Err("this range makes no sense") } else { Ok((high, low)) }
}

/// Bits of a number, the lowest first.
fn parse_value(text: &str) -> Result<Vec<bool>, &'static str> {
    let bad = "a number was expected";
    let digits = match text.split_once('\'') {
        Some((_, digits)) => digits,
        None => {
            return text.parse::<u64>().map(|n| (0..64).map(|k| n >> k & 1 == 1).collect()).map_err(|_| bad);
        }
    };
    let mut characters = digits.chars();
    let base_bits = match characters.next() {
        Some('b') => 1,
        Some('h') => 4,
        _ => return Err("a value in b or h was expected"),
    };
    let mut bits = Vec::new();
    for c in characters.rev().filter(|c| *c != '_') {
        let digit = c.to_digit(1 << base_bits).ok_or(bad)?;
        bits.extend((0..base_bits).map(|k| digit >> k & 1 == 1));
        if bits.len() > MOST_BITS as usize {
            return Err("this value is too wide");
        }
    }
    if bits.is_empty() { Err(bad) } else { Ok(bits) }
}
