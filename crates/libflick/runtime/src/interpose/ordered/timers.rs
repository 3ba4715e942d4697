//! Timers are the machine's: a run that has set one is not exact.
use std::ffi::c_void;

use super::{Answer, asked, real};
use crate::accounts::timed::order::notes;

/// The time that a timer is set to: a duration behind the interval of one, which both are of two
/// words (`struct itimerval`, `struct itimerspec`).
fn is_set(new: usize) -> bool {
    // SAFETY: null, or the program's.
    unsafe { (new as *const [u64; 4]).as_ref() }.is_some_and(|new| new[2..] != [0; 2])
}

fn set(name: &str, place: usize, is_set: bool, real: *const c_void) -> Answer {
    if is_set {
        notes::not_exact(name, place);
    }
    Answer::go_on(real)
}

asked! {
    alarm(arguments, place) { set("alarm", place, arguments[0] as u32 != 0, real!(alarm)) }
    ualarm(arguments, place) { set("ualarm", place, arguments[0] as u32 != 0, real!(ualarm)) }
    setitimer(arguments, place) {
        set("setitimer", place, is_set(arguments[1]), real!(setitimer))
    }
    timer_settime(arguments, place) {
        set("timer_settime", place, is_set(arguments[2]), real!(timer_settime))
    }
    timerfd_settime(arguments, place) {
        set("timerfd_settime", place, is_set(arguments[2]), real!(timerfd_settime))
    }
}
