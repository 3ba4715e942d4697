//! `thread_join`: waits for the end of a thread.
use flick_abi::card::Error;
use flick_kernel_core::threads::{State, Wait};

use crate::kernel::{Answer, Caller, Done, Kernel, is_past};

/// Waits for a thread.
#[inline(never)]
pub fn thread_join(kernel: &mut Kernel, caller: Caller, number: u64, until: u64) -> Answer {
    let threads = &mut kernel.dispatch.threads;
    let place = threads
        .find(number, caller.process)
        .ok_or(Error::NotFound)?;
    let thread = threads[place];
    if thread.is_detached {
        return Err(Error::Invalid);
    }
    if threads.joiner(place).is_some() {
        return Err(Error::Busy);
    }
    if thread.state == State::Ended {
        threads.remove(place);
        return Ok(Done::Values(0, thread.value));
    }
    if threads.is_deadlock(caller.thread, place) {
        return Err(Error::Deadlock);
    }
    if is_past(until) {
        return Err(Error::TimedOut);
    }
    threads.set_joiner(place, Some(caller.thread));
    kernel.wait(caller.thread, Wait::Join(place), until)
}
