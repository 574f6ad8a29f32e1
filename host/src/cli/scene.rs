//! `nendo scene`: make, describe and check scenes.

use super::{
    CommandError, Console, check, import,
    options::{SceneArg, modules_range, quantity},
};
use crate::output::write_whole;
use anyhow::{Context, anyhow};
use nendo_model::{
    contract::numbers::Profile,
    engine::{Kind, memory::estimate, reference::Integrator, stability::Stability},
    force::joint::Joints,
    machine::memory::text as bytes,
    mesh::Mesh,
    plan::{cycles::Depths, partition::Shares, schedule::Schedule},
    scene::{Scene, Support},
    text::count,
};
use serde_json::{Value, json};
use std::{collections::HashMap, path::PathBuf};

#[derive(clap::Subcommand, Debug)]
pub(super) enum Command {
    /// Write a scene file for a box of particles
    Box(BoxArgs),
    /// Read a mesh of another program, say how good it is, and write a scene that uses it
    Import(import::Args),
    /// Describe a scene
    Info(InfoArgs),
    /// Check a scene: is its step stable, and which engines can compute it?
    Check(check::Args),
}

pub(super) fn main(command: &Command, console: Console) -> Result<Value, CommandError> {
    match command {
        Command::Box(args) => make_box(args, console),
        Command::Import(args) => import::main(args, console),
        Command::Info(args) => info(args, console),
        Command::Check(args) => check::main(args, console),
    }
}

#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  nendo scene box 9x9x9 --pitch 0.01 --mass 0.001 --k1 60 --c1 0.1 --c2 100 -o dough.toml")]
pub(super) struct BoxArgs {
    /// Particles along x, y and z, as NXxNYxNZ
    #[arg(value_parser = sides)]
    size: Sides,
    /// Distance between particles in metres
    #[arg(long, default_value_t = 0.01, value_parser = quantity)]
    pitch: f64,
    /// Mass of each particle in kilograms
    #[arg(long, default_value_t = 0.001, value_parser = quantity)]
    mass: f64,
    /// Stiffness of the Voigt part, N/m
    #[arg(long, default_value_t = 60.0, value_parser = quantity)]
    k1: f64,
    /// Viscosity of the Voigt part, N s/m
    #[arg(long, default_value_t = 0.1, value_parser = quantity)]
    c1: f64,
    /// Viscosity of the damper, N s/m (inf for an elastic object)
    #[arg(long, default_value_t = 100.0, value_parser = quantity)]
    c2: f64,
    /// Time step in seconds
    #[arg(long, default_value_t = 0.001, value_parser = quantity)]
    step: f64,
    /// Duration in seconds
    #[arg(long, default_value_t = 1.0, value_parser = quantity)]
    duration: f64,
    /// Write to this file
    #[arg(long, short, value_name = "FILE.toml")]
    out: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    overwrite: bool,
}

/// Particles along x, y and z.
#[derive(Clone, Copy, Debug)]
struct Sides([u32; 3]);

fn sides(text: &str) -> Result<Sides, String> {
    let sides: Vec<u32> = text.split('x').map_while(|side| side.parse().ok()).collect();
    let three = <[u32; 3]>::try_from(sides).ok().filter(|_| text.split('x').count() == 3);
    three.map(Sides).ok_or_else(|| "three numbers of particles, e.g. 9x9x5".to_owned())
}

fn make_box(args: &BoxArgs, console: Console) -> Result<Value, CommandError> {
    let [x, y, z] = args.size.0;
    let BoxArgs { pitch, mass, k1, c1, c2, step, duration, .. } = args;
    let text = format!(
        "# A box of {x}x{y}x{z} particles, lying on its lowest layer.\n\
         step = {step:?}          # s\n\
         duration = {duration:?}      # s\n\
         mass = {mass:?}          # kg, each particle\n\
         gravity = [0.0, 0.0, -9.81]\n\n\
         [mesh.box]\n\
         size = [{x}, {y}, {z}]\n\
         pitch = {pitch:?}         # m\n\n\
         [materials.dough]\n\
         k1 = {k1:?}    # N/m\n\
         c1 = {c1:?}    # N s/m\n\
         c2 = {c2:?}    # N s/m; inf makes an elastic object\n\n\
         [[pins]]\n\
         on = {{ face = \"z-min\" }}\n\n\
         # Press the top for half a second, then let go:\n\
         # [[forces]]\n\
         # on = {{ face = \"z-max\" }}\n\
         # force = [0.0, 0.0, -1.0]   # N\n\
         # share = \"total\"            # divided among the particles\n\
         # to = 0.5                   # s\n"
    );
    // What is written must be readable: the reader itself is the check.
    let scene = Scene::parse(&text, &args.out.display().to_string()).map_err(CommandError::input)?;
    if args.out.exists() && !args.overwrite {
        return Err(CommandError::input(anyhow!(
            "{} exists; use --overwrite to replace it",
            args.out.display()
        )));
    }
    write_whole(&args.out, text.as_bytes()).with_context(|| format!("writing {}", args.out.display()))?;
    let (particles, edges) = (scene.mesh.particles.len(), scene.mesh.edges.len());
    let (of, between) = (count(particles, "particle"), count(edges, "edge"));
    console.say(format!("wrote {}: {of}, {between}", args.out.display()));
    Ok(json!({ "file": args.out, "particles": particles, "edges": edges }))
}

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  nendo scene info cube9
  nendo scene info block16 --modules 4    and how four modules would share it")]
pub(super) struct InfoArgs {
    #[command(flatten)]
    scene: SceneArg,
    /// Say how so many parallel main modules would share the object, 1 to 128
    #[arg(long, value_name = "N", value_parser = modules_range())]
    modules: Option<u16>,
}

