//! `nendo run`: a scene on an engine, or several one after another.

mod advance;
mod files;
mod many;
mod others;
mod report;
mod shuffle;

use super::{
    CommandError, Console,
    engine::{Chosen, EngineArgs},
    options::{LengthArgs, open_scene, scenes_help, try_outputs},
};
use crate::{
    engine::{EngineKind, EngineOptions},
    export::{
        series::{Plan, STATE, Series, clear},
    },
    progress,
    sample::Sampler,
};
use advance::{Looped, Run, open, run_live};
use others::Others;
use anyhow::{Context, anyhow};
use nendo_model::{
    engine::Snapshot,
    scene::{Scene, deformation::Deformation, measure::Measuring, sense::Reaction},
    text::count,
};
use report::RunReport;
use serde_json::{Map, Value, json};
use shuffle::shuffled;
use std::{
    fs,
    path::{Path, PathBuf},
};

#[derive(clap::Args, Clone, Debug)]
#[command(after_help = scenes_help() + "
Examples:
  nendo run cube9 --engine model --seconds 1 --json
  nendo run table3 --profile paper-2003 --steps 0 --probe-edge 0
  nendo run box:64x64x64 --engine f32                  the fastest without a board
  nendo run my.toml -o out/my                          report, forces over time, pictures, a state to go on from
  nendo run my.toml -o out/my --frames 50 --watch 0,12     for ParaView: out/my/frames.pvd
  nendo run my.toml -o out/my --resume                 go on where a run into this folder ended
  nendo run scenes/*.toml                              many scenes, and whether they measure what they expect
  nendo run cube9 --engine f32 --live --seconds 2      in a control loop at 1 kHz
  nendo run cube9 --engine board --device pci:0000:03:00.0 --live --seconds 10")]
pub(super) struct Args {
    /// A scene file (TOML), or one of the built-in scenes: table3, single, cube9, block16, materials, box:NXxNYxNZ, chain:LAW;
    /// several run one after another and end in a table
    #[arg(value_name = "SCENE", required = true)]
    scenes: Vec<String>,
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
    /// Run in a control loop at 1 kHz and report its latencies
    #[arg(long)]
    live: bool,
    /// Particles to touch and watch each tick [default: those the scene pushes]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "live")]
    points: Vec<u32>,
    /// Write report.html and .json, forces.csv, state.csv, model.glb, a picture (SVG, PNG) and state.nendo, from which
    /// --resume goes on, into this folder; what an earlier run left there goes
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write so many frames for ParaView, evenly over the run: frames.pvd (the object), edges.pvd, around.pvd (boundaries)
    /// and frames/*.vtu
    #[arg(long, value_name = "N", requires = "out", conflicts_with = "live", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    frames: Option<u64>,
    /// Also write where these particles are over time: watch.csv
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "out", conflicts_with = "live")]
    watch: Vec<u32>,
    /// How many moments forces.csv and watch.csv have [default: 400, on a board or rtl 25; frames are moments, too]
    #[arg(long, value_name = "N", requires = "out", conflicts_with = "live", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    samples: Option<u64>,
    /// Go on from a state: this file, or state.nendo in the folder of --out
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with_all = ["live", "trace", "record"])]
    resume: Option<Option<PathBuf>>,
}

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let mut others = Others::new();
    match args.scenes.as_slice() {
        [scene] => run(args, scene, &mut others, console),
        _ => many::run_all(args, &mut others, console),
    }
}

/// One scene; `others` finds what it compares its measures with.
fn run(args: &Args, name: &str, others: &mut Others, console: Console) -> Result<Value, CommandError> {
    let scene = open_scene(name)?;
    args.check_numbers(&scene)?;
    let resumed = args.resumed(&scene)?;
    let Chosen { mut options, why } = args.engine.choose(&scene, console)?;
    let edges = scene.mesh.edges.len();
    options.edge_order = args.shuffle_edges.map(|seed| shuffled(edges as u32, seed));
    let steps = args.length.steps(&scene)?;
    if let Some((file, state)) = resumed.as_ref().filter(|(_, state)| state.step > steps) {
        let text = format!("{}: {} behind it, and {steps} asked for", file.display(), count(state.step, "step"));
        return Err(CommandError::input(anyhow!("{text}: give a larger --steps or --seconds")));
    }
    try_outputs(&args.out, &args.trace)?;
    console.say(opening(&scene, &options, steps, resumed.as_ref().map(|(_, state)| state.step)));

    let mut run = args.start(&scene, &mut options, steps)?;
    if let Some((file, state)) = &resumed {
        run.engine
            .restore(state)
            .with_context(|| file.display().to_string())
            .map_err(CommandError::Input)?;
    }
    args.prepare(&mut run, resumed.as_ref())?;
    if !args.live {
        // A board's traffic stays as it is.
        let on_bus = matches!(options.kind, EngineKind::Rtl | EngineKind::Board);
        let release = scene.release().filter(|_| !on_bus).map(|t| scene.steps_for(t));
        run.in_pieces(steps, release.filter(|&at| at > 0 && at < steps));
    }
    run.finish(steps);
    let mut report = args.report(&scene, &options, why, &mut run, resumed.map(|(_, state)| state.step));
    report.measured(run.measuring.outcomes(&mut |reference| others.value(args, name, reference, console)));
    others.keep(name, &run.measuring);
    if args.live && !scene.measures.is_empty() {
        report.warnings.push("measures are not taken in a control loop: run it without --live".to_owned());
    }
    conclude(args, &scene, run, report, console)
}

/// What is about to be done.
fn opening(scene: &Scene, options: &EngineOptions, steps: u64, from: Option<u64>) -> String {
    format!(
        "{}: {}, {}, {} of {} s on {}{}",
        scene.name,
        count(scene.mesh.particles.len(), "particle"),
        count(scene.mesh.edges.len(), "edge"),
        match from {
            None => count(steps, "step"),
            Some(step) => format!("steps {step} to {steps}"),
        },
        scene.step,
        options.kind.name(),
        match (options.kind.is_fixed_point(), options.kind.has_circuits()) {
            (_, true) => format!(" ({}, {})", options.profile, options.inverse),
            (true, false) => format!(" ({})", options.profile),
            (false, false) => String::new(),
        },
    )
}

/// The end of a run, however it came: its files, its answer, and what was wrong.
fn conclude(
    args: &Args,
    scene: &Scene,
    mut run: Run<'_>,
    report: RunReport,
    console: Console,
) -> Result<Value, CommandError> {
    if let Err(error) = run.engine.close() {
        run.error.get_or_insert(error.into());
    }
    let mut value = serde_json::to_value(&report).map_err(anyhow::Error::from)?;
    if let Some(error) = &run.error {
        value["error"] = json!(format!("{error:#}"));
    }
    console.answer(report.lines());
    for warning in &report.warnings {
        console.say(format!("warning: {warning}"));
    }
    if let Some(folder) = &args.out {
        let (names, failures) = files::write(folder, scene, &mut run, &report, &value);
        if !names.is_empty() {
            console.say(format!("wrote into {}: {}", folder.display(), names.join(", ")));
        }
        if !failures.is_empty() {
            let failures = anyhow!("not everything could be written: {}", failures.join("; "));
            run.error = Some(match run.error {
                Some(first) => anyhow!("{first:#}\n{failures}"),
                None => failures,
            });
        }
    }
    match run.error {
        Some(error) => Err(CommandError::Run(error, Some(value))),
        None if report.measures_ok == Some(false) => Err(CommandError::Unmet(report.unmet(), value)),
        None => Ok(value),
    }
}

/// Whether two paths are one folder.
fn same_folder(a: &Path, b: &Path) -> bool {
    let known = |path: &Path| fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path });
    matches!((known(a), known(b)), (Ok(a), Ok(b)) if a == b)
}

impl Args {
    #[cfg(test)]
    pub(super) fn engine(&self) -> &EngineArgs {
        &self.engine
    }

    /// Refuses numbers of particles and edges that the scene does not have.
    fn check_numbers(&self, scene: &Scene) -> Result<(), CommandError> {
        let (edges, particles) = (scene.mesh.edges.len(), scene.mesh.particles.len());
        let beyond = |list: &[u32]| list.iter().map(|&p| p as usize).find(|&p| p >= particles);
        let out_of_range = [
            ("--probe-edge", self.probe_edge.filter(|&e| e >= edges), "edge", edges),
            ("--points", beyond(&self.points), "particle", particles),
            ("--watch", beyond(&self.watch), "particle", particles),
        ];
        let first = out_of_range.into_iter().find_map(|(option, number, what, of)| Some((option, number?, what, of)));
        match first {
            Some((option, number, what, of)) => Err(CommandError::input(anyhow!(
                "{option} {number}: the scene has {} (0 to {})",
                count(of, what),
                of - 1
            ))),
            None => Ok(()),
        }
    }

    /// The state to go on from, if that is asked for, and where it was.
    fn resumed(&self, scene: &Scene) -> Result<Option<(PathBuf, Snapshot)>, CommandError> {
        let Some(file) = &self.resume else { return Ok(None) };
        let file = match (file, &self.out) {
            (Some(file), _) => file.clone(),
            (None, Some(folder)) => folder.join(STATE),
            (None, None) => {
                let text = "--resume goes on from state.nendo in the folder of --out: give that, or --resume=FILE";
                return Err(CommandError::input(anyhow!(text)));
            }
        };
        let read = || -> anyhow::Result<Snapshot> {
            let state = Snapshot::from_bytes(&fs::read(&file)?)?;
            state.check_scene(scene)?;
            Ok(state)
        };
        let state = read().with_context(|| file.display().to_string()).map_err(CommandError::Input)?;
        Ok(Some((file, state)))
    }

    /// Removes what an earlier run has left in the folder, or goes on with it.
    fn prepare(&self, run: &mut Run<'_>, resumed: Option<&(PathBuf, Snapshot)>) -> anyhow::Result<()> {
        if let Some(folder) = &self.out {
            let goes_on = |(file, _): &&(PathBuf, _)| same_folder(file.parent().unwrap_or(Path::new("")), folder);
            let cleared = if resumed.as_ref().is_some_and(goes_on) { Ok(()) } else { clear(folder) };
            cleared.with_context(|| folder.display().to_string())?;
        }
        Ok(resumed.map_or(Ok(()), |(_, state)| run.series.go_on_from(state.step))?)
    }

    /// How many states are taken on the way.
    fn samples(&self, kind: EngineKind) -> u64 {
        let on_bus = matches!(kind, EngineKind::Rtl | EngineKind::Board);
        match (self.samples, &self.out) {
            (Some(samples), _) => samples,
            (None, Some(_)) if on_bus => 25,
            (None, Some(_)) => 400,
            // Whether it is still an object is looked at, but a board's traffic stays as it is.
            (None, None) if on_bus => 0,
            (None, None) => 10,
        }
    }

    /// The engine, and what is taken of its run; a control loop has run already.
    fn start<'a>(&self, scene: &'a Scene, options: &mut EngineOptions, steps: u64) -> Result<Run<'a>, CommandError> {
        let samples = if self.live { 0 } else { self.samples(options.kind) };
        let plan = Plan { samples, frames: self.frames.unwrap_or(0), watch: self.watch.clone() };
        let series = Series::new(scene, self.out.as_deref(), &plan, steps);
        let saves_often = !matches!(options.kind, EngineKind::Rtl | EngineKind::Board);
        let run = |engine| Run {
            engine,
            sampler: Sampler::new(scene),
            measuring: Measuring::new(scene),
            series,
            last: None,
            saved: None,
            saves: self.out.is_some(),
            saves_often,
            wall: 0.0,
            live: None,
            loaded: None,
            error: None,
        };
        if !self.live {
            let engine = progress::during("preparing the engine", || open(self, scene, options))?;
            return Ok(run(engine));
        }
        let Looped { engine, wall, report } = run_live(self, scene, options, steps)?;
        let (live, error) = match report {
            Ok(report) => (Some(report), None),
            Err(error) => (None, Some(error)),
        };
        Ok(Run { wall, live, error, ..run(engine) })
    }

    /// What the run says of itself.
    fn report(
        &self,
        scene: &Scene,
        options: &EngineOptions,
        why: String,
        run: &mut Run<'_>,
        resumed_from: Option<u64>,
    ) -> RunReport {
        let done = run.engine.step();
        let fixed = options.kind.is_fixed_point();
        let taken = done - resumed_from.unwrap_or(0);
        let overflow = run.engine.overflow();
        // An engine that has failed is asked all the same: what it still says is kept.
        let state_digest = run.asked(|engine| engine.state_digest());
        let probe = self.probe_edge.and_then(|edge| run.asked(|engine| engine.probe(edge)));
        let last = run.last.as_ref();
        let ended = last.filter(|last| last.step == done && run.error.is_none());
        let deformation = run
            .loaded
            .as_ref()
            .zip(ended)
            .map(|(loaded, last)| Deformation::of(&scene.mesh.particles, loaded, &last.positions));
        let edges = scene.mesh.edges.len();
        RunReport {
            scene: scene.name.clone(),
            engine: options.kind,
            engine_why: why,
            profile: fixed.then_some(options.profile),
            inverse: options.kind.has_circuits().then_some(options.inverse),
            modules: run.engine.modules().unwrap_or(self.engine.modules() as u64),
            particles: scene.mesh.particles.len(),
            edges,
            steps: done,
            resumed_from,
            simulated_s: done as f64 * scene.step,
            wall_s: run.wall,
            edges_per_s: (taken > 0).then(|| taken as f64 * edges as f64 / run.wall),
            cycles_per_step: run.engine.cycles_per_step(),
            clocks_per_wall_s: run.engine.cycles_per_step().filter(|_| taken > 0).map(|c| c as f64 * taken as f64 / run.wall),
            state_digest,
            overflow: overflow.any(),
            overflow_sources: overflow.sources().collect(),
            headroom: run.engine.headroom(scene),
            inverted: last.and_then(|last| last.health.inverted),
            most_inverted: run.series.history().most_inverted(),
            volume_ratio: last.and_then(|last| last.health.volume_ratio),
            beyond: last.map_or_else(Map::new, |last| {
                last.health.beyond.iter().map(|(name, count)| (name.clone(), json!(count))).collect()
            }),
            forces: last.map_or_else(Map::new, |last| {
                let entry = |r: &Reaction| (r.name.clone(), json!(<[f64; 3]>::from(r.force)));
                last.reactions.iter().map(entry).collect()
            }),
            summary: run.series.history().summary(scene.mesh.bounds()),
            warnings: run.warnings(),
            probe,
            link_retries: run.engine.link_retries(),
            live: run.live.take(),
            deformation,
            measures: Vec::new(),
            measures_ok: None,
        }
    }
}
