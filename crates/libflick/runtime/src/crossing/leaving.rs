//! Where an activation begins on the NxP stack, and how activations that were left are dropped.
use crate::os::fatal;
use crate::os::host_stack::Which;
use crate::thread::activation::Activation;
use crate::thread::activations::GAP;
use crate::thread::entered::Entered;
use crate::thread::{Current, Thread};
use crate::translation;
use flick_riscv::register::SP;

/// Where the NxP stack of a new activation at `act` starts; 16-byte aligned. Drops dead activations
/// that stand in the way.
///
/// # Safety
/// `act` is the newest frame on the current host stack.
#[inline]
pub unsafe fn stack_pointer_for(thread: Current, act: *mut Activation) -> u64 {
    loop {
        let last = thread.active.last();
        if last.act.is_null() {
            return thread.stack_top as u64;
        }
        if last.act <= act && is_left(&thread, last.act, act as usize) {
            thread.vectors.disown(last.act);
            thread.pop();
            continue;
        }
        // It is alive, or was left in a way that `longjmp` below does not see, and a deeper
        // frame is made now. Then its frame may be anything, but below its entry nothing is
        // alive, so that any pointer there will do.
        // SAFETY: by contract `act` is deeper, so that the frame's memory is there.
        let sp = unsafe { (*last.act).context.hart.x[SP] };
        if sp > last.entry_sp || sp <= thread.stack_low() as u64 {
            if let Some(sp) = after_overflow(thread, sp, last.entry_sp) {
                return sp;
            }
            thread.pop();
            continue;
        }
        if sp <= thread.half as u64
            // SAFETY: as above.
            && !unsafe { (*last.act).in_host() }
            && let Some(sp) = in_the_middle(thread, sp)
        {
            return sp;
        }
        let entry_sp = below(sp);
        if thread.has_gap(entry_sp) {
            return entry_sp;
        }
        match thread.spare_top() {
            Some(top) => return top,
            None => nested_too_deeply(),
        }
    }
}

/// Where an activation begins below `sp`. Unwinders tell frames by their stack pointers: the frame that
/// has called the host must not look like the end of this activation. The gap has an
/// [`Entry`](crate::thread::activations::Entry).
fn below(sp: u64) -> u64 {
    (sp & !15) - GAP
}

#[cold]
fn nested_too_deeply() -> ! {
    fatal::exit(
        "FLK0502",
        "calls between host and NxP are nested too deeply",
        "look for endless recursion across the boundary",
    )
}

/// Where the NxP stack starts for a handler of an overflow: below what runs on the spare stack
/// already, or there. `None`: by `sp`, of the activation that was entered at `entry_sp`, there was
/// no overflow.
#[cold]
fn after_overflow(thread: Current, sp: u64, entry_sp: u64) -> Option<u64> {
    if thread.spare_with(sp).is_some() && sp <= entry_sp {
        let entry_sp = below(sp);
        if !thread.has_gap(entry_sp) {
            nested_too_deeply();
        }
        return Some(entry_sp);
    }
    if thread.has_overflown(sp) {
        return thread.spare_top();
    }
    None
}

/// A handler has interrupted NxP code that has gone down to `sp` with its stack, and may have come
/// back since: translated code stores its stack pointer in the hart where it goes down, and not where
/// it goes up. So a handler starts on the spare stack, which has as much as is left here at least.
/// `None`: it is there already, or there is no room for one.
#[cold]
fn in_the_middle(thread: Current, sp: u64) -> Option<u64> {
    match thread.spare_with(sp) {
        Some(_) => None,
        None => thread.spare_top(),
    }
}

/// `longjmp` is about to go on with stack pointer `target`: drops the activations it leaves.
/// Async-signal-safe.
pub fn left_by_jump(target: usize) {
    translation::left();
    let Some(thread) = Current::get() else {
        return;
    };
    loop {
        let last = thread.active.top();
        if last.is_null() || !is_left(&thread, last, target) {
            return;
        }
        thread.vectors.disown(last);
        thread.pop();
    }
}

/// A host call has returned to `act`: drops the newer activations, which were left, or ends the
/// program if they may be suspended on a stack of their own.
#[inline]
pub fn drop_newer(thread: Current, act: &Entered) {
    if thread.active.top() != act.address() {
        drop_above(thread, act.address());
    }
}

/// The same where `act` is not the newest.
#[cold]
fn drop_above(thread: Current, act: *mut Activation) {
    while thread.active.top() != act {
        let top = thread.active.top();
        if top.is_null() || thread.host_stack.which(top as usize) == Which::Other {
            fatal::exit(
                "FLK0504",
                "the program switched stacks (swapcontext or alike) while NxP functions were \
                 active, and came back in another order",
                "keep functions that switch stacks, and their callers, on the host",
            );
        }
        thread.pop();
    }
}

/// An unwinder passes `act`: drops it and the activations that it leaves.
pub fn left_by_unwinding(act: *mut Activation) {
    translation::left();
    let Some(thread) = Current::get() else {
        return;
    };
    if thread.activations().any(|known| known == act) {
        drop_above(thread, act);
        thread.pop();
    }
}

/// Whether the activation at `top` is left when the stack pointer of the same thread is, or goes
/// back to, `now`.
#[cold]
fn is_left(thread: &Thread, top: *mut Activation, now: usize) -> bool {
    match (
        thread.host_stack.which(now),
        thread.host_stack.which(top as usize),
    ) {
        (Which::Own, Which::Own) | (Which::Signal, Which::Signal) => top as usize <= now,
        // A handler on the signal stack ends before the code it interrupted goes on.
        (Which::Own, Which::Signal) => true,
        // Suspended on a stack of its own, or below a handler or another stack.
        _ => false,
    }
}
