//! `console_write`: prints.
use flick_abi::card::rights;

use crate::kernel::{Answer, Caller, Kernel, value};

/// Prints bytes.
#[inline(never)]
pub fn console_write(kernel: &mut Kernel, caller: Caller, text: u64, size: u64) -> Answer {
    kernel.each_piece(
        caller,
        text,
        size,
        rights::READ,
        |kernel, place, piece, _| {
            for n in 0..piece {
                // SAFETY: the process's memory, which has just been resolved.
                let byte = unsafe { ((place + n) as *const u8).read_volatile() };
                kernel.console.write(byte);
            }
        },
    )?;
    value(size)
}
