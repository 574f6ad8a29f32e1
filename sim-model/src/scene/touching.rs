//! The tables of scene files for forces beyond edges: topology, volume, links, contact, boundaries.

use super::{Scene, SceneError};
use crate::{
    force::{
        contact::{
            law::Contact,
            wall::{Boundary, Shape},
        },
        link::Link,
        topology::Preserve,
        volume::{Per, Pressure},
    },
    mesh::{Vec3, orientation::plane},
    reader::{Table, Value},
};

/// Reads them all.
pub(super) fn read(root: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    if let Some(value) = root.get("topology") {
        need_elements(&value, scene)?;
        let t = value.table(&["stiffness", "damping", "threshold"])?;
        scene.added.topology = Some(Preserve {
            stiffness: t.need("stiffness")?.positive()?,
            damping: zero_or_more(&t, "damping")?,
            threshold: zero_or_more(&t, "threshold")?,
        });
    }
    if let Some(value) = root.get("volume") {
        need_elements(&value, scene)?;
        let t = value.table(&["stiffness", "damping", "per"])?;
        let per = match t.optional("per", Value::string)? {
            None | Some("object") => Per::Object,
            Some("element") => Per::Element,
            Some(other) => {
                return Err(t.need("per")?.error(format!("unknown `per = \"{other}\"`; object or element")));
            }
        };
        let stiffness = t.need("stiffness")?.positive()?;
        scene.added.volume = Some(Pressure { stiffness, damping: zero_or_more(&t, "damping")?, per });
    }
    for t in root.tables("links", &["particle", "edge", "stiffness", "damping"])? {
        let link = read_link(&t, scene)?;
        scene.added.links.push(link);
    }
    read_contact(root, scene)
}

fn zero_or_more(t: &Table<'_>, key: &'static str) -> Result<f64, SceneError> {
    let Some(value) = t.get(key) else { return Ok(0.0) };
    match value.number()? {
        n if n >= 0.0 => Ok(n),
        n => Err(value.error(format!("`{key}` must be zero or more, not {n}"))),
    }
}

fn need_elements(value: &Value<'_>, scene: &Scene) -> Result<(), SceneError> {
    if scene.mesh.tetrahedra.is_empty() && plane(&scene.mesh).is_none() {
        return Err(value.error("this needs a mesh of tetrahedra, or one of triangles that is flat"));
    }
    Ok(())
}

fn read_link(t: &Table<'_>, scene: &Scene) -> Result<Link<f64>, SceneError> {
    let (particle, edge) = (t.need("particle")?, t.need("edge")?);
    let (p, ends) = (particle.index()?, edge.indices::<2>()?);
    let count = scene.mesh.particles.len();
    if [p, ends[0], ends[1]].iter().any(|&q| q as usize >= count) {
        return Err(
            particle.error(format!("a link of particles {p} and {ends:?}: the mesh has {count} particles"))
        );
    }
    let stiffness = t.need("stiffness")?.positive()?;
    let link = Link::new(&scene.mesh, p, ends, stiffness, zero_or_more(t, "damping")?);
    link.ok_or_else(|| edge.error(format!("particle {p} does not lie beside the edge {ends:?}")))
}

fn read_contact(root: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    const KEYS: &[&str] = &["plane", "roller", "bar", "ball", "belt", "spin", "frames", "friction"];
    let boundaries = root.tables("boundaries", KEYS)?;
    let Some(value) = root.get("contact") else {
        return match boundaries.first() {
            Some(t) => Err(t.error("boundaries need a table [contact] with stiffness and damping")),
            None => Ok(()),
        };
    };
    let t = value.table(&["stiffness", "damping", "integral", "region", "friction", "corner", "self"])?;
    let flag = |key, usual| t.optional(key, Value::flag).map(|f| f.unwrap_or(usual));
    let contact = Contact {
        stiffness: t.need("stiffness")?.positive()?,
        damping: zero_or_more(&t, "damping")?,
        integral: zero_or_more(&t, "integral")?,
        region: zero_or_more(&t, "region")?,
        friction: zero_or_more(&t, "friction")?,
        corner: flag("corner", true)?,
    };
    for boundary in &boundaries {
        scene.added.boundaries.push(read_boundary(boundary)?);
    }
    let rubs = |b: &Boundary| b.friction.unwrap_or(contact.friction) > 0.0;
    if contact.damping == 0.0 && (contact.friction > 0.0 || scene.added.boundaries.iter().any(rubs)) {
        return Err(
            value.error("friction needs `damping` in [contact]: near rest it acts as a damper of that size")
        );
    }
    if contact.integral > 0.0 && contact.region == 0.0 {
        return Err(value
            .error("`integral` needs a `region` outside the surface, or it would be lost at every bounce"));
    }
    scene.added.surfaces = flag("self", false)?;
    if scene.added.surfaces {
        need_elements(&t.need("self")?, scene)?;
    }
    scene.added.contact = Some(contact);
    Ok(())
}

