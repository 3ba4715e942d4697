//! Gates that lead to the translation of a leaf, without a crossing.
//!
//! The link has found the leaves ([`flick_abi::layout::Translation::leaves`]): code that touches no
//! register of the crossing's and leaves by its return alone. If both sides have its arguments in the
//! same registers, the host's call is a call of this code. The host's stack has nothing of the crossing
//! then. So whoever looks at a fault asks [`crate::translation::leaf_entered`] first.
use std::sync::atomic::{AtomicBool, Ordering};

use flick_abi::layout::{GATE_NXP, GATE_PLAIN, Gate, Module};

use crate::config::{self, Trigger};
use crate::crossing::gate_target;
use crate::modules;
use crate::thread::crossing_code;
use crate::translation;

/// Whether no gate leads to a leaf any more.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// Gates of leaves lead to these. Call for a module that is known, before its other gates have their
/// targets.
pub fn lead(module: *const Module) {
    // What counts calls, or watches them, sees them in the crossing.
    if crossing_code::counted()
        || !translation::enabled()
        || config::get().trigger == Trigger::Fault
    {
        return;
    }
    modules::for_each_leaf(Some(module), |gate| {
        let code = gate.code.load(Ordering::Relaxed);
        if gate.flags & (GATE_PLAIN | GATE_NXP) == GATE_PLAIN | GATE_NXP && code != 0 {
            gate.target.store(code as *mut _, Ordering::Release);
        }
    });
    if FORBIDDEN.load(Ordering::SeqCst) {
        lead_back();
    }
}

/// A thread has a rounding mode that MXCSR cannot have, by which translated code would round wrongly.
/// The crossing interprets then. Async-signal-safe.
#[cold]
pub fn forbid() {
    if !FORBIDDEN.swap(true, Ordering::SeqCst) {
        lead_back();
    }
}

/// Whether the gate leads to its function's translation.
#[inline]
pub fn leads(gate: &Gate) -> bool {
    gate.target.load(Ordering::Relaxed) as u64 == gate.code.load(Ordering::Relaxed)
}

fn lead_back() {
    modules::for_each_leaf(None, |gate: &Gate| {
        if leads(gate) {
            let crossing = gate_target::of(gate) as *mut _;
            gate.target.store(crossing, Ordering::Release);
        }
    });
}
