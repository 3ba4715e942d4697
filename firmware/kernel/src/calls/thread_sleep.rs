//! `thread_sleep` and `thread_wakeup`.
use flick_abi::card::Error;
use flick_kernel_core::threads::{State, Wait};

use crate::kernel::{Answer, Caller, Kernel, is_past, value};

/// Waits for a wake-up.
#[inline(never)]
pub fn thread_sleep(kernel: &mut Kernel, caller: Caller, until: u64) -> Answer {
    let thread = &mut kernel.dispatch.threads[caller.thread];
    if core::mem::take(&mut thread.is_woken) {
        return value(0);
    }
    match is_past(until) {
        true => Err(Error::TimedOut),
        false => kernel.wait(caller.thread, Wait::Sleep, until),
    }
}

/// Wakes a thread.
#[inline(never)]
pub fn thread_wakeup(kernel: &mut Kernel, caller: Caller, number: u64) -> Answer {
    let place = kernel.find_thread(number, caller.process)?;
    match kernel.dispatch.threads[place].state {
        State::Waits(Wait::Sleep) => kernel.end_wait(place, Ok((0, 0))),
        _ if kernel.is_over(place) => return Err(Error::NotFound),
        _ => kernel.dispatch.threads[place].is_woken = true,
    }
    value(0)
}
