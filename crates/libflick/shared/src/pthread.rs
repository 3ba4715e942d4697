//! libc's thread functions, ahead of libc in symbol lookup: those of C++'s and OpenMP's libraries
//! come by here, too.
use std::ffi::{c_char, c_void};

use crate::next_definition::Next;

static PTHREAD_CREATE: Next = Next::new(c"pthread_create");
static PTHREAD_JOIN: Next = Next::new(c"pthread_join");

extern "C" fn find_join() -> *mut c_void {
    PTHREAD_JOIN.find()
}

flick_runtime::thread_shims! {
    prefix: "",
    pthread_create: PTHREAD_CREATE.function(),
    pthread_join: find_join,
}

/// For `libflick-time` (`flick_abi::thread_order::NEXT`): libc's own function of this name.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_order_next(name: *const c_char) -> *mut c_void {
    // SAFETY: by contract; looks a symbol up behind libflick, and with it behind libflick-time.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name) }
}
