//! Gmsh `.msh` files as text: versions 2 and 4.1.
//!
//! Groups are the physical groups; those without a name are called `volume-3`, `surface-7`, `curve-1`,
//! `point-2` after their dimension and number.

use super::{Cursor, Fault, MAX_ELEMENTS, MAX_NODES, Parts, Shape, Vec3, not_a_tetrahedron};
use std::collections::HashMap;

/// More physical groups at one entity than anyone needs.
const MAX_TAGS: usize = 64;

/// Physical names by dimension and number.
type Names = HashMap<(i64, i64), String>;

pub(super) fn read(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    let mut file = Cursor::new(bytes);
    let mut names = Names::new();
    let mut entities: HashMap<(i64, i64), Vec<String>> = HashMap::new();
    let mut nodes: Option<HashMap<i64, u32>> = None;
    let mut modern = None;
    while let Some(section) = file.word()? {
        let Some(name) = section.strip_prefix('$') else {
            return Err(file.fault("not a Gmsh file: a section such as $MeshFormat should begin here"));
        };
        match (name, modern) {
            ("MeshFormat", _) => modern = Some(read_format(&mut file)?),
            ("Comments", _) => {}
            (_, None) => return Err(file.fault("not a Gmsh file: it must begin with $MeshFormat")),
            ("PhysicalNames", _) => read_names(&mut file, &mut names)?,
            ("Entities", Some(true)) => read_entities(&mut file, &names, &mut entities)?,
            ("Nodes", Some(modern)) => {
                if nodes.is_some() {
                    return Err(file.fault("a second $Nodes section"));
                }
                nodes = Some(read_nodes(&mut file, modern, parts)?);
            }
            ("Elements", Some(modern)) => {
                let Some(nodes) = &nodes else { return Err(file.fault("$Elements before $Nodes")) };
                let mut elements = Elements { nodes, parts };
                if modern {
                    elements.read_41(&mut file, &entities)?;
                } else {
                    elements.read_2(&mut file, &names)?;
                }
            }
            ("PartitionedEntities", _) => {
                return Err(file.fault(
                    "a partitioned mesh; save it whole (Mesh.PartitionSplitMeshFiles=0, gmsh -part 0)",
                ));
            }
            _ => {}
        }
        skip_to_end(&mut file, name)?;
    }
    if nodes.is_none() {
        return Err(Fault { line: 0, message: "no $Nodes section: this is no mesh".to_owned() });
    }
    Ok(())
}

fn skip_to_end(file: &mut Cursor<'_>, section: &str) -> Result<(), Fault> {
    loop {
        let word = file.need(&format!("$End{section}"))?;
        if word.strip_prefix("$End") == Some(section) {
            return Ok(());
        }
    }
}

/// Whether it is version 4.1 (else 2).
fn read_format(file: &mut Cursor<'_>) -> Result<bool, Fault> {
    let version = file.need("the version")?;
    let modern = match version {
        "4.1" => true,
        v if v == "2" || v.starts_with("2.") => false,
        v => {
            let v = super::cursor::short(v);
            return Err(file.fault(format!("Gmsh format {v} is not read, only 2.2 and 4.1; save it again: gmsh -save_all -0 -format msh41 -o new.msh old.msh")));
        }
    };
    if file.integer("the file type")? != 0 {
        return Err(file.fault(
            "a binary Gmsh file; save it as text: gmsh -save_all -0 -format msh41 -o text.msh binary.msh",
        ));
    }
    file.integer("the data size")?;
    Ok(modern)
}

fn read_names(file: &mut Cursor<'_>, names: &mut Names) -> Result<(), Fault> {
    for _ in 0..file.count("the number of names", super::MAX_GROUPS)? {
        let key = (file.integer("a dimension")?, file.integer("a number")?);
        let text = file.rest_of_line()?.unwrap_or_default().trim();
        let name = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
        if name.is_empty() || name.len() > 256 {
            return Err(file.fault("a physical name has 1 to 256 characters"));
        }
        names.insert(key, name.to_owned());
    }
    Ok(())
}

/// What a physical group is called.
fn group_name(names: &Names, dimension: i64, number: i64) -> String {
    // A negative number only turns the elements round.
    let number = number.saturating_abs();
    names.get(&(dimension, number)).cloned().unwrap_or_else(|| {
        let kind = match dimension {
            0 => "point",
            1 => "curve",
            2 => "surface",
            _ => "volume",
        };
        format!("{kind}-{number}")
    })
}

fn read_entities(
    file: &mut Cursor<'_>,
    names: &Names,
    entities: &mut HashMap<(i64, i64), Vec<String>>,
) -> Result<(), Fault> {
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = file.count("the number of entities", MAX_ELEMENTS)?;
    }
    for (dimension, count) in (0i64..).zip(counts) {
        for _ in 0..count {
            let tag = file.integer("an entity's number")?;
            for _ in 0..if dimension == 0 { 3 } else { 6 } {
                file.number("an entity's bound")?;
            }
            let mut groups = Vec::new();
            for _ in 0..file.count("the number of physical groups", MAX_TAGS)? {
                groups.push(group_name(names, dimension, file.integer("a physical group")?));
            }
            if dimension > 0 {
                for _ in 0..file.count("the number of bounding entities", MAX_ELEMENTS)? {
                    file.integer("a bounding entity")?;
                }
            }
            if !groups.is_empty() {
                entities.insert((dimension, tag), groups);
            }
        }
    }
    Ok(())
}

