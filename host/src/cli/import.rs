//! `nendo scene import`: a mesh made by another program.

use super::{CommandError, Console};
use crate::{output::write_whole, progress};
use anyhow::{Context, anyhow};
use nendo_model::{
    engine::{reference::Integrator, stability::Stability},
    mesh::{
        Mesh, Quality, Spread,
        import::{self, Imported},
    },
    scene::Scene,
    text::count,
};
use serde_json::{Value, json};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Formats: Gmsh .msh (2.2, 4.1), TetGen .node/.ele, VTK .vtk and .vtu, surfaces .obj and .stl

Examples:
  nendo scene import part.msh                                what is in it, and how good is it?
  nendo scene import part.msh --scale 0.001 -o part.toml     drawn in millimetres; a scene to start from
  nendo scene import pebble.stl --scale 0.001 --pitch 0.002 -o pebble.toml"
)]
pub(super) struct Args {
    /// The mesh file
    file: PathBuf,
    /// Metres per unit of the file
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    scale: f64,
    /// Fill a closed surface with cubes of this side, in metres
    #[arg(long, value_parser = positive)]
    pitch: Option<f64>,
    /// Mass of each particle in kilograms [default: that of a body as dense as water, in equal shares]
    #[arg(long, value_parser = positive)]
    mass: Option<f64>,
    /// Stiffness of the Voigt part, N/m [default: 60 000 times the mass]
    #[arg(long)]
    k1: Option<f64>,
    /// Viscosity of the Voigt part, N s/m [default: 100 times the mass]
    #[arg(long)]
    c1: Option<f64>,
    /// Viscosity of the damper, N s/m, inf for an elastic object [default: 100 000 times the mass]
    #[arg(long)]
    c2: Option<f64>,
    /// Time step in seconds [default: at most a millisecond, and half of what is stable]
    #[arg(long, value_parser = positive)]
    step: Option<f64>,
    /// Write to this file a scene that uses the mesh
    #[arg(long, short, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    overwrite: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|n: &f64| n.is_finite() && *n > 0.0)
        .ok_or_else(|| "a positive number".to_owned())
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let imported = progress::during(&format!("reading {}", args.file.display()), || {
        import::load(&args.file, args.scale).map_err(CommandError::input)
    })?;
    let (format, listed) = (imported.format, imported.triangles.len());
    console.answer(format!(
        "{}: {format}, {}, {}, {}",
        args.file.display(),
        count(imported.particles.len(), "node"),
        count(imported.tetrahedra.len(), "tetrahedron"),
        count(listed, "triangle"),
    ));
    let (mesh, quality, fill) = mesh_of(imported, args.pitch)?;
    let warnings = quality.warnings();
    report(&mesh, &quality, fill.as_ref(), console);
    for warning in &warnings {
        console.say(format!("warning: {warning}"));
    }
    let step = match &args.out {
        Some(out) => Some(write_scene(args, out, &mesh, &quality, console)?),
        None => None,
    };
    let groups: Vec<Value> = mesh
        .groups
        .iter()
        .map(|(name, g)| json!({ "name": name, "particles": g.particles.len(), "tetrahedra": g.tetrahedra.len() }))
        .collect();
    Ok(json!({
        "file": args.file,
        "format": format,
        "scale": args.scale,
        "particles": mesh.particles.len(),
        "edges": mesh.edges.len(),
        "tetrahedra": mesh.tetrahedra.len(),
        "triangles": mesh.triangles.len(),
        "groups": groups,
        "quality": quality,
        "warnings": warnings,
        "fill": fill,
        "scene": args.out,
        "step_s": step,
    }))
}

