//! Materials in scene files: coefficients, presets, and laws beside the three-element one.

use super::{
    AnyLaw, Law,
    generalized_maxwell::GeneralizedMaxwell,
    generalized_voigt::GeneralizedVoigt,
    slider::Limits,
    three_element::{Material, MaterialError},
    yielding::{Yielding, YieldingElement},
};
use crate::reader::{SceneError, Table, Value};

/// A material as a scene file has it.
pub(crate) struct ReadMaterial {
    /// Its three coefficients, or those that bound its law's.
    pub(crate) material: Material,
    /// Its law, where that is not the plain three-element one.
    pub(crate) law: Option<AnyLaw>,
    /// Whether it is to be as hard as mesh, masses and step allow; its coefficients mean nothing yet.
    pub(crate) rigid: bool,
}

impl From<(Material, Option<AnyLaw>)> for ReadMaterial {
    fn from((material, law): (Material, Option<AnyLaw>)) -> Self {
        Self { material, law, rigid: false }
    }
}

/// A law that a scene file can name.
struct Named {
    name: &'static str,
    /// Keys that have no meaning for it, and why.
    unused: &'static [&'static str],
    why: &'static str,
    read: fn(&Table<'_>, &Value<'_>) -> Result<ReadMaterial, SceneError>,
}

const KEYS: &[&str] = &["preset", "k1", "c1", "c2", "plasticity", "law", "parts", "limits", "yielding"];
const SEE_PARTS: &str = "has no meaning for a generalized law: see `parts`";
const NO_MEANING: &str = "has no meaning for this law";
const NO_PARTS: &str = "needs a generalized law";

/// The laws a scene file can name.
const NAMED: &[Named] = &[
    Named { name: "three-element", unused: &["parts"], why: NO_PARTS, read: three_element },
    Named {
        name: "spring",
        unused: &["c1", "c2", "limits", "yielding", "parts"],
        why: NO_MEANING,
        read: |t, value| elastic(value, t.need("k1")?.number()?, 0.0),
    },
    Named {
        name: "damper",
        unused: &["k1", "c2", "limits", "yielding", "parts"],
        why: NO_MEANING,
        read: |t, value| elastic(value, 0.0, t.need("c1")?.number()?),
    },
    Named {
        name: "voigt",
        unused: &["c2", "limits", "yielding", "parts"],
        why: NO_MEANING,
        read: |t, value| elastic(value, t.need("k1")?.number()?, t.need("c1")?.number()?),
    },
    Named {
        name: "maxwell",
        unused: &["c1", "parts"],
        why: "has no meaning for maxwell: c1 is zero, and parts belong to generalized laws",
        read: maxwell,
    },
    Named {
        name: GeneralizedVoigt::NAME,
        unused: &["k1", "c1", "c2", "limits", "yielding"],
        why: SEE_PARTS,
        read: |t, _| {
            let law = GeneralizedVoigt(parts(&t.need("parts")?)?);
            Ok((law.bound(), Some(AnyLaw::GeneralizedVoigt(law))).into())
        },
    },
    Named {
        name: GeneralizedMaxwell::NAME,
        unused: &["k1", "c1", "c2", "limits", "yielding"],
        why: SEE_PARTS,
        read: |t, _| {
            let law = GeneralizedMaxwell(parts(&t.need("parts")?)?);
            Ok((law.bound(), Some(AnyLaw::GeneralizedMaxwell(law))).into())
        },
    },
];

/// Reads a table `[materials.NAME]`.
pub(crate) fn material(value: &Value<'_>) -> Result<ReadMaterial, SceneError> {
    let t = value.table(KEYS)?;
    let Some(law) = t.get("law") else {
        unused(&t, &["parts"], NO_PARTS)?;
        return preset(&t, value);
    };
    unused(&t, &["preset", "plasticity"], "does not go with `law`")?;
    let name = law.string()?;
    let Some(named) = NAMED.iter().find(|n| n.name == name) else {
        let known: Vec<&str> = NAMED.iter().map(|n| n.name).collect();
        return Err(law.error(format!("unknown law `{name}`; one of {}", known.join(", "))));
    };
    unused(&t, named.unused, named.why)?;
    (named.read)(&t, value)
}

fn unused(t: &Table<'_>, keys: &[&'static str], why: &str) -> Result<(), SceneError> {
    match keys.iter().find_map(|key| Some((key, t.get(key)?))) {
        Some((key, value)) => Err(value.error(format!("`{key}` {why}"))),
        None => Ok(()),
    }
}

