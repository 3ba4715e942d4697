//! The handler of SIGSEGV, SIGBUS and SIGILL: the fault that migrates (paper section III.B), the
//! program's own handlers, and the end of the program. All that it does is async-signal-safe.
use std::ffi::{c_int, c_void};

use super::gate_target;
use crate::accounts::stats;
use crate::modules;
use crate::os::illegal;
use crate::reports::fault_report;
use crate::signals::{context_check, dispositions};
use crate::thread::Current;
use crate::translation;

/// Handles SIGSEGV, SIGBUS and SIGILL.
///
/// # Safety
/// The kernel calls it, with complete records.
pub(crate) unsafe extern "C" fn handle(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the kernel passes valid records; errno is this thread's.
    unsafe {
        let errno = *libc::__errno_location();
        let context = context.cast::<libc::ucontext_t>();
        if illegal::is_illegal(signal, &*context) {
            let pc = (*Current::crossed().active.top()).context.hart.pc;
            illegal::describe_illegal(&mut *info, pc);
            if deliver(signal, info, context) {
                illegal::resume(&mut *context);
            }
        } else if !migrate(signal, &*info, &mut *context) {
            deliver(signal, info, context);
        }
        *libc::__errno_location() = errno;
    }
}

/// Whether the signal came by a fault and not by kill(2) and the like.
fn synchronous(info: &libc::siginfo_t) -> bool {
    info.si_code > 0
}

/// A host fetch from an image, at the entry of a function that has a gate: goes on in the crossing,
/// as if the gate had been called. The error code is not asked (under valgrind it is 0).
fn migrate(signal: c_int, info: &libc::siginfo_t, context: &mut libc::ucontext_t) -> bool {
    let registers = &mut context.uc_mcontext.gregs;
    let pc = registers[libc::REG_RIP as usize] as u64;
    // SAFETY: a synchronous SIGSEGV has an address.
    let at_pc =
        signal == libc::SIGSEGV && synchronous(info) && unsafe { info.si_addr() } as u64 == pc;
    if !at_pc {
        return false;
    }
    let Some(gate) = modules::gate_of_image(pc) else {
        return false;
    };
    stats::fault();
    registers[libc::REG_R11 as usize] = gate as i64;
    // SAFETY: the gate of a module that is registered.
    registers[libc::REG_RIP as usize] = gate_target::of(unsafe { &*gate }) as i64;
    true
}

/// Not ours: what the program asked for, or the end with a report. Returns whether the program goes
/// on.
///
/// # Safety
/// The records are those of a signal being handled.
unsafe fn deliver(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::ucontext_t,
) -> bool {
    let Some(handler) = dispositions::handler_of(signal) else {
        return true;
    };
    // SAFETY: by contract; `handler` is a function that the program installed for this.
    unsafe {
        if handler == libc::SIG_IGN && !synchronous(&*info) {
            return true;
        }
        // A fault whose signal is blocked ends the process. The kernel sees to it, unless the
        // program's mask has only our stand-in.
        let mask = (&raw const (*context).uc_sigmask).cast::<usize>().read();
        let blocked = signal == libc::SIGSEGV && dispositions::is_stood_in(mask);
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN || blocked {
            fault_report::fault(signal, &*info, &*context);
            end_by(signal, info);
            return false;
        }
        dispositions::reset_once(signal);
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
            std::mem::transmute(handler);
        let before = (*context).uc_mcontext.gregs;
        let leaf = translation::leaf_entered(&*context);
        handler(signal, info, context.cast());
        let pc = before[libc::REG_RIP as usize] as u64;
        if fault_report::in_engine(pc) || illegal::is_illegal_at(pc) {
            context_check::check(&before, &(*context).uc_mcontext.gregs, leaf);
        }
    }
    true
}

/// Lets the signal's default action end the process: a fault happens again when the handler
/// returns, any other signal is sent again.
///
/// # Safety
/// `info` is the signal's.
unsafe fn end_by(signal: c_int, info: *mut libc::siginfo_t) {
    dispositions::set_default(signal);
    // SAFETY: by contract.
    if !synchronous(unsafe { &*info }) {
        // SAFETY: as above.
        unsafe { dispositions::send_to_self(signal, info) };
    }
}
