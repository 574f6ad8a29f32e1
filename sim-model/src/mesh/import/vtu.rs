//! VTK's XML for unstructured grids: data as text or inline base64, plain or packed with zlib.
//!
//! Groups as in legacy files. Data appended at the end of the file are not read.

use super::{Fault, MAX_BYTES, Parts, Vec3, cursor::short, vtk::Cells, vtk::big_endian};
use roxmltree::{Document, Node, ParsingOptions};
use std::io::Read;

const APPENDED: &str = "its data are appended at the end, which is not read; save them inline: \
     in ParaView choose Data Mode Ascii or Binary, or use meshio (meshio convert in.vtu out.vtu)";

pub(super) fn read(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    let whole = |message: String| Fault { line: 0, message };
    if bytes.windows(13).any(|w| w == b"<AppendedData") {
        return Err(whole(APPENDED.to_owned()));
    }
    let text =
        std::str::from_utf8(bytes).map_err(|e| whole(format!("not text (byte {})", e.valid_up_to())))?;
    // Few nodes hold all numbers; a file of many is something else.
    let options = ParsingOptions { nodes_limit: 100_000, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|e| Fault { line: e.pos().row as usize, message: format!("not sound XML: {e}") })?;
    let root = document.root_element();
    let fault = |node: Node<'_, '_>, message: String| Fault {
        line: document.text_pos_at(node.range().start).row as usize,
        message,
    };
    if !root.has_tag_name("VTKFile") || root.attribute("type") != Some("UnstructuredGrid") {
        return Err(fault(root, "not a VTU file: <VTKFile type=\"UnstructuredGrid\"> is needed".to_owned()));
    }
    let coding = Coding::of(&root).map_err(|e| fault(root, e))?;
    let mut total = 0;
    let mut array = |node: Node<'_, '_>| coding.array(node, &mut total).map_err(|e| fault(node, e));
    let grid = child(root, "UnstructuredGrid")
        .ok_or_else(|| fault(root, "<UnstructuredGrid> is missing".to_owned()))?;
    for piece in grid.children().filter(|n| n.has_tag_name("Piece")) {
        let missing = |what: &str| fault(piece, format!("{what} is missing"));
        let base = parts.particles.len() as u32;
        let points =
            child(piece, "Points").and_then(|p| child(p, "DataArray")).ok_or_else(|| missing("<Points>"))?;
        let numbers = array(points)?;
        if numbers.len() % 3 != 0 {
            return Err(fault(points, format!("{} coordinates are no whole points", numbers.len())));
        }
        for p in numbers.chunks_exact(3) {
            let at = Vec3::new(p[0], p[1], p[2]);
            if !at.iter().all(|c| c.is_finite()) {
                return Err(fault(points, "a coordinate is not a finite number".to_owned()));
            }
            parts.node(at).map_err(|e| fault(points, e))?;
        }
        let list = child(piece, "Cells").ok_or_else(|| missing("<Cells>"))?;
        let mut named = |name: &str| {
            let node = list.children().find(|n| n.attribute("Name") == Some(name));
            array(node.ok_or_else(|| fault(list, format!("the array `{name}` is missing")))?)
        };
        let mut cells = Cells {
            connectivity: named("connectivity")?,
            ends: named("offsets")?,
            types: named("types")?,
            data: Vec::new(),
        };
        for node in child(piece, "CellData").iter().flat_map(|d| d.children()) {
            let single = matches!(node.attribute("NumberOfComponents"), None | Some("1"));
            let integral = node.attribute("type").is_some_and(|t| t.contains("Int"));
            if let Some(name) = node.attribute("Name").filter(|_| single && integral) {
                cells.data.push((short(name), array(node)?));
            }
        }
        cells.add_to(parts, base).map_err(|e| fault(list, e))?;
    }
    Ok(())
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|n| n.has_tag_name(name))
}

/// How binary arrays are written.
struct Coding {
    little: bool,
    /// Bytes of a number in an array's head.
    head: usize,
    packed: bool,
}

