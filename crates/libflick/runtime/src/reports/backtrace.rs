//! The NxP frames of a thread, innermost first, across its crossings. Async-signal-safe: nothing is
//! read that was not checked to be the thread's own.
use flick_abi::layout::{Gate, UNWIND_BY_FP, UNWIND_UNKNOWN};
use flick_riscv::register::{FP, RA, SP};

use crate::modules;
use crate::os::host_stack::Which;
use crate::thread::activation::Activation;
use crate::thread::{Thread, crossing_code};

/// What a walk comes by.
pub enum Step {
    /// A real NxP frame. A caller's `pc` is the call's, one byte before the return address.
    Frame { pc: u64 },
    /// The host called these frames through this gate.
    Host { gate: *const Gate },
    /// The frames up to the next gate cannot be found.
    Lost,
}

/// The activations of the thread that are further out than the first.
#[derive(Clone, Copy)]
pub enum Outer {
    /// The first is the thread's innermost.
    Rest,
    /// The first stands for a call without an activation.
    All,
}

/// Calls `visit` with at most `limit` steps. `top` is the innermost activation of `thread`, or stands for
/// one.
pub fn walk(
    thread: Option<&Thread>,
    top: &Activation,
    outer: Outer,
    limit: usize,
    mut visit: impl FnMut(Step),
) {
    let mut left = limit;
    let mut visit = |step| {
        left = left.saturating_sub(1);
        visit(step);
        left != 0
    };
    let skipped = match outer {
        Outer::Rest => 1,
        Outer::All => 0,
    };
    let mut older = thread
        .into_iter()
        .flat_map(Thread::activations)
        .skip(skipped);
    let mut act = top;
    let mut innermost = true;
    loop {
        if !one(thread, act, innermost, &mut visit) || !visit(Step::Host { gate: act.gate }) {
            return;
        }
        innermost = false;
        let (Some(thread), Some(next)) = (thread, older.next()) else {
            return;
        };
        // Frames of other stacks may be gone.
        if thread.host_stack.which(next as usize) != Which::Own {
            return;
        }
        // SAFETY: on this thread's stack, which is mapped, and deeper frames are alive; any bits
        // are a valid activation.
        act = unsafe { &*next };
        if !modules::is_gate(act.gate) {
            return;
        }
    }
}

/// How many NxP frames `act` has, the innermost activation of `thread`; `None` where they cannot all
/// be found.
pub fn depth(thread: &Thread, act: &Activation) -> Option<usize> {
    let mut depth = Some(0);
    one(Some(thread), act, true, &mut |step| {
        depth = match step {
            Step::Frame { .. } => depth.map(|depth| depth + 1),
            _ => None,
        };
        true
    });
    depth
}

/// Calls `visit` with the addresses to which the callers of the code that `act` is in are returned to,
/// innermost first: of the NxP frames of this activation, `thread`'s innermost. False: some cannot be found.
pub fn callers(thread: &Thread, act: &Activation, mut visit: impl FnMut(u64)) -> bool {
    let mut is_whole = true;
    // In front of a call of the host all frames are callers'.
    let mut is_own = !act.in_host();
    one(Some(thread), act, true, &mut |step| {
        match step {
            Step::Frame { .. } if std::mem::take(&mut is_own) => {}
            Step::Frame { pc } => visit(pc + 1),
            _ => is_whole = false,
        }
        true
    });
    is_whole
}

/// The frames of one activation. False: `visit` has had enough.
fn one(
    thread: Option<&Thread>,
    act: &Activation,
    innermost: bool,
    visit: &mut impl FnMut(Step) -> bool,
) -> bool {
    let x = &act.context.hart.x;
    let (mut sp, mut ra, mut fp) = (x[SP], x[RA], x[FP]);
    // All but the innermost wait for a host function.
    let mut pc = if innermost && !act.in_host() {
        act.context.hart.pc
    } else {
        match ra {
            ra if ra == crossing_code::return_address() => return true,
            ra => ra.wrapping_sub(1),
        }
    };
    loop {
        if !modules::in_image(pc) {
            // A jump to nowhere: its caller is known by ra.
            let caller = ra.wrapping_sub(1);
            if pc == caller || !modules::in_image(caller) {
                return visit(Step::Lost);
            }
            pc = caller;
            continue;
        }
        if !visit(Step::Frame { pc }) {
            return false;
        }
        let Some(row) = modules::unwind_row(pc).filter(|row| row.flags & UNWIND_UNKNOWN == 0)
        else {
            return visit(Step::Lost);
        };
        let base = if row.flags & UNWIND_BY_FP != 0 {
            fp
        } else {
            sp
        };
        let cfa = base.wrapping_add_signed(i64::from(row.cfa));
        let saved = |at: i16, register: u64| match at {
            0 => Some(register),
            at => load(thread?, cfa.wrapping_add_signed(i64::from(at))),
        };
        let (Some(return_address), Some(saved_fp)) = (saved(row.ra, ra), saved(row.fp, fp)) else {
            return visit(Step::Lost);
        };
        if return_address == crossing_code::return_address() {
            return true;
        }
        // A frame that saves nothing and takes no stack can only be the innermost.
        if cfa < sp || (cfa == sp && return_address == pc.wrapping_add(1)) {
            return visit(Step::Lost);
        }
        (sp, fp, ra) = (cfa, saved_fp, return_address);
        pc = return_address.wrapping_sub(1);
    }
}

/// A word of the thread's NxP stack, or of that for handlers of its overflow.
fn load(thread: &Thread, address: u64) -> Option<u64> {
    let (low, top) = match thread.spare_with(address) {
        Some(spare) => (spare.lo, spare.hi),
        None => (thread.stack_low(), thread.stack_top),
    };
    let stack = low as u64..(top as u64).saturating_sub(7);
    (address.is_multiple_of(8) && stack.contains(&address))
        // SAFETY: inside a stack of the thread's, which is mapped; what was never written reads as
        // zero.
        .then(|| unsafe { (address as *const u64).read_volatile() })
}
