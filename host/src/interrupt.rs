//! Ctrl-C: asked once, the work in hand is brought to a consistent end; asked twice, the program ends.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C only asks. Without effect where the system does not allow it.
pub(crate) fn listen() {
    let asked = || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    // A second call in the same process finds the handler in place already.
    let _ = ctrlc::set_handler(asked);
}

/// Whether it was asked for.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
