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

/// Raises the signal for `stop` at `hart.pc` of `act`, the calling thread's innermost activation.
/// Returns the pc to go on at if a handler returns: the instruction is tried again (after a
/// breakpoint, the next one).
#[cold]
pub fn raise_for(act: &Activation, stop: &Exit) -> u64 {
    let pc = act.context.hart.pc;
    match *stop {
        Exit::Ebreak => {
            if dispositions::ends_process(libc::SIGTRAP) {
                fault_report::stopped(act, libc::SIGTRAP);
            }
            // SAFETY: the instruction was just fetched from there.
            let low = unsafe {
                asm!("int3");
                (pc as *const u16).read_unaligned()
            };
            return pc + if low & 3 == 3 { 4 } else { 2 };
        }
        Exit::Trap(trap) => misaligned(act, trap.addr),
        _ => illegal::execute(),
    }
    pc
}

/// An atomic access across its natural alignment, which RV64 does not have and the host never
/// refuses.
fn misaligned(act: &Activation, address: u64) {
    const BUS_ADRALN: c_int = 1;
    // SAFETY: plain system calls on valid records.
    unsafe {
        if dispositions::ends_process(libc::SIGBUS) {
            fault_report::stopped(act, libc::SIGBUS);
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
