//! The arrays of a VTU file: as text, in base64, or as they are; inline or behind the mesh; plain or packed with zlib.
//!
//! How many numbers an array has is known from the mesh before it is read. What its own head says is compared with that
//! before any memory is taken, and all arrays of a file together have a bound.

use super::super::{cursor::short, vtk::big_endian};
use roxmltree::Node;
use std::io::{self, Read};

/// More numbers than this in all arrays together, eight bytes each, are a mistake or an attack.
const MAX_NUMBERS: usize = 1 << 26;

/// Data behind the mesh, to which arrays point.
#[derive(Clone, Copy)]
pub(super) struct Appended<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether they are base64; else they are as they are.
    pub(super) base64: bool,
}

/// How arrays are packed.
enum Packing {
    Plain,
    Zlib,
    /// By something else: an error only where data are packed.
    Other(String),
}

/// How the binary arrays of a file are written.
pub(super) struct Coding<'a> {
    little: bool,
    /// Bytes of a number in an array's head.
    head: usize,
    packing: Packing,
    appended: Option<Appended<'a>>,
    /// Numbers that may still come.
    left: usize,
}

/// A type of number.
#[derive(Clone, Copy)]
struct Kind {
    size: usize,
    floating: bool,
    unsigned: bool,
}

impl Kind {
    fn of(node: Node<'_, '_>) -> Result<Self, String> {
        let name = node.attribute("type").unwrap_or_default();
        let (floating, unsigned) = (name.starts_with("Float"), name.starts_with("UInt"));
        let bits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let size = match (bits, floating || unsigned || name.starts_with("Int")) {
            ("8", true) if !floating => 1,
            ("16", true) if !floating => 2,
            ("32", true) => 4,
            ("64", true) => 8,
            _ => return Err(format!("numbers of type `{}` are not read", short(name))),
        };
        Ok(Self { size, floating, unsigned })
    }
}

impl<'a> Coding<'a> {
    pub(super) fn of(root: &Node<'_, '_>, appended: Option<Appended<'a>>) -> Result<Self, String> {
        let head = match root.attribute("header_type") {
            None | Some("UInt32") => 4,
            Some("UInt64") => 8,
            Some(other) => return Err(format!("header_type `{}` is not known", short(other))),
        };
        let packing = match root.attribute("compressor") {
            None | Some("") => Packing::Plain,
            Some("vtkZLibDataCompressor") => Packing::Zlib,
            Some(other) => Packing::Other(short(other)),
        };
        let little = root.attribute("byte_order") != Some("BigEndian");
        Ok(Self { little, head, packing, appended, left: MAX_NUMBERS })
    }

    /// The numbers of a DataArray that must have so many.
    pub(super) fn array(&mut self, node: Node<'_, '_>, count: usize) -> Result<Vec<f64>, String> {
        let kind = Kind::of(node)?;
        self.left = self.left.checked_sub(count).ok_or_else(|| {
            format!("more than {MAX_NUMBERS} numbers in all arrays together; coarsen the mesh")
        })?;
        let text = node.text().unwrap_or_default();
        match node.attribute("format") {
            None | Some("ascii") => words(text, count),
            Some("binary") => self.numbers(Base64::new(text.as_bytes()), kind, count),
            Some("appended") => {
                let appended = self.appended.ok_or("its data should be appended, but nothing is")?;
                let offset = node.attribute("offset").and_then(|o| o.trim().parse().ok());
                let bytes = offset
                    .and_then(|offset: usize| appended.bytes.get(offset..))
                    .ok_or("its `offset` does not lead into the appended data")?;
                if appended.base64 {
                    self.numbers(Base64::new(bytes), kind, count)
                } else {
                    self.numbers(bytes, kind, count)
                }
            }
            Some(other) => Err(format!("format `{}` is not known", short(other))),
        }
    }

    fn numbers(&self, data: impl Read, kind: Kind, count: usize) -> Result<Vec<f64>, String> {
        let bytes = match &self.packing {
            Packing::Plain => self.plain(data, kind.size * count)?,
            Packing::Zlib => self.unpack(data, kind.size * count)?,
            Packing::Other(other) => {
                return Err(format!(
                    "data packed by `{other}` are not read; save them with zlib or unpacked"
                ));
            }
        };
        Ok(bytes.chunks_exact(kind.size).map(|word| self.number(word, kind)).collect())
    }

    fn number(&self, word: &[u8], kind: Kind) -> f64 {
        let mut high_first = [0; 8];
        let ordered = &mut high_first[..word.len()];
        ordered.copy_from_slice(word);
        if self.little {
            ordered.reverse();
        }
        big_endian(ordered, kind.floating, kind.unsigned)
    }

