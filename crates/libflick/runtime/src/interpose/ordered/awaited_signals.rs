//! Waiting for signals: of a thread that is alone, until a timer in virtual time sends one.
use std::ffi::c_void;

use super::{Answer, ordered, real};
use crate::accounts::timed::order::Here;
use crate::accounts::timed::order::set_timers::Awaited;

/// Behind the signal's handler the call is over. A signal that is blocked is pending now, and the C
/// library's function finds it.
fn wait(here: &Here, real: *const c_void) -> Answer {
    match here.await_timer() {
        Some(Awaited::Handled) => Answer::error(libc::EINTR),
        Some(Awaited::Pending) | None => Answer::go_on(real),
    }
}

ordered! {
    pause(_arguments, here) { wait(&here, real!(pause)) }
    sigwait(_arguments, here) { wait(&here, real!(sigwait)) }
    sigwaitinfo(_arguments, here) { wait(&here, real!(sigwaitinfo)) }
}
