//! The steps of a run: in pieces, or in a control loop at 1 kHz.

use super::Args;
use crate::{
    cli::{CommandError, open_failure},
    engine::{self, Engine, EngineOptions},
    export::series::Series,
    interrupt,
    live::{self, LiveReport},
    progress,
};
use anyhow::Context;
use nendo_model::{mesh::Vec3, scene::Scene};
use std::time::Instant;

/// An engine after its run.
pub(super) struct Outcome {
    pub(super) engine: Box<dyn Engine>,
    pub(super) done: u64,
    pub(super) wall: f64,
    pub(super) live: Option<LiveReport>,
    /// Positions when the load ended.
    pub(super) loaded: Option<Vec<Vec3>>,
}

pub(super) fn run_in_pieces(
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

pub(super) fn run_live(
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

/// The engine, with its waveforms planned if they are asked for.
pub(super) fn open(args: &Args, scene: &Scene, options: &mut EngineOptions) -> Result<Box<dyn Engine>, CommandError> {
    let Some(file) = &args.trace else {
        return engine::open(scene, options).map_err(open_failure);
    };
    options.trace = true;
    let mut engine = engine::open_rtl(scene, options).map_err(open_failure)?;
    let trace = engine.board().device().trace(file, args.trace_from, args.trace_len);
    trace.with_context(|| file.display().to_string())?;
    Ok(Box::new(engine))
}