impl Coding {
    fn of(root: &Node<'_, '_>) -> Result<Self, String> {
        let head = match root.attribute("header_type") {
            None | Some("UInt32") => 4,
            Some("UInt64") => 8,
            Some(other) => return Err(format!("header_type `{}` is not known", short(other))),
        };
        let packed = match root.attribute("compressor") {
            None | Some("") => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                return Err(format!(
                    "data packed by `{}` are not read; save them with zlib or unpacked",
                    short(other)
                ));
            }
        };
        Ok(Self { little: root.attribute("byte_order") != Some("BigEndian"), head, packed })
    }

    /// The numbers of a DataArray; `total` counts the bytes unpacked so far.
    fn array(&self, node: Node<'_, '_>, total: &mut u64) -> Result<Vec<f64>, String> {
        let kind = node.attribute("type").unwrap_or_default();
        let (floating, unsigned) = (kind.starts_with("Float"), kind.starts_with("UInt"));
        let bits = kind.trim_start_matches(|c: char| !c.is_ascii_digit());
        let size = match (bits, floating || unsigned || kind.starts_with("Int")) {
            ("8", true) if !floating => 1,
            ("16", true) if !floating => 2,
            ("32", true) => 4,
            ("64", true) => 8,
            _ => return Err(format!("numbers of type `{}` are not read", short(kind))),
        };
        let text = node.text().unwrap_or_default();
        match node.attribute("format") {
            None | Some("ascii") => text
                .split_ascii_whitespace()
                .map(|w| w.parse().map_err(|_| format!("`{}` is not a number", short(w))))
                .collect(),
            Some("binary") => {
                let raw = base64(text)?;
                let bytes = if self.packed { self.unpack(&raw, total)? } else { self.plain(&raw)?.to_vec() };
                Ok(bytes.chunks_exact(size).map(|word| self.number(word, floating, unsigned)).collect())
            }
            Some("appended") => Err(APPENDED.to_owned()),
            Some(other) => Err(format!("format `{}` is not known", short(other))),
        }
    }

    fn number(&self, word: &[u8], floating: bool, unsigned: bool) -> f64 {
        let mut high_first = [0; 8];
        let ordered = &mut high_first[..word.len()];
        ordered.copy_from_slice(word);
        if self.little {
            ordered.reverse();
        }
        big_endian(ordered, floating, unsigned)
    }

    /// The number at the front, and what follows.
    fn head<'a>(&self, bytes: &'a [u8]) -> Result<(u64, &'a [u8]), String> {
        let (word, rest) = bytes.split_at_checked(self.head).ok_or("its head is cut off")?;
        let high_first = |n: u64, &b: &u8| n << 8 | u64::from(b);
        let n =
            if self.little { word.iter().rev().fold(0, high_first) } else { word.iter().fold(0, high_first) };
        Ok((n, rest))
    }

    fn plain<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        let (length, data) = self.head(bytes)?;
        usize::try_from(length)
            .ok()
            .and_then(|n| data.get(..n))
            .ok_or_else(|| format!("its head promises {length} bytes, there are {}", data.len()))
    }

    /// Blocks of zlib data behind their number, size, last size and packed sizes.
    fn unpack(&self, bytes: &[u8], total: &mut u64) -> Result<Vec<u8>, String> {
        let (blocks, rest) = self.head(bytes)?;
        let (size, rest) = self.head(rest)?;
        let (last, mut sizes) = self.head(rest)?;
        let heads = usize::try_from(blocks).ok().and_then(|n| n.checked_mul(self.head));
        let mut data =
            heads.and_then(|n| sizes.get(n..)).ok_or("its head promises more blocks than there are")?;
        let mut out = Vec::new();
        for k in 0..blocks {
            let (packed, more) = self.head(sizes)?;
            sizes = more;
            let block = usize::try_from(packed).ok().and_then(|n| data.split_at_checked(n));
            let (block, after) = block.ok_or_else(|| format!("block {k} is cut off"))?;
            data = after;
            let wanted = if k + 1 == blocks && last != 0 { last } else { size };
            *total = total.saturating_add(wanted);
            if *total > MAX_BYTES {
                return Err(format!("more than {MAX_BYTES} bytes when unpacked"));
            }
            let before = out.len() as u64;
            flate2::read::ZlibDecoder::new(block)
                .take(wanted)
                .read_to_end(&mut out)
                .map_err(|e| format!("block {k}: {e}"))?;
            if out.len() as u64 - before != wanted {
                return Err(format!("block {k} is shorter than its head says"));
            }
        }
        Ok(out)
    }
}

/// Decodes base64. Padding may stand in the middle: VTK codes an array's head and its data one after the other.
fn base64(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                (bits, count) = (0, 0);
                continue;
            }
            _ => return Err("its data are not base64".to_owned()),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Ok(out)
}
