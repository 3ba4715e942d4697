//! The host instruction that stands for an illegal one of NxP code, so that the signal is the
//! kernel's own.
use std::arch::naked_asm;
use std::ffi::c_int;

/// Raises SIGILL as the kernel does. Returns if a handler returns.
pub fn execute() {
    // SAFETY: the instruction does nothing but raise the signal, whose handler goes on behind it.
    unsafe { illegal() };
}

/// A host instruction that is illegal; the signal handler knows it by its address.
#[unsafe(naked)]
unsafe extern "C" fn illegal() {
    naked_asm!(".cfi_startproc", "ud2", "ret", ".cfi_endproc")
}

const ILLEGAL_SIZE: i64 = 2;

/// Whether a signal stands for an illegal NxP instruction.
pub fn is_illegal(signal: c_int, context: &libc::ucontext_t) -> bool {
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
    signal == libc::SIGILL && is_illegal_at(pc)
}

/// Whether the host's instruction at `pc` stands for an illegal one of NxP code.
pub fn is_illegal_at(pc: u64) -> bool {
    pc == illegal as *const () as u64
}

/// Makes the record speak of the NxP instruction at `pc`.
pub fn describe_illegal(info: &mut libc::siginfo_t, pc: u64) {
    const ILL_ILLOPC: c_int = 1;
    info.si_code = ILL_ILLOPC;
    set_address(info, pc);
}

/// Lets the thread go on behind the host's illegal instruction.
pub fn resume(context: &mut libc::ucontext_t) {
    let pc = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
    // A handler may have sent the thread elsewhere.
    if *pc as usize == illegal as *const () as usize {
        *pc += ILLEGAL_SIZE;
    }
}

/// Makes the record one of `address`.
pub fn set_address(info: &mut libc::siginfo_t, address: u64) {
    // SAFETY: the kernel's layout is (signo, errno, code, padding, address).
    unsafe { (&raw mut *info).cast::<u64>().add(2).write(address) };
}
