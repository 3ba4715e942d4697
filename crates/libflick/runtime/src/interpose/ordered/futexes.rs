//! `syscall(SYS_futex, …)`, by which other libraries wait.
use std::ffi::c_long;

use flick_sim::thread_token::Turn;

use super::{Answer, clocks, ordered, real};
use crate::accounts::timed::order::{Here, Key};
use crate::accounts::timed::sums::Wait;

/// `FUTEX_WAIT` and `FUTEX_WAIT_BITSET`: `absolute` says which.
fn wait(here: &Here, word: usize, value: u32, time: usize, clock: Option<i32>) -> Answer {
    let deadline = match (time, clock) {
        (0, _) => None,
        (time, Some(clock)) => clocks::deadline(here, clock, time),
        (time, None) => clocks::timeout(here, time),
    };
    let turn = here.wait_if(Wait::Signal, Key::Futex(word), deadline, |_| {
        // SAFETY: the program's word.
        unsafe { (word as *const u32).read_volatile() == value }
    });
    match turn {
        None => Answer::error(libc::EAGAIN),
        Some(Turn::TimedOut) => Answer::error(libc::ETIMEDOUT),
        Some(Turn::Interrupted) => Answer::error(libc::EINTR),
        Some(_) => Answer::value(0),
    }
}

ordered! {
    syscall(arguments, here) {
        let [number, word, operation, value, time, other] = *arguments;
        let real = real!(syscall);
        let operation = operation as i32;
        if number as c_long != libc::SYS_futex {
            return Answer::go_on(real);
        }
        let clock = match operation & libc::FUTEX_CLOCK_REALTIME {
            0 => libc::CLOCK_MONOTONIC,
            _ => libc::CLOCK_REALTIME,
        };
        let key = Key::Futex(word);
        match operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
            libc::FUTEX_WAIT => wait(&here, word, value as u32, time, None),
            libc::FUTEX_WAIT_BITSET => wait(&here, word, value as u32, time, Some(clock)),
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
                let woken = here.wake(key, value as u32 as usize);
                Answer::value(woken as i32)
            }
            libc::FUTEX_REQUEUE => {
                let woken = here.wake(key, value as u32 as usize);
                let moved = here.requeue(key, Key::Futex(other), time as u32 as usize);
                Answer::value((woken + moved) as i32)
            }
            _ => {
                here.not_exact();
                Answer::go_on(real)
            }
        }
    }
}
