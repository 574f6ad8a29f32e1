//! Legacy `.vtk` files, as text or binary: unstructured grids and polygons.
//!
//! Groups come from whole-numbered cell data of one component with few different values: `NAME-VALUE`.

use super::{Cursor, Fault, MAX_ELEMENTS, MAX_NODES, Parts, Shape, Vec3, not_a_tetrahedron};
use std::collections::BTreeSet;

/// Cell data with more values than this are numbers, not groups.
const MAX_VALUES: usize = 64;

/// Cells as VTK lists them.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) connectivity: Vec<f64>,
    /// The end of each cell in `connectivity`.
    pub(super) ends: Vec<f64>,
    pub(super) types: Vec<f64>,
    /// Name and value per cell.
    pub(super) data: Vec<(String, Vec<f64>)>,
}

impl Cells {
    /// Adds all cells; their nodes begin at node `base`.
    pub(super) fn add_to(self, parts: &mut Parts, base: u32) -> Result<(), String> {
        if self.types.len() != self.ends.len() {
            return Err(format!("{} cells, but {} cell types", self.ends.len(), self.types.len()));
        }
        let labels: Vec<&(String, Vec<f64>)> =
            self.data.iter().filter(|(_, v)| v.len() == self.types.len() && is_label(v)).collect();
        let mut start = 0;
        let mut nodes = Vec::new();
        for (k, (&end, &kind)) in self.ends.iter().zip(&self.types).enumerate() {
            let wrong = || format!("cell {k} ends at {end} of {} entries", self.connectivity.len());
            let end = whole(end).map(|e| e as usize).filter(|&e| e >= start).ok_or_else(wrong)?;
            let list = self.connectivity.get(start..end).ok_or_else(wrong)?;
            start = end;
            nodes.clear();
            for &n in list {
                let node = whole(n).and_then(|n| base.checked_add(n));
                nodes.push(node.ok_or_else(|| format!("cell {k} names node {n}"))?);
            }
            let groups: Vec<String> = labels.iter().map(|(name, v)| format!("{name}-{}", v[k])).collect();
            add_cell(parts, kind, &nodes, &groups).map_err(|e| format!("cell {k}: {e}"))?;
        }
        Ok(())
    }
}

fn is_label(values: &[f64]) -> bool {
    let mut seen = BTreeSet::new();
    values.iter().all(|&v| {
        whole(v.abs()).is_some_and(|w| {
            seen.insert((v < 0.0, w));
            seen.len() <= MAX_VALUES
        })
    })
}

/// A number from 0 to 2^32 - 1 without a fraction.
fn whole(value: f64) -> Option<u32> {
    (value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0).then_some(value as u32)
}

fn add_cell(parts: &mut Parts, kind: f64, nodes: &[u32], groups: &[String]) -> Result<(), String> {
    let (shape, corners) = match kind as i64 {
        1 | 2 => (Shape::Low, nodes.len()),
        3 | 4 | 21 | 35 | 68 => (Shape::Low, nodes.len().min(2)),
        5 | 22 | 34 | 69 => (Shape::Triangle, 3),
        8 => {
            // A pixel lists its corners row by row.
            let [a, b, c, d] = *nodes else { return Err("a pixel has four corners".to_owned()) };
            return parts.element(Shape::Quadrangle, &[a, b, d, c], groups);
        }
        9 | 23 | 28 | 70 => (Shape::Quadrangle, 4),
        6 | 7 => {
            if nodes.len() < 3 {
                return Err("a polygon has three corners at least".to_owned());
            }
            for k in 2..nodes.len() {
                let triangle = if kind == 7.0 {
                    [nodes[0], nodes[k - 1], nodes[k]]
                } else {
                    [nodes[k - 2], nodes[k - 1], nodes[k]]
                };
                parts.element(Shape::Triangle, &triangle, groups)?;
            }
            return Ok(());
        }
        10 | 24 | 71 => (Shape::Tetrahedron, 4),
        11..=16 | 25..=27 | 29..=33 | 37 | 42 | 72..=74 => {
            return Err(not_a_tetrahedron(&format!("a cell of VTK's kind {kind}")));
        }
        _ => return Err(format!("VTK's cell kind {kind} is not known")),
    };
    let corners = nodes.get(..corners).ok_or("too few nodes for its kind")?;
    parts.element(shape, corners, groups)
}

