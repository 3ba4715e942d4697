//! Sleeping costs virtual time alone: the function returns at once, and its caller's next stated
//! point is so much later. Who counts charges it by the rule of its name; for others it is charged
//! here.
use std::ffi::{c_int, c_void};

use super::{Answer, asked, clocks, real};
use crate::accounts::timed::order::{self, Call, clocks_are_virtual};
use crate::accounts::timed::state;

const NANOSECOND: u128 = 1_000_000;

/// The thread sleeps for so many nanoseconds.
fn sleep(call: Call, time: Option<u64>, real: *const c_void) -> Answer {
    let here = order::point(call);
    let (Some(time), true) = (time, clocks_are_virtual()) else {
        // On the machine's clock, and the token stays where it is.
        if let Some(here) = &here {
            here.may_sleep();
        }
        return Answer::go_on(real);
    };
    if let Some(mut state) = state::current() {
        state.slept(u128::from(time) * NANOSECOND);
    }
    Answer::value(0)
}

/// The time at `time`; `None`: the C library's function complains.
fn request(time: usize) -> Option<libc::timespec> {
    // SAFETY: null, or the program's time.
    let time = unsafe { (time as *const libc::timespec).as_ref() }.copied()?;
    (time.tv_sec >= 0 && (0..1_000_000_000).contains(&time.tv_nsec)).then_some(time)
}

macro_rules! sleeping {
    ($($name:ident($arguments:ident) $time:expr;)*) => { asked! { $(
        $name($arguments, place) {
            sleep(Call::new(stringify!($name), place), $time, real!($name))
        }
    )* } };
}

sleeping! {
    usleep(arguments) Some(u64::from(arguments[0] as u32) * 1000);
    sleep(arguments) Some(u64::from(arguments[0] as u32) * 1_000_000_000);
    thrd_sleep(arguments) request(arguments[0]).map(|time| clocks::length(&time));
    nanosleep(arguments) request(arguments[0]).map(|time| clocks::length(&time));
    clock_nanosleep(arguments) {
        let [clock, flags, time, ..] = *arguments;
        request(time).and_then(|time| match flags as c_int & libc::TIMER_ABSTIME {
            0 => Some(clocks::length(&time)),
            _ => clocks::left(clock as c_int, &time),
        })
    };
}