/// How modules would share a mesh.
fn share(mesh: &Mesh, modules: u16, console: Console) -> Result<Shares, CommandError> {
    let (particles, modules) = (mesh.particles.len(), usize::from(modules));
    if modules > particles {
        return Err(CommandError::input(anyhow!(
            "{modules} modules for {particles} particles: at most one each"
        )));
    }
    let depths = Depths::of(Profile::default(), Profile::default().usual_inverse(), modules as u64);
    let plan = Schedule::new(&mesh.particles, &mesh.edges, modules, depths);
    let shares = plan.partition.shares(&mesh.edges);
    let range = |counts: &[u64], thing: &str| {
        let (least, most) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
        if least == most { count(*most, thing) } else { format!("{least} to {}", count(*most, thing)) }
    };
    console.answer(format!(
        "{}: {} and {} each; {} between {}; {} a step, {:.3} of the ideal",
        count(modules, "module"),
        range(&shares.particles, "particle"),
        range(&shares.edges, "edge"),
        count(shares.cut, "edge"),
        count(shares.neighbours.len(), "pair"),
        count(plan.cycles_per_step(), "clock"),
        plan.cycles_per_step() as f64 * modules as f64 / mesh.edges.len().max(1) as f64,
    ));
    Ok(shares)
}

fn info(args: &InfoArgs, console: Console) -> Result<Value, CommandError> {
    let scene = args.scene.open()?;
    let mesh = &scene.mesh;
    let lengths: Vec<f64> = (0..mesh.edges.len()).map(|k| mesh.edge_length(k)).collect();
    let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let valence = mesh.valences().into_iter().max().unwrap_or(0);
    let number = |kind: fn(&Support) -> bool| scene.support.iter().filter(|s| kind(s)).count();
    let (pinned, moved) = (number(|s| *s == Support::Pinned), number(|s| matches!(s, Support::Moved(_))));
    let (low, high) = mesh.bounds();
    let [stability, rk4] = [Integrator::Euler, Integrator::Rk4].map(|i| Stability::of(&scene, i));
    let total: f64 = scene.mass.iter().sum();
    console.answer(format!(
        "{}: {} ({pinned} pinned, {moved} moved), {}, {}, {}",
        scene.name,
        count(mesh.particles.len(), "particle"),
        count(mesh.edges.len(), "edge"),
        count(mesh.tetrahedra.len(), "tetrahedron"),
        count(mesh.triangles.len(), "surface triangle")
    ));
    if !scene.about.is_empty() {
        console.answer(&scene.about);
    }
    let size = high - low;
    console.answer(format!(
        "size {} x {} x {} m, edges {shortest:.6} to {longest:.6} m, at most {valence} at a particle, mass {total:.6} kg",
        metres(size.x),
        metres(size.y),
        metres(size.z)
    ));
    let kinds = [("f64", Kind::F64), ("f32", Kind::F32), ("hybrid", Kind::Hybrid), ("model", Kind::Model)];
    let needs = kinds.map(|(name, kind)| (name, estimate(&scene, kind)));
    console.answer(format!(
        "memory, estimated: {}",
        needs.map(|(name, n)| format!("{name} {}", bytes(n))).join(", ")
    ));
    for m in &scene.materials {
        let (k1, c1, c2) = (m.material.k1, m.material.c1, m.material.c2);
        console.answer(format!("material {}: k1 = {k1} N/m, c1 = {c1} N s/m, c2 = {c2} N s/m", m.name));
    }
    let joints = scene.forces.joints.as_ref().map(Joints::kinds);
    if let Some([particles, edges, faces]) = joints {
        let all = count(particles + edges + faces, "joint");
        console.answer(format!("{all}: {particles} on particles, {edges} on edges, {faces} on faces"));
    }
    console.answer(format!("step {} s, {}, duration {} s", scene.step, stability.limit(), scene.duration));
    // The papers' bound c1 c2/(c1+c2) < A m/h, with the A of this mesh.
    let bounds = stability.a_stable.zip(rk4.a_stable);
    let constants = bounds.map_or(String::new(), |(e, r)| format!("; c < A m/h with A = {e:.4}, rk4 {r:.4}"));
    console.answer(format!("with rk4: {}{constants}", rk4.limit()));
    let shares = args.modules.map(|modules| share(mesh, modules, console)).transpose()?;
    let materials: Vec<Value> = scene
        .materials
        .iter()
        .map(|m| json!({ "name": m.name, "k1": m.material.k1, "c1": m.material.c1, "c2": finite(m.material.c2) }))
        .collect();
    Ok(json!({
        "scene": scene.name,
        "about": scene.about,
        "particles": mesh.particles.len(),
        "pinned": pinned,
        "moved": moved,
        "edges": mesh.edges.len(),
        "tetrahedra": mesh.tetrahedra.len(),
        "triangles": mesh.triangles.len(),
        "size_m": [size.x, size.y, size.z],
        "edge_length_m": [shortest, longest],
        "max_valence": valence,
        "mass_kg": total,
        "materials": materials,
        "joints": joints.map(|[particles, edges, faces]| json!({ "particles": particles, "edges": edges, "faces": faces })),
        "step_s": scene.step,
        "duration_s": scene.duration,
        "largest_stable_step_s": finite(stability.copyable_step()),
        "limited_by": stability.limited_by,
        "largest_stable_step_rk4_s": finite(rk4.copyable_step()),
        "memory_bytes": needs.into_iter().collect::<HashMap<_, _>>(),
        "stable_constant": stability.a_stable,
        "stable_constant_rk4": rk4.a_stable,
        "modules": shares,
    }))
}

/// A length to the micrometre, without zeros at its end.
fn metres(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A number JSON can hold: infinities become null.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
