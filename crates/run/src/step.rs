//! One step of a crossing: run NxP code until it returns or needs the host (paper section IV.B,
//! listings 1 and 2).
use std::ffi::c_int;
use std::sync::atomic::Ordering;

use flick_abi::layout::{GATE_PLAIN, JumpTarget};
use flick_engine::Exit;
use flick_translator::Reason;

use crate::activation::Activation;
use crate::backend::{Backend, Inline, InlineCounted};
use crate::crossing::{self, Next};
use crate::lookup::Target;
use crate::thread::Thread;
use crate::{active, marshal, raise, returns_twice, stats, timed, unwinding};

const RA: usize = 1;
const SP: usize = 2;
const A0: usize = 10;
const T1: usize = 6;
const T2: usize = 7;

pub(crate) unsafe extern "C" fn enter(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame.
    unsafe { start(act, &Inline) }
}

pub(crate) unsafe extern "C" fn enter_counted(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame, its gate is alive.
    unsafe {
        (*(*act).gate).calls.fetch_add(1, Ordering::Relaxed);
        start(act, &InlineCounted)
    }
}

pub(crate) unsafe extern "C" fn resume(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame.
    unsafe { host_returned(act, &Inline) }
}

pub(crate) unsafe extern "C" fn resume_counted(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame.
    unsafe { host_returned(act, &InlineCounted) }
}

/// Translated code has come back, with all registers in the hart.
pub(crate) unsafe extern "C" fn left(act: *mut Activation, reason: u64) -> Next {
    // SAFETY: the crossing passes its own frame.
    unsafe { go(act, &Inline, reason == Reason::Interpret as u64) }
}

pub(crate) unsafe extern "C" fn left_counted(act: *mut Activation, reason: u64) -> Next {
    // SAFETY: the crossing passes its own frame.
    unsafe { go(act, &InlineCounted, reason == Reason::Interpret as u64) }
}

/// A landing pad of NxP code: `landing` is set, `results` has what it gets.
pub(crate) unsafe extern "C" fn land(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame, to which an unwinder has come.
    unsafe { go_on(act, |act| unwinding::leave_frames(act), &Inline) }
}

pub(crate) unsafe extern "C" fn land_counted(act: *mut Activation) -> Next {
    // SAFETY: as for `land`.
    unsafe { go_on(act, |act| unwinding::leave_frames(act), &InlineCounted) }
}

/// The second return of `setjmp`.
pub(crate) unsafe extern "C" fn again(
    act: *mut Activation,
    to: *const JumpTarget,
    value: c_int,
) -> Next {
    // SAFETY: `__flick_setjmp` passes what it has kept of a function that is alive.
    unsafe { go_on(act, |act| returns_twice::restore(act, &*to, value), &Inline) }
}

pub(crate) unsafe extern "C" fn again_counted(
    act: *mut Activation,
    to: *const JumpTarget,
    value: c_int,
) -> Next {
    // SAFETY: as for `again`.
    unsafe {
        go_on(
            act,
            |act| returns_twice::restore(act, &*to, value),
            &InlineCounted,
        )
    }
}

/// Makes `act` the thread's innermost activation and runs the gate's function.
///
/// # Safety
/// `act` is the frame of a crossing with gate and arguments stored; everything else is garbage.
#[inline]
unsafe fn start<B: Backend>(act: *mut Activation, backend: &B) -> Next {
    let thread = Thread::current();
    // SAFETY: `thread` is this thread's own; `act` by contract. Fields of `act` are written before
    // they are read.
    unsafe {
        let entry_sp = active::stack_pointer_for(thread, act);
        let gate = &*(*act).gate;
        let plain = gate.flags & GATE_PLAIN != 0;
        let room = if plain {
            0
        } else {
            marshal::stack_size(&mut *act, gate.signature.cast())
        };
        (*act).set_in_host(false);
        (*act).hart.pc = gate.image as u64;
        (*act).hart.reservation_len = 0;
        (*act).hart.frm = (*thread).frm();
        (*act).hart.retired = 0;
        (*act).hart.x[SP] = entry_sp - room;
        (*act).hart.x[RA] = crossing::return_address();
        // From here on handlers that cross stay below the new stack pointer.
        (*thread).active.push(act, entry_sp);
        if !plain {
            marshal::enter_by_signature(&mut *act, gate.signature.cast(), entry_sp);
        }
        if B::COUNTED && timed::enabled() {
            timed::crossing::called(act);
        }
        go(act, backend, false)
    }
}

