//! Scene files: TOML in SI units. The format is described in `docs/scenes.md`.

use super::{
    Force, Motion, NamedMaterial, ScalingRequest, Scene, Support, boxes,
    laws::{self, read_material},
    touching,
};
use crate::{
    engine::stability::Stability,
    force::{law::Law, material::Material},
    mesh::{Group, Mesh, Vec3, import},
    reader::{Source, Table, Value},
};
use std::{collections::BTreeMap, path::Path};
use toml::de::DeTable;

/// Why a scene cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The file cannot be read.
    #[error("{path}: {reason}")]
    Read {
        /// The file.
        path: String,
        /// What the system says, and what to try.
        reason: String,
    },
    /// Something in the file is wrong.
    #[error("{origin}:{line}:{column}: {message}")]
    Invalid {
        /// The file.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong and what to try.
        message: String,
    },
    /// A `box:` name that cannot be made.
    #[error("scene `{name}`: {reason}")]
    Builtin {
        /// The name given.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// No scene file is longer: a larger one is a mistake, and must not eat all memory.
const MAX_BYTES: u64 = 1 << 28;

/// More distinct materials than the hardware's class numbers can tell apart.
const MAX_MATERIALS: usize = 64;

pub(super) fn load(path: &Path) -> Result<Scene, SceneError> {
    let origin = path.display().to_string();
    let fail = |reason: String| SceneError::Read { path: origin.clone(), reason };
    let meta = std::fs::metadata(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            fail(format!("no such scene file, and no built-in scene of that name ({})", super::BUILTIN_HELP))
        }
        _ => fail(e.to_string()),
    })?;
    if !meta.is_file() {
        return Err(fail("not a file".to_owned()));
    }
    if meta.len() > MAX_BYTES {
        return Err(fail(format!("{} bytes: a scene file has at most {MAX_BYTES}", meta.len())));
    }
    let bytes = std::fs::read(path).map_err(|e| fail(e.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        fail(format!("not UTF-8 text (byte {}); a scene file is TOML", e.utf8_error().valid_up_to()))
    })?;
    parse(&text, &origin)
}

pub(super) fn parse(text: &str, origin: &str) -> Result<Scene, SceneError> {
    let source = Source { origin, text };
    let document = DeTable::parse(text)
        .map_err(|e| source.error(e.span().unwrap_or(0..0), e.message().replace('\n', ", ")))?;
    let keys = &[
        "name",
        "step",
        "duration",
        "gravity",
        "mesh",
        "material",
        "materials",
        "mass",
        "masses",
        "edges",
        "velocities",
        "pins",
        "motions",
        "forces",
        "scaling",
        "topology",
        "volume",
        "links",
        "contact",
        "boundaries",
    ];
    let root = Table::new(source, "", document.span(), document.get_ref(), keys)?;
    let mesh = read_mesh(&root)?;
    let (materials, laws) = read_materials(&root)?;
    let default = match root.get("material") {
        Some(name) => material_index(&materials, &name)?,
        None if materials.len() == 1 => 0,
        None => {
            return Err(root.error(format!(
                "several materials: say which one edges have, e.g. `material = \"{}\"`",
                materials[0].name
            )));
        }
    };
    let step = root.need("step")?.positive()?;
    let duration = root.optional("duration", Value::positive)?.unwrap_or(1.0);
    let mass = root.need("mass")?.positive()?;
    let name = match root.get("name") {
        Some(name) => name.string()?.to_owned(),
        None => Path::new(origin)
            .file_stem()
            .map_or_else(|| "scene".to_owned(), |s| s.to_string_lossy().into_owned()),
    };
    let mut scene = Scene::uniform(&name, mesh, materials[0].material, mass, step, duration);
    scene.edge_material.fill(default);
    scene.materials = materials;
    scene.added.laws = laws;
    scene.gravity = root.optional("gravity", Value::vec3)?.unwrap_or_default();
    scene.scaling = read_scaling(&root)?;
    read_overrides(&root, &mut scene)?;
    read_supports(&root, &mut scene)?;
    harden(&root, &mut scene)?;
    read_forces(&root, &mut scene)?;
    touching::read(&root, &mut scene)?;
    Ok(scene)
}

