//! Signals for NxP instructions that cannot go on: those that the host would get in their place.
//!
//! A trap of the host raises what a trap of the host's raises: the signal is the kernel's own, forced
//! if it is blocked or ignored, and passes filters and valgrind as it does natively.
use std::arch::{asm, naked_asm};
use std::ffi::c_int;

use flick_engine::Exit;

use crate::activation::Activation;
use crate::sync::change_mask;
use crate::{report, signals};

/// Raises the signal for `stop` at `hart.pc`. If a handler returns, the instruction is tried again
/// (after a breakpoint, the next one).
///
/// # Safety
/// `act` is the calling thread's innermost activation.
#[cold]
pub unsafe fn raise_for(act: *mut Activation, stop: &Exit) {
    // SAFETY: by contract.
    unsafe {
        match *stop {
            Exit::Ebreak => {
                if signals::ends_process(libc::SIGTRAP) {
                    report::stopped(&*act, libc::SIGTRAP);
                }
                asm!("int3");
                let pc = (*act).hart.pc;
                // SAFETY: the instruction was just fetched from there.
                let low = (pc as *const u16).read_unaligned();
                (*act).hart.pc = pc + if low & 3 == 3 { 4 } else { 2 };
            }
            Exit::Trap(trap) => misaligned(act, trap.addr),
            _ => illegal(),
        }
    }
}

/// A host instruction that is illegal; `signals` knows it by its address.
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

fn set_address(info: &mut libc::siginfo_t, address: u64) {
    // SAFETY: the kernel's layout is (signo, errno, code, padding, address).
    unsafe { (&raw mut *info).cast::<u64>().add(2).write(address) };
}

/// An atomic access across its natural alignment, which RV64 does not have and the host never refuses.
///
/// # Safety
/// `act` is the calling thread's innermost activation.
unsafe fn misaligned(act: *mut Activation, address: u64) {
    const BUS_ADRALN: c_int = 1;
    // SAFETY: plain system calls on valid records.
    unsafe {
        if signals::ends_process(libc::SIGBUS) {
            report::stopped(&*act, libc::SIGBUS);
            signals::set_default(libc::SIGBUS);
            change_mask(libc::SIG_UNBLOCK, 1 << (libc::SIGBUS - 1));
        }
        let mut info: libc::siginfo_t = std::mem::zeroed();
        info.si_signo = libc::SIGBUS;
        info.si_code = BUS_ADRALN;
        set_address(&mut info, address);
        signals::send_to_self(libc::SIGBUS, &mut info);
    }
}
