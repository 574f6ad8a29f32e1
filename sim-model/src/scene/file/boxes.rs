//! Several boxes in one scene: each a group of its own.

use crate::{
    mesh::{Group, Lattice, LatticeError, Mesh},
    reader::{SceneError, Value},
};

/// A lattice from its table.
pub(super) fn lattice(value: &Value<'_>) -> Result<Mesh, SceneError> {
    one(value, &["size", "pitch", "center"])
}

fn one(value: &Value<'_>, keys: &'static [&'static str]) -> Result<Mesh, SceneError> {
    let t = value.table(keys)?;
    let size = t.need("size")?;
    let pitch = t.need("pitch")?;
    let center = t.get("center");
    let made = Lattice {
        size: size.indices()?,
        pitch: pitch.number()?,
        center: center.map(|c| c.vec3()).transpose()?.unwrap_or_default(),
    };
    made.mesh().map_err(|e| match e {
        LatticeError::Size { .. } | LatticeError::Memory(_) => size.error(e.to_string()),
        LatticeError::Pitch(_) => pitch.error(e.to_string()),
        LatticeError::Center => center.unwrap_or(size).error(e.to_string()),
    })
}

/// Boxes one after the other, each a group by its name.
pub(super) fn several(list: &Value<'_>) -> Result<Mesh, SceneError> {
    let mut mesh = Mesh::default();
    for item in list.array()? {
        let name = item.table(&["name", "size", "pitch", "center"])?.need("name")?;
        let part = one(&item, &["name", "size", "pitch", "center"])?;
        let (first, solid) = (mesh.particles.len() as u32, mesh.tetrahedra.len() as u32);
        let group = Group {
            particles: (first..first + part.particles.len() as u32).collect(),
            tetrahedra: (solid..solid + part.tetrahedra.len() as u32).collect(),
        };
        if mesh.groups.insert(name.string()?.to_owned(), group).is_some() {
            return Err(name.error("two boxes have this name"));
        }
        mesh.particles.extend(part.particles);
        mesh.edges.extend(part.edges.iter().map(|e| e.map(|p| first + p)));
        mesh.triangles.extend(part.triangles.iter().map(|t| t.map(|p| first + p)));
        mesh.tetrahedra.extend(part.tetrahedra.iter().map(|t| t.map(|p| first + p)));
    }
    mesh.check().map_err(|e| list.error(e.to_string()))?;
    Ok(mesh)
}
