//! `nendo run`: a scene on an engine.

mod advance;
mod files;
mod report;
mod shuffle;

use super::{
    CommandError, Console,
    engine::{Chosen, EngineArgs},
    options::{LengthArgs, SceneArg, scenes_help},
};
use crate::{
    engine::{self, EngineKind},
    export::series::{Plan, Series},
};
use advance::{Outcome, open, run_in_pieces, run_live};
use nendo_model::scene::{Scene, deformation::Deformation};
use report::RunReport;
use serde_json::Value;
use shuffle::shuffled;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
#[command(after_help = scenes_help() + "
Examples:
  nendo run cube9 --engine model --seconds 1 --json
  nendo run table3 --profile paper-2003 --steps 0 --probe-edge 0
  nendo run box:64x64x64 --engine f32                  the fastest without a board
  nendo run my.toml --engine f64 --out out/my
  nendo run my.toml --out out/my --frames 50 --watch 0,12     for ParaView: out/my/frames.pvd
  nendo run cube9 --engine board --device pci:0000:03:00.0 --live --seconds 10")]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArg,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    length: LengthArgs,
    /// Compute the edges in a random order; the result is the same
    #[arg(long, value_name = "SEED")]
    shuffle_edges: Option<u64>,
    /// Show what this element computes at the end
    #[arg(long, value_name = "EDGE")]
    probe_edge: Option<usize>,
    /// Write waveforms of the Verilated engine to this file
    #[arg(long, value_name = "FILE.fst", conflicts_with = "record")]
    trace: Option<PathBuf>,
    /// First clock of the waveforms, from the start of the run
    #[arg(long, value_name = "CYCLE", default_value_t = 0, requires = "trace")]
    trace_from: u64,
    /// How many clocks the waveforms cover
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "trace")]
    trace_len: u64,
    /// Run the board in a control loop at 1 kHz and report its latencies
    #[arg(long)]
    live: bool,
    /// Particles to touch and watch each tick [default: those the scene pushes]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "live")]
    points: Vec<u32>,
    /// Write report.html and .json, state.csv, model.glb and a picture (SVG, PNG) into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write so many frames for ParaView, evenly over the run: frames.pvd and frames/*.vtu
    #[arg(long, value_name = "N", requires = "out", conflicts_with = "live", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    frames: Option<u64>,
    /// Also write where these particles are over time: watch.csv, at every frame (or a hundred times)
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "out", conflicts_with = "live")]
    watch: Vec<u32>,
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let scene = args.scene.open()?;
    let edges = scene.mesh.edges.len();
    if let Some(edge) = args.probe_edge.filter(|&e| e >= edges) {
        return Err(CommandError::input(anyhow::anyhow!(
            "--probe-edge {edge}: the scene has {edges} edges (0 to {})",
            edges - 1
        )));
    }
    let Chosen { mut options, why } = args.engine.choose(&scene, console)?;
    options.edge_order = args.shuffle_edges.map(|seed| shuffled(edges as u32, seed));
    let on_board = matches!(options.kind, EngineKind::Rtl | EngineKind::Board);
    let particles = scene.mesh.particles.len() as u32;
    let beyond = |list: &[u32]| list.iter().copied().find(|&p| p >= particles);
    let out_of_range = [("--points", beyond(&args.points)), ("--watch", beyond(&args.watch))];
    if let Some((option, point)) = out_of_range.iter().find_map(|(o, p)| Some((o, (*p)?))) {
        return Err(CommandError::input(anyhow::anyhow!(
            "{option} {point}: the scene has {particles} particles (0 to {})",
            particles - 1
        )));
    }
    let steps = args.length.steps(&scene);
    let fixed = options.kind.is_fixed_point();
    console.say(format!(
        "{}: {} particles, {edges} edges, {steps} steps of {} s on {}{}",
        scene.name,
        scene.mesh.particles.len(),
        scene.step,
        options.kind.name(),
        if fixed { format!(" ({}, {})", options.profile, options.inverse) } else { String::new() },
    ));

    let mut series = args.series(&scene, steps);
    // A board's traffic stays as it is.
    let release = scene.release().filter(|_| !on_board).map(|t| scene.steps_for(t));
    let release = release.filter(|&at| at > 0 && at < steps);
    let Outcome { mut engine, done, wall, live, loaded } = if args.live {
        run_live(args, &scene, &options, steps)?
    } else {
        run_in_pieces(open(args, &scene, &mut options)?, &scene.name, steps, series.as_mut(), release)?
    };

    let overflow = engine.overflow();
    let headroom = engine.headroom(&scene);
    let probe = args.probe_edge.map(|edge| engine.probe(edge)).transpose()?;
    let deformation = match loaded.filter(|_| done == steps) {
        Some(loaded) => Some(Deformation::of(&scene.mesh.particles, &loaded, &engine.positions()?)),
        None => None,
    };
    let report = RunReport {
        scene: scene.name.clone(),
        engine: options.kind,
        engine_why: why,
        profile: fixed.then_some(options.profile),
        inverse: fixed.then_some(options.inverse),
        modules: engine.modules().unwrap_or(args.engine.modules() as u64),
        particles: scene.mesh.particles.len(),
        edges,
        steps: done,
        simulated_s: done as f64 * scene.step,
        wall_s: wall,
        edges_per_s: done as f64 * edges as f64 / wall,
        cycles_per_step: engine.cycles_per_step(),
        clocks_per_wall_s: engine.cycles_per_step().map(|c| c as f64 * done as f64 / wall),
        state_digest: engine.state_digest()?,
        overflow: overflow.any(),
        overflow_sources: overflow.sources().collect(),
        headroom,
        probe,
        link_retries: engine.link_retries(),
        live,
        deformation,
    };
    let value = serde_json::to_value(&report).map_err(anyhow::Error::from)?;
    engine.close()?;
    if let Some(failure) = engine.failure() {
        let text = engine::explain(failure);
        return Err(CommandError::Run(
            anyhow::anyhow!("stopped within {done} of {steps} steps: {text}"),
            Some(value),
        ));
    }
    if done < steps {
        return Err(CommandError::Run(
            anyhow::anyhow!("interrupted after {done} of {steps} steps"),
            Some(value),
        ));
    }
    console.answer(report.lines());
    if let Some(folder) = &args.out {
        let names = files::write(folder, &scene, engine.as_mut(), &report, &value, series)?;
        console.say(format!("wrote into {}: {}", folder.display(), names.join(", ")));
    }
    Ok(value)
}

impl Args {
    #[cfg(test)]
    pub(super) fn engine(&self) -> &EngineArgs {
        &self.engine
    }

    /// The states to take on the way, if any are wanted.
    fn series<'a>(&self, scene: &'a Scene, steps: u64) -> Option<Series<'a>> {
        let plan = Plan { frames: self.frames.unwrap_or(0), watch: self.watch.clone() };
        let folder = self.out.as_ref().filter(|_| plan.frames > 0 || !plan.watch.is_empty())?;
        Some(Series::new(scene, folder, plan, steps))
    }
}

