//! `nendo run`: a scene on an engine.

use super::{
    CommandError, Console, open_failure,
    options::{EngineArgs, LengthArgs, SceneArg, scenes_help},
};
use crate::{
    engine::{self, Engine, EngineKind, EngineOptions},
    export::{
        gltf,
        page::{self, Page},
        series::{Plan, Series},
    },
    interrupt,
    live::{self, LiveReport},
    output::write_whole,
    picture, plot, progress,
};
use anyhow::Context;
use nendo_model::{
    contract::{
        numbers::{Inverse, Profile},
        overflow::Source,
        scaling::Headroom,
    },
    engine::Probe,
    mesh::Vec3,
    plan::schedule::Schedule,
    scene::{Scene, deformation::Deformation},
};
use serde::Serialize;
use serde_json::Value;
use std::{fmt::Write, path::PathBuf, time::Instant};

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
    #[arg(long, value_name = "FILE.fst")]
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
    args.engine.check_stability(&scene, console)?;
    let mut options = args.engine.options();
    options.edge_order = args.shuffle_edges.map(|seed| shuffled(edges as u32, seed));
    let on_board = matches!(options.kind, EngineKind::Rtl | EngineKind::Board);
    for (option, used) in [("--live", args.live), ("--record", options.record.is_some())] {
        if used && !on_board {
            return Err(CommandError::input(anyhow::anyhow!("{option} needs --engine board (or rtl)")));
        }
    }
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
        profile: fixed.then_some(options.profile),
        inverse: fixed.then_some(options.inverse),
        modules: engine.modules().unwrap_or(args.engine.hardware.modules() as u64),
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
    if let Some(live) = &report.live {
        console.say(live.lines());
    }
    if let Some(retries) = report.link_retries.filter(|&n| n > 0) {
        console.say(format!("{retries} transfers over the bus were damaged and repeated"));
    }
    if let Some(probe) = &report.probe {
        console.say(probe.line(fixed.then_some(options.profile)));
    }
    console.say(format!(
        "{:.3} s simulated in {wall:.3} s ({:.1} M edges/s){}\nstate {}",
        report.simulated_s,
        report.edges_per_s / 1e6,
        report.cycles_per_step.map_or(String::new(), |c| format!(", {c} clock cycles per step")),
        report.state_digest,
    ));
    if let Some(Deformation { kind, residual_m, return_m }) = &report.deformation {
        let kind = format!("{kind:?}").to_lowercase();
        console.say(format!("deformation: {kind}; {residual_m:.3e} m left, {return_m:.3e} m came back"));
    }
    if let Some(folder) = &args.out {
        let positions = engine.positions()?;
        let text = serde_json::to_string_pretty(&value).map_err(anyhow::Error::from)?;
        let picture = picture::svg(&scene, &positions);
        let mut names = series.map_or(Ok(vec![]), Series::finish).context("writing the series")?;
        let files = [
            ("report.html", html(&scene, &report, &value, engine.plan(), &picture).into_bytes()),
            ("report.json", (text + "\n").into_bytes()),
            ("state.csv", state_csv(&scene, &positions).into_bytes()),
            ("model.glb", gltf::glb(&scene, &positions)),
            ("picture.png", plot::png(&picture)?),
            ("picture.svg", picture.into_bytes()),
        ];
        for (name, content) in files {
            let path = folder.join(name);
            write_whole(&path, &content).with_context(|| format!("writing {}", path.display()))?;
            names.push(name.to_owned());
        }
        console.say(format!("wrote into {}: {}", folder.display(), names.join(", ")));
    }
    Ok(value)
}

/// What a run says of itself.
#[derive(Debug, Serialize)]
struct RunReport {
    scene: String,
    engine: EngineKind,
    profile: Option<Profile>,
    inverse: Option<Inverse>,
    modules: u64,
    particles: usize,
    edges: usize,
    steps: u64,
    simulated_s: f64,
    wall_s: f64,
    edges_per_s: f64,
    cycles_per_step: Option<u64>,
    clocks_per_wall_s: Option<f64>,
    state_digest: String,
    overflow: bool,
    overflow_sources: Vec<Source>,
    headroom: Option<Headroom>,
    probe: Option<Probe>,
    link_retries: Option<u64>,
    live: Option<LiveReport>,
    /// Only if a load ended during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    deformation: Option<Deformation>,
}

/// An engine after its run.
struct Outcome {
    engine: Box<dyn Engine>,
    done: u64,
    wall: f64,
    live: Option<LiveReport>,
    /// Positions when the load ended.
    loaded: Option<Vec<Vec3>>,
}

fn run_in_pieces(
    mut engine: Box<dyn Engine>,
    name: &str,
    steps: u64,
    mut series: Option<&mut Series<'_>>,
    release: Option<u64>,
) -> anyhow::Result<Outcome> {
    let (mut wall, mut loaded) = (0.0, None);
    let mut advance = |engine: &mut Box<dyn Engine>, n: u64| {
        let started = Instant::now();
        let result = engine.advance(n);
        wall += started.elapsed().as_secs_f64();
        result
    };
    if let Some(series) = series.as_deref_mut() {
        series.take(0, &engine.positions()?).context("writing a frame")?;
    }
    let done = progress::in_pieces(name, steps, |n| {
        let until = engine.step() + n;
        loop {
            let frame = series.as_deref().and_then(|s| s.due()).filter(|&due| due <= until);
            let let_go = release.filter(|&at| loaded.is_none() && at <= until);
            let Some(stop) = frame.into_iter().chain(let_go).min() else { break };
            let now = stop - engine.step();
            advance(&mut engine, now)?;
            if let_go == Some(stop) {
                loaded = Some(engine.positions()?);
            }
            if let Some(series) = series.as_deref_mut().filter(|_| frame == Some(stop)) {
                series.take(stop, &engine.positions()?).context("writing a frame")?;
            }
        }
        let rest = until - engine.step();
        if rest > 0 {
            advance(&mut engine, rest)?;
        }
        anyhow::Ok(engine.failure().is_none())
    })?;
    Ok(Outcome { engine, done, wall, live: None, loaded })
}

