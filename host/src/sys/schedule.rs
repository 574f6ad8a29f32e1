//! Real-time scheduling of a thread.

use std::io;

/// Asks for SCHED_FIFO for the calling thread, until it ends.
pub(crate) fn fifo(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: 0 is the calling thread; the parameters are read during the call.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
