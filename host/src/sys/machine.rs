//! What the first process of a machine must do: mount the kernel's file systems, switch the machine off.

use std::{ffi::CString, io, ptr};

/// Mounts a file system of the kernel's own.
pub(crate) fn mount(kind: &str, place: &str) -> io::Result<()> {
    std::fs::create_dir_all(place)?;
    let (kind, place) = (CString::new(kind)?, CString::new(place)?);
    // SAFETY: all strings end in NUL and outlive the call; these file systems take no data.
    let result = unsafe { libc::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), 0, ptr::null()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
