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

/// The address of the calling thread's variable of this name, which is of the initial-exec model.
/// Async-signal-safe.
macro_rules! of_thread {
    ($name:literal) => {{
        let address: usize;
        // SAFETY: computes an address from the variable's place in threads' blocks and the thread pointer, which fs:0
        // holds (x86-64 ELF TLS ABI, variant II).
        unsafe {
            std::arch::asm!(
                concat!("mov {address}, qword ptr [rip + ", $name, "@GOTTPOFF]"),
                "add {address}, qword ptr fs:[0]",
                address = out(reg) address,
                options(nostack, pure, readonly),
            );
        }
        address
    }};
}
pub(crate) use of_thread;
