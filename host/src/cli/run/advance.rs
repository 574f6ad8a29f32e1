//! The steps of a run: in pieces, or in a control loop at 1 kHz. However it ends, what was computed is kept.

use super::Args;
use crate::{
    cli::{CommandError, open_failure},
    engine::{self, Engine, EngineError, EngineKind, EngineOptions, outcome},
    export::series::{STATE, Series},
    interrupt,
    live::{self, LiveReport, Loop},
    output::write_whole,
    progress,
    sample::{self, Sample, Sampler},
};
use anyhow::{Context, anyhow};
use nendo_model::{
    engine::Snapshot,
    mesh::Vec3,
    scene::{
        Scene,
        measure::{Measuring, Moment},
    },
};
use std::time::Instant;

/// A run under way or at its end.
pub(super) struct Run<'a> {
    pub(super) engine: Box<dyn Engine>,
    pub(super) sampler: Sampler<'a>,
    pub(super) series: Series<'a>,
    /// What the scene's own sensors find.
    pub(super) measuring: Measuring<'a>,
    /// The last state that is sound.
    pub(super) last: Option<Sample>,
    /// The same, to go on from.
    pub(super) saved: Option<Snapshot>,
    /// Whether states are to go on from.
    pub(super) saves: bool,
    /// Whether a state can be saved without a bus in between.
    pub(super) saves_often: bool,
    pub(super) wall: f64,
    pub(super) live: Option<LiveReport>,
    /// Positions when the load ended.
    pub(super) loaded: Option<Vec<Vec3>>,
    /// Why it ended before its time.
    pub(super) error: Option<anyhow::Error>,
}

