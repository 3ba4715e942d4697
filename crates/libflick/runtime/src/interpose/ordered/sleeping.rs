//! Sleeping costs virtual time alone: the function returns at once, and its caller's next stated
//! point is so much later. Who counts charges it by the rule of its name; for others it is charged
//! here.
use std::ffi::{c_int, c_void};

use super::{Answer, Arguments, asked, clocks, real};
use crate::accounts::timed::order::set_timers::point_of_timer;
use crate::accounts::timed::order::{self, Call, Here, Meter, clocks_are_virtual};
use crate::accounts::timed::state;

const NANOSECOND: u128 = 1_000_000;

/// How a sleep says that a signal has ended it. Arguments: what is left, in picoseconds.
type Ended = fn(u64, &Arguments) -> Answer;

/// The thread sleeps for so many nanoseconds.
fn sleep(
    call: Call,
    time: Option<u64>,
    (ended, arguments): (Ended, &Arguments),
    real: *const c_void,
) -> Answer {
    let here = order::point(call);
    let (Some(time), true) = (time, clocks_are_virtual()) else {
        // On the machine's clock, and the token stays where it is.
        if let Some(here) = &here {
            here.may_sleep();
        }
        return Answer::go_on(real);
    };
    if let Some(here) = here.filter(Here::has_timers) {
        let wake = here.now().saturating_add(time.saturating_mul(1000));
        let left = here.sleep_until(wake);
        if let Some(mut state) = state::current() {
            // All of it is charged.
            state.slept(0);
        }
        return match left {
            Some(left) => ended(left, arguments),
            None => Answer::value(0),
        };
    }
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

fn interrupted(_: u64, _: &Arguments) -> Answer {
    Answer::error(libc::EINTR)
}

/// What is left goes to an argument's place, if there is one.
fn leave(left: u64, to: usize) {
    if to != 0 {
        let left = clocks::timespec(left / 1000);
        // SAFETY: the program's place for a time.
        unsafe { (to as *mut libc::timespec).write_unaligned(left) };
    }
}

/// `clock_nanosleep` on a clock of processor time; `None`: on another one.
fn sleep_by_processor_time(arguments: &Arguments, place: usize) -> Option<Answer> {
    let [clock, flags, time, ..] = *arguments;
    let clock = clock as c_int;
    let meter = Meter::of_live_clock(clock).filter(|_| clocks_are_virtual())?;
    let real = real!(clock_nanosleep);
    let own = Meter::of_clock(libc::CLOCK_THREAD_CPUTIME_ID);
    // The kernel refuses the calling thread's own.
    let time = request(time).filter(|_| Some(meter) != own);
    let here = time.and_then(|_| point_of_timer(Call::new("clock_nanosleep", place)));
    let (Some(time), Some(here)) = (time, here) else {
        return Some(Answer::go_on(real));
    };
    let is_absolute = flags as c_int & libc::TIMER_ABSTIME != 0;
    let began = if is_absolute { 0 } else { meter.read() };
    let wake = began.saturating_add(clocks::length(&time).saturating_mul(1000));
    Some(match here.sleep_by(meter, clock, wake) {
        None => Answer::value(0),
        Some(left) => nanosleep_ended(left, arguments),
    })
}

macro_rules! sleeping {
    ($($name:ident($arguments:ident) $time:expr, $ended:expr;)*) => { asked! { $(
        $name($arguments, place) {
            let call = Call::new(stringify!($name), place);
            sleep(call, $time, ($ended, $arguments), real!($name))
        }
    )* } };
}

sleeping! {
    usleep(arguments) Some(u64::from(arguments[0] as u32) * 1000), interrupted;
    sleep(arguments) Some(u64::from(arguments[0] as u32) * 1_000_000_000), |left, _| {
        Answer::value((left / 1_000_000_000_000) as c_int)
    };
    thrd_sleep(arguments) request(arguments[0]).map(|time| clocks::length(&time)), |left, arguments| {
        leave(left, arguments[1]);
        Answer::value(-1)
    };
    nanosleep(arguments) request(arguments[0]).map(|time| clocks::length(&time)), |left, arguments| {
        leave(left, arguments[1]);
        Answer::error(libc::EINTR)
    };
}

fn nanosleep_ended(left: u64, arguments: &Arguments) -> Answer {
    if arguments[1] as c_int & libc::TIMER_ABSTIME == 0 {
        leave(left, arguments[3]);
    }
    Answer::value(libc::EINTR)
}

asked! {
    clock_nanosleep(arguments, place) {
        if let Some(answer) = sleep_by_processor_time(arguments, place) {
            return answer;
        }
        let [clock, flags, time, ..] = *arguments;
        let time = request(time).and_then(|time| match flags as c_int & libc::TIMER_ABSTIME {
            0 => Some(clocks::length(&time)),
            _ => clocks::left(clock as c_int, &time),
        });
        let call = Call::new("clock_nanosleep", place);
        sleep(call, time, (nanosleep_ended, arguments), real!(clock_nanosleep))
    }
}