fn made(value: &Value<'_>, material: Result<Material, MaterialError>) -> Result<Material, SceneError> {
    material.map_err(|e| value.error(e.to_string()))
}

fn elastic(value: &Value<'_>, k1: f64, c1: f64) -> Result<ReadMaterial, SceneError> {
    Ok((made(value, Material::elastic(k1, c1))?, None).into())
}

fn three_element(t: &Table<'_>, value: &Value<'_>) -> Result<ReadMaterial, SceneError> {
    with_damper(t, value, |c2| {
        made(value, Material::new(t.need("k1")?.number()?, t.need("c1")?.number()?, c2?))
    })
}

fn maxwell(t: &Table<'_>, value: &Value<'_>) -> Result<ReadMaterial, SceneError> {
    with_damper(t, value, |c2| made(value, Material::new(t.need("k1")?.number()?, 0.0, c2?)))
}

/// The three coefficients as they are, or from a preset.
fn preset(t: &Table<'_>, value: &Value<'_>) -> Result<ReadMaterial, SceneError> {
    let preset = t.optional("preset", Value::string)?;
    let number = |key| t.need(key).and_then(|v| v.number());
    match preset {
        None | Some("rheological") => {
            with_damper(t, value, |c2| plastic(t, value, Material::new(number("k1")?, number("c1")?, c2?)))
        }
        Some("elastic") => {
            unused(t, &["c2"], "has no meaning for a preset elastic object: it is infinite")?;
            unused(t, &["yielding"], "has no meaning for a preset elastic object: it does not flow")?;
            with_damper(t, value, |_| plastic(t, value, Material::elastic(number("k1")?, number("c1")?)))
        }
        Some("viscoplastic") => {
            unused(t, &["k1"], "has no meaning for a preset viscoplastic object: it is zero")?;
            with_damper(t, value, |c2| plastic(t, value, Material::viscoplastic(number("c1")?, c2?)))
        }
        Some("rigid") => {
            let keys = &["k1", "c1", "c2", "yielding", "limits", "plasticity"];
            unused(t, keys, "has no meaning for a preset rigid object: it is as hard as the step allows")?;
            let material = Material { k1: 1.0, c1: 0.0, c2: f64::INFINITY };
            Ok(ReadMaterial { material, law: None, rigid: true })
        }
        Some(other) => Err(t
            .need("preset")?
            .error(format!("unknown preset `{other}`; one of elastic, viscoplastic, rheological, rigid"))),
    }
}

/// With `plasticity`, if that is given.
fn plastic(
    t: &Table<'_>,
    value: &Value<'_>,
    material: Result<Material, MaterialError>,
) -> Result<Material, SceneError> {
    let material = made(value, material)?;
    match t.get("plasticity") {
        Some(p) => made(&p, material.with_plasticity(p.number()?)),
        None => Ok(material),
    }
}

/// A material of one damper: constant (`c2`) or yielding, its Voigt part within `limits` or not.
fn with_damper(
    t: &Table<'_>,
    value: &Value<'_>,
    make: impl Fn(Result<f64, SceneError>) -> Result<Material, SceneError>,
) -> Result<ReadMaterial, SceneError> {
    let limits = t.get("limits").map(|v| Limits::read(&v)).transpose()?;
    let Some(table) = t.get("yielding") else {
        let material = make(t.need("c2").and_then(|v| v.number_or_inf()))?;
        return Ok((material, limits.map(AnyLaw::Slider)).into());
    };
    unused(t, &["c2", "plasticity"], "does not go with `yielding`")?;
    let damper = Yielding::read(&table)?;
    let material = make(Ok(damper.c_max))
        .map_err(|_| value.error("`yielding` needs k1 and c1 beside it (c1 may be zero)"))?;
    Ok((material, Some(AnyLaw::Yielding(YieldingElement { damper, limits }))).into())
}

/// No element has more parts: more is a mistake.
const MAX_PARTS: usize = 16;

fn parts(list: &Value<'_>) -> Result<Vec<[f64; 2]>, SceneError> {
    let mut parts = Vec::new();
    for item in list.array()? {
        let t = item.table(&["k", "c"])?;
        parts.push([t.need("k")?.positive()?, t.need("c")?.positive()?]);
    }
    match parts.len() {
        1..=MAX_PARTS => Ok(parts),
        n => Err(list.error(format!(
            "{n} parts: between 1 and {MAX_PARTS} are possible, e.g. [{{ k = 1.0, c = 10.0 }}]"
        ))),
    }
}