fn read_mesh(root: &Table<'_>) -> Result<Mesh, SceneError> {
    let value = root.need("mesh")?;
    let table = value.table(&[
        "box",
        "boxes",
        "file",
        "scale",
        "pitch",
        "particles",
        "edges",
        "triangles",
        "tetrahedra",
    ])?;
    let only =
        |kind: &str, others: &[&'static str]| match others.iter().find_map(|k| Some((k, table.get(k)?))) {
            Some((other, value)) => Err(value.error(format!(
                "a mesh is either a `box` or a list or a `file`: `{other}` does not go with {kind}"
            ))),
            None => Ok(()),
        };
    let lists = ["particles", "edges", "triangles", "tetrahedra"];
    if let Some(file) = table.get("file") {
        only("a file", &[&["box", "boxes"], &lists[..]].concat())?;
        return read_mesh_file(&table, &file);
    }
    only("that", &["scale", "pitch"])?;
    if let Some(lattice) = table.get("box") {
        only("a box", &[&["boxes"], &lists[..]].concat())?;
        return boxes::lattice(&lattice);
    }
    if let Some(list) = table.get("boxes") {
        only("boxes", &lists)?;
        return boxes::several(&list);
    }
    let particles: Vec<Vec3> =
        table.need("particles")?.array()?.map(|p| p.vec3()).collect::<Result<_, _>>()?;
    let list = |key| table.get(key);
    let tetrahedra: Vec<[u32; 4]> = read_list(list("tetrahedra"))?;
    let mesh = match list("edges") {
        None if !tetrahedra.is_empty() => Mesh::from_tetrahedra(particles, tetrahedra),
        edges => {
            let mesh = Mesh {
                particles,
                edges: read_list(edges)?,
                triangles: read_list(list("triangles"))?,
                tetrahedra,
                ..Mesh::default()
            };
            mesh.check().map(|()| mesh)
        }
    };
    mesh.map_err(|e| {
        // The complaint goes to the item it is about, where the file has it.
        let place = e.place().and_then(|(key, item)| table.get(key)?.array().ok()?.nth(item));
        place.unwrap_or(value).error(e.to_string())
    })
}

/// A mesh made by another program; its path is relative to the scene file.
fn read_mesh_file(table: &Table<'_>, file: &Value<'_>) -> Result<Mesh, SceneError> {
    let scale = table.optional("scale", Value::positive)?.unwrap_or(1.0);
    let pitch = table.optional("pitch", Value::positive)?;
    let folder = Path::new(file.origin()).parent().unwrap_or(Path::new(""));
    let imported = import::load(&folder.join(file.string()?), scale);
    imported.and_then(|i| i.into_mesh(pitch)).map_err(|e| file.error(e.to_string()))
}

fn read_list<const N: usize>(list: Option<Value<'_>>) -> Result<Vec<[u32; N]>, SceneError> {
    match list {
        None => Ok(Vec::new()),
        Some(list) => list.array()?.map(|item| item.indices()).collect(),
    }
}

/// Materials, and the laws of those that are not plain three-element ones.
type Materials = (Vec<NamedMaterial>, BTreeMap<u16, Law>);

fn read_materials(root: &Table<'_>) -> Result<Materials, SceneError> {
    let list = root.need("materials")?;
    let (mut materials, mut laws) = (Vec::new(), BTreeMap::new());
    for (name, value) in list.entries()? {
        let (material, law) = read_material(&value)?;
        laws.extend(law.map(|law| (materials.len() as u16, law)));
        materials.push(NamedMaterial { name: name.to_owned(), material });
    }
    if materials.is_empty() {
        return Err(list.error("no material is given, e.g. `[materials.dough]`"));
    }
    if materials.len() > MAX_MATERIALS {
        return Err(
            list.error(format!("{} materials: at most {MAX_MATERIALS} are possible", materials.len()))
        );
    }
    Ok((materials, laws))
}

/// Rigid materials become as hard as mesh, masses and step allow.
fn harden(root: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    let list = root.need("materials")?;
    let rigid: Vec<usize> =
        list.entries()?.iter().enumerate().filter(|(_, (_, v))| laws::is_rigid(v)).map(|(k, _)| k).collect();
    if rigid.is_empty() {
        return Ok(());
    }
    let (k1, c1) = Stability::hardest(scene);
    let material = Material::elastic(k1, c1).map_err(|e| list.error(format!("a rigid material: {e}")))?;
    rigid.into_iter().for_each(|k| scene.materials[k].material = material);
    Ok(())
}

fn material_index(materials: &[NamedMaterial], name: &Value<'_>) -> Result<u16, SceneError> {
    let wanted = name.string()?;
    materials.iter().position(|m| m.name == wanted).map(|i| i as u16).ok_or_else(|| {
        let known: Vec<&str> = materials.iter().map(|m| m.name.as_str()).collect();
        name.error(format!("no material `{wanted}`; the scene has {}", known.join(", ")))
    })
}

