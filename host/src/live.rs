//! Live: an engine in a control loop at 1 kHz, as force display needs it.
//!
//! Each tick writes the forces of the chosen points, starts the steps that make up a millisecond, reads the
//! points while a board computes, and waits for it. Now and then the whole display is read. How long a tick
//! takes from when it was due, and how often the next one was due before it ended, is measured.

use crate::{
    board::BoardError,
    device::Device,
    engine::{BoardEngine, Engine, EngineError, outcome},
    sys::schedule,
};
use nendo_model::{mesh::Vec3, scene::Scene, text::count};
use serde::Serialize;
use std::{
    fmt::Write,
    time::{Duration, Instant},
};

/// One tick.
pub const PERIOD: Duration = Duration::from_millis(1);
/// Ticks from one whole display to the next: 30 pictures a second.
const FRAME: u64 = 33;
/// So many ticks are in the table.
const TRACKED: usize = 1 << 20;
/// Priority of the control thread, in the middle of what SCHED_FIFO offers.
const PRIORITY: i32 = 50;

/// Latencies in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// The shortest.
    pub min: f64,
    /// Half of them are not longer.
    pub p50: f64,
    /// 99 % are not longer.
    pub p99: f64,
    /// 99.9 % are not longer.
    pub p99_9: f64,
    /// The longest.
    pub max: f64,
}

impl Latency {
    /// The figures of a set of times; all zero if it is empty.
    pub fn of(times: &mut [Duration]) -> Self {
        times.sort_unstable();
        let at = |part: f64| {
            let rank = (part * times.len() as f64).ceil() as usize;
            let time = times.get(rank.clamp(1, times.len().max(1)) - 1);
            time.map_or(0.0, |t| t.as_secs_f64() * 1e6)
        };
        Self { min: at(0.0), p50: at(0.5), p99: at(0.99), p99_9: at(0.999), max: at(1.0) }
    }
}

/// A chosen point at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The number of the particle in the scene.
    pub particle: u32,
    /// Where it was seen last, in metres.
    pub position: [f64; 3],
}

/// What a live run measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveReport {
    /// Length of a tick in microseconds.
    pub period_us: f64,
    /// Ticks run.
    pub ticks: u64,
    /// Steps in each.
    pub steps_per_tick: u64,
    /// From when a tick was due until it was done.
    pub latency_us: Latency,
    /// Ticks that were not done when the next was due.
    pub overruns: u64,
    /// How the control thread was scheduled, and why not better.
    pub scheduling: String,
    /// Whole displays read.
    pub frames: u64,
    /// From the request for a whole display until it was there, the longest, in milliseconds.
    pub frame_max_ms: f64,
    /// The chosen points.
    pub points: Vec<Point>,
    /// Every tick, as comma-separated values.
    #[serde(skip)]
    pub table: String,
}

/// The points to touch where none are chosen: some that the scene pushes, or else the last particle.
pub fn default_points(scene: &Scene) -> Vec<u32> {
    let mut points: Vec<u32> = scene.loads.iter().flat_map(|f| f.particles.clone()).collect();
    points.sort_unstable();
    points.dedup();
    points.truncate(8);
    if points.is_empty() {
        points.extend((scene.mesh.particles.len() as u32).checked_sub(1));
    }
    points
}

/// What a control loop can drive.
pub trait Driven: Send {
    /// Why it does not go on.
    type Error: Send;
    /// Takes steps, writing the forces of these points before and reading where they are, and the whole display if it
    /// is wanted: how long that took.
    fn tick(&mut self, steps: u64, points: &[u32], whole: bool) -> Result<Option<Duration>, Self::Error>;
    /// Where these points were seen last, in metres.
    fn seen(&self) -> &[Vec3];
    /// Reads where these points are.
    fn look(&mut self, points: &[u32]) -> Result<(), Self::Error>;
    /// Whether it can go on.
    fn is_sound(&self) -> bool;
}

/// A board, and where its points are.
struct OnBoard<'a, D: Device> {
    engine: &'a mut BoardEngine<D>,
    seen: Vec<Vec3>,
}

impl<D: Device> OnBoard<'_, D> {
    fn place(&mut self, points: &[[i32; 3]]) {
        let image = self.engine.image();
        let residual = image.numbers().x.residual;
        self.seen = points.iter().map(|x| image.position(x.map(|c| c << residual))).collect();
    }
}

impl<D: Device> Driven for OnBoard<'_, D> {
    type Error = BoardError;

    fn tick(&mut self, steps: u64, points: &[u32], whole: bool) -> Result<Option<Duration>, BoardError> {
        self.engine.refresh_forces(points)?;
        let (mut seen, mut took) = (Vec::new(), None);
        self.engine.run_while(steps, |board| {
            seen = board.points(points)?;
            if whole {
                let asked = Instant::now();
                board.display()?;
                took = took.max(Some(asked.elapsed()));
            }
            Ok(())
        })?;
        self.place(&seen);
        Ok(took)
    }

    fn seen(&self) -> &[Vec3] {
        &self.seen
    }

    fn look(&mut self, points: &[u32]) -> Result<(), BoardError> {
        let seen = self.engine.board().points(points)?;
        self.place(&seen);
        Ok(())
    }

    fn is_sound(&self) -> bool {
        self.engine.failure().is_none()
    }
}

