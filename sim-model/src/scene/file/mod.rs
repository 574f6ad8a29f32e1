//! Scene files: TOML in SI units. The format is described in `docs/scenes.md`.

mod boxes;
mod mesh;

use super::{
    Load, Motion, NamedMaterial, Pins, Release, ScalingRequest, Scene, Support,
    measure::measures,
    select::{select, select_edges},
};
use crate::{
    force::{
        Forces,
        law::{self, read::ReadMaterial},
    },
    mesh::{Vec3, import},
    reader::{SceneError, Source, Table, Value},
    trajectory::Trajectory,
};
use std::{collections::HashSet, path::Path, sync::LazyLock};
use toml::de::DeTable;

/// The keys of a scene file: those of its own, and those of forces.
static KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let own = [
        "name",
        "about",
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
        "measure",
    ];
    [&own[..], &Forces::KEYS.concat()].concat()
});

/// No scene file is longer: a larger one is a mistake, and must not eat all memory.
const MAX_BYTES: u64 = 1 << 28;

/// More steps cannot be told apart as times.
const MAX_STEPS: f64 = (1_u64 << 53) as f64;

/// More distinct materials than the hardware's class numbers can tell apart.
const MAX_MATERIALS: usize = 64;

pub(super) fn load(path: &Path) -> Result<Scene, SceneError> {
    let origin = path.display().to_string();
    let fail = |reason: String| SceneError::Read { path: origin.clone(), reason };
    if import::Format::of(path).is_some() {
        let file = path.display();
        return Err(fail(format!(
            "a mesh, not a scene; make one that uses it: nendo scene import {file} -o {}",
            path.with_extension("toml").display()
        )));
    }
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
    let root = Table::new(source, "", document.span(), document.get_ref(), &KEYS)?;
    let mesh = mesh::read(&root)?;
    let materials = read_materials(&root)?;
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
    if duration / step > MAX_STEPS {
        let steps = duration / step;
        return Err(root.error(format!(
            "a duration of {duration} s is {steps:.0e} steps of {step} s: more than a run can have"
        )));
    }
    let mass = root.need("mass")?.positive()?;
    let name = match root.get("name") {
        Some(name) => name.string()?.to_owned(),
        None => Path::new(origin)
            .file_stem()
            .map_or_else(|| "scene".to_owned(), |s| s.to_string_lossy().into_owned()),
    };
    let mut scene = Scene::uniform(&name, mesh, materials[0].material, mass, step, duration);
    scene.about = root.optional("about", Value::string)?.unwrap_or_default().to_owned();
    scene.edge_material.fill(default);
    scene.materials = materials;
    scene.gravity = root.optional("gravity", Value::vec3)?.unwrap_or_default();
    scene.scaling = read_scaling(&root)?;
    read_overrides(&root, &mut scene)?;
    read_supports(&root, &mut scene)?;
    read_loads(&root, &mut scene)?;
    scene.forces = Forces::read(&root, &scene.object())?;
    check_names(&root)?;
    let rigid = scene.resolve_rigid();
    rigid.or_else(|e| Err(root.need("materials")?.error(format!("a rigid material: {e}"))))?;
    scene.measures = measures(&root, &scene)?;
    Ok(scene)
}

fn read_materials(root: &Table<'_>) -> Result<Vec<NamedMaterial>, SceneError> {
    let list = root.need("materials")?;
    let mut materials = Vec::new();
    for (name, value) in list.entries()? {
        let ReadMaterial { material, law, rigid } = law::read::material(&value)?;
        materials.push(NamedMaterial { name: name.to_owned(), material, law, rigid });
    }
    if materials.is_empty() {
        return Err(list.error("no material is given, e.g. `[materials.dough]`"));
    }
    if materials.len() > MAX_MATERIALS {
        return Err(
            list.error(format!("{} materials: at most {MAX_MATERIALS} are possible", materials.len()))
        );
    }
    Ok(materials)
}