fn run_live(
    args: &Args,
    scene: &Scene,
    options: &EngineOptions,
    steps: u64,
) -> Result<Outcome, CommandError> {
    let mut engine = engine::open_board(scene, options).map_err(open_failure)?;
    let points = if args.points.is_empty() { live::default_points(scene) } else { args.points.clone() };
    let bar = progress::bar(&scene.name, steps);
    let started = Instant::now();
    let run = live::run(&mut engine, steps, scene.step, &points, |done, engine| {
        bar.set_position(done);
        engine.failure().is_none() && !interrupt::requested()
    });
    bar.finish_and_clear();
    let (done, live) = run.map_err(anyhow::Error::from)?;
    let wall = started.elapsed().as_secs_f64();
    Ok(Outcome { engine: Box::new(engine), done, wall, live: Some(live), loaded: None })
}

/// The run as a page: scene, engine, figures, picture and, for hardware, where a step's clocks go.
fn html(scene: &Scene, report: &RunReport, value: &Value, plan: Option<&Schedule>, picture: &str) -> String {
    let below = format!("{} s of `{}` on {}", report.simulated_s, scene.name, report.engine.name());
    let mut page = Page::new(&format!("nendo: {}", scene.name), &below);
    page.picture("At the end", picture)
        .table("Scene", &page::scene_rows(scene))
        .table("Run", &page::json_rows(value));
    if report.deformation.is_some() {
        page.table("Deformation", &page::json_rows(&value["deformation"]));
    }
    if let Some(plan) = plan {
        let total = plan.cycles_per_step();
        let phases = [
            ("elements, one per clock and module, and particles beside them", plan.slots().into()),
            ("pause: the element pipeline drains", plan.depths().element.into()),
            ("particles that are left, one per clock and module", plan.left.into()),
            ("pause: the particle pipeline drains", plan.depths().particle.into()),
            ("a step", total),
        ];
        let row = |(name, clocks): (&str, u64)| {
            vec![
                name.to_owned(),
                clocks.to_string(),
                format!("{:.1} %", 100.0 * clocks as f64 / total as f64),
            ]
        };
        page.numbers("Clock cycles of a step", &["phase", "clocks", "share"], &phases.map(row));
    }
    page.finish()
}

impl Args {
    /// The states to take on the way, if any are wanted.
    fn series<'a>(&self, scene: &'a Scene, steps: u64) -> Option<Series<'a>> {
        let plan = Plan { frames: self.frames.unwrap_or(0), watch: self.watch.clone() };
        let folder = self.out.as_ref().filter(|_| plan.frames > 0 || !plan.watch.is_empty())?;
        Some(Series::new(scene, folder, plan, steps))
    }

    /// Chooses the engine, whatever was chosen.
    pub(super) fn set_engine(&mut self, kind: EngineKind) {
        self.engine.engine = kind;
    }
}

/// The engine, with its waveforms planned if they are asked for.
fn open(args: &Args, scene: &Scene, options: &mut EngineOptions) -> Result<Box<dyn Engine>, CommandError> {
    let Some(file) = &args.trace else {
        return engine::open(scene, options).map_err(open_failure);
    };
    if options.kind != EngineKind::Rtl || options.record.is_some() {
        return Err(CommandError::input(anyhow::anyhow!(
            "--trace needs --engine rtl, without --record: nothing else has signals"
        )));
    }
    options.trace = true;
    let mut engine = engine::open_rtl(scene, options).map_err(open_failure)?;
    let trace = engine.board().device().trace(file, args.trace_from, args.trace_len);
    trace.with_context(|| file.display().to_string())?;
    Ok(Box::new(engine))
}

/// Final positions and displacements, one particle per line.
fn state_csv(scene: &Scene, positions: &[nendo_model::mesh::Vec3]) -> String {
    let mut csv = "particle,x_m,y_m,z_m,dx_m,dy_m,dz_m\n".to_owned();
    for (k, (now, start)) in positions.iter().zip(&scene.mesh.particles).enumerate() {
        let d = now - start;
        let _ = writeln!(csv, "{k},{},{},{},{},{},{}", now.x, now.y, now.z, d.x, d.y, d.z);
    }
    csv
}

/// The numbers 0 to n-1 in an order that depends on the seed alone.
fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).collect();
    let mut state = seed;
    let mut next = || {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    for k in (1..order.len()).rev() {
        order.swap(k, (next() % (k as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_are_permutations_that_differ_by_seed() {
        let (a, b) = (shuffled(1000, 1), shuffled(1000, 2));
        assert_ne!(a, b);
        assert_eq!(a, shuffled(1000, 1));
        let mut sorted = a;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000));
    }
}
