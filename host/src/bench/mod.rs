//! How fast every engine is on this machine, measured in one run.
//!
//! Engines take turns, a few hundredths of a second each, many times over: what disturbs the machine disturbs
//! all of them. A row is the median of an engine's turns. Who else used the machine meanwhile is part of it.

mod contention;
mod hardware;
pub mod meshes;
mod scatter;

pub use contention::{Contention, Watch};
pub use scatter::Scatter;

use crate::engine::{self, Engine, EngineKind, EngineOptions};
use nendo_model::{blocks::Inverse, numbers::Profile, reference::Integrator, scene::Scene};
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
    /// How many turns.
    pub turns: usize,
    /// Who else used the machine.
    pub contention: Option<Contention>,
    /// Clocks per step, for hardware.
    pub cycles_per_step: Option<u64>,
    /// The clock of a routed report, for hardware.
    pub clock_mhz: Option<f64>,
    /// Whether the time means something.
    pub valid: bool,
    /// Why not.
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

/// Something to be timed.
struct Runner {
    engine: String,
    threads: usize,
    advance: Box<dyn FnMut(u64)>,
    steps: u64,
    turns: Vec<f64>,
    watch: Watch,
}

impl Runner {
    fn new(engine: &str, threads: usize, advance: impl FnMut(u64) + 'static) -> Self {
        let advance = Box::new(advance);
        Self { engine: engine.to_owned(), threads, advance, steps: 1, turns: Vec::new(), watch: Watch::default() }
    }

    /// Finds out how many steps a turn has.
    fn prepare(&mut self, turn: Duration) {
        loop {
            let took = Watch::default().time(|| (self.advance)(self.steps));
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
        let took = self.watch.time(|| advance(steps));
        self.turns.push(took.as_secs_f64() * 1e3 / steps as f64);
    }

    fn row(mut self, size: &str, scene: &Scene) -> Row {
        self.turns.sort_by(f64::total_cmp);
        let at = |share: f64| self.turns[((self.turns.len() - 1) as f64 * share).round() as usize];
        let (median, edges) = (at(0.5), scene.mesh.edges.len());
        let contention = self.watch.contention(self.threads);
        let note = match contention {
            _ if self.threads == 1 => None,
            None => Some("not valid: this system does not say who else uses it".to_owned()),
            Some(c) if c.is_quiet() => None,
            Some(c) => Some(format!(
                "not valid: the machine was busy: others used {:.2} cores, threads waited {:.1} % of the time",
                c.others_cores,
                100.0 * c.waiting
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
            turns: self.turns.len(),
            contention,
            valid: note.is_none(),
            note,
            ..Row::default()
        }
    }
}

fn options(kind: EngineKind, threads: usize) -> EngineOptions {
    EngineOptions {
        kind,
        profile: Profile::Wide,
        inverse: Inverse::Table,
        threads,
        edge_order: None,
        integrator: Integrator::Euler,
        trace: false,
    }
}

/// Times every CPU engine on a scene, and says what the hardware would take.
pub fn measure(size: &str, scene: &Scene, effort: Effort, reports: &Path) -> anyhow::Result<Vec<Row>> {
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
            let mut engine: Box<dyn Engine> = engine::open(scene, &options(kind, threads))?;
            // CPU engines do not fail; what they compute is tested elsewhere.
            runners.push(Runner::new(name, threads, move |n| drop(engine.advance(n))));
        }
    }
    runners.iter_mut().for_each(|r| r.prepare(effort.turn));
    for _ in 0..effort.turns {
        runners.iter_mut().for_each(Runner::take_turn);
    }
    let mut rows: Vec<Row> = runners.into_iter().map(|r| r.row(size, scene)).collect();
    rows.extend(hardware::rows(reports, size, scene));
    Ok(rows)
}
