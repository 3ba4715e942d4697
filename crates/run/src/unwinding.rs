//! What an unwinder is told at a crossing's frame.
//!
//! Forced unwinding (`pthread_exit`, cancellation, `_Unwind_ForcedUnwind`) passes: it stops nowhere,
//! and NxP frames have nothing to clean up. An exception must not pass, since NxP code cannot catch
//! it and its callers would go on with an NxP function half done. The personality routine then fails
//! phase 1 (Itanium C++ ABI, "Exception Handling", 1.3), in which nothing has been unwound yet:
//! `_Unwind_RaiseException` returns to who raised the exception, and that does what its language does
//! with an exception that nothing can catch. C++'s `__cxa_throw`, `__cxa_rethrow` and
//! `std::rethrow_exception` mark it as caught and call `std::terminate`. So no runtime library has to
//! be named here: C programs have none, and several may be loaded.
use std::ffi::{c_int, c_void};

use crate::activation::{self, Activation};
use crate::stats::symbols;
use crate::{fatal, modules};

const SEARCH_PHASE: c_int = 1;
const FORCE_UNWIND: c_int = 8;
const CONTINUE_UNWIND: c_int = 8;
const FATAL_PHASE1_ERROR: c_int = 3;
const FATAL_PHASE2_ERROR: c_int = 2;

/// DWARF number of rbp (System V x86-64 psABI, figure 3.36).
const RBP: c_int = 6;
const RA: usize = 1;

unsafe extern "C" {
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}

/// The personality routine of [`crate::crossing`]'s frames.
///
/// # Safety
/// Called by an unwinder for such a frame.
pub(crate) unsafe extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    if actions & FORCE_UNWIND != 0 {
        return CONTINUE_UNWIND;
    }
    if actions & SEARCH_PHASE == 0 {
        // No handler is beyond this frame, so nothing unwinds to it.
        return FATAL_PHASE2_ERROR;
    }
    // SAFETY: in a crossing's frame rbp stands above the activation, which is alive and in a host
    // call.
    unsafe {
        let rbp = _Unwind_GetGR(context, RBP);
        report(&*((rbp - activation::SIZE) as *const Activation));
    }
    FATAL_PHASE1_ERROR
}

/// # Safety
/// `act` is alive; its thread is in a host call that it made.
unsafe fn report(act: &Activation) {
    // SAFETY: the gate of a live activation and its name are the module's; so are other names.
    let text = |name| unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy();
    // SAFETY: as above.
    let gate = text(unsafe { (*act.gate).name });
    let gate = flick_names::demangled(&gate);
    let caller = modules::innermost(act.hart.x[RA]);
    let function = caller.as_ref().map_or(gate, |place| text(place.function));
    let at = caller
        .filter(|place| !place.file.is_null())
        .map_or(String::new(), |place| {
            format!(" ({}:{})", text(place.file), place.line)
        });
    let called = symbols::name_all(vec![(act.call.target as usize, 1)]);
    let called = called.first().map_or("a host function".into(), |call| {
        flick_names::demangled(&call.function)
    });
    fatal::error(
        "FLK0506",
        &format!(
            "an exception came up to NxP code: '{function}'{at} has called '{called}', which let it \
             out: NxP functions cannot be unwound yet, the program ends as at an exception that \
             nothing catches"
        ),
        &format!(
            "keep '{function}' on the host, or catch the exception in host code that it calls"
        ),
    );
}
