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
    let mut words = [0; WORDS];
    match direction {
        0 => {
            let context = kernel.context(place);
            words[..32].copy_from_slice(&context.x);
            // A thread that has used none has none yet.
            if context.status != 0 {
                words[32..64].copy_from_slice(&context.f);
                words[64] = context.fcsr;
            }
            kernel.store_words(caller, at, &words)?;
        }
        1 => {
            kernel.load_words(caller, at, &mut words)?;
            let context = kernel.context(place);
            context.x.copy_from_slice(&words[..32]);
            context.f.copy_from_slice(&words[32..64]);
            // Bits beyond those of the manual would trap when they are loaded.
            context.fcsr = words[64] & 0xff;
            (context.float_harts, context.status) = (0, float_state::CLEAN);
        }
        _ => return Err(Error::Invalid),
    }
    value(0)
}
