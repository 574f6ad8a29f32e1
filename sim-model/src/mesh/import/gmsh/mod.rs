//! Gmsh `.msh` files, as text or binary: versions 2 and 4.1.
//!
//! Groups are the physical groups; those without a name are called `volume-3`, `surface-7`, `curve-1`,
//! `point-2` after their dimension and number.

mod source;

use super::{Fault, MAX_ELEMENTS, MAX_NODES, Parts, Shape, Vec3, not_a_tetrahedron};
use source::Source;
use std::collections::HashMap;

/// More physical groups at one entity than anyone needs.
const MAX_TAGS: usize = 64;

/// Physical names by dimension and number.
type Names = HashMap<(i64, i64), String>;
/// Physical groups of an entity, which is known by dimension and number.
type Entities = HashMap<(i64, i64), Vec<i64>>;

pub(super) fn read(bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    let mut file = Source::new(bytes);
    let mut names = Names::new();
    let mut entities = Entities::new();
    let mut nodes: Option<HashMap<i64, u32>> = None;
    let mut modern = None;
    while let Some(section) = file.text.word()? {
        let Some(name) = section.strip_prefix('$') else {
            return Err(file.fault("not a Gmsh file: a section such as $MeshFormat should begin here"));
        };
        match (name, modern) {
            ("MeshFormat", _) => modern = Some(read_format(&mut file)?),
            ("Comments", _) => {}
            (_, None) => return Err(file.fault("not a Gmsh file: it must begin with $MeshFormat")),
            ("PhysicalNames", _) => read_names(&mut file, &mut names)?,
            ("Entities", Some(true)) => read_entities(&mut file, &mut entities)?,
            ("Nodes", Some(modern)) => {
                if nodes.is_some() {
                    return Err(file.fault("a second $Nodes section"));
                }
                nodes = Some(read_nodes(&mut file, modern, parts)?);
            }
            ("Elements", Some(modern)) => {
                let Some(nodes) = &nodes else { return Err(file.fault("$Elements before $Nodes")) };
                let mut elements = Elements { nodes, names: &names, parts };
                match (modern, file.is_binary()) {
                    (true, _) => elements.read_41(&mut file, &entities)?,
                    (false, false) => elements.read_2(&mut file)?,
                    (false, true) => elements.read_2_binary(&mut file)?,
                }
            }
            ("PartitionedEntities", _) => {
                return Err(file.fault(
                    "a partitioned mesh; save it whole (Mesh.PartitionSplitMeshFiles=0, gmsh -part 0)",
                ));
            }
            _ => {}
        }
        file.text.skip_past(&format!("$End{name}"))?;
    }
    if nodes.is_none() {
        return Err(Fault { line: 0, message: "no $Nodes section: this is no mesh".to_owned() });
    }
    Ok(())
}

/// Whether it is version 4.1 (else 2).
fn read_format(file: &mut Source<'_>) -> Result<bool, Fault> {
    let version = file.text.need("the version")?;
    let modern = match version {
        "4.1" => true,
        v if v == "2" || v.starts_with("2.") => false,
        v => {
            let v = super::cursor::short(v);
            return Err(file.fault(format!("Gmsh format {v} is not read, only 2.2 and 4.1; save it again: gmsh -save_all -0 -format msh41 -o new.msh old.msh")));
        }
    };
    let kind = file.integer("the file type")?;
    let wide = file.integer("the data size")?;
    match kind {
        0 => {}
        1 => file.begin_binary(wide)?,
        other => return Err(file.fault(format!("file type {other} is not known: 0 is text, 1 binary"))),
    }
    Ok(modern)
}

