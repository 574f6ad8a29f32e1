//! Whose process this is.

/// The number of the user whose rights this process has.
pub(crate) fn user() -> u32 {
    // SAFETY: the call has no arguments and cannot fail.
    unsafe { libc::geteuid() }
}
