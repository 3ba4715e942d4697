//! Where a gate leads whose function runs on the NxP.
use flick_abi::layout::{GATE_PLAIN, Gate};

use crate::thread::crossing_code;
use crate::translation;

/// The path of the crossing that `gate` enters.
pub fn of(gate: &Gate) -> usize {
    let counted = crossing_code::counted();
    if !counted && translation::enabled() && gate.flags & GATE_PLAIN != 0 {
        crossing_code::fast_entrance()
    } else {
        crossing_code::slow_entrance(counted)
    }
}