    /// A number of an array's head.
    fn head(&self, data: &mut impl Read) -> Result<u64, String> {
        let mut word = [0; 8];
        data.read_exact(&mut word[..self.head]).map_err(|e| cut_off("its head", &e))?;
        let word = &word[..self.head];
        let high_first = |n: u64, &b: &u8| n << 8 | u64::from(b);
        Ok(if self.little { word.iter().rev().fold(0, high_first) } else { word.iter().fold(0, high_first) })
    }

    fn plain(&self, mut data: impl Read, wanted: usize) -> Result<Vec<u8>, String> {
        let length = self.head(&mut data)?;
        if length != wanted as u64 {
            return Err(format!("its head says {length} bytes, the mesh needs {wanted}"));
        }
        let mut out = Vec::new();
        data.take(length).read_to_end(&mut out).map_err(|e| e.to_string())?;
        if out.len() != wanted {
            return Err(format!("its head says {length} bytes, there are {}", out.len()));
        }
        Ok(out)
    }

    /// Blocks of zlib data behind their number, size, last size and packed sizes.
    fn unpack(&self, mut data: impl Read, wanted: usize) -> Result<Vec<u8>, String> {
        let (blocks, size, last) = (self.head(&mut data)?, self.head(&mut data)?, self.head(&mut data)?);
        let length = |k: u64| if k + 1 == blocks && last != 0 { last } else { size };
        let whole = match blocks {
            0 => Some(0),
            n => (n - 1).checked_mul(size).and_then(|most| most.checked_add(length(n - 1))),
        };
        if whole != Some(wanted as u64) || (size == 0 && blocks > 1) {
            return Err(format!(
                "its head says {blocks} blocks of {size} bytes, the last of {last}; the mesh needs {wanted} bytes"
            ));
        }
        // No more than `wanted`, now that empty blocks are refused; and each takes room in the file.
        let packed = (0..blocks).map(|_| self.head(&mut data)).collect::<Result<Vec<u64>, _>>()?;
        let mut out = Vec::new();
        for (k, packed) in (0..blocks).zip(packed) {
            let end = out.len() as u64 + length(k);
            let block = flate2::read::ZlibDecoder::new(data.by_ref().take(packed));
            let mut block = block.take(length(k));
            block.read_to_end(&mut out).map_err(|e| cut_off(&format!("block {k}"), &e))?;
            if out.len() as u64 != end {
                return Err(format!("block {k} is shorter than its head says"));
            }
            // What unpacking has left of the block.
            let mut rest = block.into_inner().into_inner();
            io::copy(&mut rest, &mut io::sink()).map_err(|e| e.to_string())?;
        }
        Ok(out)
    }
}

fn cut_off(what: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("{what} is cut off"),
        _ => format!("{what}: {error}"),
    }
}

/// So many numbers out of text, and no more.
fn words(text: &str, count: usize) -> Result<Vec<f64>, String> {
    let words = text.split_ascii_whitespace();
    let numbers: Vec<f64> = words
        .take(count.saturating_add(1))
        .map(|w| w.parse().map_err(|_| format!("`{}` is not a number", short(w))))
        .collect::<Result<_, _>>()?;
    match numbers.len() {
        n if n == count => Ok(numbers),
        n if n > count => Err(format!("more than the {count} numbers the mesh needs")),
        n => Err(format!("{n} numbers, the mesh needs {count}")),
    }
}

/// Decodes base64 up to its end or to the tag behind it. Padding may stand in the middle: VTK codes an array's head and
/// its data one after the other.
struct Base64<'a> {
    text: std::slice::Iter<'a, u8>,
    bits: u32,
    count: u32,
}

impl<'a> Base64<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text: text.iter(), bits: 0, count: 0 }
    }

    fn next(&mut self) -> io::Result<Option<u8>> {
        for &byte in self.text.by_ref() {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' => {
                    (self.bits, self.count) = (0, 0);
                    continue;
                }
                b if b.is_ascii_whitespace() => continue,
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "its data are not base64")),
            };
            self.bits = self.bits << 6 | u32::from(value);
            self.count += 6;
            if self.count >= 8 {
                self.count -= 8;
                let out = (self.bits >> self.count) as u8;
                self.bits &= (1 << self.count) - 1;
                return Ok(Some(out));
            }
        }
        Ok(None)
    }
}

impl Read for Base64<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for (k, slot) in buffer.iter_mut().enumerate() {
            match self.next()? {
                Some(byte) => *slot = byte,
                None => return Ok(k),
            }
        }
        Ok(buffer.len())
    }
}
