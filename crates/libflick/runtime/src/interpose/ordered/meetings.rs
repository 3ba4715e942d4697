//! Barriers, semaphores, `pthread_once` and `sched_yield`.
use std::ffi::{c_int, c_void};

use flick_sim::thread_token::Turn;

use super::cancelling;
use super::clocks::{self, REALTIME};
use super::{Answer, asked, ordered, real};
use crate::accounts::timed::order::{self, Call, Here, Key};
use crate::accounts::timed::sums::Wait;
use crate::os::errno;

type Function = unsafe extern "C" fn(*mut c_void) -> c_int;

/// 0, or the error's number; EAGAIN where the semaphore is 0.
fn attempt(semaphore: usize) -> c_int {
    let attempt = real!(sem_trywait: Function);
    // SAFETY: the program's semaphore.
    match unsafe { attempt(semaphore as *mut c_void) } {
        0 => 0,
        _ => errno::last_errno(),
    }
}

fn take(here: &Here, semaphore: usize, deadline: Option<u64>, real: *const c_void) -> Answer {
    let key = Key::Semaphore(semaphore);
    let before = errno::last_errno();
    let mut result = attempt(semaphore);
    while result == libc::EAGAIN {
        let turn = here.wait_if(Wait::Signal, key, deadline, |_| {
            result = attempt(semaphore);
            result == libc::EAGAIN
        });
        if turn == Some(Turn::TimedOut) {
            return Answer::error(libc::ETIMEDOUT);
        }
        if here.interrupted.get() {
            return Answer::error(libc::EINTR);
        }
        if turn == Some(Turn::Ready) && cancelling::is_enabled() {
            return Answer::go_on(real);
        }
        if turn.is_some() {
            result = attempt(semaphore);
        }
    }
    if result == 0 {
        errno::set_errno(before);
    }
    Answer::posix(result)
}

/// The states of glibc's control word of `pthread_once`.
const STATE: c_int = 3;
const IN_PROGRESS: c_int = 1;
/// How long a thread waits before it looks again whether another has done it. Picoseconds.
const LOOK: u64 = 1_000_000;

/// Until nobody else is doing what is done once.
fn wait_for_once(here: &Here, control: usize) {
    let key = Key::Once(control);
    // SAFETY: the program's control word.
    while unsafe { (control as *const c_int).read_volatile() } & STATE == IN_PROGRESS {
        let look = here.now().saturating_add(LOOK);
        here.wait_if(Wait::Lock, key, Some(look), |_| true);
    }
}

fn give_way(name: &'static str, place: usize, real: *const c_void) -> Answer {
    drop(order::point(Call {
        yields: true,
        ..Call::new(name, place)
    }));
    Answer::go_on(real)
}

asked! {
    // `pthread_barrier_init(barrier, attributes, count)`
    pthread_barrier_init(arguments, _place) {
        Here::is_barrier(arguments[0], arguments[2] as u32);
        Answer::go_on(real!(pthread_barrier_init))
    }
    // Who yields at one time again and again waits for what a later thread does.
    sched_yield(_arguments, place) { give_way("sched_yield", place, real!(sched_yield)) }
    thrd_yield(_arguments, place) { give_way("thrd_yield", place, real!(thrd_yield)) }
    pthread_barrier_destroy(arguments, _place) {
        Here::is_barrier(arguments[0], 0);
        Answer::go_on(real!(pthread_barrier_destroy))
    }
}

ordered! {
    pthread_barrier_wait(arguments, here) {
        match here.meet(arguments[0]) {
            Some(true) => Answer::value(libc::PTHREAD_BARRIER_SERIAL_THREAD),
            Some(false) => Answer::value(0),
            // The library that has made it does not come by here.
            None => {
                here.not_exact();
                Answer::go_on(real!(pthread_barrier_wait))
            }
        }
    }
    sem_wait(arguments, here) { take(&here, arguments[0], None, real!(sem_wait)) }
    sem_timedwait(arguments, here) {
        let deadline = clocks::deadline(&here, REALTIME as c_int, arguments[1]);
        take(&here, arguments[0], deadline, real!(sem_timedwait))
    }
    sem_clockwait(arguments, here) {
        let deadline = clocks::deadline(&here, arguments[1] as c_int, arguments[2]);
        take(&here, arguments[0], deadline, real!(sem_clockwait))
    }
    sem_trywait(arguments, here) {
        let result = attempt(arguments[0]);
        drop(here);
        Answer::posix(result)
    }
    sem_post(arguments, here) {
        // The thread that it wakes goes on behind this one's next stated point.
        here.wake(Key::Semaphore(arguments[0]), 1);
        Answer::go_on(real!(sem_post))
    }
    pthread_once(arguments, here) {
        wait_for_once(&here, arguments[0]);
        Answer::go_on(real!(pthread_once))
    }
    call_once(arguments, here) {
        wait_for_once(&here, arguments[0]);
        Answer::go_on(real!(call_once))
    }
}
