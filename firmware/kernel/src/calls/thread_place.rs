//! `thread_place`: the harts that a thread may run on.
use flick_abi::card::Error;
use flick_kernel_core::threads::State;

use crate::csr;
use crate::kernel::{Answer, Caller, Kernel, value};

/// Says where a thread may run.
#[inline(never)]
pub fn thread_place(kernel: &mut Kernel, caller: Caller, number: u64, harts: u64) -> Answer {
    let place = kernel.find_thread(number, caller.process)?;
    let harts = harts & kernel.dispatch.harts();
    if harts == 0 {
        return Err(Error::Invalid);
    }
    let before = kernel.allowed(place);
    let thread = &mut kernel.dispatch.threads[place];
    (thread.harts, thread.is_away) = (harts, false);
    kernel.lines[usize::from(place)].set_harts(harts);
    match thread.state {
        State::Ready => {
            // An idle hart may be among the new ones.
            kernel.dispatch.threads.take_ready(place);
            kernel.wake(place);
        }
        // The caller itself moves behind the call.
        State::Running(hart) if hart != caller.hart && harts >> hart & 1 == 0 => {
            kernel
                .dispatch
                .drive_out(hart, csr::time(), &mut kernel.harts);
        }
        _ => {}
    }
    value(before)
}
