//! libc's thread functions in a static program: the linker leads their callers here (`--wrap`).
use std::ffi::{c_int, c_void};

use flick_runtime::accounts::timed::threads::Start;

unsafe extern "C" {
    fn __real_pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        start: Start,
        argument: *mut c_void,
    ) -> c_int;
    fn __real_pthread_join(thread: libc::pthread_t, result: *mut *mut c_void) -> c_int;
}

extern "C" fn find_join() -> *const c_void {
    __real_pthread_join as *const c_void
}

flick_runtime::thread_shims! {
    prefix: "__wrap_",
    pthread_create: __real_pthread_create,
    pthread_join: find_join,
}
