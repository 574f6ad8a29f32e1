//! Threads that do the phases of a step together.
//!
//! Between phases everyone waits for everyone. Who waits looks for a while, since the others are mostly done at about
//! the same time and falling asleep takes longer than a phase; then it sleeps, so that a core shared with others
//! is not burnt.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// How often who waits looks before it sleeps: some tens of microseconds.
const LOOKS: u32 = 4000;

/// Some threads.
pub(crate) struct Team {
    pool: ThreadPool,
}

/// Where the threads of a team meet.
struct Meeting {
    members: usize,
    arrived: AtomicUsize,
    /// How often all have met.
    met: AtomicUsize,
    /// One of them will not come any more.
    broken: AtomicBool,
    sleepers: Mutex<()>,
    wake: Condvar,
}

/// One thread of a team at work.
pub(crate) struct Member<'a> {
    meeting: &'a Meeting,
    /// Its number in the team.
    index: usize,
}

impl Drop for Member<'_> {
    /// Who panics tells the others, who would wait for ever.
    fn drop(&mut self) {
        if thread::panicking() {
            let _sleepers = self.meeting.lock();
            self.meeting.broken.store(true, Ordering::Release);
            self.meeting.wake.notify_all();
        }
    }
}

impl Team {
    /// A team of so many.
    pub(crate) fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        // A pool of its own, so that the number of threads means what it says.
        Ok(Self { pool: ThreadPoolBuilder::new().num_threads(threads).build()? })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The first `members` do `work` at the same time.
    pub(crate) fn work(&self, members: usize, work: impl Fn(&Member) + Sync) {
        let meeting = Meeting {
            members: members.clamp(1, self.len()),
            arrived: AtomicUsize::new(0),
            met: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            sleepers: Mutex::new(()),
            wake: Condvar::new(),
        };
        self.pool.broadcast(|context| {
            if context.index() < meeting.members {
                work(&Member { meeting: &meeting, index: context.index() });
            }
        });
    }
}

impl Member<'_> {
    /// Does the tasks of a phase that nobody else has begun, its own share first, then waits until all are done. A task
    /// counts in its entry of `begun` the phases it has been in; all members do the same phases in the same order.
    pub(crate) fn phase(&self, number: usize, begun: &[AtomicUsize], mut task: impl FnMut(usize)) {
        let first = begun.len() * self.index / self.meeting.members;
        for k in (first..begun.len()).chain(0..first) {
            let mine = begun[k].compare_exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed);
            if mine.is_ok() {
                task(k);
            }
        }
        self.meeting.wait();
    }
}

impl Meeting {
    /// Returns when all have called it.
    fn wait(&self) {
        let check =
            || assert!(!self.broken.load(Ordering::Acquire), "another thread of the team has panicked");
        let met = self.met.load(Ordering::Acquire);
        // What everyone did before is seen by everyone after: each arrival is acquired by the last, which releases.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.arrived.store(0, Ordering::Relaxed);
            let sleepers = self.lock();
            self.met.store(met.wrapping_add(1), Ordering::Release);
            drop(sleepers);
            self.wake.notify_all();
            return;
        }
        for _ in 0..LOOKS {
            if self.met.load(Ordering::Acquire) != met {
                return;
            }
            check();
            hint::spin_loop();
        }
        let mut sleepers = self.lock();
        while self.met.load(Ordering::Acquire) == met {
            check();
            sleepers = self.wake.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Every task once per phase, and never before all tasks of the phase before are done, even if some are slow.
    #[test]
    fn phases_follow_each_other() {
        for threads in [1, 2, 3, 8] {
            let team = Team::new(threads).unwrap();
            let (begun, done): (Vec<_>, Vec<_>) =
                (0..5).map(|_| (AtomicUsize::new(0), AtomicUsize::new(0))).unzip();
            team.work(threads, |member| {
                for number in 0..50 {
                    member.phase(number, &begun, |k| {
                        let least = done.iter().map(|d| d.load(Ordering::Relaxed)).min();
                        assert_eq!(least, Some(number));
                        if (k + number) % 40 == 0 {
                            thread::sleep(Duration::from_millis(2));
                        }
                        assert_eq!(done[k].fetch_add(1, Ordering::Relaxed), number);
                    });
                }
            });
            assert!(done.iter().all(|d| d.load(Ordering::Relaxed) == 50));
        }
    }

    /// Who is not asked does not hold up the others.
    #[test]
    fn a_part_of_a_team_works_alone() {
        let (team, begun) = (Team::new(4).unwrap(), [const { AtomicUsize::new(0) }; 3]);
        team.work(2, |member| {
            assert!(member.index < 2);
            (0..9).for_each(|number| member.phase(number, &begun, |_| ()));
        });
        assert!(begun.iter().all(|b| b.load(Ordering::Relaxed) == 9));
    }

    #[test]
    #[should_panic(expected = "panicked")]
    fn a_panic_ends_the_work_of_all() {
        let begun: Vec<_> = (0..2).map(|_| AtomicUsize::new(0)).collect();
        Team::new(2)
            .unwrap()
            .work(2, |member| member.phase(0, &begun, |k| assert_ne!(k, 1, "panicked here")));
    }
}
