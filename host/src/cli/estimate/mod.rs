//! `nendo estimate`: hardware and rate without running a tool.

mod fastest;
mod rate;

use super::{
    CommandError, Console,
    options::{HardwareArgs, SceneArg},
    target,
};
use crate::progress;
use anyhow::anyhow;
use fastest::{Fastest, fastest};
use nendo_hdl::{
    resources::{Memory, Multipliers, flip_flops, luts},
    target::{Clock, NotTimed, RoutedClock, Target},
};
use nendo_model::{
    contract::{config::Config, image::Image},
    plan::{loaded::Loaded, schedule::Schedule},
    scene::Scene,
    text::count,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Examples with the name of a target that there is.
fn examples() -> String {
    let large = format!("--target {}", target::largest());
    format!(
        "Examples:
  nendo estimate cube9                       on the papers' own card
  nendo estimate block16 --modules 4         four modules of it
  nendo estimate {large:<27} and the fastest number of modules there is room for
  nendo estimate block16 {large:<19} the fastest number of modules for a scene
  nendo estimate --target path/to/folder     your own board (docs/synthesis.md)
  nendo estimate --rate 1000                 the largest box at 1 kHz: of the CPU engines, run here, and of every target
  nendo estimate --rate 10000 --target acorn --sweep    the same for one target and every number of modules
  nendo estimate --profile paper-2005        one minimal set of 1024 particles and 5120 edges, as full as a box can be"
    )
}

#[derive(clap::Args, Debug)]
#[command(after_help = examples())]
pub(super) struct Args {
    /// A scene file or built-in scene; without one, the largest box that fits minimal memories
    #[arg(value_name = "SCENE")]
    scene: Option<String>,
    #[command(flatten)]
    hardware: HardwareArgs,
    #[arg(long, value_name = "T", help = target::help() + " [default: xc2v6000, with --rate all]")]
    target: Option<String>,
    /// Find the largest box that each engine computes so many times a second; a scene box:AxBxC gives its shape
    #[arg(long, value_name = "HZ", value_parser = hertz)]
    rate: Option<f64>,
    /// The same with every number of modules there is room for, not the least and the most alone [default rate: 1000]
    #[arg(long)]
    sweep: bool,
}

fn hertz(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|hz: &f64| (1.0..=1e6).contains(hz));
    number.ok_or_else(|| "a rate in Hz, 1 to 1000000".to_owned())
}

/// The share of a device's tables and flip-flops that a design may take, so that it can be routed.
const FULL: f64 = 0.8;

/// What measured CPU engines do, for comparison: the repository's own benchmark.
const BENCH: &str = include_str!("../../../../docs/bench.json");

/// What a configuration takes of a target, and how fast it is on a scene.
#[derive(Debug, Serialize)]
struct Estimate {
    modules: u64,
    memory: Memory,
    brams: u64,
    multipliers: u64,
    multipliers_by_module: Multipliers,
    ff: u64,
    lut: u64,
    fits: bool,
    /// The scene, and how its work is shared.
    scene: String,
    particles: usize,
    edges: usize,
    cut: u64,
    slots: u32,
    left: u32,
    cycles_per_step: u64,
    /// Cycles times modules per edge.
    of_ideal: f64,
    clock_mhz: f64,
    /// What that clock leaves out.
    not_timed: NotTimed,
    steps_per_s: f64,
    edges_per_s: f64,
}

/// The clock of an estimate, and where it is from: the target's, unless a routed report says that it is too fast.
fn clock(target: &Target, modules: u64) -> (Clock, String) {
    let Some(RoutedClock { clock, target: device, modules: routed }) = target.routed_clock(modules) else {
        let own = Clock { mhz: target.clock_mhz, not_timed: NotTimed::default() };
        return (own, "the target's clock, not a routed one".to_owned());
    };
    let device = if device == target.name { device } else { format!("{device}, a slower device,") };
    let with = match routed {
        _ if routed < modules => format!(" with {routed} modules, the most that were,"),
        1 => String::new(),
        _ => format!(" with {routed} modules"),
    };
    let because = format!("{device} is routed{with} at {clock}");
    (Clock { mhz: target.clock_mhz.min(clock.mhz), ..clock }, because)
}

