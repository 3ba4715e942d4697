//! Threads, mutexes and condition variables of C11: those of POSIX with other results.
use std::ffi::{c_int, c_void};
use std::ptr;

use super::conditions::{self, signal, wait};
use super::locks::{Function, lock_mutex, on_clock, open_by, try_by};
use super::{Answer, asked, clocks, ordered, real};
use crate::accounts::timed::threads::{self, Start};
use crate::heap;
use crate::join_with;

/// `thrd_success`, `thrd_busy`, `thrd_error`, `thrd_nomem` and `thrd_timedout` of glibc.
fn result(errno: c_int) -> c_int {
    match errno {
        0 => 0,
        libc::EBUSY => 1,
        libc::ENOMEM => 3,
        libc::ETIMEDOUT => 4,
        _ => 2,
    }
}

/// POSIX's answer as C11's.
fn of_posix(answer: Answer) -> Answer {
    match answer.next.is_null() {
        true => Answer::value(result(answer.value as c_int)),
        false => answer,
    }
}

/// thrd_create(3) with pthread_create(3)'s arguments.
unsafe extern "C" fn create(
    thread: *mut libc::pthread_t,
    _attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let create =
        real!(thrd_create: unsafe extern "C" fn(*mut libc::pthread_t, Start, *mut c_void) -> c_int);
    // SAFETY: by contract. What `start` returns is an `int`, which stays in its register.
    unsafe { create(thread, start, argument) }
}

extern "C" fn find_join() -> *const c_void {
    real!(thrd_join)
}

/// Cancellation unwinds it, as pthread_join(3).
#[unsafe(naked)]
unsafe extern "C" fn join(_thread: libc::pthread_t, _result: *mut c_int) -> c_int {
    join_with!(find_join)
}

asked! {
    thrd_create(arguments, place) {
        let [thread, start, argument, ..] = *arguments;
        heap::before_threads();
        // SAFETY: the program's call. The function gets one pointer, and returns in a register.
        let result = unsafe {
            let start = std::mem::transmute::<*const c_void, Start>(start as *const c_void);
            threads::create(
                create,
                thread as *mut libc::pthread_t,
                ptr::null(),
                start,
                argument as *mut c_void,
                place,
            )
        };
        Answer::value(result)
    }
    thrd_join(_arguments, _place) {
        Answer::go_on(join as *const c_void)
    }
}

ordered! {
    mtx_lock(arguments, here) {
        of_posix(lock_mutex(&here, arguments[0], None, real!(mtx_lock)))
    }
    mtx_timedlock(arguments, here) {
        let deadline = on_clock(&here, clocks::REALTIME, arguments[1]);
        of_posix(lock_mutex(&here, arguments[0], deadline, real!(mtx_timedlock)))
    }
    mtx_trylock(arguments, here) {
        of_posix(try_by(&here, arguments[0], real!(pthread_mutex_trylock: Function)))
    }
    mtx_unlock(arguments, here) {
        of_posix(open_by(&here, arguments[0], false, real!(pthread_mutex_unlock: Function)))
    }
    cnd_wait(arguments, here) {
        let [condition, mutex, ..] = *arguments;
        of_posix(wait(&here, condition, mutex, None, real!(cnd_wait)))
    }
    cnd_timedwait(arguments, here) {
        let [condition, mutex, time, ..] = *arguments;
        let deadline = clocks::deadline(&here, conditions::clock(condition), time);
        of_posix(wait(&here, condition, mutex, deadline, real!(cnd_timedwait)))
    }
    cnd_signal(arguments, here) {
        of_posix(signal(&here, arguments[0], 1, real!(cnd_signal)))
    }
    cnd_broadcast(arguments, here) {
        of_posix(signal(&here, arguments[0], usize::MAX, real!(cnd_broadcast)))
    }
}