fn read_names(file: &mut Source<'_>, names: &mut Names) -> Result<(), Fault> {
    for _ in 0..file.text.count("the number of names", super::MAX_GROUPS)? {
        let key = (file.text.integer("a dimension")?, file.text.integer("a number")?);
        let text = file.text.rest_of_line()?.unwrap_or_default().trim();
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

fn read_entities(file: &mut Source<'_>, entities: &mut Entities) -> Result<(), Fault> {
    file.begin_section()?;
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
                groups.push(file.integer("a physical group")?);
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

fn read_nodes(file: &mut Source<'_>, modern: bool, parts: &mut Parts) -> Result<HashMap<i64, u32>, Fault> {
    let mut numbers = HashMap::new();
    let mut tags = Vec::new();
    let mut place = |file: &mut Source<'_>, tag: i64| {
        let at = Vec3::new(file.number("x")?, file.number("y")?, file.number("z")?);
        if numbers.insert(tag, parts.particles.len() as u32).is_some() {
            return Err(file.fault(format!("a second node {tag}")));
        }
        parts.node(at).map_err(|e| file.fault(e))
    };
    if !modern {
        for _ in 0..file.text_count("the number of nodes", MAX_NODES)? {
            let tag = file.integer("a node's number")?;
            place(file, tag)?;
        }
        return Ok(numbers);
    }
    file.begin_section()?;
    let blocks = file.count("the number of blocks", MAX_NODES)?;
    file.count("the number of nodes", MAX_NODES)?;
    for what in ["the lowest node", "the highest node"] {
        file.size(what)?;
    }
    for _ in 0..blocks {
        let dimension = file.small_count("a dimension", 3)?;
        file.integer("an entity's number")?;
        let parametric = file.small_count("`parametric`", 1)?;
        tags.clear();
        for _ in 0..file.count("the number of nodes in the block", MAX_NODES)? {
            tags.push(file.size("a node's number")?);
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
    names: &'a Names,
    parts: &'a mut Parts,
}

impl Elements<'_> {
    fn read_2(&mut self, file: &mut Source<'_>) -> Result<(), Fault> {
        for _ in 0..file.text_count("the number of elements", MAX_ELEMENTS)? {
            file.integer("an element's number")?;
            let kind = file.integer("an element's kind")?;
            let tags = file.small_count("the number of tags", MAX_TAGS)?;
            self.tagged(file, kind, tags)?;
        }
        Ok(())
    }

    /// Elements in blocks, which share a head: kind, elements, and tags of each.
    fn read_2_binary(&mut self, file: &mut Source<'_>) -> Result<(), Fault> {
        let mut left = file.text_count("the number of elements", MAX_ELEMENTS)?;
        while left > 0 {
            let kind = file.integer("an element's kind")?;
            let count = file.small_count("the number of elements in the block", left)?;
            let tags = file.small_count("the number of tags", MAX_TAGS)?;
            if count == 0 {
                return Err(file.fault("a block without elements"));
            }
            for _ in 0..count {
                file.integer("an element's number")?;
                self.tagged(file, kind, tags)?;
            }
            left -= count;
        }
        Ok(())
    }

    /// An element of version 2 behind its tags: the first is its physical group.
    fn tagged(&mut self, file: &mut Source<'_>, kind: i64, tags: usize) -> Result<(), Fault> {
        let mut physical = 0;
        for k in 0..tags {
            let tag = file.integer("a tag")?;
            if k == 0 {
                physical = tag;
            }
        }
        let groups = match (physical, element_kind(kind)) {
            (0, _) | (_, None) => vec![],
            (tag, Some((dimension, ..))) => vec![group_name(self.names, dimension, tag)],
        };
        self.one(file, kind, &groups, Source::integer)
    }

    fn read_41(&mut self, file: &mut Source<'_>, entities: &Entities) -> Result<(), Fault> {
        file.begin_section()?;
        let blocks = file.count("the number of blocks", MAX_ELEMENTS)?;
        file.count("the number of elements", MAX_ELEMENTS)?;
        for what in ["the lowest element", "the highest element"] {
            file.size(what)?;
        }
        for _ in 0..blocks {
            let entity = (file.integer("a dimension")?, file.integer("an entity's number")?);
            let tags = entities.get(&entity).map_or(&[][..], Vec::as_slice);
            let groups: Vec<String> = tags.iter().map(|&tag| group_name(self.names, entity.0, tag)).collect();
            let kind = file.integer("an element's kind")?;
            for _ in 0..file.count("the number of elements in the block", MAX_ELEMENTS)? {
                file.size("an element's number")?;
                self.one(file, kind, &groups, Source::size)?;
            }
        }
        Ok(())
    }

    /// The nodes of an element, whose numbers `read` takes from the file.
    fn one<'a>(
        &mut self,
        file: &mut Source<'a>,
        kind: i64,
        groups: &[String],
        read: impl Fn(&mut Source<'a>, &str) -> Result<i64, Fault>,
    ) -> Result<(), Fault> {
        let Some((_, shape, corners, count)) = element_kind(kind) else {
            return Err(file.fault(format!("element kind {kind} is not known")));
        };
        let Some(shape) = shape else {
            return Err(file.fault(not_a_tetrahedron("a hexahedron, prism or pyramid")));
        };
        let mut nodes = [0u32; 4];
        for k in 0..count {
            let tag = read(file, "an element's node")?;
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