/// An engine that computes in this process, and where its points are.
struct Here<'a> {
    engine: &'a mut dyn Engine,
    seen: Vec<Vec3>,
}

impl Here<'_> {
    /// All positions; the points of them are kept.
    fn read(&mut self, points: &[u32]) -> Result<Vec<Vec3>, EngineError> {
        let all = self.engine.positions()?;
        self.seen = points.iter().map(|&p| all[p as usize]).collect();
        Ok(all)
    }
}

impl Driven for Here<'_> {
    type Error = EngineError;

    fn tick(&mut self, steps: u64, points: &[u32], whole: bool) -> Result<Option<Duration>, EngineError> {
        // Whether the state is sound is asked apart.
        outcome(self.engine.advance(steps))?;
        let asked = Instant::now();
        self.read(points)?;
        Ok(whole.then(|| asked.elapsed()))
    }

    fn seen(&self) -> &[Vec3] {
        &self.seen
    }

    fn look(&mut self, points: &[u32]) -> Result<(), EngineError> {
        self.read(points).map(drop)
    }

    fn is_sound(&self) -> bool {
        self.engine.failure().is_none()
    }
}

/// How a control loop runs.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'a> {
    /// Steps in all.
    pub steps: u64,
    /// The length of each in seconds.
    pub step: f64,
    /// Particles that are touched and watched each tick.
    pub points: &'a [u32],
}

/// Runs a board in a control loop; returns how many steps were taken.
///
/// `go_on` is asked after each tick: steps taken, and whether the engine can go on.
pub fn run_board<D: Device>(
    engine: &mut BoardEngine<D>,
    plan: Loop<'_>,
    go_on: impl FnMut(u64, bool) -> bool + Send,
) -> Result<(u64, LiveReport), BoardError> {
    run(&mut OnBoard { engine, seen: Vec::new() }, plan, go_on)
}

/// Runs an engine of this process in a control loop; returns how many steps were taken.
///
/// `go_on` is asked after each tick: steps taken, and whether the engine can go on.
pub fn run_here(
    engine: &mut dyn Engine,
    plan: Loop<'_>,
    go_on: impl FnMut(u64, bool) -> bool + Send,
) -> Result<(u64, LiveReport), EngineError> {
    run(&mut Here { engine, seen: Vec::new() }, plan, go_on)
}

