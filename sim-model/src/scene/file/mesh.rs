//! The table `[mesh]`: a box, boxes, lists, or another program's file.

use super::boxes;
use crate::{
    mesh::{Mesh, Vec3, import},
    reader::{SceneError, Table, Value},
};
use std::path::Path;

pub(super) fn read(root: &Table<'_>) -> Result<Mesh, SceneError> {
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
