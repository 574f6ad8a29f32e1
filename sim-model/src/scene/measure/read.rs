//! The tables `[[measure]]` of scene files.

use super::{
    Expectation, Extreme, Measure, Quantity, Subject, Target, Touching, Value, When, judge::Reference,
};
use crate::{
    force::joint::places,
    mesh::Vec3,
    reader::{SceneError, Table, Value as Entry},
    scene::{Holding, Scene, deformation::DeformationKind, select::particles},
};

/// The keys of a measure.
pub(in crate::scene) const KEYS: &[&str] =
    &["name", "of", "on", "from", "to", "between", "tolerance", "axis", "at", "over", "loaded", "expect"];

/// Each quantity that can be measured, with what it is.
const QUANTITIES: &[&str] = &[
    "position",
    "displacement",
    "velocity",
    "distance",
    "extent",
    "axis-ratio",
    "force",
    "contact-force",
    "contact-point",
    "contact-depth",
    "volume",
    "area",
    "momentum",
    "angular-momentum",
    "energy",
    "class",
    "inverted",
    "crack",
];

/// Those of a scene file, whose scene is known but for them.
pub(in crate::scene) fn measures(root: &Table<'_>, scene: &Scene) -> Result<Vec<Measure>, SceneError> {
    let mut measures: Vec<Measure> = Vec::new();
    for t in root.tables("measure", KEYS)? {
        let measure = read(&t, scene)?;
        if measures.iter().any(|other| other.name == measure.name) {
            return Err(t.need("name")?.error("another measure has this name"));
        }
        measures.push(measure);
    }
    // A comparison with a measure that is not there would never be made.
    for (t, measure) in root.tables("measure", KEYS)?.iter().zip(&measures) {
        let references = measure.expect.iter().flat_map(Expectation::references);
        for reference in references.filter(|r| r.file.is_none()) {
            if reference.name == measure.name || !measures.iter().any(|m| m.name == reference.name) {
                let text = format!(
                    "no other measure `{}` in this file; of another file it is \"FILE:NAME\"",
                    reference.name
                );
                return Err(t.need("expect")?.error(text));
            }
        }
    }
    Ok(measures)
}

fn read(t: &Table<'_>, scene: &Scene) -> Result<Measure, SceneError> {
    let name = t.need("name")?;
    let text = name.string()?;
    if text.is_empty() || text.contains([':', ',', '"', '\n']) {
        return Err(name.error("a measure's name is not empty and has no `:`, `,`, quotes or line ends"));
    }
    let quantity = quantity(t, scene)?;
    let axis = t.optional("axis", axis)?;
    let directed = matches!(quantity, Quantity::AxisRatio(_) | Quantity::Distance { .. });
    if axis.is_some() && !quantity.is_vector() && !directed {
        return Err(t.need("axis")?.error(format!("`axis` does not go with {}", quantity.name())));
    }
    let when = when(t, &quantity)?;
    let one = matches!(when, When::Over { .. }) || axis.is_some() || !quantity.is_vector();
    let expect = t.optional("expect", |e| expectation(e, &quantity, one))?;
    Ok(Measure { name: text.to_owned(), quantity, axis, when, expect })
}

/// "x", "y", "z", or a direction.
fn axis(value: &Entry<'_>) -> Result<Vec3, SceneError> {
    if value.is_array() {
        return value.vec3()?.try_normalize(0.0).ok_or_else(|| value.error("a direction must not be zero"));
    }
    match value.string()? {
        "x" => Ok(Vec3::x()),
        "y" => Ok(Vec3::y()),
        "z" => Ok(Vec3::z()),
        other => {
            Err(value.error(format!("unknown axis `{other}`; \"x\", \"y\", \"z\" or a direction [1, 0, 0]")))
        }
    }
}

