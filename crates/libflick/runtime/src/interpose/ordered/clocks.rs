//! Clocks: they begin at a fixed date, and go on with the calling thread's virtual time.
use std::ffi::{c_int, c_void};
use std::ptr;

use super::{Answer, asked, real};
use crate::accounts::timed::order::{Here, Meter, clocks_are_virtual};
use crate::accounts::timed::setting::picoseconds;
use crate::accounts::timed::state;
use crate::os::system_call::system_call;

pub const REALTIME: usize = libc::CLOCK_REALTIME as usize;

const SECOND: u64 = 1_000_000_000;
/// Nanoseconds from 1970 to the beginning of the run: 2026-01-01, as on a simulated machine.
const DATE: u64 = 1_767_225_600 * SECOND;
/// Nanoseconds from the machine's start to the beginning of the run: programs take 0 for no time.
const SINCE_START: u64 = SECOND;

/// Nanoseconds of what `times` counts: 100 of them are a second.
const TICK: u64 = SECOND / 100;

/// What a clock shows at the beginning of the run; `None`: it is none that Flick keeps.
fn beginning(clock: c_int) -> Option<u64> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => Some(DATE),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => Some(SINCE_START),
        _ => None,
    }
}

/// Whether the clock is one of time, and not of a processor's.
pub fn is_of_time(clock: c_int) -> bool {
    beginning(clock).is_some()
}

/// Nanoseconds of the machine's clock.
fn of_machine(clock: c_int) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let place = ptr::from_mut(&mut time) as usize;
    // SAFETY: a clock's number, and a place for a time.
    unsafe { system_call(libc::SYS_clock_gettime, [clock as usize, place, 0, 0]) };
    nanoseconds(&time)
}

fn nanoseconds(time: &libc::timespec) -> u64 {
    u64::try_from(time.tv_sec)
        .unwrap_or(0)
        .saturating_mul(SECOND)
        .saturating_add(time.tv_nsec as u64)
}

/// What `clock` shows to the calling thread. Nanoseconds.
pub fn now(clock: c_int) -> Option<u64> {
    if let Some(meter) = Meter::of_live_clock(clock) {
        return Some(meter.read() / 1000);
    }
    let beginning = beginning(clock)?;
    Some(beginning + picoseconds(state::current()?.now()) / 1000)
}

/// The time at which `clock` shows what is at `time`, in the order of threads; `None`: never, or
/// the C library's function will complain.
pub fn deadline(here: &Here, clock: c_int, time: usize) -> Option<u64> {
    // SAFETY: null, or the program's time.
    let time = nanoseconds(unsafe { (time as *const libc::timespec).as_ref() }?);
    let shown = match clocks_are_virtual() {
        true => now(clock)?,
        false => {
            here.not_exact();
            of_machine(clock)
        }
    };
    let left = time.saturating_sub(shown);
    Some(here.now().saturating_add(left.saturating_mul(1000)))
}

/// The time that is as far away as what is at `time`, in the order of threads.
pub fn timeout(here: &Here, time: usize) -> Option<u64> {
    // SAFETY: null, or the program's time.
    let time = nanoseconds(unsafe { (time as *const libc::timespec).as_ref() }?);
    Some(here.now().saturating_add(time.saturating_mul(1000)))
}

/// Nanoseconds until `clock` shows what is at `time`.
pub fn left(clock: c_int, time: &libc::timespec) -> Option<u64> {
    Some(nanoseconds(time).saturating_sub(now(clock)?))
}

/// Of a duration.
pub fn length(time: &libc::timespec) -> u64 {
    nanoseconds(time)
}

pub fn timespec(time: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (time / SECOND) as i64,
        tv_nsec: (time % SECOND) as i64,
    }
}

pub fn timeval(time: u64) -> libc::timeval {
    libc::timeval {
        tv_sec: (time / SECOND) as i64,
        tv_usec: (time % SECOND / 1000) as i64,
    }
}

type GetUsage = unsafe extern "C" fn(c_int, *mut libc::rusage) -> c_int;
type Times = unsafe extern "C" fn(*mut libc::tms) -> libc::clock_t;

asked! {
    clock_gettime(arguments, _place) {
        let [clock, to, ..] = *arguments;
        let to = to as *mut libc::timespec;
        match now(clock as c_int) {
            Some(time) if !to.is_null() => {
                // SAFETY: the program's place for a time.
                unsafe { to.write_unaligned(timespec(time)) };
                Answer::value(0)
            }
            _ => Answer::go_on(real!(clock_gettime)),
        }
    }
    gettimeofday(arguments, _place) {
        let [to, zone, ..] = *arguments;
        let to = to as *mut libc::timeval;
        match now(libc::CLOCK_REALTIME) {
            Some(time) if !to.is_null() && zone == 0 => {
                // SAFETY: the program's place for a time.
                unsafe { to.write_unaligned(timeval(time)) };
                Answer::value(0)
            }
            _ => Answer::go_on(real!(gettimeofday)),
        }
    }
    clock(_arguments, _place) {
        match now(libc::CLOCK_PROCESS_CPUTIME_ID) {
            // CLOCKS_PER_SEC is a million.
            Some(time) => Answer {
                value: (time / 1000) as libc::clock_t,
                next: ptr::null::<c_void>(),
            },
            None => Answer::go_on(real!(clock)),
        }
    }
    getrusage(arguments, _place) {
        let [who, to, ..] = *arguments;
        let meter = match who as c_int {
            libc::RUSAGE_SELF => Some(Meter::Process),
            libc::RUSAGE_THREAD => Meter::of_clock(libc::CLOCK_THREAD_CPUTIME_ID),
            _ => None,
        };
        let (Some(meter), false) = (meter, to == 0) else {
            return Answer::go_on(real!(getrusage));
        };
        let usage = real!(getrusage: GetUsage);
        let to = to as *mut libc::rusage;
        // SAFETY: the program's arguments.
        let result = unsafe { usage(who as c_int, to) };
        if result == 0 {
            let [time, none] = [meter.read() / 1000, 0].map(timeval);
            // SAFETY: the record that the C library has just filled.
            unsafe { ((*to).ru_utime, (*to).ru_stime) = (time, none) };
        }
        Answer::value(result)
    }
    times(arguments, _place) {
        let to = arguments[0] as *mut libc::tms;
        let Some(now) = now(libc::CLOCK_MONOTONIC) else {
            return Answer::go_on(real!(times));
        };
        let times = real!(times: Times);
        // SAFETY: the program's argument.
        let result = unsafe { times(to) };
        if !to.is_null() && result != -1 {
            let time = (Meter::Process.read() / 1000 / TICK) as libc::clock_t;
            // SAFETY: the record that the C library has just filled.
            unsafe { ((*to).tms_utime, (*to).tms_stime) = (time, 0) };
        }
        Answer {
            value: (now / TICK) as libc::clock_t,
            next: ptr::null::<c_void>(),
        }
    }
    time(arguments, _place) {
        let to = arguments[0] as *mut libc::time_t;
        match now(libc::CLOCK_REALTIME) {
            Some(time) => {
                let time = (time / SECOND) as libc::time_t;
                if !to.is_null() {
                    // SAFETY: the program's place for a time.
                    unsafe { to.write_unaligned(time) };
                }
                Answer {
                    value: time,
                    next: ptr::null::<c_void>(),
                }
            }
            None => Answer::go_on(real!(time)),
        }
    }
}