/// A host function that NxP code called has returned.
///
/// # Safety
/// `act` is the frame of a crossing whose host call is done.
#[inline]
unsafe fn host_returned<B: Backend>(act: *mut Activation, backend: &B) -> Next {
    // SAFETY: by contract.
    unsafe {
        let thread = Thread::current_or_null();
        if (*thread).active.top() != act {
            active::drop_above(thread, act);
        }
        (*act).set_in_host(false);
        (*act).hart.frm = (*thread).frm();
        if B::COUNTED && timed::enabled() {
            let registers = &(*act).hart.x;
            timed::crossing::host_returns(&registers[A0..A0 + 8]);
        }
        marshal::returned(&mut *act);
        if !(*act).call.signature.is_null() && (*act).call.waits != 0 && (*thread).frm() == 0 {
            return Next::Back;
        }
        (*act).hart.pc = (*act).hart.x[RA];
        go(act, backend, false)
    }
}

/// Translated code is about to call the host function at `target`.
pub(crate) unsafe extern "C" fn count_host_call(act: *mut Activation, target: u64) {
    // SAFETY: `straight` passes the activation of its caller.
    unsafe { InlineCounted.count(&mut (*act).hart) };
    stats::host_call(target as usize);
}

/// The [`Next`] of a crossing, and where it goes on with that.
#[repr(C)]
pub(crate) struct Way {
    next: u64,
    at: u64,
}

/// Translated code calls the host by a signature and waits for the return at the stack pointer `waits`.
pub(crate) unsafe extern "C" fn call_by_signature(act: *mut Activation, waits: u64) -> Way {
    // SAFETY: `straight` passes the activation of its caller, with all that a call hands over in its hart.
    unsafe {
        let counted = crossing::counted();
        if counted {
            InlineCounted.count(&mut (*act).hart);
        }
        let pc = crossing::xcall_address();
        (*act).hart.pc = pc;
        let next = call_host(act, (*act).hart.x[T2], pc, counted);
        (*act).call.waits = waits;
        Way {
            next: next as u64,
            at: crossing::calls_address(counted),
        }
    }
}

/// A host function that translated code has called has returned, and `act` is not the newest activation or
/// the rounding mode is another. Whether the mode is one that translated code cannot have.
pub(crate) unsafe extern "C" fn back_in_translated(act: *mut Activation) -> bool {
    // SAFETY: `straight` passes the activation of its caller.
    unsafe {
        let thread = Thread::current_or_null();
        if (*thread).active.top() != act {
            active::drop_above(thread, act);
        }
        (*act).hart.frm = (*thread).frm();
        (*thread).frm() != 0
    }
}

/// An unwinder or `longjmp` has left the host call and more; NxP code goes on where `restore` says.
///
/// # Safety
/// `act` is the frame of a crossing; `restore` makes its registers those of NxP code that is alive.
#[cold]
unsafe fn go_on<B: Backend>(
    act: *mut Activation,
    restore: impl FnOnce(&mut Activation),
    backend: &B,
) -> Next {
    // SAFETY: by contract.
    unsafe {
        let thread = Thread::current_or_null();
        if (*thread).active.top() != act {
            active::drop_above(thread, act);
        }
        (*act).set_in_host(false);
        (*act).hart.frm = (*thread).frm();
        if B::COUNTED && timed::enabled() {
            timed::crossing::came_back();
        }
        restore(&mut *act);
        go(act, backend, false)
    }
}