fn material_index(materials: &[NamedMaterial], name: &Value<'_>) -> Result<u16, SceneError> {
    let wanted = name.string()?;
    materials.iter().position(|m| m.name == wanted).map(|i| i as u16).ok_or_else(|| {
        let known: Vec<&str> = materials.iter().map(|m| m.name.as_str()).collect();
        name.error(format!("no material `{wanted}`; the scene has {}", known.join(", ")))
    })
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

fn read_supports(root: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    for t in root.tables("pins", &["name", "on"])? {
        let mut particles = select(&t, &scene.mesh)?;
        // Who is pinned twice is so by the first.
        particles.retain(|&p| scene.support[p as usize] == Support::Free);
        particles.iter().for_each(|&p| scene.support[p as usize] = Support::Pinned);
        scene.pins.push(Pins { name: read_name(&t)?, particles });
    }
    const MOTION: &[&str] =
        &["name", "on", "frames", "velocity", "spin", "until", "about", "release", "at-rest"];
    for t in root.tables("motions", MOTION)? {
        let particles = select(&t, &scene.mesh)?;
        let sum: Vec3 = particles.iter().map(|&p| scene.mesh.particles[p as usize]).sum();
        let mut path = Trajectory::read(&t, sum / particles.len() as f64, None, scene.step)?;
        if !path.moves() {
            return Err(t.error(
                "a motion needs key frames, e.g. frames = [{ t = 1.0, offset = [0, 0, -0.01] }], or a `velocity` or `spin`",
            ));
        }
        let release = read_release(&t, scene, &path)?;
        if path.has_rate() && path.until.is_infinite() {
            path.until = release.map_or(scene.duration, |release| release.time);
        }
        let motion = scene.motions.len() as u32;
        scene.motions.push(Motion { name: read_name(&t)?, path, release });
        for p in particles {
            if scene.support[p as usize] != Support::Free {
                return Err(t.error(format!("particle {p} is already pinned or moved")));
            }
            scene.support[p as usize] = Support::Moved(motion);
        }
    }
    Ok(())
}

/// When a motion ends, and how.
fn read_release(t: &Table<'_>, scene: &Scene, path: &Trajectory) -> Result<Option<Release>, SceneError> {
    let at_rest = t.get("at-rest");
    let Some(release) = t.get("release") else {
        return match at_rest {
            Some(at_rest) => Err(at_rest.error("`at-rest` goes with `release`, the time in seconds")),
            None => Ok(None),
        };
    };
    let time = release.number()?;
    let last = path.frames.last().map_or(0.0, |key| key.time);
    if time < 0.0 || scene.steps_for(time) < scene.steps_for(last) {
        return Err(release.error(format!("released at {time} s, but its last key frame is at {last} s")));
    }
    if path.until.is_finite() && scene.steps_for(time) < scene.steps_for(path.until) {
        return Err(release.error(format!("released at {time} s, but moved `until` {} s", path.until)));
    }
    let at_rest = at_rest.map_or(Ok(false), |value| value.flag())?;
    Ok(Some(Release { time, at_rest }))
}

fn read_name(t: &Table<'_>) -> Result<Option<String>, SceneError> {
    Ok(t.optional("name", Value::string)?.map(str::to_owned))
}

/// Nothing that holds or bounds has the name of another.
fn check_names(root: &Table<'_>) -> Result<(), SceneError> {
    let lists = ["pins", "motions", "boundaries"].into_iter().filter_map(|key| root.get(key));
    let mut seen = HashSet::new();
    for list in lists {
        for item in list.array()? {
            let names = item.entries()?.into_iter().filter(|(key, _)| *key == "name");
            for (_, name) in names {
                if !seen.insert(name.string()?) {
                    return Err(
                        name.error("another of [[pins]], [[motions]] and [[boundaries]] has this name")
                    );
                }
            }
        }
    }
    Ok(())
}

fn read_loads(root: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
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
        scene.loads.push(Load { particles, force, from, to });
    }
    Ok(())
}

fn read_scaling(root: &Table<'_>) -> Result<ScalingRequest, SceneError> {
    let Some(value) = root.get("scaling") else { return Ok(ScalingRequest::default()) };
    let t = value.table(&["length", "mass", "force", "time", "velocity_exponent", "extension_exponent"])?;
    Ok(ScalingRequest {
        length: t.optional("length", Value::positive)?,
        mass: t.optional("mass", Value::positive)?,
        force: t.optional("force", Value::positive)?,
        time: t.optional("time", Value::positive)?,
        velocity_exponent: t.optional("velocity_exponent", Value::index)?,
        extension_exponent: t.optional("extension_exponent", Value::index)?,
    })
}
