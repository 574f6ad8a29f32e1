//! How many threads to use on a machine that others use, too.
//!
//! Between phases everyone waits for everyone: a thread that has to share its core holds up all, and then fewer threads
//! are faster. Which count is fastest changes while others come and go, so the work goes on with the fastest known,
//! and now and then a little of it is done with half or double as many.

use std::time::Duration;

/// A count is judged by so much work: longer than the turns that a scheduler gives to programs on one core.
const TURN: Duration = Duration::from_millis(8);
/// Every so many turns another count is tried.
const TRY: u32 = 48;

/// Counts of threads and how fast they were.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Each half of the one before, the last is one.
    counts: Vec<usize>,
    /// Seconds per step of late, where they were tried.
    cost: Vec<Option<f64>>,
    /// The one at work.
    now: usize,
    /// Steps and time of the turn under way.
    turn: (u64, Duration),
    /// Turns until another count is tried, and whether that one will be smaller.
    left: u32,
    smaller: bool,
}

impl Pace {
    /// For up to so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        let counts: Vec<usize> =
            std::iter::successors(Some(threads.max(1)), |n| (*n > 1).then_some(n / 2)).collect();
        let cost = vec![None; counts.len()];
        Self { counts, cost, now: 0, turn: (0, Duration::ZERO), left: 1, smaller: true }
    }

    /// Threads to use now.
    pub(crate) fn threads(&self) -> usize {
        self.counts[self.now]
    }

    /// Steps to take, of so many, before [`Self::took`] is told how long they took.
    pub(crate) fn steps(&self, wanted: u64) -> u64 {
        match self.cost[self.now] {
            Some(cost) => wanted.min((TURN.as_secs_f64() / cost.max(1e-9)).ceil() as u64),
            None => wanted.min(1),
        }
    }

    /// So many steps took so long.
    pub(crate) fn took(&mut self, steps: u64, time: Duration) {
        self.turn = (self.turn.0 + steps, self.turn.1 + time);
        let (steps, time) = self.turn;
        if time < TURN {
            return self.cost[self.now] = self.cost[self.now].or(Some(time.as_secs_f64() / steps as f64));
        }
        self.turn = (0, Duration::ZERO);
        self.cost[self.now] = Some(time.as_secs_f64() / steps as f64);
        self.left = self.left.saturating_sub(1);
        let fastest = (0..self.counts.len()).min_by(|&a, &b| {
            let cost = |k: usize| self.cost[k].unwrap_or(f64::INFINITY);
            cost(a).total_cmp(&cost(b))
        });
        self.now = fastest.unwrap_or(0);
        if self.left == 0 {
            self.left = TRY;
            self.try_another();
        }
    }

    /// A neighbour of the fastest, smaller and larger ones in turns.
    fn try_another(&mut self) {
        let neighbours = [self.now.checked_sub(1), Some(self.now + 1).filter(|k| *k < self.counts.len())];
        let [larger, smaller] = neighbours;
        let tried = if self.smaller { smaller.or(larger) } else { larger.or(smaller) };
        self.smaller = !self.smaller;
        if let Some(tried) = tried {
            self.now = tried;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps done in so many seconds on a machine where a step on `n` threads takes `cost(n)` seconds.
    fn run(pace: &mut Pace, seconds: f64, cost: impl Fn(usize) -> f64) -> f64 {
        let (mut time, mut done) = (0.0, 0);
        while time < seconds {
            let steps = pace.steps(1000);
            let took = steps as f64 * cost(pace.threads());
            pace.took(steps, Duration::from_secs_f64(took));
            (time, done) = (time + took, done + steps);
        }
        done as f64 / time
    }

    /// Two threads on a machine with one core free were five times slower than one.
    #[test]
    fn a_busy_machine_made_two_threads_slower_than_one() {
        let (idle, busy) = (|n: usize| 1e-3 / n as f64, |n: usize| [1e-3, 5e-3][n - 1]);
        let mut pace = Pace::new(2);
        let first = run(&mut pace, 10.0, busy);
        assert!(first > 0.9e3, "busy: {first} steps/s");
        let then = run(&mut pace, 10.0, idle);
        assert!(then > 0.95 * 2e3, "idle: {then} steps/s");
        let again = run(&mut pace, 10.0, busy);
        assert!(again > 0.9e3, "busy again: {again} steps/s");
    }

    /// The fastest of many counts is found, wherever it is.
    #[test]
    fn the_fastest_count_is_found() {
        for best in [1, 2, 4, 8, 16] {
            let cost = |n: usize| 1e-4 * (1.0 + (n as f64 / f64::from(best)).log2().abs());
            let mut pace = Pace::new(16);
            run(&mut pace, 10.0, cost);
            let rate = run(&mut pace, 10.0, cost);
            assert!(rate > 0.95e4, "{best}: {rate} steps/s");
        }
    }

    /// A live run asks for one step at a time.
    #[test]
    fn turns_go_on_over_short_runs() {
        let mut pace = Pace::new(2);
        let mut seen = [0; 3];
        for _ in 0..10_000 {
            assert_eq!(pace.steps(1), 1);
            seen[pace.threads()] += 1;
            let took = if pace.threads() == 2 { 500 } else { 300 };
            pace.took(1, Duration::from_micros(took));
        }
        assert!(seen[1] > 9_000 && seen[2] > 100, "{seen:?}");
    }
}
