//! `console_read`: waits for bytes of the console.
use flick_abi::card::{Error, rights};
use flick_kernel_core::threads::{State, Wait};

use crate::kernel::{Answer, Caller, Kernel, is_past, value};

/// Waits for bytes.
#[inline(never)]
pub fn console_read(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [buffer, size, until, ..] = arguments;
    if size == 0 {
        return value(0);
    }
    if kernel.console.arrived() != 0 && kernel.readers.is_empty() {
        return value(take(kernel, caller, buffer, size)?);
    }
    if is_past(until) {
        return Err(Error::TimedOut);
    }
    kernel
        .dispatch
        .threads
        .append(&mut kernel.readers, caller.thread);
    kernel.wait(caller.thread, Wait::Console(buffer, size), until)
}

fn take(kernel: &mut Kernel, caller: Caller, buffer: u64, size: u64) -> Result<u64, Error> {
    let size = size.min(kernel.console.arrived() as u64);
    kernel.each_piece(
        caller,
        buffer,
        size,
        rights::WRITE,
        |kernel, place, piece, _| {
            kernel.note_stored(caller, place, piece);
            for n in 0..piece {
                let byte = kernel.console.read().unwrap_or(0);
                // SAFETY: the process's memory, which has just been resolved.
                unsafe { ((place + n) as *mut u8).write_volatile(byte) };
            }
        },
    )?;
    Ok(size)
}

/// Bytes have arrived: those who wait get them, in the order in which they came.
pub fn answer(kernel: &mut Kernel) {
    while kernel.console.arrived() != 0 {
        let list = kernel.readers;
        let first = kernel.dispatch.threads.in_list(&list).next();
        let Some(thread) = first else { break };
        let State::Waits(Wait::Console(buffer, size)) = kernel.dispatch.threads[thread].state
        else {
            break;
        };
        let process = kernel.dispatch.threads[thread].process;
        let caller = Caller::of_process(thread, process);
        let taken = take(kernel, caller, buffer, size);
        kernel.end_wait(thread, taken.map(|count| (count, 0)));
    }
}
