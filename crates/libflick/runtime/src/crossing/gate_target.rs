//! Where a gate leads whose function runs on the NxP.
use std::sync::atomic::Ordering;

use flick_abi::layout::{GATE_PLAIN, Gate};

use crate::modules::argument_moves::Moves;
use crate::modules::signatures;
use crate::thread::crossing_code::{self, Crossing};
use crate::translation;

/// The path of the crossing that `gate` enters.
pub fn of(gate: &Gate) -> usize {
    if crossing_code::on_card() {
        match crossing_code::counted() {
            true => Crossing::CardCounted.entrance(),
            false => Crossing::Card.entrance(),
        }
    } else if crossing_code::counted() {
        Crossing::InlineCounted.entrance()
    } else if !translation::enabled() {
        Crossing::Inline.entrance()
    } else {
        let has_code = gate.code.load(Ordering::Relaxed) != 0;
        let at = std::ptr::from_ref(gate) as usize;
        if gate.flags & GATE_PLAIN != 0 {
            return crossing_code::fast_entrance(at, has_code);
        }
        match moves(gate) {
            Some(moves) if moves.is_aligned => {
                crossing_code::aligned_signature_entrance(at, has_code)
            }
            Some(_) => crossing_code::signature_entrance(at, has_code),
            None => Crossing::Inline.entrance(),
        }
    }
}

/// How the fast path moves the arguments of the gate's function, if it can.
fn moves(gate: &Gate) -> Option<&'static Moves> {
    // SAFETY: the signature of a gate is null or a C string.
    let plan = unsafe { signatures::understood(gate.signature.load(Ordering::Relaxed).as_ref()?) }?;
    (!plan.to_nxp.first.is_null()).then_some(&plan.to_nxp)
}