fn run<D: Driven>(
    driven: &mut D,
    plan: Loop<'_>,
    mut go_on: impl FnMut(u64, bool) -> bool + Send,
) -> Result<(u64, LiveReport), D::Error> {
    std::thread::scope(|scope| {
        let control = scope.spawn(move || {
            let scheduling = match schedule::fifo(PRIORITY) {
                Ok(()) => format!("SCHED_FIFO, priority {PRIORITY}"),
                Err(error) => {
                    format!("normal: SCHED_FIFO refused ({error}); run as root or with CAP_SYS_NICE")
                }
            };
            control_loop(driven, plan, scheduling, &mut go_on)
        });
        match control.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn control_loop<D: Driven>(
    driven: &mut D,
    Loop { steps, step, points }: Loop<'_>,
    scheduling: String,
    go_on: &mut dyn FnMut(u64, bool) -> bool,
) -> Result<(u64, LiveReport), D::Error> {
    let steps_per_tick = ((PERIOD.as_secs_f64() / step).round() as u64).max(1);
    let room = steps.div_ceil(steps_per_tick).min(1 << 20) as usize;
    let (mut times, mut track) = (Vec::with_capacity(room), Vec::with_capacity(room * points.len()));
    let (mut done, mut overruns, mut frames, mut frame_max) = (0, 0, 0, Duration::ZERO);
    let mut due = Instant::now();
    while done < steps {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let now = steps_per_tick.min(steps - done);
        let whole = (times.len() as u64).is_multiple_of(FRAME);
        if let Some(took) = driven.tick(now, points, whole)? {
            frame_max = frame_max.max(took);
            frames += 1;
        }
        done += now;
        let ended = Instant::now();
        times.push(ended - due);
        // What is written later grows with the run: beyond a million ticks only the figures go on.
        if times.len() <= TRACKED {
            track.extend_from_slice(driven.seen());
        }
        due += PERIOD;
        if ended > due {
            overruns += 1;
            due = ended;
        }
        if !go_on(done, driven.is_sound()) {
            break;
        }
    }
    // What the points are after the last step, not during it.
    if done > 0 {
        driven.look(points)?;
    }
    let report = LiveReport {
        period_us: PERIOD.as_secs_f64() * 1e6,
        ticks: times.len() as u64,
        steps_per_tick,
        table: table(points, &times, &track),
        latency_us: Latency::of(&mut times),
        overruns,
        scheduling,
        frames,
        frame_max_ms: frame_max.as_secs_f64() * 1e3,
        points: points
            .iter()
            .zip(driven.seen())
            .map(|(&particle, x)| Point { particle, position: (*x).into() })
            .collect(),
    };
    Ok((done, report))
}

/// Every tick with its latency and where the points were seen, as comma-separated values.
fn table(points: &[u32], times: &[Duration], track: &[Vec3]) -> String {
    let mut csv = "tick,latency_us".to_owned();
    for p in points {
        let _ = write!(csv, ",x{p}_m,y{p}_m,z{p}_m");
    }
    csv.push('\n');
    for (tick, time) in times.iter().take(TRACKED).enumerate() {
        let _ = write!(csv, "{tick},{:.1}", time.as_secs_f64() * 1e6);
        for x in &track[tick * points.len()..][..points.len()] {
            let _ = write!(csv, ",{},{},{}", x.x, x.y, x.z);
        }
        csv.push('\n');
    }
    csv
}

impl LiveReport {
    /// How many times as long as it may a tick takes, where that is too long.
    fn times_too_slow(&self) -> Option<f64> {
        let ratio = self.latency_us.p50 / self.period_us;
        (ratio > 1.0).then_some(ratio)
    }

    /// A few lines for people.
    pub fn lines(&self) -> String {
        let Latency { min, p50, p99, p99_9, max } = self.latency_us;
        let verdict = match self.times_too_slow() {
            Some(ratio) => {
                format!("{ratio:.1} times too slow for {:.0} ticks a second", 1e6 / self.period_us)
            }
            None => format!("{} of {} in time", self.ticks - self.overruns, count(self.ticks, "tick")),
        };
        format!(
            "live: {verdict}; {} each of {} us\n\
             latency in us: min {min:.0}, p50 {p50:.0}, p99 {p99:.0}, p99.9 {p99_9:.0}, max {max:.0}\n\
             {}, the slowest in {:.1} ms; scheduling: {}",
            count(self.steps_per_tick, "step"),
            self.period_us,
            count(self.frames, "whole display"),
            self.frame_max_ms,
            self.scheduling
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Percentiles are members of the set, in order, with the right share below.
        #[test]
        fn latencies_are_ranks(micros in prop::collection::vec(0u64..10_000, 1..3000)) {
            let mut times: Vec<Duration> = micros.iter().map(|&m| Duration::from_micros(m)).collect();
            let found = Latency::of(&mut times);
            let mut sorted = micros;
            sorted.sort_unstable();
            let n = sorted.len();
            let rank = |part: f64| sorted[((part * n as f64).ceil() as usize).clamp(1, n) - 1];
            for (value, part) in [(found.min, 0.0), (found.p50, 0.5), (found.p99, 0.99), (found.p99_9, 0.999), (found.max, 1.0)] {
                prop_assert_eq!(value.round() as u64, rank(part));
            }
            prop_assert_eq!(found.max.round() as u64, sorted[n - 1]);
        }
    }

    #[test]
    fn what_is_too_slow_says_how_many_times() {
        let report = |p50| LiveReport {
            period_us: 1000.0,
            ticks: 10,
            steps_per_tick: 2,
            latency_us: Latency { p50, ..Latency::default() },
            overruns: 3,
            scheduling: String::new(),
            frames: 1,
            frame_max_ms: 0.0,
            points: Vec::new(),
            table: String::new(),
        };
        assert!(report(37_400.0).lines().contains("37.4 times too slow for 1000 ticks a second"));
        assert!(report(200.0).lines().contains("7 of 10 ticks in time"));
    }

    #[test]
    fn every_tick_is_a_line_with_its_points() {
        let scene = Scene::open("box:3x3x3").unwrap();
        let options =
            nendo_model::engine::Options { kind: nendo_model::engine::Kind::F32, ..Default::default() };
        let mut engine = nendo_model::engine::open(&scene, &options).unwrap();
        let plan = Loop { steps: 7, step: scene.step, points: &[0, 26] };
        let (done, report) = run_here(engine.as_mut(), plan, |_, sound| sound).unwrap();
        assert_eq!(done, 7);
        let lines: Vec<&str> = report.table.lines().collect();
        assert_eq!(lines[0], "tick,latency_us,x0_m,y0_m,z0_m,x26_m,y26_m,z26_m");
        assert_eq!(lines.len() as u64, report.ticks + 1);
        let last: Vec<f64> = lines.last().unwrap().split(',').skip(5).map(|c| c.parse().unwrap()).collect();
        assert_eq!(last[..], engine.positions().unwrap()[26].as_slice()[..]);
    }

    #[test]
    fn no_ticks_no_latency() {
        assert_eq!(Latency::of(&mut []), Latency::default());
    }
}
