//! Where a gate leads whose function runs on the NxP.
use flick_abi::layout::{GATE_PLAIN, Gate};

use crate::modules::signatures;
use crate::thread::crossing_code::{self, Crossing};
use crate::translation;

/// The path of the crossing that `gate` enters.
pub fn of(gate: &Gate) -> usize {
    if crossing_code::counted() {
        Crossing::InlineCounted.entrance()
    } else if !translation::enabled() {
        Crossing::Inline.entrance()
    } else if gate.flags & GATE_PLAIN != 0 {
        crossing_code::fast_entrance()
    } else if has_moves(gate) {
        crossing_code::signature_entrance()
    } else {
        Crossing::Inline.entrance()
    }
}

/// Whether the fast path can move the arguments of the gate's function.
fn has_moves(gate: &Gate) -> bool {
    // SAFETY: the signature of a gate is null or a C string.
    let plan = unsafe {
        gate.signature
            .as_ref()
            .and_then(|text| signatures::understood(text))
    };
    plan.is_some_and(|plan| !plan.to_nxp.first.is_null())
}
