//! `thread_state`: the registers of a thread that does not run.
use flick_abi::card::{Error, ThreadState};
use flick_kernel_core::threads::State;

use crate::float_state;
use crate::kernel::{Answer, Caller, Kernel, value};

const WORDS: usize = size_of::<ThreadState>() / 8;

/// Copies or sets them.
#[inline(never)]
pub fn thread_state(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [number, at, direction, ..] = arguments;
    let place = kernel.find_thread(number, caller.process)?;
    match kernel.dispatch.threads[place].state {
        State::Waits(_) => {}
        _ if kernel.is_over(place) => return Err(Error::NotFound),
        State::Ended | State::Free => return Err(Error::NotFound),
        State::Running(_) | State::Ready => return Err(Error::Busy),
    }
    match direction {
        0 => {
            let words = kernel.context(place).all();
            kernel.store_words(caller, at, &words)?;
        }
        1 => {
            let mut words = [0; WORDS];
            kernel.load_words(caller, at, &mut words)?;
            let context = kernel.context(place);
            context.set_all(&words);
            context.status = float_state::CLEAN;
        }
        _ => return Err(Error::Invalid),
    }
    value(0)
}