impl Estimate {
    fn new(target: &Target, config: &Config, scene: &Scene, plan: &Schedule) -> Self {
        let (memory, multipliers) = (Memory::of(config), Multipliers::of(config));
        let (ff, lut) = (flip_flops(config, target), luts(config, target));
        let (cycles_per_step, edges) = (plan.cycles_per_step(), scene.mesh.edges.len());
        let (Clock { mhz: clock_mhz, not_timed }, _) = clock(target, config.modules);
        let steps_per_s = clock_mhz * 1e6 / cycles_per_step as f64;
        Self {
            modules: config.modules,
            memory,
            brams: memory.total(),
            multipliers: multipliers.total(),
            multipliers_by_module: multipliers,
            ff,
            lut,
            fits: memory.total() <= target.brams
                && multipliers.total() <= target.multipliers
                && ff <= target.flip_flops
                && lut <= target.luts,
            scene: scene.name.clone(),
            particles: scene.mesh.particles.len(),
            edges,
            cut: plan.partition.shares(&scene.mesh.edges).cut,
            slots: plan.slots(),
            left: plan.left,
            cycles_per_step,
            of_ideal: cycles_per_step as f64 * config.modules as f64 / edges.max(1) as f64,
            clock_mhz,
            not_timed,
            steps_per_s,
            edges_per_s: steps_per_s * edges as f64,
        }
    }
}

/// The largest cube of particles that fits a configuration's memories, with its plan.
fn largest_box(config: &Config) -> Result<(Scene, Arc<Schedule>), CommandError> {
    let most = ((config.modules * config.particles) as f64).cbrt() as u64;
    for side in (2..=most).rev() {
        let scene = Scene::open(&format!("box:{side}x{side}x{side}")).map_err(CommandError::input)?;
        if scene.mesh.edges.len() as u64 > config.modules * config.edges {
            continue;
        }
        let image = Image::new(&scene, config.profile, config.inverse).map_err(CommandError::input)?;
        let plan = Loaded::planned(image, config.modules as usize).plan;
        if u64::from(plan.particles) <= config.particles && u64::from(plan.slots()) <= config.edges {
            return Ok((scene, plan));
        }
    }
    Err(CommandError::input(anyhow!("no box fits {}", count(config.modules, "module"))))
}

/// Whether a target has room for a configuration, and enough left to route it.
fn has_room(target: &Target, config: &Config) -> bool {
    let below = |used: u64, of: u64| used as f64 <= FULL * of as f64;
    Memory::of(config).total() <= target.brams
        && Multipliers::of(config).total() <= target.multipliers
        && below(luts(config, target), target.luts)
        && below(flip_flops(config, target), target.flip_flops)
}

/// The fastest engine that a target has room for, on the largest box of the most modules with minimal memories; none if
/// there is no room for one module.
fn fastest_at_most(target: &Target, hardware: &HardwareArgs) -> Result<Option<Estimate>, CommandError> {
    let one = Config { modules: 1, ..hardware.standard()? };
    let fits = |&modules: &u64| has_room(target, &Config { modules, ..one });
    let Some(modules) = (1..=Config::MAX_MODULES).rev().find(fits) else { return Ok(None) };
    let (scene, _) = largest_box(&Config { modules, ..one })?;
    let found = fastest(target, hardware, &scene)?;
    Ok(found.map(|found| Estimate::new(target, &found.loaded.config, &scene, &found.loaded.plan)))
}

