//! Materials in scene files: coefficients, presets, and laws beside the three-element one.

use super::SceneError;
use crate::{
    force::{
        law::{
            Flow, Law,
            slider::{Form, Limits},
            yielding::Yielding,
        },
        material::Material,
    },
    reader::{Table, Value},
};

/// The laws a scene file can name.
const LAWS: &str = "three-element, spring, damper, voigt, maxwell, generalized-voigt, generalized-maxwell";

/// Stands for a rigid material until mesh, masses and step are known, which say how hard it can be.
const RIGID: Material = Material { k1: 1.0, c1: 0.0, c2: f64::INFINITY };

/// Whether a material is as hard as possible.
pub(super) fn is_rigid(value: &Value<'_>) -> bool {
    value
        .entries()
        .is_ok_and(|keys| keys.iter().any(|(k, v)| *k == "preset" && v.string().is_ok_and(|s| s == "rigid")))
}

/// No element has more parts: more is a mistake.
const MAX_PARTS: usize = 16;

pub(super) fn read_material(value: &Value<'_>) -> Result<(Material, Option<Law>), SceneError> {
    let t = value.table(&["preset", "k1", "c1", "c2", "plasticity", "law", "parts", "limits", "yielding"])?;
    let Some(law) = t.get("law") else {
        unused(&t, &["parts"], "needs a generalized law")?;
        return with_flow(&t, value, |t, c2| read_preset(t, value, c2));
    };
    unused(&t, &["preset", "plasticity"], "does not go with `law`")?;
    let number = |key| t.need(key).and_then(|v| v.number());
    let made = |m: Result<Material, crate::force::material::MaterialError>| {
        m.map_err(|e| value.error(e.to_string()))
    };
    let name = law.string()?;
    if name != "generalized-voigt" && name != "generalized-maxwell" {
        unused(&t, &["parts"], "needs a generalized law")?;
    }
    match name {
        "three-element" => {
            with_flow(&t, value, |_, c2| made(Material::new(number("k1")?, number("c1")?, c2?)))
        }
        "maxwell" => {
            unused(&t, &["c1"], "has no meaning for maxwell: it is zero")?;
            with_flow(&t, value, |_, c2| made(Material::new(number("k1")?, 0.0, c2?)))
        }
        "spring" | "damper" | "voigt" => {
            let none: &[&str] = match name {
                "spring" => &["c1", "c2", "limits", "yielding"],
                "damper" => &["k1", "c2", "limits", "yielding"],
                _ => &["c2", "limits", "yielding"],
            };
            unused(&t, none, "has no meaning for this law")?;
            let k1 = if name == "damper" { 0.0 } else { number("k1")? };
            let c1 = if name == "spring" { 0.0 } else { number("c1")? };
            Ok((made(Material::elastic(k1, c1))?, None))
        }
        "generalized-voigt" | "generalized-maxwell" => {
            unused(
                &t,
                &["k1", "c1", "c2", "limits", "yielding"],
                "has no meaning for a generalized law: see `parts`",
            )?;
            let parts = read_parts(&t.need("parts")?)?;
            Ok(generalized(name == "generalized-voigt", parts))
        }
        other => Err(law.error(format!("unknown law `{other}`; one of {LAWS}"))),
    }
}

fn unused(t: &Table<'_>, keys: &[&'static str], why: &str) -> Result<(), SceneError> {
    match keys.iter().find_map(|key| Some((key, t.get(key)?))) {
        Some((key, value)) => Err(value.error(format!("`{key}` {why}"))),
        None => Ok(()),
    }
}

