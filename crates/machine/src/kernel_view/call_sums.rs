//! Sums over kernel calls, for `flick machine stat`.
use std::collections::BTreeMap;

use flick_device::Time;

use super::call_tracker::{CALL_PARTS, Entry, FinishedCall};
use super::hart_moves::AllMoves;
use super::point_watch::Spent;

/// Times of a part of several calls, or of all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Their sum, in picoseconds.
    pub sum: Time,
    /// How many there are of each. Most calls take as long as others.
    counts: BTreeMap<Time, u64>,
}

impl Times {
    fn add(&mut self, time: Time) {
        self.sum += time;
        *self.counts.entry(time).or_default() += 1;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The mean; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count().max(1) as f64
    }

    /// The time that half of them do not exceed; 0 if there are none.
    pub fn median(&self) -> Time {
        let mut left = self.count().div_ceil(2);
        let mut all = self.counts.iter();
        let found = all.find(|&(_, &count)| {
            left = left.saturating_sub(count);
            left == 0
        });
        found.map_or(0, |(&time, _)| time)
    }
}

/// What harts have stood still for in a part of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StallSums {
    /// Of how many calls.
    pub calls: u64,
    /// How long these parts were, in picoseconds.
    pub time: Time,
    /// The causes.
    pub spent: Spent,
}

impl StallSums {
    fn add(&mut self, time: Time, spent: &Spent) {
        self.calls += 1;
        self.time += time;
        self.spent.add(spent);
    }
}

/// Parts whose stalls are known ([`CallSums::stalls`]).
pub const STALL_PARTS: [&str; 3] = ["switch", "meanwhile", "work"];

/// Calls of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSums {
    /// The hart on which the first one has ended, whose cycles are those of the others.
    pub hart: usize,
    /// Whole calls.
    pub total: Times,
    /// By [`CallPart`](super::CallPart).
    pub parts: [Times; CALL_PARTS.len()],
    /// By [`STALL_PARTS`]: of the user hart in `switch`, and while it waits for the kernel hart; of the
    /// kernel hart in `work`.
    pub stalls: [StallSums; STALL_PARTS.len()],
}

/// All calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// By what they were, and whether the kernel hart has executed them.
    pub calls: BTreeMap<(Entry, bool), CallSums>,
    /// Those that have not returned.
    pub unfinished: BTreeMap<Entry, u64>,
    /// Migrations of threads.
    pub moves: AllMoves,
}

impl CallCounts {
    pub(super) fn add(&mut self, call: &FinishedCall) {
        let sums = self.calls.entry((call.entry, call.is_remote));
        let sums = sums.or_insert_with(|| CallSums {
            hart: call.hart,
            ..CallSums::default()
        });
        sums.total.add(call.time);
        for (times, &time) in sums.parts.iter_mut().zip(&call.parts) {
            times.add(time);
        }
        let [switch, _, _, work, _] = call.parts;
        let [in_switch, in_meanwhile, in_work] = &mut sums.stalls;
        in_switch.add(switch, &call.switch);
        if let Some((time, spent)) = &call.meanwhile {
            in_meanwhile.add(*time, spent);
        }
        if call.is_remote {
            in_work.add(work, &call.work);
        }
    }

    pub(super) fn add_unfinished(&mut self, entry: Entry) {
        *self.unfinished.entry(entry).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_times_do_not_exceed_the_median() {
        let mut times = Times::default();
        assert_eq!((times.median(), times.mean()), (0, 0.0));
        for (time, median) in [(7, 7), (3, 3), (9, 7), (9, 7), (9, 9)] {
            times.add(time);
            assert_eq!(times.median(), median);
        }
        assert_eq!((times.count(), times.sum), (5, 37));
    }
}