fn quantity(t: &Table<'_>, scene: &Scene) -> Result<Quantity, SceneError> {
    let of = t.need("of")?;
    let mesh = &scene.mesh;
    // All particles, unless others are chosen.
    let on = || match t.get("on") {
        Some(on) => particles(&on, mesh),
        None => Ok((0..mesh.particles.len() as u32).collect()),
    };
    let quantity = match of.string()? {
        "position" => Quantity::Position(on()?),
        "displacement" => Quantity::Displacement(on()?),
        "velocity" => Quantity::Velocity(on()?),
        "distance" => {
            t.need("on")?;
            Quantity::Distance { from: on()?, to: target(&t.need("to")?, scene)? }
        }
        "extent" => Quantity::Extent(on()?),
        "axis-ratio" => Quantity::AxisRatio(on()?),
        "force" => Quantity::Force(holder(&t.need("on")?, scene)?),
        "contact-force" => Quantity::ContactForce(touching(t, scene)?),
        "contact-point" => Quantity::ContactPoint(touching(t, scene)?),
        "contact-depth" => Quantity::ContactDepth(touching(t, scene)?),
        "volume" if mesh.tetrahedra.is_empty() => {
            return Err(of.error("only a mesh of tetrahedra has a volume; a flat one has an area"));
        }
        "volume" => Quantity::Volume(on()?),
        "area" => Quantity::Area(on()?),
        "momentum" => Quantity::Momentum(on()?),
        "angular-momentum" => Quantity::AngularMomentum(on()?),
        "energy" => Quantity::Energy(on()?),
        "class" => {
            let loaded = match t.optional("loaded", Entry::number)? {
                Some(loaded) => loaded,
                None => scene.release().ok_or_else(|| {
                    of.error("when was it loaded? Not all loads end, so say it: `loaded = 1.0`")
                })?,
            };
            Quantity::Class { of: on()?, loaded }
        }
        "inverted" => Quantity::Inverted,
        "crack" => Quantity::Crack(places(t, mesh)?),
        other => {
            return Err(of.error(format!("`{other}` cannot be measured; one of {}", QUANTITIES.join(", "))));
        }
    };
    let only = |key: &'static str, fits: bool| match t.get(key) {
        Some(value) if !fits => Err(value.error(format!("`{key}` does not go with {}", quantity.name()))),
        _ => Ok(()),
    };
    let touches =
        matches!(quantity, Quantity::ContactForce(_) | Quantity::ContactPoint(_) | Quantity::ContactDepth(_));
    only("from", touches)?;
    only("to", matches!(quantity, Quantity::Distance { .. }))?;
    only("loaded", matches!(quantity, Quantity::Class { .. }))?;
    let crack = matches!(quantity, Quantity::Crack(_));
    only("on", !crack && !matches!(quantity, Quantity::Inverted))?;
    only("between", crack)?;
    only("tolerance", crack)?;
    Ok(quantity)
}

/// Particles, or `{ line = [a, b] }`.
fn target(to: &Entry<'_>, scene: &Scene) -> Result<Target, SceneError> {
    let line = match to.is_table() {
        true => to.entries()?.into_iter().find(|(key, _)| *key == "line").map(|(_, line)| line),
        false => None,
    };
    let Some(line) = line else { return Ok(Target::Middle(particles(to, &scene.mesh)?)) };
    let ends: [u32; 2] = to.table(&["line"])?.need("line")?.indices()?;
    match ends.iter().any(|&p| p as usize >= scene.mesh.particles.len()) || ends[0] == ends[1] {
        true => Err(line.error("`line` takes the numbers of two particles of the mesh")),
        false => Ok(Target::Line(ends)),
    }
}

/// `{ support = NAME }` or `{ boundary = NAME }`, if that is what it is.
fn named<'a>(on: &Entry<'a>) -> Result<Option<(&'a str, Entry<'a>)>, SceneError> {
    if !on.is_table() {
        return Ok(None);
    }
    let found = on.entries()?.into_iter().find(|(key, _)| ["support", "boundary"].contains(key));
    if found.is_some() {
        on.table(&["support", "boundary"])?;
    }
    Ok(found)
}

/// The number of a support or boundary among [`Scene::holders`].
fn holder(on: &Entry<'_>, scene: &Scene) -> Result<usize, SceneError> {
    let Some((kind, name)) = named(on)? else {
        let text = "a force is felt by `on = { support = NAME }` or `{ boundary = NAME }`";
        return Err(on.error(text));
    };
    let wanted = name.string()?;
    let holders = scene.holders();
    let fits = |holding: &Holding| matches!(holding, Holding::Boundary(_)) == (kind == "boundary");
    holders.iter().position(|h| fits(&h.holding) && h.name == wanted).ok_or_else(|| {
        let names: Vec<&str> = holders.iter().filter(|h| fits(&h.holding)).map(|h| h.name.as_str()).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        name.error(format!("no {kind} `{wanted}`; the scene has {known}"))
    })
}

