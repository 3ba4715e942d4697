//! Signals for NxP instructions that cannot go on: those that the host would get in their place.
//!
//! A trap of the host raises what a trap of the host's raises: the signal is the kernel's own,
//! forced if it is blocked or ignored, and passes filters and valgrind as it does natively.
use std::arch::asm;
use std::ffi::c_int;

use flick_engine::Exit;

use crate::os::illegal;
use crate::os::signal_mask::change_mask;
use crate::reports::fault_report;
use crate::signals::dispositions;
use crate::thread::activation::Activation;

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
                if dispositions::ends_process(libc::SIGTRAP) {
                    fault_report::stopped(&*act, libc::SIGTRAP);
                }
                asm!("int3");
                let pc = (*act).context.hart.pc;
                // SAFETY: the instruction was just fetched from there.
                let low = (pc as *const u16).read_unaligned();
                (*act).context.hart.pc = pc + if low & 3 == 3 { 4 } else { 2 };
            }
            Exit::Trap(trap) => misaligned(act, trap.addr),
            _ => illegal::execute(),
        }
    }
}

/// An atomic access across its natural alignment, which RV64 does not have and the host never
/// refuses.
///
/// # Safety
/// `act` is the calling thread's innermost activation.
unsafe fn misaligned(act: *mut Activation, address: u64) {
    const BUS_ADRALN: c_int = 1;
    // SAFETY: plain system calls on valid records.
    unsafe {
        if dispositions::ends_process(libc::SIGBUS) {
            fault_report::stopped(&*act, libc::SIGBUS);
            dispositions::set_default(libc::SIGBUS);
            change_mask(libc::SIG_UNBLOCK, 1 << (libc::SIGBUS - 1));
        }
        let mut info: libc::siginfo_t = std::mem::zeroed();
        info.si_signo = libc::SIGBUS;
        info.si_code = BUS_ADRALN;
        illegal::set_address(&mut info, address);
        dispositions::send_to_self(libc::SIGBUS, &mut info);
    }
}
