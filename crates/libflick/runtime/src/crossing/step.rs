//! The steps of a crossing, on any backend: run NxP code until it returns or needs the host (paper
//! section IV.B, listings 1 and 2).
use std::sync::atomic::Ordering;

use flick_abi::layout::GATE_PLAIN;
use flick_riscv::register::{A0, RA, SP, T1};
use flick_translator::Reason;

use super::backend::{Backend, Event};
use super::next_step::Next;
use super::{leaf_gates, leaving, marshal};
use crate::accounts::hook::Accounts;
use crate::modules::signatures::Plan;
use crate::reports::backtrace;
use crate::signals::raise;
use crate::thread::activation::Activation;
use crate::thread::entered::Entered;
use crate::thread::{Current, crossing_code};

/// Makes `act` the thread's innermost activation and runs the gate's function.
///
/// # Safety
/// `act` is the frame of a crossing with gate and arguments stored; everything else is garbage.
#[inline]
pub unsafe fn start<B: Backend>(act: *mut Activation) -> Next {
    let thread = Current::get_or_make();
    // SAFETY: by contract.
    let (entry_sp, mut act) =
        unsafe { (leaving::stack_pointer_for(thread, act), Entered::new(act)) };
    let gate = act.gate();
    let image = gate.image as u64;
    let plan = match gate.flags & GATE_PLAIN {
        // SAFETY: the signature of a gate is a C string.
        0 => Some(unsafe { thread.plan(gate.signature.load(Ordering::Relaxed).cast()) }),
        _ => None,
    };
    // SAFETY: the host called by this signature.
    let room = plan.map_or(0, |plan| unsafe { marshal::stack_size(&mut act, plan) });
    act.set_crossing(B::CROSSING);
    act.context.hart.pc = image;
    act.context.hart.reservation_len = 0;
    act.context.hart.frm = thread.frm();
    act.context.retired = 0;
    act.context.hart.x[SP] = entry_sp - room;
    act.context.hart.x[RA] = crossing_code::return_address();
    // From here on handlers that cross stay below the new stack pointer.
    // SAFETY: `stack_pointer_for` has found the place.
    unsafe { thread.active.push(act.address(), entry_sp) };
    if let Some(plan) = plan {
        // SAFETY: as above; this is the room.
        unsafe { marshal::enter_by_signature(&mut act, plan, entry_sp) };
    }
    B::Accounts::called(&act);
    go::<B>(act, Reason::Continue)
}

/// A host function that NxP code called has returned.
#[inline]
pub fn host_returned<B: Backend>(mut act: Entered) -> Next {
    let thread = act.thread();
    leaving::drop_newer(thread, &act);
    act.set_in_host(false);
    act.context.hart.frm = thread.frm();
    let registers = &act.context.hart.x;
    B::Accounts::host_returns(&registers[A0..A0 + 8], registers[RA]);
    marshal::returned(&mut act);
    if !act.call.signature.is_null() && act.call.waits != 0 && thread.frm() == 0 {
        return Next::Back;
    }
    act.context.hart.pc = act.context.hart.x[RA];
    go::<B>(act, Reason::Continue)
}

/// An unwinder or `longjmp` has left the host call and more; NxP code goes on where `restore` says,
/// which makes the registers those of NxP code that is alive.
#[cold]
pub fn go_on<B: Backend>(mut act: Entered, restore: impl FnOnce(&mut Activation)) -> Next {
    let thread = act.thread();
    leaving::drop_newer(thread, &act);
    act.set_in_host(false);
    act.context.hart.frm = thread.frm();
    restore(&mut act);
    thread.vectors.left(act.address());
    B::Accounts::came_back(|| backtrace::depth(&thread, &act));
    go::<B>(act, Reason::Continue)
}

/// Goes on with NxP code at `hart.pc`, and says what the crossing must do next. `reason`: as
/// [`Backend::resume`] has it. `act` is the thread's innermost activation.
#[inline]
pub fn go<B: Backend>(mut act: Entered, mut reason: Reason) -> Next {
    loop {
        match B::resume(&mut act, std::mem::take(&mut reason)) {
            Event::Return => {
                B::Accounts::instructions(&mut act.context);
                B::Accounts::returned();
                return finish(act);
            }
            Event::HostCall { target, pc } => {
                B::Accounts::instructions(&mut act.context);
                B::Accounts::calls_host(target);
                return prepare_host_call(&mut act, target, pc);
            }
            Event::Enter(translated) => {
                act.call.target = translated;
                return Next::Translated;
            }
            Event::Fault(exit) => act.context.hart.pc = raise::raise_for(&act, &exit),
        }
    }
}

/// The plan by which NxP code calls, which has jumped to `__flick_xcall`.
#[inline]
pub fn plan_of_call(act: &Entered) -> &'static Plan {
    // SAFETY: t1 is the stub's signature, as NxP code is the program's own.
    unsafe { act.thread().plan(act.context.hart.x[T1] as *const u8) }
}

/// Prepares the call of the host function at `target`; `pc` is where the NxP jumped, `target` the
/// function that it meant.
#[inline]
pub fn prepare_host_call(act: &mut Entered, target: u64, pc: u64) -> Next {
    let next = if pc == target {
        marshal::call_plain(act, target);
        Next::CallPlain
    } else {
        act.call.waits = 0;
        let plan = plan_of_call(act);
        // SAFETY: NxP code calls by this plan's signature.
        unsafe { marshal::call_by_signature(act, target, plan) }
    };
    keep_frm(act.thread(), act.context.hart.frm);
    act.set_in_host(true);
    next
}

/// The rounding mode that the NxP leaves behind is the thread's.
#[inline]
fn keep_frm(thread: Current, frm: u16) {
    thread.set_frm(frm);
    if frm != 0 {
        leaf_gates::forbid();
    }
}

/// The function of `act`, the thread's innermost activation, has returned.
#[inline(always)]
fn finish(mut act: Entered) -> Next {
    let thread = act.thread();
    keep_frm(thread, act.context.hart.frm);
    let next = if act.gate().flags & GATE_PLAIN != 0 {
        Next::Return
    } else {
        marshal::leave(&mut act)
    };
    thread.pop();
    next
}