impl Run<'_> {
    /// Takes the steps that are left of so many; the state when the load ends is noted.
    pub(super) fn in_pieces(&mut self, steps: u64, release: Option<u64>) {
        let name = self.sampler.scene().name.clone();
        let result = self.look().and_then(|()| {
            progress::in_pieces(&name, steps - self.engine.step(), |n| self.piece(n, release)).map(drop)
        });
        self.error = result.err();
    }

    fn piece(&mut self, n: u64, release: Option<u64>) -> anyhow::Result<bool> {
        let until = self.engine.step() + n;
        while self.engine.step() < until {
            let let_go = release.filter(|&at| self.loaded.is_none() && at > self.engine.step());
            let sensor = self.measuring.due(self.engine.step() + 1);
            let stop = self.series.due().into_iter().chain(let_go).chain(sensor).fold(until, u64::min);
            let started = Instant::now();
            let advanced = self.engine.advance(stop - self.engine.step());
            self.wall += started.elapsed().as_secs_f64();
            if outcome(advanced)?.is_some() {
                return Ok(false);
            }
            if let_go == Some(stop) {
                self.loaded = Some(self.engine.positions()?);
            }
            self.look()?;
        }
        Ok(true)
    }

    /// Takes of this step what is due: the state, measures or both.
    fn look(&mut self) -> anyhow::Result<()> {
        let step = self.engine.step();
        if self.series.due() == Some(step) {
            return self.take(self.saves_often);
        }
        sample::measure(self.engine.as_mut(), &mut self.measuring)?;
        Ok(())
    }

    /// The state of this step, with what is measured of it.
    fn take(&mut self, save: bool) -> anyhow::Result<()> {
        // A table has everything; else what is due, if anything is.
        let due = (!self.series.keeps_measures()).then(|| self.engine.step());
        let needs = self.measuring.needs(due);
        let sample = self.sampler.take(self.engine.as_mut(), self.series.wants_all() || needs.forces)?;
        let extensions = needs.extensions.then(|| self.engine.extensions()).transpose()?;
        let moment = Moment {
            step: sample.step,
            positions: &sample.positions,
            velocities: &sample.velocities,
            sensed: sample.sensed.as_ref(),
            extensions: extensions.as_deref(),
        };
        self.measuring.take(&moment);
        self.series.measure(&self.measuring, &moment);
        if self.saves && save {
            self.saved = Some(self.engine.save()?.of(self.sampler.scene()));
        }
        let kept = self.series.take(&sample).context("writing a frame");
        self.last = Some(sample);
        // What is killed can go on from here.
        if let (true, Some(folder), Some(state)) = (kept?, self.series.folder(), &self.saved) {
            write_whole(&folder.join(STATE), &state.to_bytes()).context("writing the state")?;
        }
        Ok(())
    }

    /// At the end: the last state, if it is sound and there is an engine to ask for it.
    pub(super) fn finish(&mut self, steps: u64) {
        let done = self.engine.step();
        if let Some(failure) = self.engine.failure() {
            let text = engine::explain(failure);
            let error = anyhow!("stopped within {done} of {steps} steps: {text}");
            self.error.get_or_insert(error);
            return;
        }
        let taken = self.last.as_ref().is_some_and(|last| last.step == done);
        if !taken || (self.saves && !self.saves_often) {
            let result = self.take_last(taken);
            if let Err(error) = result {
                self.error.get_or_insert(error);
            }
        }
        if done < steps {
            self.error.get_or_insert_with(|| anyhow!("interrupted after {done} of {steps} steps"));
        }
    }

    /// Asks the engine; if it does not answer, that is why the run ended.
    pub(super) fn asked<T>(&mut self, ask: impl FnOnce(&mut dyn Engine) -> Result<T, EngineError>) -> Option<T> {
        let answer = ask(self.engine.as_mut());
        answer.map_err(|error| self.error.get_or_insert(error.into())).ok()
    }

    /// What is wrong with the object at the end, or was on the way.
    pub(super) fn warnings(&self) -> Vec<String> {
        let Some(last) = &self.last else { return Vec::new() };
        let mut all = self.sampler.complaints(&last.health);
        let most = self.series.history().most_inverted().filter(|&n| n > 0);
        if let Some(most) = most.filter(|_| last.health.inverted == Some(0)) {
            all.push(format!("up to {most} elements were inside out on the way; at the end none is"));
        }
        all
    }

    fn take_last(&mut self, taken: bool) -> anyhow::Result<()> {
        if !taken {
            return self.take(true);
        }
        self.saved = Some(self.engine.save()?.of(self.sampler.scene()));
        Ok(())
    }
}

/// A control loop at its end.
pub(super) struct Looped {
    pub(super) engine: Box<dyn Engine>,
    pub(super) wall: f64,
    /// What it measured.
    pub(super) report: anyhow::Result<LiveReport>,
}

/// The steps of a control loop.
pub(super) fn run_live(
    args: &Args,
    scene: &Scene,
    options: &EngineOptions,
    steps: u64,
) -> Result<Looped, CommandError> {
    let points = if args.points.is_empty() { live::default_points(scene) } else { args.points.clone() };
    let plan = Loop { steps, step: scene.step, points: &points };
    let bar = progress::bar(&scene.name, steps);
    let go_on = |done, sound: bool| {
        bar.set_position(done);
        sound && !interrupt::requested()
    };
    let on_bus = matches!(options.kind, EngineKind::Rtl | EngineKind::Board);
    let (engine, started, result): (Box<dyn Engine>, _, _) = if on_bus {
        let mut engine = engine::open_board(scene, options).map_err(open_failure)?;
        let started = Instant::now();
        let result = live::run_board(&mut engine, plan, go_on).map_err(anyhow::Error::from);
        (Box::new(engine), started, result)
    } else {
        let mut engine = engine::open(scene, options).map_err(open_failure)?;
        let started = Instant::now();
        let result = live::run_here(engine.as_mut(), plan, go_on).map_err(anyhow::Error::from);
        (engine, started, result)
    };
    bar.finish_and_clear();
    let wall = started.elapsed().as_secs_f64();
    Ok(Looped { engine, wall, report: result.map(|(_, report)| report) })
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
