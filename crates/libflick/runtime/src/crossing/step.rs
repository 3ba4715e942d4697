//! The steps of a crossing, on any backend: run NxP code until it returns or needs the host (paper
//! section IV.B, listings 1 and 2).
use flick_abi::layout::GATE_PLAIN;

use super::backend::{Backend, Event};
use super::next::Next;
use super::{leaving, marshal};
use crate::accounts::hook::Accounts;
use crate::modules::signatures::Plan;
use crate::reports::backtrace;
use crate::signals::raise;
use crate::thread::activation::Activation;
use crate::thread::{Current, crossing_code};

const RA: usize = 1;
const SP: usize = 2;
const A0: usize = 10;
const T1: usize = 6;

/// Makes `act` the thread's innermost activation and runs the gate's function.
///
/// # Safety
/// `act` is the frame of a crossing with gate and arguments stored; everything else is garbage.
#[inline]
pub unsafe fn start<B: Backend>(act: *mut Activation) -> Next {
    let thread = Current::get_or_make();
    // SAFETY: `thread` is this thread's own; `act` by contract. Fields of `act` are written before
    // they are read.
    unsafe {
        let entry_sp = leaving::stack_pointer_for(thread, act);
        let gate = &*(*act).gate;
        let plan = match gate.flags & GATE_PLAIN {
            0 => Some(thread.plan(gate.signature.cast())),
            _ => None,
        };
        let room = plan.map_or(0, |plan| marshal::stack_size(&mut *act, plan));
        (*act).set_in_host(false);
        (*act).context.hart.pc = gate.image as u64;
        (*act).context.hart.reservation_len = 0;
        (*act).context.hart.frm = thread.frm();
        (*act).context.retired = 0;
        (*act).context.hart.x[SP] = entry_sp - room;
        (*act).context.hart.x[RA] = crossing_code::return_address();
        // From here on handlers that cross stay below the new stack pointer.
        thread.active.push(act, entry_sp);
        if let Some(plan) = plan {
            marshal::enter_by_signature(&mut *act, plan, entry_sp);
        }
        B::Accounts::called(act);
        go::<B>(act, false)
    }
}

/// A host function that NxP code called has returned.
///
/// # Safety
/// `act` is the frame of a crossing whose host call is done.
#[inline]
pub unsafe fn host_returned<B: Backend>(act: *mut Activation) -> Next {
    // SAFETY: by contract.
    unsafe {
        let thread = Current::crossed();
        if thread.active.top() != act {
            leaving::drop_above(thread, act);
        }
        (*act).set_in_host(false);
        (*act).context.hart.frm = thread.frm();
        let registers = &(*act).context.hart.x;
        B::Accounts::host_returns(&registers[A0..A0 + 8], registers[RA]);
        marshal::returned(&mut *act);
        if !(*act).call.signature.is_null() && (*act).call.waits != 0 && thread.frm() == 0 {
            return Next::Back;
        }
        (*act).context.hart.pc = (*act).context.hart.x[RA];
        go::<B>(act, false)
    }
}

/// An unwinder or `longjmp` has left the host call and more; NxP code goes on where `restore` says.
///
/// # Safety
/// `act` is the frame of a crossing; `restore` makes its registers those of NxP code that is alive.
#[cold]
pub unsafe fn go_on<B: Backend>(
    act: *mut Activation,
    restore: impl FnOnce(&mut Activation),
) -> Next {
    // SAFETY: by contract.
    unsafe {
        let thread = Current::crossed();
        if thread.active.top() != act {
            leaving::drop_above(thread, act);
        }
        (*act).set_in_host(false);
        (*act).context.hart.frm = thread.frm();
        restore(&mut *act);
        B::Accounts::came_back(|| backtrace::depth(&thread, &*act));
        go::<B>(act, false)
    }
}

/// Goes on with NxP code at `hart.pc`, and says what the crossing must do next. `interpret`: as
/// [`Backend::resume`] has it.
///
/// # Safety
/// `act` is the thread's innermost activation, ready to run.
#[inline]
pub unsafe fn go<B: Backend>(act: *mut Activation, mut interpret: bool) -> Next {
    // SAFETY: by contract.
    unsafe {
        loop {
            match B::resume(act, std::mem::take(&mut interpret)) {
                Event::Return => {
                    B::Accounts::instructions(&mut (*act).context);
                    B::Accounts::returned();
                    return finish(act);
                }
                Event::HostCall { target, pc } => {
                    B::Accounts::instructions(&mut (*act).context);
                    B::Accounts::calls_host(target);
                    return prepare_host_call(act, target, pc);
                }
                Event::Enter(translated) => {
                    (*act).call.target = translated;
                    return Next::Translated;
                }
                Event::Fault(exit) => raise::raise_for(act, &exit),
            }
        }
    }
}

/// The plan by which NxP code calls.
///
/// # Safety
/// As [`go`]; NxP code has jumped to `__flick_xcall`.
#[inline]
pub unsafe fn plan_of_call(act: *const Activation) -> &'static Plan {
    // SAFETY: by contract; t1 is the stub's signature.
    unsafe {
        let thread = Current::crossed();
        thread.plan((*act).context.hart.x[T1] as *const u8)
    }
}

/// Prepares the call of the host function at `target`.
///
/// # Safety
/// As [`go`]; `pc` is where the NxP jumped, `target` the function that it meant.
#[inline]
pub unsafe fn prepare_host_call(act: *mut Activation, target: u64, pc: u64) -> Next {
    // SAFETY: by contract; t1 is the signature if NxP code jumped to `__flick_xcall`.
    unsafe {
        let next = if pc == target {
            marshal::call_plain(&mut *act, target);
            Next::CallPlain
        } else {
            (*act).call.waits = 0;
            marshal::call_by_signature(&mut *act, target, plan_of_call(act))
        };
        Current::crossed().set_frm((*act).context.hart.frm);
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
        let thread = Current::crossed();
        thread.set_frm((*act).context.hart.frm);
        let next = if (*(*act).gate).flags & GATE_PLAIN != 0 {
            Next::Return
        } else {
            marshal::leave(&mut *act)
        };
        thread.active.pop();
        next
    }
}
