//! `thread_detach`: nobody will join a thread.
use flick_abi::card::Error;
use flick_kernel_core::thread_lines::JOINED;
use flick_kernel_core::threads::State;

use crate::kernel::{Answer, Caller, Kernel, value};

/// Nobody will join the thread.
#[inline(never)]
pub fn thread_detach(kernel: &mut Kernel, caller: Caller, number: u64) -> Answer {
    let place = kernel.find_thread(number, caller.process)?;
    let threads = &mut kernel.dispatch.threads;
    if threads[place].is_detached {
        return Err(Error::Invalid);
    }
    if threads.joiner(place).is_some() {
        return Err(Error::Busy);
    }
    if kernel.lines[usize::from(place)].detach() & JOINED != 0 {
        return Err(Error::NotFound);
    }
    match threads[place].state {
        State::Ended => threads.remove(place),
        _ => threads[place].is_detached = true,
    }
    value(0)
}
