//! `thread_join`: waits for the end of a thread.
use flick_abi::card::Error;
use flick_kernel_core::thread_lines::{ENDED, WATCHED};
use flick_kernel_core::threads::Wait;

use crate::kernel::{Answer, Caller, Done, Kernel, is_past};

/// Waits for a thread.
#[inline(never)]
pub fn thread_join(kernel: &mut Kernel, caller: Caller, number: u64, until: u64) -> Answer {
    let place = kernel.find_thread(number, caller.process)?;
    let threads = &mut kernel.dispatch.threads;
    if threads[place].is_detached {
        return Err(Error::Invalid);
    }
    if threads.joiner(place).is_some() {
        return Err(Error::Busy);
    }
    let line = &kernel.lines[usize::from(place)];
    if let Some(value) = line.join(number) {
        return Ok(Done::Values(0, value));
    }
    if threads.is_deadlock(caller.thread, place) {
        return Err(Error::Deadlock);
    }
    if is_past(until) {
        return Err(Error::TimedOut);
    }
    if line.watch() & (ENDED | WATCHED) == ENDED {
        // It has ended just now.
        line.unwatch();
        let value = line.join(number).ok_or(Error::NotFound)?;
        return Ok(Done::Values(0, value));
    }
    threads.set_joiner(place, Some(caller.thread));
    kernel.wait(caller.thread, Wait::Join(place), until)
}
