//! When steps are due.

use std::time::{Duration, Instant};

/// An engine computes for so long, in seconds, before it looks at commands again.
const BATCH: f64 = 0.004;
/// How far behind its pace an engine may fall, in seconds, before the rest is forgotten.
const DEBT: f64 = 0.1;

/// When steps are due.
pub(super) struct Pace {
    /// Simulated seconds per second; none for as fast as possible.
    pub(super) speed: Option<f64>,
    since: Instant,
    /// Steps taken since then.
    done: f64,
    /// Seconds a step takes.
    cost: f64,
}

impl Pace {
    /// Real time.
    pub(super) fn new() -> Self {
        Self { speed: Some(1.0), since: Instant::now(), done: 0.0, cost: 1e-3 }
    }

    pub(super) fn restart(&mut self) {
        (self.since, self.done) = (Instant::now(), 0.0);
    }

    /// Steps that can be taken before commands are to be looked at again.
    pub(super) fn batch(&self) -> f64 {
        (BATCH / self.cost).clamp(1.0, 1e6)
    }

    /// Steps to take now, of `step` seconds each.
    pub(super) fn due(&mut self, step: f64) -> u64 {
        let batch = self.batch();
        let Some(speed) = self.speed else { return batch as u64 };
        let owed = self.since.elapsed().as_secs_f64() * speed / step - self.done;
        if owed > (DEBT * speed / step).max(1.0) {
            self.restart();
            return batch as u64;
        }
        owed.min(batch) as u64
    }

    pub(super) fn took(&mut self, steps: u64, time: Duration) {
        self.done += steps as f64;
        self.cost = (time.as_secs_f64() / steps as f64).max(1e-9);
    }
}