fn read_boundary(t: &Table<'_>) -> Result<Boundary, SceneError> {
    let shapes: Vec<Value<'_>> = ["plane", "roller", "bar", "ball"].iter().filter_map(|k| t.get(k)).collect();
    let [value] = &shapes[..] else {
        return Err(t.error("a boundary is one of plane, roller, bar and ball"));
    };
    let shape = read_shape(t, value)?;
    let only = |key: &'static str, fits: bool, why: &str| match t.get(key) {
        Some(v) if !fits => Err(v.error(format!("`{key}` {why}"))),
        _ => Ok(()),
    };
    only("spin", matches!(shape, Shape::Roller { .. }), "goes with a roller")?;
    only("belt", matches!(shape, Shape::Plane { .. }), "goes with a plane")?;
    let mut frames: Vec<(f64, Vec3)> = Vec::new();
    if let Some(list) = t.get("frames") {
        for item in list.array()? {
            let f = item.table(&["t", "offset"])?;
            let time = f.need("t")?.number()?;
            if time <= frames.last().map_or(0.0, |last| last.0) {
                return Err(item.error(format!("key frame at t = {time} s: times must be above 0 and rise")));
            }
            frames.push((time, f.need("offset")?.vec3()?));
        }
    }
    let friction = t.get("friction").map(|_| zero_or_more(t, "friction")).transpose()?;
    let belt = t.optional("belt", Value::vec3)?.unwrap_or_default();
    let spin = t.optional("spin", Value::number)?.unwrap_or(0.0);
    Ok(Boundary { shape, belt, spin, frames, friction })
}

fn read_shape(t: &Table<'_>, value: &Value<'_>) -> Result<Shape<f64>, SceneError> {
    let unit =
        |v: Value<'_>| v.vec3()?.try_normalize(0.0).ok_or_else(|| v.error("a direction must not be zero"));
    if t.get("plane").is_some() {
        let s = value.table(&["point", "normal"])?;
        return Ok(Shape::Plane { point: s.need("point")?.vec3()?, normal: unit(s.need("normal")?)? });
    }
    if t.get("roller").is_some() {
        let s = value.table(&["center", "axis", "radius"])?;
        let (center, axis) = (s.need("center")?.vec3()?, unit(s.need("axis")?)?);
        return Ok(Shape::Roller { center, axis, radius: s.need("radius")?.positive()? });
    }
    if t.get("ball").is_some() {
        let s = value.table(&["center", "radius"])?;
        return Ok(Shape::Ball { center: s.need("center")?.vec3()?, radius: s.need("radius")?.positive()? });
    }
    let s = value.table(&["min", "max"])?;
    let (min, max) = (s.need("min")?.vec3_or_inf()?, s.need("max")?.vec3_or_inf()?);
    if (0..3).any(|k| min[k] >= max[k] || (min[k].is_infinite() != max[k].is_infinite())) {
        return Err(value.error("a bar needs min < max, both finite or both infinite in each direction"));
    }
    let endless = |k: usize| min[k].is_infinite();
    let center = Vec3::from_fn(|k, _| if endless(k) { 0.0 } else { (min[k] + max[k]) / 2.0 });
    let half = Vec3::from_fn(|k, _| if endless(k) { f64::INFINITY } else { (max[k] - min[k]) / 2.0 });
    Ok(Shape::Bar { center, half })
}