fn read_nodes(file: &mut Cursor<'_>, modern: bool, parts: &mut Parts) -> Result<HashMap<i64, u32>, Fault> {
    let mut numbers = HashMap::new();
    let mut tags = Vec::new();
    let mut place = |file: &mut Cursor<'_>, tag: i64| {
        let at = Vec3::new(file.number("x")?, file.number("y")?, file.number("z")?);
        if numbers.insert(tag, parts.particles.len() as u32).is_some() {
            return Err(file.fault(format!("a second node {tag}")));
        }
        parts.node(at).map_err(|e| file.fault(e))
    };
    if !modern {
        for _ in 0..file.count("the number of nodes", MAX_NODES)? {
            let tag = file.integer("a node's number")?;
            place(file, tag)?;
        }
        return Ok(numbers);
    }
    let blocks = file.count("the number of blocks", MAX_NODES)?;
    file.count("the number of nodes", MAX_NODES)?;
    for what in ["the lowest node", "the highest node"] {
        file.integer(what)?;
    }
    for _ in 0..blocks {
        let dimension = file.count("a dimension", 3)?;
        file.integer("an entity's number")?;
        let parametric = file.count("`parametric`", 1)?;
        tags.clear();
        for _ in 0..file.count("the number of nodes in the block", MAX_NODES)? {
            tags.push(file.integer("a node's number")?);
        }
        for &tag in &tags {
            place(file, tag)?;
            for _ in 0..parametric * dimension {
                file.number("a parameter")?;
            }
        }
    }
    Ok(numbers)
}

struct Elements<'a> {
    nodes: &'a HashMap<i64, u32>,
    parts: &'a mut Parts,
}

impl Elements<'_> {
    fn read_2(&mut self, file: &mut Cursor<'_>, names: &Names) -> Result<(), Fault> {
        for _ in 0..file.count("the number of elements", MAX_ELEMENTS)? {
            file.integer("an element's number")?;
            let kind = file.integer("an element's kind")?;
            let tags = file.count("the number of tags", MAX_TAGS)?;
            let mut physical = 0;
            for k in 0..tags {
                let tag = file.integer("a tag")?;
                if k == 0 {
                    physical = tag;
                }
            }
            let groups = match (physical, element_kind(kind)) {
                (0, _) | (_, None) => vec![],
                (tag, Some((dimension, ..))) => vec![group_name(names, dimension, tag)],
            };
            self.one(file, kind, &groups)?;
        }
        Ok(())
    }

    fn read_41(
        &mut self,
        file: &mut Cursor<'_>,
        entities: &HashMap<(i64, i64), Vec<String>>,
    ) -> Result<(), Fault> {
        let blocks = file.count("the number of blocks", MAX_ELEMENTS)?;
        file.count("the number of elements", MAX_ELEMENTS)?;
        for what in ["the lowest element", "the highest element"] {
            file.integer(what)?;
        }
        for _ in 0..blocks {
            let entity = (file.integer("a dimension")?, file.integer("an entity's number")?);
            let groups = entities.get(&entity).map_or(&[][..], Vec::as_slice);
            let kind = file.integer("an element's kind")?;
            for _ in 0..file.count("the number of elements in the block", MAX_ELEMENTS)? {
                file.integer("an element's number")?;
                self.one(file, kind, groups)?;
            }
        }
        Ok(())
    }

    fn one(&mut self, file: &mut Cursor<'_>, kind: i64, groups: &[String]) -> Result<(), Fault> {
        let Some((_, shape, corners, count)) = element_kind(kind) else {
            return Err(file.fault(format!("element kind {kind} is not known")));
        };
        let Some(shape) = shape else {
            return Err(file.fault(not_a_tetrahedron("a hexahedron, prism or pyramid")));
        };
        let mut nodes = [0u32; 4];
        for k in 0..count {
            let tag = file.integer("an element's node")?;
            let Some(&node) = self.nodes.get(&tag) else {
                return Err(file.fault(format!("an element names node {tag}, which is not there")));
            };
            if let Some(slot) = nodes[..corners].get_mut(k) {
                *slot = node;
            }
        }
        self.parts.element(shape, &nodes[..corners], groups).map_err(|e| file.fault(e))
    }
}

/// Dimension, shape, corners and nodes of Gmsh's kinds of element; no shape for other volumes.
fn element_kind(kind: i64) -> Option<(i64, Option<Shape>, usize, usize)> {
    let (dimension, shape, corners, nodes) = match kind {
        15 => (0, Some(Shape::Low), 1, 1),
        1 => (1, Some(Shape::Low), 2, 2),
        8 => (1, Some(Shape::Low), 2, 3),
        26..=28 => (1, Some(Shape::Low), 2, kind as usize - 22),
        2 => (2, Some(Shape::Triangle), 3, 3),
        9 => (2, Some(Shape::Triangle), 3, 6),
        20 => (2, Some(Shape::Triangle), 3, 9),
        21 => (2, Some(Shape::Triangle), 3, 10),
        22 => (2, Some(Shape::Triangle), 3, 12),
        23 | 24 => (2, Some(Shape::Triangle), 3, 15),
        25 => (2, Some(Shape::Triangle), 3, 21),
        3 => (2, Some(Shape::Quadrangle), 4, 4),
        10 => (2, Some(Shape::Quadrangle), 4, 9),
        16 => (2, Some(Shape::Quadrangle), 4, 8),
        4 => (3, Some(Shape::Tetrahedron), 4, 4),
        11 => (3, Some(Shape::Tetrahedron), 4, 10),
        29 => (3, Some(Shape::Tetrahedron), 4, 20),
        30 => (3, Some(Shape::Tetrahedron), 4, 35),
        31 => (3, Some(Shape::Tetrahedron), 4, 56),
        5..=7 | 12..=14 | 17..=19 => (3, None, 0, 0),
        _ => return None,
    };
    Some((dimension, shape, corners, nodes))
}