/// The fastest of the CPU engines of a kind in the benchmark: edges per second, threads and size.
fn measured(bench: &Value, kind: &str) -> Option<(f64, u64, String)> {
    let rows = bench["rows"].as_array()?.iter().filter(|row| row["engine"] == kind && row["valid"] == true);
    rows.filter_map(|row| {
        Some((row["edges_per_s"].as_f64()?, row["threads"].as_u64()?, row["size"].as_str()?.to_owned()))
    })
    .max_by(|a, b| a.0.total_cmp(&b.0))
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    if let Some(rate) = args.rate.or(args.sweep.then_some(1000.0)) {
        let targets = match &args.target {
            Some(target) => vec![target::open(target)?],
            None => Target::all(),
        };
        return rate::rows(rate, &targets, &args.hardware, args.scene.as_deref(), args.sweep, console);
    }
    let target = target::open(args.target.as_deref().unwrap_or("xc2v6000"))?;
    let (profile, inverse) = (args.hardware.profile(), args.hardware.inverse());
    // Which of the numbers that there is room for is the fastest, where no number was asked for.
    let mut room_for = None;
    let (config, scene, plan) = match &args.scene {
        Some(name) => {
            let scene = SceneArg { scene: name.clone() }.open()?;
            let found = match (&args.target, args.hardware.asked_modules()) {
                (Some(_), None) => progress::during("planning every number of modules there is room for", || {
                    fastest(&target, &args.hardware, &scene)
                })?,
                _ => None,
            };
            let Loaded { config, plan, .. } = match found {
                Some(Fastest { loaded, room_for: all }) => {
                    room_for = Some(all);
                    loaded
                }
                None => {
                    let image = Image::new(&scene, profile, inverse).map_err(CommandError::input)?;
                    Loaded::new(image, args.hardware.modules()).map_err(CommandError::input)?
                }
            };
            (config, scene, plan)
        }
        None => {
            let config = args.hardware.standard()?;
            let (scene, plan) = largest_box(&config)?;
            (config, scene, plan)
        }
    };
    let estimate = Estimate::new(&target, &config, &scene, &plan);
    let (_, because) = clock(&target, config.modules);
    let share =
        |used: u64, of: u64| format!("{used:>7} / {of:>7} {:>7.1} %", 100.0 * used as f64 / of as f64);
    console.answer(format!(
        "{} ({}), {profile}, {inverse}, {}\n\
         block memories {}\n\
         multipliers    {}\n\
         flip-flops     {} (within 10 %)\n\
         look-up tables {} (within 15 %)\n\
         {}: {}, {}, {} of them between modules; {} per step, {:.3} of the ideal\n\
         {:.0} steps/s, {:.3e} edges/s at {} MHz: {because}\n\
         {}",
        target.name,
        target.part,
        config.modules_text(),
        share(estimate.brams, target.brams),
        share(estimate.multipliers, target.multipliers),
        share(estimate.ff, target.flip_flops),
        share(estimate.lut, target.luts),
        estimate.scene,
        count(estimate.particles, "particle"),
        count(estimate.edges, "edge"),
        estimate.cut,
        count(estimate.cycles_per_step, "cycle"),
        estimate.of_ideal,
        estimate.steps_per_s,
        estimate.edges_per_s,
        estimate.clock_mhz,
        if estimate.fits { "fits" } else { "does not fit" },
    ));
    if args.scene.is_some() && args.target.is_some() && args.hardware.asked_modules().is_none() {
        console.answer(match room_for.as_deref() {
            Some(all @ [first, .., last]) => format!(
                "room for {} numbers of modules from {first} to {last} with this scene: {} are the fastest",
                all.len(),
                config.modules
            ),
            Some([only]) => format!("room for {} with this scene", count(*only, "module")),
            _ => "room for no number of modules with this scene: one is shown".to_owned(),
        });
    }
    let largest = progress::during("planning the most modules there is room for", || {
        fastest_at_most(&target, &args.hardware)
    })?;
    let bench: Value = serde_json::from_str(BENCH).unwrap_or_default();
    let processor = bench["processor"].as_str().unwrap_or("unknown");
    if let Some(largest) = &largest {
        console.answer(format!(
            "fastest with {} ({:.0} % of the tables and flip-flops at most): {} block memories, {} multipliers;\n\
             {} in {} cycles, {:.3} of the ideal: {:.3e} edges/s at {} MHz: {}",
            count(largest.modules, "module"),
            100.0 * FULL,
            largest.brams,
            largest.multipliers,
            largest.scene,
            largest.cycles_per_step,
            largest.of_ideal,
            largest.edges_per_s,
            largest.clock_mhz,
            clock(&target, largest.modules).1,
        ));
    }
    let mut measured_on = json!({ "processor": processor });
    for kind in ["f32", "model"] {
        if let Some((edges_per_s, threads, size)) = measured(&bench, kind) {
            console.answer(format!(
                "beside it, measured: {kind} on {threads} threads of {processor}, {size}: {edges_per_s:.3e} edges/s"
            ));
            measured_on[kind] = json!({ "edges_per_s": edges_per_s, "threads": threads, "size": size });
        }
    }
    let mut value = serde_json::to_value(&estimate).map_err(anyhow::Error::from)?;
    for (key, entry) in [
        ("target", json!(target)),
        ("profile", json!(profile)),
        ("inverse", json!(inverse)),
        ("routed_clock", json!(target.routed_clock(config.modules))),
        ("room_for", json!(room_for)),
        ("largest", json!(largest)),
        ("measured", measured_on),
    ] {
        value[key] = entry;
    }
    Ok(value)
}
