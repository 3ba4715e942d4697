//! System calls that leave errno alone. In libflick they are its own (`flick-own`): no program's
//! definition comes between.
use std::ffi::c_long;

use super::errno::{last_errno, set_errno};

/// The result for up to six arguments; errors are negative numbers. Async-signal-safe.
///
/// # Safety
/// The arguments must be valid for this system call.
pub unsafe fn system_call<const N: usize>(number: c_long, arguments: [usize; N]) -> isize {
    let before = last_errno();
    let mut all = [0_usize; 6];
    all[..N].copy_from_slice(&arguments);
    let [a, b, c, d, e, f] = all;
    // SAFETY: by contract.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result != -1 {
        return result as isize;
    }
    let error = last_errno();
    set_errno(before);
    -(error as isize)
}
