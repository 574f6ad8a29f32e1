//! Meshes from other programs: Gmsh, TetGen, legacy VTK, VTU, OBJ and STL files.
//!
//! Each format has its reader; all give an [`Imported`] mesh. Tetrahedra are taken as they are, a closed
//! surface is filled with a lattice (`fill.rs`). Readers take memory in proportion to the file, never to a count
//! the file merely claims, and no text makes them panic.

mod cursor;
mod fill;
mod gmsh;
mod obj;
mod stl;
mod tetgen;
mod vtk;
mod vtu;

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod fuzz;

pub use fill::Fill;

use super::{Group, Mesh, MeshError, Quality, Vec3};
use cursor::{Cursor, Fault};
use std::{collections::BTreeMap, fmt, io::Read, path::Path};

/// Larger files are a mistake, and must not eat all memory.
const MAX_BYTES: u64 = 1 << 28;
/// Likewise more nodes, elements or group members than this.
const MAX_NODES: usize = 1 << 24;
const MAX_ELEMENTS: usize = 1 << 26;
const MAX_MEMBERS: usize = 1 << 26;
const MAX_GROUPS: usize = 1024;

/// What kind of file a mesh comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Gmsh `.msh`, versions 2 and 4.1, as text or binary.
    Gmsh,
    /// TetGen `.node` and `.ele`.
    Tetgen,
    /// Legacy VTK `.vtk`, as text or binary.
    Vtk,
    /// VTK's XML for unstructured grids, `.vtu`.
    Vtu,
    /// Wavefront `.obj` surfaces.
    Obj,
    /// `.stl` surfaces, as text or binary.
    Stl,
}

impl Format {
    /// By the end of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "msh" => Self::Gmsh,
            "node" | "ele" => Self::Tetgen,
            "vtk" => Self::Vtk,
            "vtu" => Self::Vtu,
            "obj" => Self::Obj,
            "stl" => Self::Stl,
            _ => return None,
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gmsh => "Gmsh",
            Self::Tetgen => "TetGen",
            Self::Vtk => "legacy VTK",
            Self::Vtu => "VTU",
            Self::Obj => "OBJ",
            Self::Stl => "STL",
        })
    }
}

/// Why a mesh file cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("{path}: {reason}")]
    Read {
        /// The path of the file.
        path: String,
        /// What the system says, and what to try.
        reason: String,
    },
    /// Its text is wrong, or of a kind that is not read.
    #[error("{path}:{line}: {message}")]
    Invalid {
        /// The path of the file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong and what to try.
        message: String,
    },
    /// It was read, but no engine can simulate it.
    #[error("{path}: {message}")]
    Unusable {
        /// The path of the file.
        path: String,
        /// What is wrong and what to try.
        message: String,
    },
}

/// A mesh as a file gives it: nothing dropped, nothing checked beyond the numbering.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The kind of file.
    pub format: Format,
    /// The file, for messages.
    pub path: String,
    /// Nodes, in metres once scaled.
    pub particles: Vec<Vec3>,
    /// Tetrahedra.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Triangles: the surface, or parts of it, as the file lists it.
    pub triangles: Vec<[u32; 3]>,
    /// Named groups.
    pub groups: BTreeMap<String, Group>,
}

/// Reads a mesh file; its name says which format it has. Coordinates are multiplied by `scale`.
pub fn load(path: &Path, scale: f64) -> Result<Imported, ImportError> {
    let name = path.display().to_string();
    let unreadable = |reason: String| ImportError::Read { path: name.clone(), reason };
    if !(scale.is_finite() && scale > 0.0) {
        return Err(unreadable(format!(
            "a scale of {scale}: it must be a positive number (0.001 for millimetres)"
        )));
    }
    let format = Format::of(path).ok_or_else(|| {
        unreadable("the end of its name says no known format: .msh .node .ele .vtk .vtu .obj .stl".to_owned())
    })?;
    let mut imported = if format == Format::Tetgen {
        let (nodes, elements) = (path.with_extension("node"), path.with_extension("ele"));
        let files = [read_bytes(&nodes)?, read_bytes(&elements)?];
        read_pair([&files[0], &files[1]], [nodes, elements].map(|path| path.display().to_string()), name)?
    } else {
        read(format, &read_bytes(path)?, &name)?
    };
    for p in &mut imported.particles {
        *p *= scale;
    }
    Ok(imported)
}

