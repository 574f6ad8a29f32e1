//! Which particles and edges a table is about: `on` and `index`.

use crate::{
    mesh::{Group, Mesh, Vec3},
    reader::{SceneError, Table, Value},
    text::count,
};

/// Particles chosen by `on`.
pub(super) fn select(table: &Table<'_>, mesh: &Mesh) -> Result<Vec<u32>, SceneError> {
    particles(&table.need("on")?, mesh)
}

/// Particles chosen by "all", a list of numbers, a face, a group or a region.
pub(super) fn particles(on: &Value<'_>, mesh: &Mesh) -> Result<Vec<u32>, SceneError> {
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

/// A group of the mesh.
fn find_group<'m>(name: &Value<'_>, mesh: &'m Mesh) -> Result<&'m Group, SceneError> {
    mesh.group(name.string()?).map_err(|why| name.error(why))
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

/// Edges by number (`index`), those of a volume's tetrahedra, or those with both ends among the particles
/// chosen by `on`.
pub(super) fn select_edges(table: &Table<'_>, mesh: &Mesh) -> Result<Vec<usize>, SceneError> {
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
            return Err(item.error(format!(
                "edge {edge} is out of range: the mesh has {} (0 to {})",
                count(n, "edge"),
                n - 1
            )));
        }
        edges.push(edge);
    }
    Ok(edges)
}