pub(super) fn read(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    let mut file = Cursor::new(bytes);
    let head = file.rest_of_line()?.unwrap_or_default();
    let Some(version) = head.strip_prefix("# vtk DataFile Version ") else {
        return Err(Fault {
            line: 1,
            message: "not a legacy VTK file: it must begin with `# vtk DataFile Version`".to_owned(),
        });
    };
    // From version 5 on, cells are offsets and connectivity.
    let modern = version.trim().split('.').next().and_then(|v| v.parse::<u32>().ok()).is_some_and(|v| v >= 5);
    file.rest_of_line()?;
    let binary = match file.need("ASCII or BINARY")? {
        "ASCII" => false,
        "BINARY" => true,
        _ => return Err(file.fault("ASCII or BINARY should be here")),
    };
    let mut reader = Reader { file, binary, modern };
    let mut cells = Cells::default();
    let mut of_cells = false;
    while let Some(word) = reader.file.word()? {
        match word {
            "DATASET" => {
                let kind = reader.file.need("the kind of data set")?;
                if !matches!(kind, "UNSTRUCTURED_GRID" | "POLYDATA") {
                    return Err(reader.file.fault("only UNSTRUCTURED_GRID and POLYDATA are read"));
                }
            }
            "POINTS" => {
                if !parts.particles.is_empty() {
                    return Err(reader.file.fault("a second list of points"));
                }
                let count = reader.file.count("the number of points", MAX_NODES)?;
                let kind = reader.file.need("the type of coordinates")?;
                let numbers = reader.array(3 * count, kind)?;
                for p in numbers.chunks_exact(3) {
                    let at = Vec3::new(p[0], p[1], p[2]);
                    if !at.iter().all(|c| c.is_finite()) {
                        return Err(reader.file.fault("a coordinate is not a finite number"));
                    }
                    parts.node(at).map_err(|e| reader.file.fault(e))?;
                }
            }
            "CELLS" => reader.cells(&mut cells)?,
            "POLYGONS" | "TRIANGLE_STRIPS" | "LINES" | "VERTICES" => {
                reader.cells(&mut cells)?;
                let kind = match word {
                    "POLYGONS" => 7.0,
                    "TRIANGLE_STRIPS" => 6.0,
                    "LINES" => 4.0,
                    _ => 2.0,
                };
                cells.types.resize(cells.ends.len(), kind);
            }
            "CELL_TYPES" => {
                let count = reader.file.count("the number of cell types", MAX_ELEMENTS)?;
                cells.types = reader.array(count, "int")?;
            }
            "CELL_DATA" | "POINT_DATA" => {
                reader.file.count("the number of values", MAX_ELEMENTS)?;
                of_cells = word == "CELL_DATA";
            }
            "SCALARS" => reader.scalars(
                cells.types.len(),
                of_cells.then_some(&mut cells.data),
                parts.particles.len(),
            )?,
            "FIELD" => reader.field(of_cells.then_some(&mut cells.data))?,
            "METADATA" => {
                reader.file.rest_of_line()?;
                while reader.file.rest_of_line()?.is_some_and(|line| !line.trim().is_empty()) {}
            }
            // Whatever else there is to points and cells (vectors, tensors) does not matter here.
            _ if !cells.types.is_empty() && !parts.particles.is_empty() => break,
            other => {
                return Err(reader
                    .file
                    .fault(format!("`{}` is not known here", super::cursor::short(other))));
            }
        }
    }
    let end = reader.file.fault("");
    cells.add_to(parts, 0).map_err(|message| Fault { message, ..end })
}

struct Reader<'a> {
    file: Cursor<'a>,
    binary: bool,
    modern: bool,
}