/// Reads the bytes of a file that stands alone, in its own unit; `name` is for messages.
pub fn read(format: Format, bytes: &[u8], name: &str) -> Result<Imported, ImportError> {
    let mut parts = Parts::default();
    parse(format, bytes, &mut parts).map_err(|fault| fault.of(name.to_owned()))?;
    Ok(parts.finish(format, name.to_owned()))
}

/// Reads the bytes of TetGen's pair of files: `.node` and `.ele`, and their names for messages.
pub fn read_pair(files: [&[u8]; 2], names: [String; 2], name: String) -> Result<Imported, ImportError> {
    let mut parts = Parts::default();
    let ([nodes, elements], [of_nodes, of_elements]) = (files, names);
    let numbers = tetgen::read_nodes(nodes, &mut parts).map_err(|fault| fault.of(of_nodes))?;
    tetgen::read_elements(elements, &numbers, &mut parts).map_err(|fault| fault.of(of_elements))?;
    Ok(parts.finish(Format::Tetgen, name))
}

impl Fault {
    /// In the file of that name.
    fn of(self, path: String) -> ImportError {
        let Self { line, message } = self;
        match line {
            0 => ImportError::Unusable { path, message },
            line => ImportError::Invalid { path, line, message },
        }
    }
}

/// Reads the bytes of a file that stands alone.
fn parse(format: Format, bytes: &[u8], parts: &mut Parts) -> Result<(), Fault> {
    match format {
        Format::Gmsh => gmsh::read(bytes, parts),
        Format::Vtk => vtk::read(bytes, parts),
        Format::Vtu => vtu::read(bytes, parts),
        Format::Obj => obj::read(bytes, parts),
        Format::Stl => stl::read(bytes, parts),
        Format::Tetgen => Err(Fault { line: 0, message: "TetGen's files come in pairs".to_owned() }),
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, ImportError> {
    let fail = |reason: String| ImportError::Read { path: path.display().to_string(), reason };
    let file = std::fs::File::open(path).map_err(|e| fail(e.to_string()))?;
    if !file.metadata().map_err(|e| fail(e.to_string()))?.is_file() {
        return Err(fail("not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| fail(e.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fail(format!("longer than {MAX_BYTES} bytes; coarsen the mesh")));
    }
    Ok(bytes)
}

impl Imported {
    /// Whether it is only a surface.
    pub fn is_surface(&self) -> bool {
        self.tetrahedra.is_empty()
    }

    /// What can be said about its elements.
    pub fn quality(&self) -> Quality {
        Quality::of(&self.particles, &self.tetrahedra)
    }

    fn unusable(&self, message: impl Into<String>) -> ImportError {
        ImportError::Unusable { path: self.path.clone(), message: message.into() }
    }

    /// The mesh an engine can simulate: nodes that no tetrahedron uses are left out, edges and surface follow
    /// from the tetrahedra. A surface is filled with cubes of side `pitch`; for tetrahedra it must not be given.
    pub fn into_mesh(self, pitch: Option<f64>) -> Result<Mesh, ImportError> {
        match (self.is_surface(), pitch) {
            (false, None) => self.tetrahedral(),
            (false, Some(_)) => Err(self.unusable("it has tetrahedra: `pitch` is only for filling surfaces")),
            (true, Some(pitch)) => self.fill(pitch).map(|fill| fill.mesh),
            (true, None) if self.triangles.is_empty() => {
                Err(self.unusable("it has neither tetrahedra nor triangles; mesh the volume first (gmsh -3)"))
            }
            (true, None) => Err(self.unusable(
                "it has a surface but no tetrahedra; give `pitch` to fill it with cubes of that side in metres, \
                 or mesh its volume (gmsh -3, tetgen)",
            )),
        }
    }

    /// Fills the surface with a lattice.
    pub fn fill(&self, pitch: f64) -> Result<Fill, ImportError> {
        fill::fill(&self.particles, &self.triangles, pitch).map_err(|message| self.unusable(message))
    }

    fn tetrahedral(self) -> Result<Mesh, ImportError> {
        let Self { path, particles, tetrahedra, groups, .. } = self;
        let unusable = |e: MeshError| ImportError::Unusable { path, message: e.to_string() };
        compact(particles, tetrahedra, groups).map_err(unusable)
    }
}

/// A mesh of tetrahedra without the particles none of them uses; the others keep their order.
fn compact(
    particles: Vec<Vec3>,
    mut tetrahedra: Vec<[u32; 4]>,
    groups: BTreeMap<String, Group>,
) -> Result<Mesh, MeshError> {
    let mut number = vec![u32::MAX; particles.len()];
    for &p in tetrahedra.iter().flatten() {
        if let Some(slot) = number.get_mut(p as usize) {
            *slot = 0;
        }
    }
    let mut kept = Vec::new();
    for (slot, p) in number.iter_mut().zip(particles) {
        if *slot == 0 {
            *slot = kept.len() as u32;
            kept.push(p);
        }
    }
    let renumber = |p: u32| number.get(p as usize).copied().filter(|&n| n != u32::MAX);
    for p in tetrahedra.iter_mut().flatten() {
        *p = renumber(*p).unwrap_or(u32::MAX);
    }
    let mut mesh = Mesh::from_tetrahedra(kept, tetrahedra)?;
    for (name, group) in groups {
        let particles: Vec<u32> = group.particles.into_iter().filter_map(renumber).collect();
        if !particles.is_empty() {
            mesh.groups.insert(name, Group { particles, ..group });
        }
    }
    Ok(mesh)
}

/// What a reader fills.
#[derive(Debug, Default)]
struct Parts {
    particles: Vec<Vec3>,
    tetrahedra: Vec<[u32; 4]>,
    triangles: Vec<[u32; 3]>,
    groups: BTreeMap<String, Group>,
    members: usize,
}

/// The elements that matter; all others only lend their nodes to groups.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// A point or line.
    Low,
    Triangle,
    Quadrangle,
    Tetrahedron,
}

impl Parts {
    fn node(&mut self, at: Vec3) -> Result<(), String> {
        if self.particles.len() >= MAX_NODES {
            return Err(format!("more than {MAX_NODES} nodes; coarsen the mesh"));
        }
        self.particles.push(at);
        Ok(())
    }

    /// Adds an element by its nodes, corners first, to its groups.
    fn element(&mut self, shape: Shape, nodes: &[u32], groups: &[String]) -> Result<(), String> {
        let count = self.particles.len();
        if let Some(node) = nodes.iter().find(|&&n| n as usize >= count) {
            return Err(format!("an element names node {node} of {count}"));
        }
        if self.tetrahedra.len() + self.triangles.len() >= MAX_ELEMENTS {
            return Err(format!("more than {MAX_ELEMENTS} elements; coarsen the mesh"));
        }
        match (shape, nodes) {
            (Shape::Tetrahedron, &[a, b, c, d, ..]) => self.tetrahedra.push([a, b, c, d]),
            (Shape::Triangle, &[a, b, c, ..]) => self.triangles.push([a, b, c]),
            (Shape::Quadrangle, &[a, b, c, d, ..]) => self.triangles.extend([[a, b, c], [a, c, d]]),
            (Shape::Low, _) => {}
            _ => return Err(format!("an element of {} nodes: too few for its kind", nodes.len())),
        }
        for name in groups {
            let tetrahedron = (shape == Shape::Tetrahedron).then(|| self.tetrahedra.len() as u32 - 1);
            let group = self.group(name, nodes.len() + 1)?;
            group.tetrahedra.extend(tetrahedron);
            group.particles.extend_from_slice(nodes);
        }
        Ok(())
    }

    /// The group of that name, to get so many members more.
    fn group(&mut self, name: &str, members: usize) -> Result<&mut Group, String> {
        self.members += members;
        if self.members > MAX_MEMBERS {
            return Err(format!("more than {MAX_MEMBERS} members of groups; coarsen the mesh"));
        }
        if !self.groups.contains_key(name) {
            if self.groups.len() >= MAX_GROUPS {
                return Err(format!("more than {MAX_GROUPS} groups"));
            }
            self.groups.insert(name.to_owned(), Group::default());
        }
        self.groups.get_mut(name).ok_or_else(|| "a group is lost".to_owned())
    }

    fn finish(mut self, format: Format, path: String) -> Imported {
        for group in self.groups.values_mut() {
            group.particles.sort_unstable();
            group.particles.dedup();
        }
        let Self { particles, tetrahedra, triangles, groups, .. } = self;
        Imported { format, path, particles, tetrahedra, triangles, groups }
    }
}

/// What to do about volume elements that are not tetrahedra.
fn not_a_tetrahedron(kind: &str) -> String {
    format!(
        "{kind}: only tetrahedra can be simulated; mesh the volume with tetrahedra (gmsh -3 without recombination)"
    )
}