/// Particles chosen by `on`: "all", a list of numbers, a face, a group or a region.
fn select(table: &Table<'_>, mesh: &Mesh) -> Result<Vec<u32>, SceneError> {
    let on = table.need("on")?;
    let all = 0..mesh.particles.len() as u32;
    let chosen: Vec<u32> = if on.is_string() {
        match on.string()? {
            "all" => all.collect(),
            other => return Err(on.error(format!("`on = \"{other}\"` is not known; \"all\", [numbers], {{ face = ... }}, {{ group = ... }} or {{ min = ..., max = ... }}"))),
        }
    } else if on.is_array() {
        let mut list = Vec::new();
        for item in on.array()? {
            let index = item.index()?;
            if index as usize >= mesh.particles.len() {
                let n = mesh.particles.len();
                return Err(item.error(format!(
                    "particle {index} is out of range: the mesh has {n} particles (0 to {})",
                    n - 1
                )));
            }
            list.push(index);
        }
        list.sort_unstable();
        list.dedup();
        list
    } else {
        let t = on.table(&["face", "group", "min", "max"])?;
        if let Some(name) = t.get("group") {
            if let Some(other) = ["face", "min", "max"].iter().find_map(|k| t.get(k)) {
                return Err(other.error("`group` stands alone in `on`"));
            }
            return Ok(find_group(&name, mesh)?.particles.clone());
        }
        let (low, high) = match t.get("face") {
            Some(face) => face_region(&face, mesh)?,
            None => {
                let bound = |key, all: f64| {
                    t.optional(key, Value::vec3_or_inf).map(|v| v.unwrap_or(Vec3::repeat(all)))
                };
                (bound("min", f64::NEG_INFINITY)?, bound("max", f64::INFINITY)?)
            }
        };
        let inside = |p: &Vec3| (0..3).all(|k| low[k] <= p[k] && p[k] <= high[k]);
        all.filter(|&i| inside(&mesh.particles[i as usize])).collect()
    };
    if chosen.is_empty() {
        return Err(on.error("no particle is chosen by `on`"));
    }
    Ok(chosen)
}

/// A group of the mesh file.
fn find_group<'m>(name: &Value<'_>, mesh: &'m Mesh) -> Result<&'m Group, SceneError> {
    let wanted = name.string()?;
    mesh.groups.get(wanted).ok_or_else(|| {
        let known: Vec<&str> = mesh.groups.keys().map(String::as_str).take(20).collect();
        name.error(match known.is_empty() {
            true => format!("no group `{wanted}`: the mesh has no groups (only mesh files have)"),
            false => format!("no group `{wanted}`; the mesh has {}", known.join(", ")),
        })
    })
}

/// The region of all particles at an outermost coordinate.
fn face_region(face: &Value<'_>, mesh: &Mesh) -> Result<(Vec3, Vec3), SceneError> {
    let (low, high) = mesh.bounds();
    let slack = mesh.width() * 1e-9;
    let mut region = (Vec3::repeat(f64::NEG_INFINITY), Vec3::repeat(f64::INFINITY));
    let name = face.string()?;
    let axis = match name.as_bytes() {
        [axis @ b'x'..=b'z', b'-', ..] => usize::from(axis - b'x'),
        _ => 3,
    };
    match name.get(2..) {
        Some("min") if axis < 3 => region.1[axis] = low[axis] + slack,
        Some("max") if axis < 3 => region.0[axis] = high[axis] - slack,
        _ => {
            return Err(
                face.error(format!("unknown face `{name}`; one of x-min, x-max, y-min, y-max, z-min, z-max"))
            );
        }
    }
    Ok(region)
}

fn read_overrides(root: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    for t in root.tables("masses", &["on", "mass"])? {
        let mass = t.need("mass")?.positive()?;
        for p in select(&t, &scene.mesh)? {
            scene.mass[p as usize] = mass;
        }
    }
    for t in root.tables("velocities", &["on", "velocity"])? {
        let velocity = t.need("velocity")?.vec3()?;
        for p in select(&t, &scene.mesh)? {
            scene.velocity[p as usize] = velocity;
        }
    }
    for t in root.tables("edges", &["on", "index", "material", "extension"])? {
        let material = t.get("material").map(|m| material_index(&scene.materials, &m)).transpose()?;
        let extension = t.optional("extension", Value::number)?;
        for edge in select_edges(&t, &scene.mesh)? {
            if let Some(material) = material {
                scene.edge_material[edge] = material;
            }
            if let Some(extension) = extension {
                scene.extension[edge] = extension;
            }
        }
    }
    Ok(())
}

