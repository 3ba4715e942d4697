//! What an unwinder finds at the frames of a crossing and of NxP code (Itanium C++ ABI,
//! "Exception Handling", 1.3).
//!
//! The host's unwinder walks NxP frames itself: the crossing's unwind information leads to them,
//! and the image link describes them in x86-64 terms (the image crate's `host_frames`). Their
//! tables of landing pads are those that the RISC-V back end wrote, and who reads them is the
//! personality routine of the program's own language (`__gxx_personality_v0`, …), on the unwinder's
//! own context. So types, foreign exceptions, `noexcept` and forced unwinding mean what they mean
//! natively, and no language's runtime has to be named here. Only where the routine sends the
//! thread to a landing pad, which is NxP code, must the engine go on instead: in the crossing's
//! frame.
//!
//! Nothing here keeps a lock or memory over a call of the language's routine.
use std::ffi::{c_int, c_void};

use flick_abi::layout::{SAVED_NUMBERS, SavedRegisters, UNWIND_BY_FP, UNWIND_UNKNOWN, UnwindEntry};
use flick_riscv::register::{A0, FP, RA, SP};

use crate::crossing::{cleanup_push, leaving};
use crate::modules;
use crate::os::fatal;
use crate::thread::activation::{self, Activation, Landing};
use crate::thread::crossing_code;

const SEARCH_PHASE: c_int = 1;
const FORCE_UNWIND: c_int = 8;

const FATAL_PHASE2_ERROR: c_int = 2;
const FATAL_PHASE1_ERROR: c_int = 3;
const INSTALL_CONTEXT: c_int = 7;
const CONTINUE_UNWIND: c_int = 8;

/// DWARF number of rbp (System V x86-64 psABI, figure 3.36).
const RBP: c_int = 6;

unsafe extern "C" {
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_SetIP(context: *mut c_void, address: usize);
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

type Personality = unsafe extern "C" fn(c_int, c_int, u64, *mut c_void, *mut c_void) -> c_int;

/// # Safety
/// `context` is that of an NxP frame, of an activation's end, or of a crossing's frame that calls
/// the host: rbp is the crossing's there.
unsafe fn activation_of(context: *mut c_void) -> *mut Activation {
    // SAFETY: by contract.
    let rbp = unsafe { _Unwind_GetGR(context, RBP) };
    (rbp - activation::SIZE) as *mut Activation
}

/// The personality routine of a crossing's frames, on both paths. Usually NxP frames come
/// next. Where a signal handler has interrupted the engine, they cannot be walked: their registers
/// are anywhere. Then forced unwinding goes on behind them, and an exception ends in its search
/// phase, when nothing has been unwound: who raised it does what its language does with one that
/// nothing can catch.
///
/// # Safety
/// Called by an unwinder for such a frame.
pub(crate) unsafe extern "C" fn at_crossing(
    _version: c_int,
    actions: c_int,
    _class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    // SAFETY: by contract; the activation is alive.
    unsafe {
        if crossing_code::is_host_call(_Unwind_GetIP(context) as u64) {
            if actions & FORCE_UNWIND != 0 {
                cleanup_push::to_nxp(exception, activation_of(context));
            }
            return CONTINUE_UNWIND;
        }
        // It calls with the activation as its stack pointer.
        let act = _Unwind_GetCFA(context) as *mut Activation;
        if actions & FORCE_UNWIND != 0 {
            leaving::left_by_unwinding(act);
            return CONTINUE_UNWIND;
        }
        if actions & SEARCH_PHASE == 0 {
            return FATAL_PHASE2_ERROR;
        }
        report(&*act);
    }
    FATAL_PHASE1_ERROR
}

/// The personality routine of an activation's end: the activations that an unwinder has left by
/// coming here are dropped.
///
/// # Safety
/// Called by an unwinder for such a frame.
pub(crate) unsafe extern "C" fn at_end(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    if actions & SEARCH_PHASE == 0 {
        // SAFETY: by contract.
        leaving::left_by_unwinding(unsafe { activation_of(context) });
    }
    CONTINUE_UNWIND
}

/// The personality routine of NxP frames that have landing pads; the unwind information that the
/// image link writes names it.
///
/// # Safety
/// Called by an unwinder for such a frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_personality(
    version: c_int,
    actions: c_int,
    class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    // SAFETY: by contract; the function's own routine has the type that every personality routine
    // has, and gets what it would get natively.
    unsafe {
        let call = _Unwind_GetIP(context) as u64 - 1;
        let Some(routine) = modules::personality(call) else {
            return CONTINUE_UNWIND;
        };
        let routine: Personality = std::mem::transmute(routine);
        let next = routine(version, actions, class, exception, context);
        if next == INSTALL_CONTEXT {
            let act = activation_of(context);
            (*act).landing = Landing {
                pc: _Unwind_GetIP(context) as u64,
                sp: _Unwind_GetCFA(context) as u64,
            };
            if actions & FORCE_UNWIND != 0 {
                cleanup_push::to_host(exception, act);
            }
            let landing = (*act).crossing().landing();
            _Unwind_SetIP(context, landing as usize);
        }
        next
    }
}

