//! Unwind information for translated code: one description for all of it, since each place of it finds the
//! frame of [`enter`](flick_engine::translate) in the hart. NxP frames are not described here: where the
//! host is called they are ([`crate::unwinding`]), and from a handler of a signal they cannot be walked.
use std::ffi::c_void;

use flick_engine::translate;

unsafe extern "C" {
    fn __register_frame(begin: *const c_void);
}

/// Tells the C++ runtime of the code from `start` to `end`. For once in a process.
pub fn register(start: u64, end: u64) {
    let section = translate::unwind_section(start, end);
    // SAFETY: a complete section that stays; the code stays reserved.
    unsafe { __register_frame(Box::leak(section.into_boxed_slice()).as_ptr().cast()) };
}
