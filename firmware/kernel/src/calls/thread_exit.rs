//! `thread_exit`: the end of a thread that the kernel hart watches.
use crate::kernel::{Answer, Caller, Kernel};

/// Ends the caller.
#[inline(never)]
pub fn thread_exit(kernel: &mut Kernel, caller: Caller, value: u64) -> Answer {
    kernel.end_thread(caller.thread, Some(value))
}
