//! System calls that leave errno alone. In libflick they are its own (`flick-own`): no program's
//! definition comes between.
use std::ffi::c_long;

use super::errno::{last_errno, set_errno};

/// The result; errors are negative numbers. Async-signal-safe.
///
/// # Safety
/// The arguments must be valid for this system call.
pub unsafe fn system_call(number: c_long, arguments: [usize; 4]) -> isize {
    let before = last_errno();
    let [a, b, c, d] = arguments;
    // SAFETY: by contract.
    let result = unsafe { libc::syscall(number, a, b, c, d, 0_usize, 0_usize) };
    if result != -1 {
        return result as isize;
    }
    let error = last_errno();
    set_errno(before);
    -(error as isize)
}
