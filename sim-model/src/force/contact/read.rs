//! The tables `[contact]` and `[[boundaries]]` of scene files.

use super::{Contacts, law::Contact, shape::Shape, wall::Boundary};
use crate::{
    force::{Object, need_elements},
    mesh::Vec3,
    reader::{SceneError, Table, Value},
    trajectory::Trajectory,
};
use nalgebra::Rotation3;

pub(super) fn contacts(root: &Table<'_>, object: &Object<'_>) -> Result<Option<Contacts>, SceneError> {
    const KEYS: &[&str] = &[
        "name", "plane", "roller", "bar", "ball", "belt", "friction", "slip", "frames", "velocity", "spin",
        "until", "about",
    ];
    let tables = root.tables("boundaries", KEYS)?;
    let Some(value) = root.get("contact") else {
        return match tables.first() {
            Some(t) => Err(t.error("boundaries need a table [contact] with stiffness and damping")),
            None => Ok(None),
        };
    };
    let t =
        value.table(&["stiffness", "damping", "integral", "region", "friction", "slip", "corner", "self"])?;
    let flag = |key, usual| t.optional(key, Value::flag).map(|f| f.unwrap_or(usual));
    let law = Contact {
        stiffness: t.need("stiffness")?.positive()?,
        damping: t.zero_or_more("damping")?,
        integral: t.zero_or_more("integral")?,
        region: t.zero_or_more("region")?,
        friction: t.zero_or_more("friction")?,
        slip: t.optional("slip", Value::positive)?.unwrap_or(0.0),
        corner: flag("corner", true)?,
    };
    let step = root.need("step")?.positive()?;
    let boundaries: Vec<Boundary> =
        tables.iter().map(|t| read_boundary(t, step)).collect::<Result<_, _>>()?;
    // Without a slip speed friction acts near rest as a damper of the contact's own size, which must be something.
    let rubs = |law: &Contact<f64>| law.friction > 0.0 && law.damping == 0.0 && law.slip == 0.0;
    if rubs(&law) || boundaries.iter().any(|b| rubs(&b.law(&law))) {
        return Err(value.error(
            "friction needs a `slip` speed, or `damping` in [contact]: near rest it acts as a damper of that size",
        ));
    }
    if law.integral > 0.0 && law.region == 0.0 {
        return Err(value
            .error("`integral` needs a `region` outside the surface, or it would be lost at every bounce"));
    }
    let surfaces = flag("self", false)?;
    if surfaces {
        need_elements(&t.need("self")?, object.mesh)?;
    }
    Ok(Some(Contacts { law, surfaces, boundaries }))
}

fn read_boundary(t: &Table<'_>, step: f64) -> Result<Boundary, SceneError> {
    let shapes: Vec<Value<'_>> = ["plane", "roller", "bar", "ball"].iter().filter_map(|k| t.get(k)).collect();
    let [value] = &shapes[..] else {
        return Err(t.error("a boundary is one of plane, roller, bar and ball"));
    };
    let shape = read_shape(t, value)?;
    if let (Some(belt), false) = (t.get("belt"), matches!(shape, Shape::Plane { .. })) {
        return Err(belt.error("`belt` goes with a plane"));
    }
    let axis = match &shape {
        Shape::Roller { axis, .. } => Some(*axis),
        _ => None,
    };
    let path = Trajectory::read(t, shape.pivot(), axis, step)?;
    let friction = t.get("friction").map(|_| t.zero_or_more("friction")).transpose()?;
    let slip = t.optional("slip", Value::positive)?;
    let belt = t.optional("belt", Value::vec3)?.unwrap_or_default();
    let name = t.optional("name", Value::string)?.map(str::to_owned);
    Ok(Boundary { name, shape, belt, path, friction, slip })
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
    let s = value.table(&["min", "max", "turn"])?;
    let (min, max) = (s.need("min")?.vec3_or_inf()?, s.need("max")?.vec3_or_inf()?);
    if (0..3).any(|k| min[k] >= max[k] || (min[k].is_infinite() != max[k].is_infinite())) {
        return Err(value.error("a bar needs min < max, both finite or both infinite in each direction"));
    }
    let endless = |k: usize| min[k].is_infinite();
    let center = Vec3::from_fn(|k, _| if endless(k) { 0.0 } else { (min[k] + max[k]) / 2.0 });
    let half = Vec3::from_fn(|k, _| if endless(k) { f64::INFINITY } else { (max[k] - min[k]) / 2.0 });
    let turn = s.optional("turn", Value::vec3)?.unwrap_or_default();
    Ok(Shape::Bar { center, half, axes: *Rotation3::new(turn).matrix() })
}