/// Makes `act.context.hart` what it is at the landing pad that `act.landing` says.
///
/// # Safety
/// An unwinder has walked the frames of `act` up to that of the landing pad.
pub unsafe fn leave_frames(act: &mut Activation) {
    let hart = &mut act.context.hart;
    while hart.x[SP] != act.landing.sp {
        let call = hart.x[RA].wrapping_sub(1);
        let Some((row, saved)) = row_of(call) else {
            fatal::exit(
                "FLK0506",
                &format!("NxP code at {call:#x} cannot be unwound: its tables have changed"),
                "report this as a bug of Flick",
            );
        };
        let base = if row.flags & UNWIND_BY_FP != 0 {
            hart.x[FP]
        } else {
            hart.x[SP]
        };
        let cfa = base.wrapping_add_signed(i64::from(row.cfa));
        // SAFETY: by contract the frame is on the NxP stack, and so are the words that it has
        // saved.
        let load =
            |at: i16| unsafe { (cfa.wrapping_add_signed(i64::from(at)) as *const u64).read() };
        for (i, number) in SAVED_NUMBERS.into_iter().map(usize::from).enumerate() {
            if saved.s[i] != 0 {
                hart.x[number] = load(saved.s[i]);
            }
            if saved.fs[i] != 0 {
                hart.f[number] = load(saved.fs[i]);
            }
        }
        hart.x[RA] = load(row.ra);
        hart.x[SP] = cfa;
    }
    hart.x[A0] = act.results.int[0];
    hart.x[A0 + 1] = act.results.int[1];
    hart.pc = act.landing.pc;
}

/// How to leave the frame whose call is at `address`; it has saved its return address.
fn row_of(address: u64) -> Option<(UnwindEntry, SavedRegisters)> {
    let row = modules::unwind_row(address)?;
    let known = row.flags & UNWIND_UNKNOWN == 0 && row.ra != 0;
    known.then_some((row, modules::saved_registers(address, &row)?))
}

/// # Safety
/// `act` is alive, and its thread is in NxP code.
unsafe fn report(act: &Activation) {
    // SAFETY: the gate of a live activation and its name are the module's.
    let gate = unsafe { std::ffi::CStr::from_ptr((*act.gate).name) }.to_string_lossy();
    let gate = flick_names::demangled(&gate);
    fatal::error(
        "FLK0506",
        &format!(
            "an exception left a signal handler that interrupted NxP code, in a call of '{gate}': there \
             NxP frames cannot be unwound, and the program ends as at an exception that nothing catches"
        ),
        &format!("catch it in the handler, or keep '{gate}' on the host"),
    );
}
