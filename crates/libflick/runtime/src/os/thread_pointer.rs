//! What tells threads apart without any state of theirs.
use std::arch::asm;

/// The calling thread's pointer: the address of its block, by which it is known. Async-signal-safe.
#[inline]
pub fn pointer() -> usize {
    let pointer;
    // SAFETY: the first word of the thread's block is its own address (x86-64 ELF TLS ABI, variant
    // II).
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, pure, readonly)) };
    pointer
}
