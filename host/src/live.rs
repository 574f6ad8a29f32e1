//! Live: the board in a control loop at 1 kHz, as force display needs it.
//!
//! Each tick writes the forces of the chosen points, starts the steps that make up a millisecond, reads the
//! points while the engine computes, and waits for it. Now and then the whole display is read. How long a tick
//! takes from when it was due, and how often the next one was due before it ended, is measured.

use crate::{board::BoardError, device::Device, engine::BoardEngine, sys::schedule};
use nendo_model::scene::Scene;
use serde::Serialize;
use std::time::{Duration, Instant};

/// One tick.
pub const PERIOD: Duration = Duration::from_millis(1);
/// Ticks from one whole display to the next: 30 pictures a second.
const FRAME: u64 = 33;
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

/// Runs `steps` steps of `step` seconds in a control loop; returns how many were taken.
///
/// `go_on` is asked after each tick.
pub fn run<D: Device>(
    engine: &mut BoardEngine<D>,
    steps: u64,
    step: f64,
    points: &[u32],
    mut go_on: impl FnMut(u64, &BoardEngine<D>) -> bool + Send,
) -> Result<(u64, LiveReport), BoardError> {
    std::thread::scope(|scope| {
        let control = scope.spawn(move || {
            let scheduling = match schedule::fifo(PRIORITY) {
                Ok(()) => format!("SCHED_FIFO, priority {PRIORITY}"),
                Err(error) => {
                    format!("normal: SCHED_FIFO refused ({error}); run as root or with CAP_SYS_NICE")
                }
            };
            control_loop(engine, steps, step, points, scheduling, &mut go_on)
        });
        match control.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn control_loop<D: Device>(
    engine: &mut BoardEngine<D>,
    steps: u64,
    step: f64,
    points: &[u32],
    scheduling: String,
    go_on: &mut dyn FnMut(u64, &BoardEngine<D>) -> bool,
) -> Result<(u64, LiveReport), BoardError> {
    let steps_per_tick = ((PERIOD.as_secs_f64() / step).round() as u64).max(1);
    let mut times = Vec::with_capacity(steps.div_ceil(steps_per_tick).min(1 << 20) as usize);
    let (mut done, mut overruns, mut frames, mut frame_max) = (0, 0, 0, Duration::ZERO);
    let mut seen = vec![[0; 3]; points.len()];
    let mut due = Instant::now();
    while done < steps {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let now = steps_per_tick.min(steps - done);
        let whole = (times.len() as u64).is_multiple_of(FRAME);
        engine.refresh_forces(points)?;
        engine.run_while(now, |board| {
            seen = board.points(points)?;
            if whole {
                let asked = Instant::now();
                board.display()?;
                frame_max = frame_max.max(asked.elapsed());
                frames += 1;
            }
            Ok(())
        })?;
        done += now;
        let ended = Instant::now();
        times.push(ended - due);
        due += PERIOD;
        if ended > due {
            overruns += 1;
            due = ended;
        }
        if !go_on(done, engine) {
            break;
        }
    }
    // What the points are after the last step, not during it.
    if done > 0 {
        seen = engine.board().points(points)?;
    }
    let image = engine.image();
    let residual = image.numbers().x.residual;
    let position = |x: &[i32; 3]| image.position(x.map(|c| c << residual)).into();
    let report = LiveReport {
        period_us: PERIOD.as_secs_f64() * 1e6,
        ticks: times.len() as u64,
        steps_per_tick,
        latency_us: Latency::of(&mut times),
        overruns,
        scheduling,
        frames,
        frame_max_ms: frame_max.as_secs_f64() * 1e3,
        points: points
            .iter()
            .zip(&seen)
            .map(|(&particle, x)| Point { particle, position: position(x) })
            .collect(),
    };
    Ok((done, report))
}

impl LiveReport {
    /// A few lines for people.
    pub fn lines(&self) -> String {
        let Latency { min, p50, p99, p99_9, max } = self.latency_us;
        format!(
            "live: {} ticks of {} us, {} steps each; {} overruns\n\
             latency in us: min {min:.0}, p50 {p50:.0}, p99 {p99:.0}, p99.9 {p99_9:.0}, max {max:.0}\n\
             {} whole displays, the slowest in {:.1} ms; scheduling: {}",
            self.ticks,
            self.period_us,
            self.steps_per_tick,
            self.overruns,
            self.frames,
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
    fn no_ticks_no_latency() {
        assert_eq!(Latency::of(&mut []), Latency::default());
    }
}