/// The mesh to simulate, what its file or its filling is worth, and how a surface was filled.
fn mesh_of(imported: Imported, pitch: Option<f64>) -> Result<(Mesh, Quality, Option<Value>), CommandError> {
    match pitch.filter(|_| imported.is_surface()) {
        Some(pitch) => {
            let fill = progress::during("filling the surface", || imported.fill(pitch));
            let fill = fill.map_err(CommandError::input)?;
            let quality = fill.mesh.quality();
            let about = json!({ "pitch": pitch, "cubes": fill.cubes, "volume_ratio": fill.volume_ratio });
            Ok((fill.mesh, quality, Some(about)))
        }
        None => {
            let quality = imported.quality();
            Ok((imported.into_mesh(pitch).map_err(CommandError::input)?, quality, None))
        }
    }
}

fn report(mesh: &Mesh, quality: &Quality, fill: Option<&Value>, console: Console) {
    let (low, high) = mesh.bounds();
    let size = high - low;
    console.answer(format!(
        "mesh: {}, {}, {}, {}, {:.6} x {:.6} x {:.6} m",
        count(mesh.particles.len(), "particle"),
        count(mesh.edges.len(), "edge"),
        count(mesh.tetrahedra.len(), "tetrahedron"),
        count(mesh.triangles.len(), "surface triangle"),
        size.x,
        size.y,
        size.z
    ));
    if let Some(fill) = fill {
        let ratio =
            fill["volume_ratio"].as_f64().map_or("unknown".to_owned(), |r| format!("{:.1} %", 100.0 * r));
        console.answer(format!("filled: {} cubes, {ratio} of the volume within the surface", fill["cubes"]));
    }
    if let (Some(shape), Some(length)) = (quality.shape, quality.edge_length) {
        let text = |s: Spread| format!("{:.4} to {:.4}, mean {:.4}", s.min, s.max, s.mean);
        console.answer(format!(
            "shape of tetrahedra (1 regular, 0 flat): {}; {} inverted, {} degenerate, {} slivers\nedge lengths: {} m",
            text(shape),
            quality.inverted,
            quality.degenerate,
            quality.slivers,
            text(length)
        ));
    }
    for (name, group) in &mesh.groups {
        console.answer(format!(
            "group {}: {}, {}",
            toml_string(name),
            count(group.particles.len(), "particle"),
            count(group.tetrahedra.len(), "tetrahedron")
        ));
    }
}

/// Writes the scene and tells its step.
fn write_scene(
    args: &Args,
    out: &Path,
    mesh: &Mesh,
    quality: &Quality,
    console: Console,
) -> Result<f64, CommandError> {
    let water = 1000.0 * quality.volume / mesh.particles.len() as f64;
    let mass = args.mass.unwrap_or(three_digits(water));
    let parse = |step: f64| {
        let text = scene_text(args, out, mesh, mass, step)?;
        // What is written must be readable: the reader itself is the check.
        let scene = Scene::parse(&text, &out.display().to_string()).map_err(CommandError::input)?;
        Ok::<_, CommandError>((text, scene))
    };
    let (mut text, mut scene) = parse(args.step.unwrap_or(0.001))?;
    let stability = Stability::of(&scene, Integrator::Euler);
    if args.step.is_none() && 2.0 * scene.step > stability.largest_step && stability.largest_step > 0.0 {
        (text, scene) = parse(round_down(stability.largest_step / 2.0))?;
    } else if !stability.is_stable() {
        console.say(format!("warning: {}", stability.complaint().unwrap_or_default()));
    }
    if out.exists() && !args.overwrite {
        return Err(CommandError::input(anyhow!("{} exists; use --overwrite to replace it", out.display())));
    }
    write_whole(out, text.as_bytes()).with_context(|| format!("writing {}", out.display()))?;
    console.say(format!("wrote {}: step {} s, each particle {mass:.3e} kg", out.display(), scene.step));
    Ok(scene.step)
}

fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// The largest of 1, 2 and 5 times a power of ten that is not above `value`.
fn round_down(value: f64) -> f64 {
    let power = value.log10().floor() as i32;
    let candidates = [5, 2, 1].map(|digit| format!("{digit}e{power}").parse::<f64>().unwrap_or(value));
    candidates.into_iter().find(|&c| c <= value).unwrap_or(value)
}

