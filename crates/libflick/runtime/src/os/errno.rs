//! The C library's errno of the calling thread.

/// The error number of the last call that failed.
pub(crate) fn last_errno() -> i32 {
    // SAFETY: the C library's errno of this thread.
    unsafe { *libc::__errno_location() }
}

/// Sets the number that the program sees.
pub(crate) fn set_errno(errno: i32) {
    // SAFETY: the C library's errno of this thread.
    unsafe { *libc::__errno_location() = errno };
}