/// The three coefficients as they are, or from a preset.
fn read_preset(
    t: &Table<'_>,
    value: &Value<'_>,
    c2: Result<f64, SceneError>,
) -> Result<Material, SceneError> {
    let preset = t.optional("preset", Value::string)?;
    let unused = |key: &'static str, why: &str| match t.get(key) {
        Some(v) => Err(v.error(format!("`{key}` has no meaning for a preset {why}"))),
        None => Ok(()),
    };
    let material = match preset {
        None | Some("rheological") => Material::new(t.need("k1")?.number()?, t.need("c1")?.number()?, c2?),
        Some("elastic") => {
            unused("c2", "elastic object: it is infinite")?;
            unused("yielding", "elastic object: it does not flow")?;
            Material::elastic(t.need("k1")?.number()?, t.need("c1")?.number()?)
        }
        Some("rigid") => {
            for key in ["k1", "c1", "c2", "yielding", "limits", "plasticity"] {
                unused(key, "rigid object: it is as hard as the step allows")?;
            }
            return Ok(RIGID);
        }
        Some("viscoplastic") => {
            unused("k1", "viscoplastic object: it is zero")?;
            Material::viscoplastic(t.need("c1")?.number()?, c2?)
        }
        Some(other) => {
            return Err(t.need("preset")?.error(format!(
                "unknown preset `{other}`; one of elastic, viscoplastic, rheological, rigid"
            )));
        }
    };
    let material = material.map_err(|e| value.error(e.to_string()))?;
    match t.get("plasticity") {
        Some(p) => material.with_plasticity(p.number()?).map_err(|e| p.error(e.to_string())),
        None => Ok(material),
    }
}

/// A material of one damper: constant (`c2`) or yielding, its Voigt part within `limits` or not.
fn with_flow<'t>(
    t: &Table<'t>,
    value: &Value<'t>,
    make: impl Fn(&Table<'t>, Result<f64, SceneError>) -> Result<Material, SceneError>,
) -> Result<(Material, Option<Law>), SceneError> {
    let limits = t.get("limits").map(|v| read_limits(&v)).transpose()?;
    let Some(table) = t.get("yielding") else {
        let material = make(t, t.need("c2").and_then(|v| v.number_or_inf()))?;
        let law = limits.map(|limits| Law { flow: Flow::Linear, limits: Some(limits) });
        return Ok((material, law));
    };
    unused(t, &["c2", "plasticity"], "does not go with `yielding`")?;
    let y = table.table(&["c_max", "c_min", "f1", "f2"])?;
    let number = |key| y.need(key).and_then(|v| v.number());
    let (c_max, c_min, f1, f2) = (number("c_max")?, number("c_min")?, number("f1")?, number("f2")?);
    let Some(yielding) = Yielding::new(c_max, c_min, f1, f2) else {
        return Err(table.error(format!(
            "a damper yields from c_max = {c_max} to c_min = {c_min} N s/m between f1 = {f1} and f2 = {f2} N: \
             0 < c_min <= c_max and 0 <= f1 < f2 are needed"
        )));
    };
    let material = make(t, Ok(c_max))
        .map_err(|_| value.error("`yielding` needs k1 and c1 beside it (c1 may be zero)"))?;
    Ok((material, Some(Law { flow: Flow::Yielding(yielding), limits })))
}

fn read_limits(value: &Value<'_>) -> Result<Limits<f64>, SceneError> {
    let t = value.table(&["least", "most", "start", "form"])?;
    let (least, most) = (t.need("least")?.number()?, t.need("most")?.number()?);
    let start = t.optional("start", Value::number)?.unwrap_or((least + most) / 2.0);
    let form = match t.optional("form", Value::string)? {
        None | Some("assign") => Form::Assign,
        Some("switch") => Form::Switch,
        Some(other) => {
            return Err(t.need("form")?.error(format!(
                "unknown form `{other}`; assign (the Voigt part is put back) or switch (the damper is stuck)"
            )));
        }
    };
    Limits::new(least, most, start, form).ok_or_else(|| {
        value.error(format!(
            "limits {least} to {most}, {start} at rest: they are shares of an edge's length, 0 <= least <= start <= most <= 1"
        ))
    })
}

fn read_parts(list: &Value<'_>) -> Result<Vec<[f64; 2]>, SceneError> {
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

/// A generalized law, and the plain material that bounds its stiffness and damping.
fn generalized(series: bool, parts: Vec<[f64; 2]>) -> (Material, Option<Law>) {
    let fastest = parts.iter().map(|[k, c]| k / c).fold(0.0, f64::max);
    let material = if series {
        let c1 = 1.0 / parts.iter().map(|[_, c]| 1.0 / c).sum::<f64>();
        Material { k1: c1 * fastest, c1, c2: f64::INFINITY }
    } else {
        let sum = |of: fn(&[f64; 2]) -> f64| parts.iter().map(of).sum();
        Material { k1: sum(|p| p[0]), c1: 0.0, c2: sum(|p| p[1]) }
    };
    let flow = if series { Flow::Voigts(parts) } else { Flow::Maxwells(parts) };
    (material, Some(Law { flow, limits: None }))
}