fn scene_text(args: &Args, out: &Path, mesh: &Mesh, mass: f64, step: f64) -> Result<String, CommandError> {
    let file = mesh_path(&args.file, out).map_err(CommandError::input)?;
    let Args { scale, .. } = args;
    // Light particles need soft edges, else only short steps are stable and words are too narrow.
    let per_mass = |given: Option<f64>, factor: f64| given.unwrap_or(three_digits(mass * factor));
    let (k1, c1, c2) = (per_mass(args.k1, 6e4), per_mass(args.c1, 100.0), per_mass(args.c2, 1e5));
    let mut text = format!(
        "# {}, {}.\n\
         step = {step:?}          # s\n\
         duration = 1.0\n\
         mass = {mass:?}   # kg, each particle\n\
         # gravity = [0.0, 0.0, -9.81]\n\n\
         [mesh]\n\
         file = {}\n\
         scale = {scale:?}\n",
        count(mesh.particles.len(), "particle"),
        count(mesh.edges.len(), "edge"),
        toml_string(&file),
    );
    if let Some(pitch) = args.pitch {
        let _ = writeln!(text, "pitch = {pitch:?}");
    }
    let _ = write!(
        text,
        "\n[materials.dough]\n\
         k1 = {k1:?}    # N/m\n\
         c1 = {c1:?}    # N s/m\n\
         c2 = {c2:?}    # N s/m; inf makes an elastic object\n\n"
    );
    let example = mesh.groups.keys().next();
    if !mesh.groups.is_empty() {
        let names: Vec<String> = mesh.groups.keys().map(|n| toml_string(n)).collect();
        let _ = writeln!(text, "# Groups: {}", names.join(", "));
    }
    let on = example.map_or("face = \"z-min\"".to_owned(), |name| format!("group = {}", toml_string(name)));
    let _ = write!(
        text,
        "# [[pins]]\n\
         # on = {{ {on} }}\n\
         # [[forces]]\n\
         # on = {{ face = \"z-max\" }}\n\
         # force = [0.0, 0.0, -0.1]   # N\n\
         # share = \"total\"            # divided among the particles\n\
         # to = 0.5                   # s\n"
    );
    Ok(text)
}

/// The mesh file as the scene file must name it: relative if it lies beside or below it.
fn mesh_path(mesh: &Path, scene: &Path) -> anyhow::Result<String> {
    let whole = |path: &Path| std::path::absolute(path).with_context(|| path.display().to_string());
    let (mesh, scene) = (whole(mesh)?, whole(scene)?);
    let folder = scene.parent().unwrap_or(Path::new("/"));
    let path = mesh.strip_prefix(folder).unwrap_or(&mesh);
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| anyhow!("{}: a scene file cannot name it: not UTF-8", path.display()))
}

fn toml_string(text: &str) -> String {
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_numbers() {
        for (value, wanted) in [(0.00073, 5e-4), (0.0019, 1e-3), (2.0e-5, 2e-5), (9.9, 5.0)] {
            assert_eq!(round_down(value), wanted);
        }
    }

    #[test]
    fn strings_survive_toml() {
        assert_eq!(toml_string("a\"b\\c\u{7}"), "\"a\\\"b\\\\c\\u0007\"");
    }

    #[test]
    fn meshes_beside_the_scene_are_named_relative_to_it() {
        assert_eq!(mesh_path(Path::new("a/b.msh"), Path::new("a/s.toml")).unwrap(), "b.msh");
        assert_eq!(mesh_path(Path::new("a/b.msh"), Path::new("s.toml")).unwrap(), "a/b.msh");
        assert!(mesh_path(Path::new("/x/b.msh"), Path::new("/y/s.toml")).unwrap().starts_with("/x/"));
    }
}
