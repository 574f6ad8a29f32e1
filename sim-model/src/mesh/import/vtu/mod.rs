//! VTK's XML for unstructured grids: data as text or binary, inline or appended at the end of the file, plain or packed
//! with zlib.
//!
//! Groups as in legacy files.

mod data;

use super::{Fault, MAX_ELEMENTS, MAX_NODES, Parts, Vec3, cursor::short, vtk::Cells};
use data::{Appended, Coding};
use roxmltree::{Document, Node, ParsingOptions};

/// Few nodes hold all numbers, and a node needs few attributes: a file of many is something else.
const MAX_XML_NODES: u32 = 100_000;
const MAX_ATTRIBUTES: usize = 64;

/// Where the data behind the mesh begin.
const APPENDED: &[u8] = b"<AppendedData";

pub(super) fn read(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    let whole = |message: String| Fault { line: 0, message };
    let (head, appended) = split(bytes).map_err(whole)?;
    let text =
        std::str::from_utf8(head).map_err(|e| whole(format!("not text (byte {})", e.valid_up_to())))?;
    check_attributes(text)?;
    // Without what is appended, which need not be XML, the root's end is missing.
    let closed = appended.map(|_| format!("{text}</VTKFile>"));
    let options = ParsingOptions { nodes_limit: MAX_XML_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(closed.as_deref().unwrap_or(text), options)
        .map_err(|e| Fault { line: e.pos().row as usize, message: format!("not sound XML: {e}") })?;
    let root = document.root_element();
    let fault = |node: Node<'_, '_>, message: String| Fault {
        line: document.text_pos_at(node.range().start).row as usize,
        message,
    };
    if !root.has_tag_name("VTKFile") || root.attribute("type") != Some("UnstructuredGrid") {
        return Err(fault(root, "not a VTU file: <VTKFile type=\"UnstructuredGrid\"> is needed".to_owned()));
    }
    let mut coding = Coding::of(&root, appended).map_err(|e| fault(root, e))?;
    let mut array = |node: Node<'_, '_>, count: usize| coding.array(node, count).map_err(|e| fault(node, e));
    let grid = child(root, "UnstructuredGrid")
        .ok_or_else(|| fault(root, "<UnstructuredGrid> is missing".to_owned()))?;
    for piece in grid.children().filter(|n| n.has_tag_name("Piece")) {
        let missing = |what: &str| fault(piece, format!("{what} is missing"));
        let number = |name: &str, most: usize| {
            let text = piece.attribute(name).ok_or_else(|| missing(name))?;
            text.trim().parse().ok().filter(|&n: &usize| n <= most).ok_or_else(|| {
                fault(piece, format!("{name} is `{}`: from 0 to {most} are possible", short(text)))
            })
        };
        let (of_points, of_cells) =
            (number("NumberOfPoints", MAX_NODES)?, number("NumberOfCells", MAX_ELEMENTS)?);
        let base = parts.particles.len() as u32;
        let points =
            child(piece, "Points").and_then(|p| child(p, "DataArray")).ok_or_else(|| missing("<Points>"))?;
        for p in array(points, 3 * of_points)?.chunks_exact(3) {
            let at = Vec3::new(p[0], p[1], p[2]);
            if !at.iter().all(|c| c.is_finite()) {
                return Err(fault(points, "a coordinate is not a finite number".to_owned()));
            }
            parts.node(at).map_err(|e| fault(points, e))?;
        }
        let list = child(piece, "Cells").ok_or_else(|| missing("<Cells>"))?;
        let named = |name: &str| {
            let node = list.children().find(|n| n.attribute("Name") == Some(name));
            node.ok_or_else(|| fault(list, format!("the array `{name}` is missing")))
        };
        let ends = array(named("offsets")?, of_cells)?;
        // The last cell's end is the end of the list; an end that is no whole number is refused with its cell.
        let corners = ends.last().map_or(0, |&end| end as usize);
        let mut cells = Cells {
            connectivity: array(named("connectivity")?, corners)?,
            ends,
            types: array(named("types")?, of_cells)?,
            data: Vec::new(),
        };
        for node in child(piece, "CellData").iter().flat_map(|d| d.children()) {
            let single = matches!(node.attribute("NumberOfComponents"), None | Some("1"));
            let integral = node.attribute("type").is_some_and(|t| t.contains("Int"));
            if let Some(name) = node.attribute("Name").filter(|_| single && integral) {
                cells.data.push((short(name), array(node, of_cells)?));
            }
        }
        cells.add_to(parts, base).map_err(|e| fault(list, e))?;
    }
    Ok(())
}

/// The mesh's part of a file, and what is appended.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<Appended<'_>>), String> {
    let Some(start) = bytes.windows(APPENDED.len()).position(|w| w == APPENDED) else {
        return Ok((bytes, None));
    };
    let (head, rest) = bytes.split_at(start);
    // The tag ends, and an underscore begins the data.
    let wrong =
        "<AppendedData encoding=\"raw\"> or \"base64\", and an underscore in front of the data, are needed";
    let open = rest.iter().position(|&b| b == b'>').ok_or(wrong)?;
    let tag = String::from_utf8_lossy(&rest[..open]);
    let base64 =
        match tag.split_once("encoding").map(|(_, value)| value.trim_start_matches(['=', ' ', '"', '\''])) {
            Some(value) if value.starts_with("raw") => false,
            Some(value) if value.starts_with("base64") => true,
            _ => return Err(wrong.to_owned()),
        };
    let data = rest[open + 1..].trim_ascii_start().strip_prefix(b"_").ok_or(wrong)?;
    Ok((head, Some(Appended { bytes: data, base64 })))
}

/// Refuses floods of attributes before the XML reader, which compares each with each, sees them.
fn check_attributes(text: &str) -> Result<(), Fault> {
    let (mut line, mut all) = (1, 0);
    for tag in text.split('<') {
        // An attribute is a name, `=` and a quotation mark; arrays in base64 have `=` without one.
        let after = tag.split('=').skip(1);
        let here = after.filter(|after| after.trim_start().starts_with(['"', '\''])).count();
        all += here;
        if here > MAX_ATTRIBUTES || all > MAX_XML_NODES as usize {
            return Err(Fault { line, message: "too many attributes for a VTU file".to_owned() });
        }
        line += tag.matches('\n').count();
    }
    Ok(())
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|n| n.has_tag_name(name))
}
