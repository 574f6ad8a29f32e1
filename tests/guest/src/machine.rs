//! What the first process of a machine must do: mount the kernel's file systems, load its modules, switch the machine
//! off.
#![allow(unsafe_code, reason = "system calls that the standard library does not offer")]

use std::{ffi::CString, fs::File, io, os::fd::AsRawFd, path::Path, ptr, time::Duration};

/// Mounts a file system of the kernel's own.
pub(crate) fn mount(kind: &str, place: &str) -> io::Result<()> {
    std::fs::create_dir_all(place)?;
    let (kind, place) = (CString::new(kind)?, CString::new(place)?);
    // SAFETY: all strings end in NUL and outlive the call; these file systems take no data.
    let result = unsafe { libc::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), 0, ptr::null()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Loads a module into the kernel, with no parameters.
pub(crate) fn load_module(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // SAFETY: the descriptor is open and the string of parameters ends in NUL; both outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Processor time that this process has taken.
pub(crate) fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills one structure, which outlives the call; the clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Ends the machine. Only the first process may; for any other this is an error.
pub(crate) fn power_off() -> io::Error {
    if std::process::id() != 1 {
        return io::Error::other("only a machine's first process switches it off");
    }
    // SAFETY: takes no pointers; what is written is on its way already.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_AUTOBOOT);
    }
    io::Error::last_os_error()
}
