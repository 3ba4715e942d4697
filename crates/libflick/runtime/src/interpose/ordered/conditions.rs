//! Condition variables: who waits for one waits in the order alone, and the C library's stays as it
//! was.
use std::ffi::{c_int, c_void};

use flick_sim::thread_token::Turn;

use super::cancelling;
use super::clocks;
use super::locks::{is_shared, take_mutex};
use super::{Answer, ordered, real};
use crate::accounts::timed::order::{Here, Key};
use crate::accounts::timed::sums::Wait;

/// `pthread_cond_t` of glibc for x86-64: the offset of a word that has bit 0 for variables of
/// several processes, and bit 1 for those on the monotonic clock.
const FLAGS: usize = 36;

fn flags(condition: usize) -> u32 {
    // SAFETY: the program's condition variable, which has 48 bytes.
    unsafe { ((condition + FLAGS) as *const u32).read() }
}

/// The clock that the variable was made for.
pub fn clock(condition: usize) -> c_int {
    match flags(condition) & 2 {
        0 => libc::CLOCK_REALTIME,
        _ => libc::CLOCK_MONOTONIC,
    }
}

pub fn wait(
    here: &Here,
    condition: usize,
    mutex: usize,
    deadline: Option<u64>,
    real: *const c_void,
) -> Answer {
    if flags(condition) & 1 != 0 || is_shared(mutex) {
        here.not_exact();
        return Answer::go_on(real);
    }
    let open = real!(pthread_mutex_unlock: unsafe extern "C" fn(*mut c_void) -> c_int);
    let mut error = 0;
    let key = Key::Condition(condition);
    let turn = here.wait_if(Wait::Signal, key, deadline, |opening| {
        // SAFETY: the program's mutex.
        error = unsafe { open(mutex as *mut c_void) };
        if error == 0 {
            opening.open(Key::Lock(mutex));
        }
        error == 0
    });
    if error != 0 {
        return Answer::value(error);
    }
    let taken = take_mutex(here, mutex, None);
    if turn == Some(Turn::Ready) && cancelling::is_enabled() {
        return Answer::go_on(real);
    }
    Answer::value(match (taken, turn) {
        (0, Some(Turn::TimedOut)) => libc::ETIMEDOUT,
        (result, _) => result,
    })
}

/// As many as wait are woken, and those of other processes by the C library.
pub fn signal(here: &Here, condition: usize, count: usize, real: *const c_void) -> Answer {
    if flags(condition) & 1 != 0 {
        here.not_exact();
        return Answer::go_on(real);
    }
    here.wake(Key::Condition(condition), count);
    Answer::value(0)
}

ordered! {
    pthread_cond_wait(arguments, here) {
        let [condition, mutex, ..] = *arguments;
        wait(&here, condition, mutex, None, real!(pthread_cond_wait))
    }
    pthread_cond_timedwait(arguments, here) {
        let [condition, mutex, time, ..] = *arguments;
        let deadline = clocks::deadline(&here, clock(condition), time);
        wait(&here, condition, mutex, deadline, real!(pthread_cond_timedwait))
    }
    pthread_cond_clockwait(arguments, here) {
        let [condition, mutex, clock, time, ..] = *arguments;
        let deadline = clocks::deadline(&here, clock as c_int, time);
        wait(&here, condition, mutex, deadline, real!(pthread_cond_clockwait))
    }
    pthread_cond_signal(arguments, here) {
        signal(&here, arguments[0], 1, real!(pthread_cond_signal))
    }
    pthread_cond_broadcast(arguments, here) {
        signal(&here, arguments[0], usize::MAX, real!(pthread_cond_broadcast))
    }
}
