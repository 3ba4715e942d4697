//! The backend `inline`: the engine in the calling thread. Its code may be translated, and then
//! calls the host by the fast path.
use std::ffi::c_int;
use std::marker::PhantomData;

use flick_abi::layout::JumpTarget;
use flick_engine::{CodeRegion, Exit, Identity, NoObserver, ProcessCore, Unlimited};
use flick_riscv::register::T2;
use flick_translator::{Context, Reason};

use super::backend::{Backend, Event};
use super::next_step::Next;
use super::{leaving, returns_twice, step, unwinding};
use crate::accounts::gate_counts;
use crate::accounts::hook::{Accounts, Closed, Open};
use crate::modules::address_meaning::Target;
use crate::thread::activation::Activation;
use crate::thread::crossing_code::{self, Crossing};
use crate::thread::entered::Entered;
use crate::translation;

// SAFETY: NxP code is the program's own code; it may touch whatever its host code may.
const MEMORY: Identity = unsafe { Identity::new() };

/// The engine in the calling thread, with these accounts.
pub struct Inline<A>(PhantomData<A>);

impl<A: Accounts> Backend for Inline<A> {
    const CROSSING: Crossing = if A::COUNT {
        Crossing::InlineCounted
    } else {
        Crossing::Inline
    };

    type Accounts = A;

    // The event is taken apart at once: it must not go through memory.
    #[inline(always)]
    fn resume(act: &mut Entered, reason: Reason) -> Event {
        let mut interpret = reason == Reason::Interpret;
        let thread = act.thread();
        loop {
            let pc = act.context.hart.pc;
            let target = if pc == crossing_code::return_address() {
                return Event::Return;
            } else if pc == crossing_code::xcall_address() {
                act.context.hart.x[T2]
            } else {
                pc
            };
            let Target::Nxp(address) = thread.resolve(target) else {
                return Event::HostCall { target, pc };
            };
            if pc != target && step::plan_of_call(act).has_variadic_arguments {
                // Only the host has them where a function without dots looks for them.
                return Event::HostCall { target, pc };
            }
            act.context.hart.pc = address;
            // SAFETY: null, or a region, which lives while its code runs.
            let Some(region) = (unsafe { thread.region(address).as_ref() }) else {
                // Its library was closed under the running code: the fetch faults as it would
                // natively.
                return Event::HostCall { target, pc };
            };
            let interpret = std::mem::take(&mut interpret);
            match run::<A>(&mut act.context, region, interpret) {
                Ok(translated) => {
                    // No other mode is in translated code, and host calls from there do not
                    // ask.
                    thread.set_frm(0);
                    let limit = thread.host_stack.limit_at(act.address() as usize);
                    act.context.host_limit = limit as u64;
                    return Event::Enter(translated);
                }
                Err(Exit::Leave) => {}
                Err(exit) => return Event::Fault(exit),
            }
        }
    }
}

/// Runs from `hart.pc`, inside `code`, until the hart leaves it or cannot go on, and says why; or
/// says which translated code the crossing is to call.
#[inline]
fn run<A: Accounts>(
    context: &mut Context,
    code: &CodeRegion,
    interpret: bool,
) -> Result<u64, Exit> {
    if let Some(exit) = A::observe(context, &MEMORY, code, (u128::MAX, None)) {
        return Err(exit);
    }
    if translation::enabled() {
        let advance = flick_translator::advance;
        // SAFETY: NxP code is the program's own.
        return unsafe { advance(context, &MEMORY, code, translation::entry_if_hot, interpret) };
    }
    let hart = &mut context.hart;
    if !A::COUNT {
        let mut core = ProcessCore::new(&MEMORY, code);
        let exit = flick_engine::run(hart, &mut core, &mut NoObserver, &mut Unlimited);
        return Err(exit);
    }
    let mut core = ProcessCore::counting(&MEMORY, code);
    let exit = flick_engine::run(hart, &mut core, &mut NoObserver, &mut Unlimited);
    context.retired += core.instructions();
    Err(exit)
}

/// What a crossing's assembly calls, which passes its own frame.
macro_rules! entries {
    ($backend:ty: $resume:ident, $left:ident, $land:ident, $again:ident) => {
        /// The host function that NxP code called has returned.
        pub(crate) unsafe extern "C" fn $resume(act: Entered) -> Next {
            step::host_returned::<$backend>(act)
        }

        /// Translated code has come back, with all registers in the hart.
        pub(crate) unsafe extern "C" fn $left(act: Entered, reason: u64) -> Next {
            step::go::<$backend>(act, Reason::from(reason))
        }

        /// A landing pad of NxP code: `landing` is set, `results` has its values.
        pub(crate) unsafe extern "C" fn $land(act: Entered) -> Next {
            // SAFETY: an unwinder has come to this frame.
            step::go_on::<$backend>(act, |act| unsafe { unwinding::leave_frames(act) })
        }

        /// The second return of `setjmp`. `__flick_setjmp` passes what it has kept of a function
        /// that is alive.
        pub(crate) unsafe extern "C" fn $again(
            act: Entered,
            to: &JumpTarget,
            value: c_int,
        ) -> Next {
            step::go_on::<$backend>(act, |act| returns_twice::restore(act, to, value))
        }
    };
}

entries!(Inline<Closed>: resume, left, land, again);
entries!(Inline<Open>: resume_counted, left_counted, land_counted, again_counted);

/// The gate's function is called.
pub(crate) unsafe extern "C" fn enter(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame.
    unsafe { step::start::<Inline<Closed>>(act) }
}

/// The same, counting.
pub(crate) unsafe extern "C" fn enter_counted(act: *mut Activation) -> Next {
    // SAFETY: the crossing passes its own frame, its gate is alive.
    unsafe {
        gate_counts::count((*act).gate);
        step::start::<Inline<Open>>(act)
    }
}

// ---- Calls of translated code (fast_path.rs), which pass the activation of their caller ---------

/// Translated code is about to call the host function at `target`.
pub(crate) unsafe extern "C" fn count_host_call(mut act: Entered, target: u64) {
    Open::instructions(&mut act.context);
    Open::calls_host(target);
}

/// The [`Next`] of a crossing, and where it goes on with that.
#[repr(C)]
pub(crate) struct Way {
    next: u64,
    at: u64,
}

/// Translated code calls the host by a signature, with all that a call hands over in its hart, and
/// waits for the return at the stack pointer `waits`.
pub(crate) unsafe extern "C" fn call_by_signature(mut act: Entered, waits: u64) -> Way {
    let target = act.context.hart.x[T2];
    let crossing = act.crossing();
    if crossing == Crossing::InlineCounted {
        Open::instructions(&mut act.context);
        Open::calls_host(target);
    }
    let pc = crossing_code::xcall_address();
    act.context.hart.pc = pc;
    let next = step::prepare_host_call(&mut act, target, pc);
    act.call.waits = waits;
    Way {
        next: next as u64,
        at: crossing.calls(),
    }
}

/// A host function that translated code has called has returned, and `act` is not the newest
/// activation or the rounding mode is another. Whether the mode is one that translated code cannot
/// have.
pub(crate) unsafe extern "C" fn back_in_translated(mut act: Entered) -> bool {
    let thread = act.thread();
    leaving::drop_newer(thread, &act);
    act.context.hart.frm = thread.frm();
    thread.frm() != 0
}
