//! Progress on long work: a bar on a terminal, nothing elsewhere.

use crate::interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// Whether nobody wants to see any.
static HIDDEN: AtomicBool = AtomicBool::new(false);

/// From now on nothing is shown.
pub(crate) fn hide() {
    HIDDEN.store(true, Ordering::Relaxed);
}

/// Stderr if that is a terminal and somebody wants to see.
fn target() -> ProgressDrawTarget {
    if HIDDEN.load(Ordering::Relaxed) { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// Runs `total` steps in pieces of about a tenth of a second, showing how far it is.
///
/// `piece` takes so many steps and says whether to go on. Ctrl-C ends it after a piece. Returns the steps taken.
pub(crate) fn in_pieces<E>(
    what: &str,
    total: u64,
    mut piece: impl FnMut(u64) -> Result<bool, E>,
) -> Result<u64, E> {
    let bar = bar(what, total);
    let (mut done, mut size) = (0, 1);
    while done < total {
        let now = size.min(total - done);
        let started = Instant::now();
        let go_on = piece(now)?;
        done += now;
        bar.set_position(done);
        let took = started.elapsed();
        if took < Duration::from_millis(50) {
            size *= 2;
        } else if took > Duration::from_millis(200) {
            size = (size / 2).max(1);
        }
        if !go_on || interrupt::requested() {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(done)
}

/// A bar on stderr, hidden unless that is a terminal.
pub(crate) fn bar(what: &str, total: u64) -> ProgressBar {
    bar_of(what, total, "steps")
}

/// The same for something else than steps.
pub(crate) fn bar_of(what: &str, total: u64, things: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), target());
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{{msg}} {{bar:30}} {{pos}}/{{len}} {things}, {{eta}} left"))
    {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

/// What takes longer is said to be under way where nothing can turn.
const LONG: Duration = Duration::from_secs(2);

/// Does work of unknown length, while something turns on a terminal; elsewhere a line says what takes so long.
pub(crate) fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let target = target();
    if target.is_hidden() && !HIDDEN.load(Ordering::Relaxed) {
        return announced(what, LONG, |line| eprintln!("{line}"), work);
    }
    let turning = ProgressBar::with_draw_target(None, target);
    turning.set_message(what.to_owned());
    turning.enable_steady_tick(Duration::from_millis(100));
    let done = work();
    turning.finish_and_clear();
    done
}

/// Says what is done once it takes longer than `patience`.
fn announced<T>(
    what: &str,
    patience: Duration,
    say: impl FnOnce(String) + Send,
    work: impl FnOnce() -> T,
) -> T {
    let (done, waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                say(format!("{what} ..."));
            }
        });
        let result = work();
        drop(done);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Filling a fine surface took minutes without a word where stderr is no terminal.
    #[test]
    fn long_preparation_is_announced_and_short_is_not() {
        for (takes, said) in [(0, 0), (300, 1)] {
            let mut lines = Vec::new();
            let work = || thread::sleep(Duration::from_millis(takes));
            announced("filling", Duration::from_millis(100), |line| lines.push(line), work);
            assert_eq!(lines, vec!["filling ..."; said]);
        }
    }

    #[test]
    fn every_step_is_taken_once_and_stopping_stops() {
        let mut taken = 0;
        let done = in_pieces("test", 1000, |n| {
            taken += n;
            Ok::<_, ()>(true)
        });
        assert_eq!((done, taken), (Ok(1000), 1000));
        assert_eq!(in_pieces("test", 1000, |_| Ok::<_, ()>(false)), Ok(1));
        assert_eq!(in_pieces("test", 0, |_| Ok::<_, ()>(false)), Ok(0));
    }
}