/// Runs NxP code from `hart.pc`, or has the crossing call what is translated of it. `interpret`: as
/// [`Backend::run`] has it.
///
/// # Safety
/// `act` is the thread's innermost activation, ready to run.
#[inline]
unsafe fn go<B: Backend>(act: *mut Activation, backend: &B, mut interpret: bool) -> Next {
    // SAFETY: by contract; regions live while their code runs.
    unsafe {
        let thread = Thread::current_or_null();
        let (target, pc) = loop {
            let pc = (*act).hart.pc;
            let target = if pc == crossing::return_address() {
                backend.count(&mut (*act).hart);
                if B::COUNTED && timed::enabled() {
                    timed::crossing::returned();
                }
                return finish(act);
            } else if pc == crossing::xcall_address() {
                (*act).hart.x[T2]
            } else {
                pc
            };
            let Target::Nxp(address) = (*thread).targets.resolve(target) else {
                break (target, pc);
            };
            if pc != target && has_variadic_arguments(act) {
                // Only the host has them where a function without dots looks for them.
                break (target, pc);
            }
            (*act).hart.pc = address;
            let region = (*thread).targets.region(address);
            if region.is_null() {
                // Its library was closed under the running code: the fetch faults as it would natively.
                break (target, pc);
            }
            let interpret = std::mem::take(&mut interpret);
            match backend.run(&mut (*act).hart, &*region, interpret) {
                Ok(translated) => {
                    // No other mode is in translated code, and host calls from there do not ask.
                    (*thread).set_frm(0);
                    let limit = (*thread).host_stack.limit_at(act as usize);
                    (*act).hart.host_limit = limit as u64;
                    (*act).call.target = translated;
                    return Next::Translated;
                }
                Err(Exit::Leave) => {}
                Err(exit) => raise::raise_for(act, &exit),
            }
        };
        backend.count(&mut (*act).hart);
        call_host(act, target, pc, B::COUNTED)
    }
}

/// Where NxP code calls by a signature if that is NxP code, too, which finds its arguments where the caller has
/// put them.
///
/// # Safety
/// `x` are the registers of NxP code that has jumped to `__flick_xcall` in this thread.
pub unsafe fn nxp_by_signature(x: &[u64; 32]) -> Option<u64> {
    // SAFETY: by contract, t1 is the signature.
    unsafe {
        let thread = Thread::current_or_null();
        match (*thread).targets.resolve(x[T2]) {
            Target::Nxp(address) if !marshal::has_variadic_arguments(x[T1] as *const u8) => {
                Some(address)
            }
            _ => None,
        }
    }
}

/// Out of the way of calls that need no signature.
///
/// # Safety
/// As [`go`]; NxP code has jumped to `__flick_xcall`.
#[cold]
unsafe fn has_variadic_arguments(act: *const Activation) -> bool {
    // SAFETY: by contract; t1 is the stub's signature.
    unsafe { marshal::has_variadic_arguments((*act).hart.x[T1] as *const u8) }
}

/// # Safety
/// As [`go`]; `pc` is where the NxP jumped, `target` what it meant.
#[inline]
unsafe fn call_host(act: *mut Activation, target: u64, pc: u64, counted: bool) -> Next {
    // SAFETY: by contract; t1 is the signature if NxP code jumped to `__flick_xcall`.
    unsafe {
        if counted {
            stats::host_call(target as usize);
            if timed::enabled() {
                timed::crossing::calls_host(target);
            }
        }
        let next = if pc == target {
            marshal::call_plain(&mut *act, target);
            Next::CallPlain
        } else {
            let signature = (*act).hart.x[T1] as *const u8;
            (*act).call.waits = 0;
            marshal::call_by_signature(&mut *act, target, signature)
        };
        (*Thread::current_or_null()).set_frm((*act).hart.frm);
        (*act).set_in_host(true);
        next
    }
}

/// # Safety
/// `act` is the thread's innermost activation; its function has returned.
#[inline]
unsafe fn finish(act: *mut Activation) -> Next {
    // SAFETY: by contract.
    unsafe {
        let thread = Thread::current_or_null();
        (*thread).set_frm((*act).hart.frm);
        let next = if (*(*act).gate).flags & GATE_PLAIN != 0 {
            Next::Return
        } else {
            marshal::leave(&mut *act)
        };
        (*thread).active.pop();
        next
    }
}
