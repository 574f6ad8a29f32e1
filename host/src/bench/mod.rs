//! How fast every engine is on this machine, measured in one run.
//!
//! Engines take turns, many times over: less than a hundredth of a second each, ten times as long with several
//! threads, and as long before to warm up. Turns in which a thread had to wait
//! for a core are counted, but left out if enough others remain; a row is the median of those. Who else used
//! the machine meanwhile is part of the row, and decides whether it is valid.

mod contention;
mod hardware;
pub mod meshes;
mod scatter;

pub use contention::{Contention, Stretch};
pub use scatter::Scatter;

use crate::engine::{self, Engine, EngineKind, EngineOptions};
use nendo_hdl::target::NotTimed;
use nendo_model::{engine::cpu::Cpu, scene::Scene};
use serde::Serialize;
use std::{path::Path, time::Duration};

/// A measured, or computed, time per step.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// scatter, f64, f32, model, or hardware with its target.
    pub engine: String,
    /// The mesh.
    pub size: String,
    /// Threads, for engines that have them.
    pub threads: Option<usize>,
    /// Its particles.
    pub particles: usize,
    /// Its edges.
    pub edges: usize,
    /// Median over the turns.
    pub ms_per_step: Option<f64>,
    /// Edges per second at the median.
    pub edges_per_s: Option<f64>,
    /// Smallest, a quarter, three quarters, largest of the turns in ms.
    pub spread_ms: Option<[f64; 4]>,
    /// How many turns were counted.
    pub turns: usize,
    /// How many turns had to wait for a core.
    pub disturbed_turns: usize,
    /// Who else used the machine in the turns that were counted.
    pub contention: Option<Contention>,
    /// Main modules, for hardware.
    pub modules: Option<u16>,
    /// Clocks per step, for hardware.
    pub cycles_per_step: Option<u64>,
    /// The clock of a routed report, for hardware.
    pub clock_mhz: Option<f64>,
    /// What that clock leaves out.
    #[serde(skip_serializing_if = "NotTimed::is_empty")]
    pub not_timed: NotTimed,
    /// Whether the time means something.
    pub valid: bool,
    /// Why a row is not valid.
    pub note: Option<String>,
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Turns per engine.
    pub turns: usize,
    /// How long a turn takes, about.
    pub turn: Duration,
}

/// With fewer undisturbed turns than this, all turns are counted, and the row is not valid.
const ENOUGH: usize = 5;

/// Something to be timed.
struct Runner {
    engine: String,
    threads: usize,
    /// What is special about it.
    note: Option<String>,
    advance: Box<dyn FnMut(u64)>,
    steps: u64,
    turns: Vec<Stretch>,
}

impl Runner {
    fn new(engine: &str, threads: usize, advance: impl FnMut(u64) + 'static) -> Self {
        let (engine, advance) = (engine.to_owned(), Box::new(advance));
        Self { engine, threads, note: None, advance, steps: 1, turns: Vec::new() }
    }

    /// Finds out how many steps a turn has.
    fn prepare(&mut self, turn: Duration) {
        loop {
            let took = Stretch::of(|| (self.advance)(self.steps)).took;
            if took * 2 >= turn || self.steps >= 1 << 20 {
                let share = turn.as_secs_f64() / took.as_secs_f64().max(1e-9);
                self.steps = ((self.steps as f64 * share) as u64).max(1);
                return;
            }
            self.steps *= 2;
        }
    }

    fn take_turn(&mut self) {
        let (advance, steps) = (&mut self.advance, self.steps);
        // Another engine has just filled the caches, and threads need a while to get a core each.
        advance(steps);
        self.turns.push(Stretch::of(|| advance(steps)));
    }

    fn row(self, size: &str, scene: &Scene) -> Row {
        let all = self.turns.len();
        let quiet: Vec<Stretch> = self.turns.iter().filter(|t| !t.is_disturbed()).copied().collect();
        let (disturbed_turns, enough) = (all - quiet.len(), quiet.len() >= ENOUGH.min(all));
        let counted = if enough { quiet } else { self.turns };
        let mut times: Vec<f64> =
            counted.iter().map(|t| t.took.as_secs_f64() * 1e3 / self.steps as f64).collect();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        let (median, edges) = (at(0.5), scene.mesh.edges.len());
        let contention = Stretch::contention(&counted);
        let disturbance = match contention {
            None => Some("not valid: this system does not say who else uses it".to_owned()),
            Some(c) if enough && c.is_quiet(self.threads) => None,
            Some(c) => Some(format!(
                "not valid: the machine was busy: others used {:.2} cores, {disturbed_turns} of {all} turns had to wait",
                c.others_cores
            )),
        };
        Row {
            engine: self.engine,
            size: size.to_owned(),
            threads: Some(self.threads),
            particles: scene.mesh.particles.len(),
            edges,
            ms_per_step: Some(median),
            edges_per_s: Some(edges as f64 / median * 1e3),
            spread_ms: Some([at(0.0), at(0.25), at(0.75), at(1.0)]),
            turns: times.len(),
            disturbed_turns,
            contention,
            valid: disturbance.is_none(),
            note: disturbance.or(self.note),
            ..Row::default()
        }
    }
}

/// Times every CPU engine on a scene, and says what hardware with so many modules would take by the routed reports of a
/// folder, or else those built in.
pub fn measure(
    size: &str,
    scene: &Scene,
    effort: Effort,
    (modules, reports): (u16, Option<&Path>),
) -> anyhow::Result<Vec<Row>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let counts: &[usize] = if cores > 1 { &[1, cores] } else { &[1] };
    let mut plain = Scatter::new(scene);
    let mut runners = vec![Runner::new("scatter", 1, move |n| plain.advance(n))];
    for (kind, name) in [(EngineKind::F64, "f64"), (EngineKind::F32, "f32"), (EngineKind::Model, "model")] {
        for &threads in counts {
            // The reference has one thread.
            if kind == EngineKind::F64 && threads > 1 {
                continue;
            }
            let options = EngineOptions { kind, threads, ..EngineOptions::default() };
            let mut engine: Box<dyn Engine> = engine::open(scene, &options)?;
            // CPU engines do not fail; what they compute is tested elsewhere.
            let mut runner = Runner::new(name, threads, move |n| drop(engine.advance(n)));
            if kind == EngineKind::F32 && threads > 1 && Cpu::parts_of(scene) == 1 {
                runner.note = Some("too small to share: one thread".to_owned());
            }
            runners.push(runner);
        }
    }
    // Threads that have just been woken share a core for some milliseconds.
    runners.iter_mut().for_each(|r| r.prepare(effort.turn * if r.threads > 1 { 10 } else { 1 }));
    for _ in 0..effort.turns {
        runners.iter_mut().for_each(Runner::take_turn);
    }
    let mut rows: Vec<Row> = runners.into_iter().map(|r| r.row(size, scene)).collect();
    rows.extend(hardware::rows(reports, modules, size, scene));
    Ok(rows)
}