fn touching(t: &Table<'_>, scene: &Scene) -> Result<Touching, SceneError> {
    let subject = |value: &Entry<'_>| match named(value)? {
        Some(("boundary", name)) => match scene.holders()[holder(value, scene)?].holding {
            Holding::Boundary(number) => Ok(Subject::Boundary(number)),
            Holding::Particles(_) => Err(name.error("not a boundary")),
        },
        Some((_, name)) => {
            Err(name.error("what holds particles touches nothing; a boundary or particles can"))
        }
        None => Ok(Subject::of(&particles(value, &scene.mesh)?, scene.mesh.particles.len())),
    };
    let on = t.need("on")?;
    if scene.forces.contact.is_none() {
        return Err(on.error("nothing touches in this scene: it has no table [contact]"));
    }
    let from = t.get("from").map_or(Ok(Subject::Anything), |from| subject(&from))?;
    Ok(Touching { on: subject(&on)?, from })
}

fn when(t: &Table<'_>, quantity: &Quantity) -> Result<When, SceneError> {
    let (at, over) = (t.get("at"), t.get("over"));
    if let (Some(_), Some(over)) = (&at, &over) {
        return Err(over.error("a measure is taken `at` times or `over` a window, not both"));
    }
    if let Some(at) = at {
        let times: Vec<f64> = match at.is_array() {
            true => at.array()?.map(|time| time.number()).collect::<Result<_, _>>()?,
            false => vec![at.number()?],
        };
        if times.is_empty() || times.iter().any(|t| *t < 0.0) {
            return Err(at.error("`at` is a time in seconds or several, e.g. [0.5, 1.0], none below zero"));
        }
        return Ok(When::At(times));
    }
    let Some(over) = over else { return Ok(When::End) };
    if matches!(quantity, Quantity::Class { .. }) {
        return Err(over.error("a kind has no largest or smallest: give `at`"));
    }
    let window = over.table(&["from", "to", "take"])?;
    let (from, to) = (window.zero_or_more("from")?, window.need("to")?);
    let take = window.need("take")?;
    let end = to.number()?;
    if end <= from {
        return Err(to.error(format!("a window from {from} s to {end} s")));
    }
    let take = match take.string()? {
        "min" => Extreme::Min,
        "max" => Extreme::Max,
        "mean" => Extreme::Mean,
        other => return Err(take.error(format!("unknown `{other}`; min, max or mean"))),
    };
    Ok(When::Over { from, to: end, take })
}

/// What is expected of a quantity of one number, or of three.
fn expectation(value: &Entry<'_>, quantity: &Quantity, one: bool) -> Result<Expectation, SceneError> {
    let t = value.table(&[
        "value",
        "within",
        "within-percent",
        "at-most",
        "at-least",
        "class",
        "more-than",
        "less-than",
    ])?;
    let kind = matches!(quantity, Quantity::Class { .. });
    let class = match t.get("class") {
        Some(name) if kind => {
            let wanted = name.string()?;
            let found = DeformationKind::ALL.into_iter().find(|k| k.name() == wanted);
            let known = DeformationKind::ALL.map(DeformationKind::name).join(", ");
            Some(found.ok_or_else(|| name.error(format!("no kind `{wanted}`; one of {known}")))?)
        }
        Some(name) => {
            return Err(name.error(format!("{} is a number; `class` goes with class", quantity.name())));
        }
        None if kind => return Err(value.error("of a class, expect `{ class = \"elastic\" }`")),
        None => None,
    };
    let within = t.optional("within", |_| t.zero_or_more("within"))?;
    let within_percent = t.optional("within-percent", |_| t.zero_or_more("within-percent"))?;
    let wanted = t.optional("value", |v| match one {
        true => Ok(Value::Number(v.number()?)),
        false => Ok(Value::Vector(v.vec3()?.into())),
    })?;
    match (&wanted, within.is_some(), within_percent.is_some()) {
        (Some(_), true, true) => return Err(value.error("either `within` or `within-percent`")),
        (Some(_), false, false) => {
            return Err(value.error("how near to `value`? `within` in the same unit, or `within-percent`"));
        }
        (None, true, _) | (None, _, true) => return Err(value.error("within of what? It goes with `value`")),
        _ => {}
    }
    let reference = |key| t.optional(key, |v| Ok(Reference::of(v.string()?)));
    let expectation = Expectation {
        value: wanted,
        within,
        within_percent,
        at_most: t.optional("at-most", Entry::number)?,
        at_least: t.optional("at-least", Entry::number)?,
        class,
        more_than: reference("more-than")?,
        less_than: reference("less-than")?,
    };
    if expectation == Expectation::default() {
        return Err(
            value.error("nothing is expected: `value` and `within`, `at-most`, `at-least`, `more-than` ...")
        );
    }
    Ok(expectation)
}