/// Edges by number (`index`), those of a volume's tetrahedra, or those with both ends among the particles
/// chosen by `on`.
fn select_edges(table: &Table<'_>, mesh: &Mesh) -> Result<Vec<usize>, SceneError> {
    let Some(list) = table.get("index") else {
        let on = table.need("on")?;
        if let Some(name) = on
            .is_table()
            .then(|| on.table(&["face", "group", "min", "max"]))
            .transpose()?
            .and_then(|t| t.get("group"))
        {
            let group = find_group(&name, mesh)?;
            if !group.tetrahedra.is_empty() {
                return Ok(mesh.edges_of(&group.tetrahedra));
            }
        }
        let mut inside = vec![false; mesh.particles.len()];
        for p in select(table, mesh)? {
            inside[p as usize] = true;
        }
        let both = |&(_, e): &(usize, &[u32; 2])| e.iter().all(|&p| inside[p as usize]);
        return Ok(mesh.edges.iter().enumerate().filter(both).map(|(k, _)| k).collect());
    };
    let mut edges = Vec::new();
    for item in list.array()? {
        let edge = item.index()? as usize;
        if edge >= mesh.edges.len() {
            let n = mesh.edges.len();
            return Err(
                item.error(format!("edge {edge} is out of range: the mesh has {n} edges (0 to {})", n - 1))
            );
        }
        edges.push(edge);
    }
    Ok(edges)
}

fn read_supports(root: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    for t in root.tables("pins", &["on"])? {
        for p in select(&t, &scene.mesh)? {
            scene.support[p as usize] = Support::Pinned;
        }
    }
    for t in root.tables("motions", &["on", "frames"])? {
        let list = t.need("frames")?;
        let mut frames: Vec<(f64, Vec3)> = Vec::new();
        for item in list.array()? {
            let f = item.table(&["t", "offset"])?;
            let (time, offset) = (f.need("t")?.number()?, f.need("offset")?.vec3()?);
            let previous = frames.last().map_or(-1.0, |last| last.0);
            if time < 0.0 || (previous >= 0.0 && scene.steps_for(time) <= scene.steps_for(previous)) {
                return Err(item.error(format!(
                    "key frame at t = {time} s: times must rise by a step ({} s) at least",
                    scene.step
                )));
            }
            frames.push((time, offset));
        }
        if frames.is_empty() {
            return Err(
                list.error("a motion needs at least one key frame, e.g. { t = 1.0, offset = [0, 0, -0.01] }")
            );
        }
        let motion = scene.motions.len() as u32;
        scene.motions.push(Motion { frames });
        for p in select(&t, &scene.mesh)? {
            if scene.support[p as usize] != Support::Free {
                return Err(t.error(format!("particle {p} is already pinned or moved")));
            }
            scene.support[p as usize] = Support::Moved(motion);
        }
    }
    Ok(())
}

fn read_forces(root: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    for t in root.tables("forces", &["on", "force", "from", "to", "share"])? {
        let particles = select(&t, &scene.mesh)?;
        let mut force = t.need("force")?.vec3()?;
        match t.optional("share", Value::string)? {
            None | Some("each") => {}
            Some("total") => force /= particles.len() as f64,
            Some(other) => return Err(t.need("share")?.error(format!("unknown share `{other}`; each (the force acts on every particle) or total (it is divided among them)"))),
        }
        let from = t.optional("from", Value::number)?.unwrap_or(0.0);
        let to = t.optional("to", Value::number_or_inf)?.unwrap_or(f64::INFINITY);
        if from < 0.0 || to <= from {
            return Err(t.error(format!("a force from {from} s to {to} s never acts")));
        }
        scene.forces.push(Force { particles, force, from, to });
    }
    Ok(())
}

fn read_scaling(root: &Table<'_>) -> Result<ScalingRequest, SceneError> {
    let Some(value) = root.get("scaling") else { return Ok(ScalingRequest::default()) };
    let t = value.table(&["length", "mass", "time", "velocity_exponent", "extension_exponent"])?;
    Ok(ScalingRequest {
        length: t.optional("length", Value::positive)?,
        mass: t.optional("mass", Value::positive)?,
        time: t.optional("time", Value::positive)?,
        velocity_exponent: t.optional("velocity_exponent", Value::index)?,
        extension_exponent: t.optional("extension_exponent", Value::index)?,
    })
}
