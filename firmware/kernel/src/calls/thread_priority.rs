//! `thread_priority`: how urgent a thread is.
use flick_abi::card::{Error, PRIORITIES};
use flick_kernel_core::threads::State;

use crate::kernel::{Answer, Caller, Kernel, value};

/// Changes how urgent a thread is.
#[inline(never)]
pub fn thread_priority(kernel: &mut Kernel, caller: Caller, number: u64, priority: u64) -> Answer {
    if priority >= PRIORITIES {
        return Err(Error::Invalid);
    }
    let place = kernel.find_thread(number, caller.process)?;
    let threads = &mut kernel.dispatch.threads;
    let is_ready = threads[place].state == State::Ready;
    if is_ready {
        threads.take_ready(place);
    }
    let before = threads.set_priority(place, priority as u8);
    if is_ready {
        kernel.wake(place);
    }
    value(before.into())
}
