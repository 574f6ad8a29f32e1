//! Events of the kernel as files: counters that are written by one side and waited for by the other.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::{AsRawFd, FromRawFd},
    time::Duration,
};

/// A new counter, at zero. Reading it when it is zero does not block.
pub(crate) fn counter() -> io::Result<File> {
    // SAFETY: takes two numbers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us; nobody else owns it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Waits until a counter is above zero and sets it back: whether it was, within this time.
pub(crate) fn wait(mut counter: &File, time: Duration) -> io::Result<bool> {
    let milliseconds = i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    let mut poll = libc::pollfd { fd: counter.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure, which outlives the call.
    match unsafe { libc::poll(&raw mut poll, 1, milliseconds) } {
        0 => return Ok(false),
        ready if ready < 0 => {
            let error = io::Error::last_os_error();
            // A signal: whoever waits will look, and wait again.
            return if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) };
        }
        _ => {}
    }
    match counter.read(&mut [0; 8]) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes writes to somebody else's counter fail rather than block.
#[cfg(feature = "cli")]
pub(crate) fn never_block(file: &File) -> io::Result<()> {
    // SAFETY: these requests take and give plain numbers.
    let done = unsafe {
        let flags = libc::fcntl(file.as_raw_fd(), libc::F_GETFL);
        flags >= 0 && libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) >= 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_event_is_seen_once() {
        let event = counter().unwrap();
        never_block(&event).unwrap();
        assert!(!wait(&event, Duration::ZERO).unwrap());
        (&event).write_all(&1u64.to_ne_bytes()).unwrap();
        (&event).write_all(&1u64.to_ne_bytes()).unwrap();
        assert!(wait(&event, Duration::from_secs(9)).unwrap());
        assert!(!wait(&event, Duration::from_millis(1)).unwrap());
    }
}
