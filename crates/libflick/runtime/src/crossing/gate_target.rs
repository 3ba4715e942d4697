//! Where a gate leads whose function runs on the NxP.
use std::sync::atomic::Ordering;

use flick_abi::layout::{GATE_PLAIN, Gate};

use crate::thread::crossing_code::{self, Crossing};
use crate::translation;

/// The path of the crossing that `gate` enters.
pub fn of(gate: &Gate) -> usize {
    if crossing_code::counted() {
        Crossing::InlineCounted.entrance()
    } else if translation::enabled() && gate.flags & GATE_PLAIN != 0 {
        let has_code = gate.code.load(Ordering::Relaxed) != 0;
        crossing_code::fast_entrance(std::ptr::from_ref(gate) as usize, has_code)
    } else {
        Crossing::Inline.entrance()
    }
}
