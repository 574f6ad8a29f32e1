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
    /// Share of its time that a thread of this process could have run but had to wait for a core.
    pub waiting: f64,
}

impl Contention {
    /// Whether a time on several threads means anything.
    pub fn is_quiet(self) -> bool {
        self.others_cores < 0.1 && self.waiting < 0.02
    }
}

/// Counters at one moment.
#[derive(Clone, Copy, Debug)]
struct Counters {
    at: Instant,
    /// Seconds of all cores at work.
    busy: f64,
    /// Seconds of this process at work, and waiting for a core.
    own: f64,
    waiting: f64,
}

/// Adds up what happens between starts and stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch {
    wall: f64,
    others: f64,
    waiting: f64,
    unknown: bool,
}

impl Watch {
    /// Runs some work; returns how long it took.
    pub fn time(&mut self, work: impl FnOnce()) -> Duration {
        let before = counters();
        let started = Instant::now();
        work();
        let took = started.elapsed();
        match (before, counters()) {
            (Some(a), Some(b)) => {
                self.wall += (b.at - a.at).as_secs_f64();
                self.others += (b.busy - a.busy) - (b.own - a.own);
                self.waiting += b.waiting - a.waiting;
            }
            _ => self.unknown = true,
        }
        took
    }

    /// What was seen, for work on so many threads; nothing if this system does not say.
    pub fn contention(&self, threads: usize) -> Option<Contention> {
        (!self.unknown && self.wall > 0.0).then(|| Contention {
            others_cores: (self.others / self.wall).max(0.0),
            waiting: (self.waiting / self.wall / threads as f64).max(0.0),
        })
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
        assert!(Contention::default().is_quiet());
        assert!(!Contention { others_cores: 0.5, waiting: 0.0 }.is_quiet());
        assert!(!Contention { others_cores: 0.0, waiting: 0.1 }.is_quiet());
    }

    /// Two threads on one core's worth of work wait for each other; here only that time is counted at all.
    #[test]
    fn a_watch_measures_time() {
        let mut watch = Watch::default();
        let took = watch.time(|| std::thread::sleep(Duration::from_millis(30)));
        assert!(took >= Duration::from_millis(30));
        if cfg!(target_os = "linux") {
            assert!(watch.contention(1).is_some());
        }
    }
}
