//! The callers of a program's instruction, by its frame pointers, as far as they lead.
use flick_abi::card::rights;
use flick_kernel_core::threads::Place;

use crate::kernel::{Caller, Kernel};
use crate::program_symbols::place as place_of;

const MOST_FRAMES: usize = 16;

/// Prints them.
pub fn report(kernel: &mut Kernel, place: Place) {
    let context = kernel.context(place);
    let (mut frame, first) = (context.x[8], context.x[1]);
    let caller = Caller::of_process(place, kernel.dispatch.threads[place].process);
    print(kernel, caller, first);
    // A function that calls none has the same in its frame.
    let mut known = Some(first);
    for _ in 0..MOST_FRAMES {
        // The return address and the frame before are in front of the frame.
        let mut words = [0; 2];
        let at = frame.wrapping_sub(16);
        let process = caller.process;
        let is_there = kernel.resolve(process, at, rights::READ, None).is_ok();
        if !is_there || kernel.load_words(caller, at, &mut words).is_err() {
            break;
        }
        let [next, from] = words;
        if next <= frame {
            break;
        }
        if known.take() != Some(from) {
            print(kernel, caller, from);
        }
        frame = next;
    }
}

fn print(kernel: &mut Kernel, caller: Caller, from: u64) {
    let from = place_of(kernel, caller, from, 1);
    crate::report!(kernel.console, "kernel:   called from {from}\n");
}