impl Reader<'_> {
    /// So many numbers of a type.
    fn array(&mut self, count: usize, kind: &str) -> Result<Vec<f64>, Fault> {
        if !self.binary {
            return (0..count)
                .map(|_| {
                    let word = self.file.need("a number")?;
                    word.parse().map_err(|_| {
                        self.file.fault(format!("`{}` is not a number", super::cursor::short(word)))
                    })
                })
                .collect();
        }
        let size = match kind {
            "char" | "unsigned_char" | "vtktypeint8" | "vtktypeuint8" => 1,
            "short" | "unsigned_short" => 2,
            "int" | "unsigned_int" | "float" | "vtktypeint32" | "vtktypeuint32" => 4,
            "long" | "unsigned_long" | "double" | "vtktypeint64" | "vtktypeuint64" => 8,
            // vtkIdType is written as int.
            "vtkIdType" => 4,
            other => {
                return Err(self
                    .file
                    .fault(format!("numbers of type `{}` are not read", super::cursor::short(other))));
            }
        };
        self.file.rest_of_line()?;
        let length = count.checked_mul(size).ok_or_else(|| self.file.fault("too many numbers"))?;
        let bytes = self.file.take(length, "binary data")?;
        let floating = matches!(kind, "float" | "double");
        let unsigned = kind.starts_with("unsigned") || kind.starts_with("vtktypeuint");
        Ok(bytes.chunks_exact(size).map(|word| big_endian(word, floating, unsigned)).collect())
    }

    fn cells(&mut self, cells: &mut Cells) -> Result<(), Fault> {
        let first = self.file.count("the number of cells", MAX_ELEMENTS)?;
        let second = self.file.count("the length of the list of cells", 8 * MAX_ELEMENTS)?;
        let base = cells.connectivity.len() as f64;
        if self.modern {
            for (word, count) in [("OFFSETS", first), ("CONNECTIVITY", second)] {
                if self.file.need(word)? != word {
                    return Err(self.file.fault(format!("{word} should be here")));
                }
                let kind = self.file.need("a type")?;
                let numbers = self.array(count, kind)?;
                if word == "OFFSETS" {
                    // The first offset is zero; the others are ends.
                    cells.ends.extend(numbers.into_iter().skip(1).map(|n| base + n));
                } else {
                    cells.connectivity.extend(numbers);
                }
            }
            return Ok(());
        }
        let numbers = self.array(second, "int")?;
        let mut rest = &numbers[..];
        for _ in 0..first {
            let cell = rest.split_first().and_then(|(&n, tail)| Some((whole(n)? as usize, tail)));
            let Some((n, tail)) = cell.filter(|(n, tail)| n <= &tail.len()) else {
                return Err(self.file.fault("the list of cells is shorter than its cells"));
            };
            cells.connectivity.extend_from_slice(&tail[..n]);
            cells.ends.push(cells.connectivity.len() as f64);
            rest = &tail[n..];
        }
        Ok(())
    }

    fn scalars(
        &mut self,
        cells: usize,
        keep: Option<&mut Vec<(String, Vec<f64>)>>,
        points: usize,
    ) -> Result<(), Fault> {
        let name = self.file.need("a name")?.to_owned();
        let kind = self.file.need("a type")?;
        let components = match self.file.need("LOOKUP_TABLE")? {
            "LOOKUP_TABLE" => 1,
            word => {
                let n = word.parse().ok().filter(|n| (1..=4).contains(n));
                let n: usize = n.ok_or_else(|| self.file.fault("1 to 4 components are possible"))?;
                if self.file.need("LOOKUP_TABLE")? != "LOOKUP_TABLE" {
                    return Err(self.file.fault("LOOKUP_TABLE should be here"));
                }
                n
            }
        };
        self.file.need("a table's name")?;
        let count = if keep.is_some() { cells } else { points };
        let values = self.array(count * components, kind)?;
        if let Some(data) = keep.filter(|_| components == 1) {
            data.push((name, values));
        }
        Ok(())
    }

    fn field(&mut self, mut keep: Option<&mut Vec<(String, Vec<f64>)>>) -> Result<(), Fault> {
        self.file.need("a name")?;
        for _ in 0..self.file.count("the number of arrays", 1024)? {
            let name = self.file.need("a name")?.to_owned();
            let components = self.file.count("the number of components", 1024)?;
            let tuples = self.file.count("the number of tuples", MAX_ELEMENTS)?;
            let kind = self.file.need("a type")?;
            let values = self.array(components * tuples, kind)?;
            if let Some(data) = keep.as_deref_mut().filter(|_| components == 1) {
                data.push((name, values));
            }
        }
        Ok(())
    }
}

/// A number of 1, 2, 4 or 8 bytes, the highest first.
pub(super) fn big_endian(word: &[u8], floating: bool, unsigned: bool) -> f64 {
    let raw = word.iter().fold(0u64, |n, &b| n << 8 | u64::from(b));
    match (floating, word.len()) {
        (true, 4) => f64::from(f32::from_bits(raw as u32)),
        (true, _) => f64::from_bits(raw),
        (false, _) if unsigned => raw as f64,
        (false, size) => {
            let unused = 64 - 8 * size.clamp(1, 8) as u32;
            ((raw << unused) as i64 >> unused) as f64
        }
    }
}
