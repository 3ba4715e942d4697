//! The platform's NxP cores: each serves one thread at a time, and others wait in virtual time.
//!
//! A residency finds its core when it is over and its length is known: the earliest time from its
//! beginning on at which a core is free that long. So the time at which all work is done hardly
//! depends on the order in which this machine happens to run the threads.
use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::locks::bounded;

/// Residencies of one core by their beginnings, and their ends. They do not overlap.
type Core = BTreeMap<u64, u64>;

static CORES: Mutex<Vec<Core>> = Mutex::new(Vec::new());

/// Residencies on a core that are kept; older ones become one, with the time between them.
const KEPT: usize = 1 << 16;

pub fn init(cores: usize) {
    let mut all = bounded::held(&CORES);
    all.resize_with(cores, Core::new);
}

/// The earliest beginning, not before `from`, of `length` free femtoseconds.
fn free(core: &Core, from: u64, length: u64) -> u64 {
    let before = core.range(..=from).next_back();
    let mut begin = before.map_or(from, |(_, &end)| from.max(end));
    for (&next, &end) in core.range(begin..) {
        if next.saturating_sub(begin) >= length {
            break;
        }
        begin = end;
    }
    begin
}

fn keep(core: &mut Core, begin: u64, end: u64) {
    core.insert(begin, end);
    if core.len() > KEPT
        && let (Some((first, _)), Some((_, end))) = (core.pop_first(), core.pop_first())
    {
        core.insert(first, end);
    }
}

/// A thread was on an NxP core from `from` on for `length` femtoseconds, if it got one at once:
/// which one it was, and how long the thread had to wait for it.
pub fn occupy(from: u64, length: u64) -> (usize, u64) {
    // A signal handler that interrupts this has a core of its own.
    let Some(mut cores) = bounded::lock(&CORES) else {
        return (0, 0);
    };
    let begins = cores.iter().map(|core| free(core, from, length));
    let Some((core, begin)) = begins
        .enumerate()
        .min_by_key(|&(core, begin)| (begin, core))
    else {
        return (0, 0);
    };
    keep(&mut cores[core], begin, begin.saturating_add(length));
    (core, begin - from)
}

/// The child of a fork has all cores for itself.
pub fn forget() {
    if let Some(mut cores) = bounded::lock(&CORES) {
        cores.iter_mut().for_each(Core::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residencies_fill_gaps_and_never_overlap() {
        let mut core = Core::new();
        keep(&mut core, 10, 20);
        keep(&mut core, 30, 40);
        assert_eq!(free(&core, 0, 10), 0);
        assert_eq!(free(&core, 0, 11), 40);
        assert_eq!(free(&core, 5, 10), 20);
        assert_eq!(free(&core, 15, 5), 20);
        assert_eq!(free(&core, 22, 8), 22);
        assert_eq!(free(&core, 22, 9), 40);
        assert_eq!(free(&core, 100, 1), 100);
    }

    /// Whatever the order, one core has done four threads' work at the same time.
    #[test]
    fn the_end_does_not_depend_on_the_order() {
        let end = |order: &[usize]| {
            let mut core = Core::new();
            let mut clocks = [0_u64; 4];
            for &thread in order {
                let begin = free(&core, clocks[thread], 10);
                keep(&mut core, begin, begin + 10);
                clocks[thread] = begin + 10;
            }
            clocks.into_iter().max()
        };
        let in_turns: Vec<usize> = (0..200).map(|i| i % 4).collect();
        let one_by_one: Vec<usize> = (0..200).map(|i| i / 50).collect();
        assert_eq!(end(&in_turns), Some(2000));
        assert_eq!(end(&one_by_one), Some(2000));
    }
}
