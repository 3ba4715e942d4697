//! The time of a thread whose NxP code runs on harts of a card (`docs/card.md`, "What is charged"). The
//! card's machine has the same clock: a thread sends its descriptors at its own time, and goes on at the
//! machine's when something comes from there.
use super::{hart_lanes, state, trace};

/// What a thread's time goes to while its descriptor is under way.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// From the host to its code.
    To = 0,
    /// From its code to the host.
    From = 1,
}

/// Names in reports, by [`Way`].
pub const WAYS: [&str; 2] = ["to the code on the card", "from the code on the card"];

/// Femtoseconds of a picosecond, the machine's unit.
const PICOSECOND: u128 = 1000;

/// The calling thread's time, up to the next picosecond; 0 where it has none, as at its end.
pub fn now() -> u64 {
    let now = state::if_any().map_or(0, |state| state.now());
    u64::try_from(now.div_ceil(PICOSECOND)).unwrap_or(u64::MAX)
}

/// The calling thread goes on at this time, on this hart or on the host, and has waited so long for a hart.
pub fn goes_on_at(time: u64, waited: u64, way: Way, hart: Option<u32>) {
    // Who crosses in a timed run has one.
    if let Some(mut state) = state::if_any() {
        let left = until(time).saturating_sub(state.now());
        let waited = until(waited).min(left);
        let before = state.now();
        trace::way(&mut state, before, (left - waited, waited), hart);
        state.sums.waiting += waited;
        state.sums.card[way as usize] += left - waited;
    }
}

/// The calling thread's code executes on a hart of this name from now on: that of the gate's function.
pub fn begins_on(hart: u32, name: &[u8], gate: usize) {
    if trace::enabled() {
        let thread =
            state::if_any().and_then(|state| state.tracer.as_ref().map(|tracer| tracer.thread));
        hart_lanes::begins(hart, name, now(), gate, thread);
    }
}

/// It does not any longer.
pub fn ends_on(hart: u32) {
    if trace::enabled() {
        hart_lanes::ends(hart, now());
    }
}

/// The thread's time of accounts at this one.
pub fn until(time: u64) -> u128 {
    u128::from(time) * PICOSECOND
}
