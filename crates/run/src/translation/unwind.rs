//! Unwind information for translated code: one description for all of it, since each place of it finds the
//! frame of [`enter`](flick_translator) in the hart. NxP frames are not described here: where the
//! host is called they are ([`crate::unwinding`]), and from a handler of a signal they cannot be walked.
use std::ffi::c_void;

unsafe extern "C" {
    fn __register_frame_info(begin: *const c_void, object: *mut c_void);
}

/// libgcc's `struct object`, seven words in all its versions; `__register_frame` would ask the program's `malloc` for it.
static mut OBJECT: [usize; 16] = [0; 16];

/// Tells the C++ runtime of the code from `start` to `end`. For once in a process.
pub fn register(start: u64, end: u64) {
    let section = flick_translator::unwind_section(start, end);
    let section = Box::leak(section.into_boxed_slice());
    // SAFETY: a complete section that stays; the code stays reserved. The object is libgcc's from here on.
    unsafe { __register_frame_info(section.as_ptr().cast(), (&raw mut OBJECT).cast()) };
}
