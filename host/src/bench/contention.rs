//! Who else used the machine while something was timed (Linux; elsewhere nobody knows).

use serde::Serialize;
use std::{
    fs,
    time::{Duration, Instant},
};

/// What was seen during a stretch of time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Contention {
    /// Cores in use by other processes, on average.
    pub others_cores: f64,
    /// Share of the time that threads of this process could have run but had to wait for a core.
    pub waiting: f64,
}

impl Contention {
    /// Whether nobody else was in the way of so many threads.
    pub fn is_quiet(self, threads: usize) -> bool {
        self.waiting < 0.02 && (threads == 1 || self.others_cores < 0.1)
    }
}

/// Counters at one moment, in seconds.
#[derive(Clone, Copy, Debug)]
struct Counters {
    at: Instant,
    /// All cores at work.
    busy: f64,
    /// This process at work, and waiting for a core.
    own: f64,
    waiting: f64,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// How long it was.
    pub took: Duration,
    /// Seconds of other processes at work and of threads that waited; unless this system does not say.
    seen: Option<(f64, f64)>,
}

impl Stretch {
    /// Times some work.
    pub fn of(work: impl FnOnce()) -> Self {
        let before = counters();
        let started = Instant::now();
        work();
        let took = started.elapsed();
        let seen = before.zip(counters()).map(|(a, b)| {
            let own = b.own - a.own;
            (
                b.busy - a.busy - own,
                (b.waiting - a.waiting) * (took.as_secs_f64() / (b.at - a.at).as_secs_f64()),
            )
        });
        Self { took, seen }
    }

    /// Whether a thread of this process had to wait for a core for more than a fiftieth of the time.
    pub fn is_disturbed(&self) -> bool {
        self.seen.is_none_or(|(_, waiting)| waiting > 0.02 * self.took.as_secs_f64())
    }

    /// What was seen over some stretches; nothing if this system does not say.
    pub fn contention(stretches: &[Self]) -> Option<Contention> {
        let wall: f64 = stretches.iter().map(|s| s.took.as_secs_f64()).sum();
        let mut sum = Contention::default();
        for stretch in stretches {
            let (others, waiting) = stretch.seen?;
            sum.others_cores += others / wall;
            sum.waiting += waiting / wall;
        }
        let share = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
        Some(Contention { others_cores: share(sum.others_cores), waiting: share(sum.waiting) })
    }
}

fn counters() -> Option<Counters> {
    let at = Instant::now();
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let busy = busy_seconds(stat.lines().next()?)?;
    let (mut own, mut waiting) = (0.0, 0.0);
    for task in fs::read_dir("/proc/self/task").ok()? {
        // A thread may end while we look.
        if let Ok(text) = fs::read_to_string(task.ok()?.path().join("schedstat")) {
            let mut numbers = text.split_whitespace().map_while(|n| n.parse::<u64>().ok());
            own += numbers.next()? as f64 * 1e-9;
            waiting += numbers.next()? as f64 * 1e-9;
        }
    }
    Some(Counters { at, busy, own, waiting })
}

/// From the first line of /proc/stat: all but idle time and waiting for disks; time the hypervisor gave to
/// somebody else counts as busy. A tick is a hundredth of a second on every Linux in use.
fn busy_seconds(line: &str) -> Option<f64> {
    let mut fields = line.strip_prefix("cpu ")?.split_whitespace().map_while(|n| n.parse::<u64>().ok());
    let [user, nice, system, _idle, _disk, irq, softirq, steal]: [u64; 8] = [
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
    ];
    Some((user + nice + system + irq + softirq + steal) as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_all_cores_is_understood() {
        assert_eq!(busy_seconds("cpu  100 20 30 9999 50 6 7 8 0 0"), Some(1.71));
        for wrong in ["", "cpu0 1 2 3 4 5 6 7 8", "cpu  1 2 3", "cpu  a b"] {
            assert_eq!(busy_seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn busy_is_not_quiet() {
        let seen = |others_cores, waiting| Contention { others_cores, waiting };
        assert!(seen(0.0, 0.0).is_quiet(2) && seen(0.5, 0.0).is_quiet(1));
        assert!(!seen(0.5, 0.0).is_quiet(2) && !seen(0.0, 0.1).is_quiet(1));
    }

    #[test]
    fn stretches_add_up() {
        let stretch =
            |others, waiting| Stretch { took: Duration::from_secs(2), seen: Some((others, waiting)) };
        assert!(stretch(0.0, 0.1).is_disturbed() && !stretch(2.0, 0.01).is_disturbed());
        let sum = Stretch::contention(&[stretch(1.0, 0.0), stretch(0.0, 0.4)]).unwrap();
        assert_eq!((sum.others_cores, sum.waiting), (0.25, 0.1));
        let unknown = Stretch { took: Duration::from_secs(1), seen: None };
        assert!(unknown.is_disturbed() && Stretch::contention(&[unknown]).is_none());
        let slept = Stretch::of(|| std::thread::sleep(Duration::from_millis(30)));
        assert!(slept.took >= Duration::from_millis(30));
        assert_eq!(slept.seen.is_some(), cfg!(target_os = "linux"));
    }
}
