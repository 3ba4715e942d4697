//! Waiting for signals: of timers in virtual time, and of threads. Signals of other processes come
//! when no thread can send one any more, or when the machine says so.
use std::ffi::{c_int, c_void};

use super::{Answer, clocks, ordered, real};
use crate::accounts::timed::order::signal_waits::Awaited;
use crate::accounts::timed::order::signals_of_threads::{
    FROM_KILL, FROM_QUEUE, FROM_THREAD, Receiver,
};
use crate::accounts::timed::order::{ANY_DATA, Here, Key, clocks_are_virtual};

/// The kernel's part of the program's set.
fn set_at(address: usize) -> u64 {
    // SAFETY: null, or the program's set, which begins with the kernel's signals.
    unsafe { (address as *const u64).as_ref() }
        .copied()
        .unwrap_or(0)
}

/// Behind the signal's handler the call is over. What is pending the C library's function finds.
fn wait(here: &Here, set: u64, deadline: Option<u64>, real: *const c_void) -> Answer {
    match here.await_signal(set, None, deadline) {
        Awaited::Handled => Answer::error(libc::EINTR),
        Awaited::TimedOut => Answer::error(libc::EAGAIN),
        Awaited::Pending | Awaited::Outside => Answer::go_on(real),
    }
}

/// A signal is about to be sent: by the order, or who waits for one looks. `to`: a thread of the process.
fn sends(
    here: &Here,
    (to, number): (Option<Receiver>, c_int),
    info: (c_int, usize),
    real: *const c_void,
) -> Answer {
    if to.is_some_and(|to| here.send(to, number, info)) {
        return Answer::value(0);
    }
    for key in [Key::Signals, ANY_DATA] {
        here.wake(key, usize::MAX);
    }
    Answer::go_on(real)
}

ordered! {
    pause(_arguments, here) { wait(&here, 0, None, real!(pause)) }
    sigwait(arguments, here) {
        let set = set_at(arguments[0]);
        while here.await_signal(set, None, None) == Awaited::Handled {}
        Answer::go_on(real!(sigwait))
    }
    sigwaitinfo(arguments, here) { wait(&here, set_at(arguments[0]), None, real!(sigwaitinfo)) }
    sigtimedwait(arguments, here) {
        let [set, _, time, ..] = *arguments;
        let real = real!(sigtimedwait);
        if time != 0 && !clocks_are_virtual() {
            here.not_exact();
            return Answer::go_on(real);
        }
        let deadline = clocks::timeout(&here, time);
        wait(&here, set_at(set), deadline, real)
    }
    kill(arguments, here) {
        let [process, number, ..] = *arguments;
        let number = number as c_int;
        let is_own = process as u32 == std::process::id() && number != 0;
        if is_own && here.send_to_waiter(number) {
            return Answer::value(0);
        }
        let to = is_own.then_some(Receiver::Process);
        sends(&here, (to, number), (FROM_KILL, 0), real!(kill))
    }
    pthread_kill(arguments, here) {
        let [thread, number, ..] = *arguments;
        let to = Some(Receiver::Thread(thread as libc::pthread_t));
        sends(&here, (to, number as c_int), (FROM_THREAD, 0), real!(pthread_kill))
    }
    pthread_sigqueue(arguments, here) {
        let [thread, number, value, ..] = *arguments;
        let to = Some(Receiver::Thread(thread as libc::pthread_t));
        sends(&here, (to, number as c_int), (FROM_QUEUE, value), real!(pthread_sigqueue))
    }
    sigqueue(arguments, here) {
        let [process, number, value, ..] = *arguments;
        let to = (process as u32 == std::process::id()).then_some(Receiver::Process);
        sends(&here, (to, number as c_int), (FROM_QUEUE, value), real!(sigqueue))
    }
    tgkill(arguments, here) {
        let [process, thread, number, ..] = *arguments;
        let to = Receiver::Tid(thread as c_int);
        let to = (process as u32 == std::process::id()).then_some(to);
        sends(&here, (to, number as c_int), (FROM_THREAD, 0), real!(tgkill))
    }
}
