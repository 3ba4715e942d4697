//! Cancellation: a thread that waits in the order is roused, and goes on to the C library's function,
//! which ends it.
use std::ffi::c_int;

use super::{asked, ordered, real};
use crate::accounts::timed::order::Here;

/// `PTHREAD_CANCEL_ENABLE` of glibc.
const ENABLE: c_int = 0;

type SetState = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;

/// Whether the calling thread may be cancelled.
pub fn is_enabled() -> bool {
    let set = real!(pthread_setcancelstate: SetState);
    let mut state = ENABLE;
    // SAFETY: places for the state. It is what it was behind the two calls.
    unsafe {
        set(1, &mut state);
        set(state, std::ptr::null_mut());
    }
    state == ENABLE
}

fn cancel(here: &Here, thread: usize) {
    here.rouse(thread as libc::pthread_t);
}

ordered! {
    pthread_cancel(arguments, here) {
        cancel(&here, arguments[0]);
        super::Answer::go_on(real!(pthread_cancel))
    }
}

asked! {
    pthread_setcancelstate(_arguments, _place) {
        super::Answer::go_on(real!(pthread_setcancelstate))
    }
}
