//! The cost of a branch that the processor has predicted wrongly.
use std::arch::asm;

use crate::measuring::{Effort, repeated};
use crate::statistics::Spread;

/// Directions that no predictor learns: as many as this.
const DIRECTIONS: usize = 1 << 18;

/// A loop of one branch whose direction is the next byte's lowest bit. Both ways end at the same place.
fn follow(directions: &[u8], rounds: u64) {
    for _ in 0..rounds {
        // SAFETY: the loop reads the bytes of the slice, of which there is one at least.
        unsafe {
            asm!(
                "2:",
                "test byte ptr [{at}], 1",
                "jz 3f",
                "add {sum}, 3",
                "3:",
                "inc {at}",
                "cmp {at}, {end}",
                "jne 2b",
                at = inout(reg) directions.as_ptr() => _,
                end = in(reg) directions.as_ptr_range().end,
                sum = inout(reg) 0u64 => _,
                options(nostack, readonly),
            );
        }
    }
}

/// Nanoseconds that a wrong prediction takes more than a right one. `random` has a number below its argument.
pub fn wrong_prediction(effort: &Effort, mut random: impl FnMut(usize) -> usize) -> Spread {
    let same = vec![0; DIRECTIONS];
    let others: Vec<u8> = (0..DIRECTIONS).map(|_| random(2) as u8).collect();
    // Half of the predictions are wrong, whatever they are.
    let wrong = others.len() as f64 / 2.0;
    let right = Spread::of(&repeated(effort, |rounds| follow(&same, rounds))).median;
    let times = repeated(effort, |rounds| follow(&others, rounds));
    let each: Vec<f64> = times.iter().map(|time| (time - right) / wrong).collect();
    Spread::of(&each)
}
