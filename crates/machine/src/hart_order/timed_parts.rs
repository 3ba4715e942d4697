//! What harts count in the parts of a run that are timed. Each part begins with empty caches, and its
//! counts are kept when it ends.
use flick_device::Time;
use flick_timing::memory_system::{END_OF_TIME, HartCounts};
use serde::{Deserialize, Serialize};

use super::Machine;

/// Parts whose own counts are kept. What later ones count is in the sum alone.
const MOST: usize = 64;

/// A part of a run in timed mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedPart {
    /// The virtual time at which it began.
    pub begin: Time,
    /// What was counted, by hart.
    pub harts: Vec<HartCounts>,
}

/// All parts of a run that have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TimedParts {
    /// Where the current one began.
    begin: Time,
    first: Vec<TimedPart>,
    count: u64,
    sum: Vec<HartCounts>,
}

impl TimedParts {
    /// Could a machine with so many harts have these, which come from a snapshot?
    pub fn are_possible(&self, harts: usize) -> bool {
        let are_counts = |counts: &Vec<HartCounts>| {
            counts.len() == harts && counts.iter().all(HartCounts::are_possible)
        };
        self.first.len() <= MOST
            && self.begin < END_OF_TIME
            && self.count < END_OF_TIME
            && self.first.iter().all(|part| are_counts(&part.harts))
            && (self.sum.is_empty() || are_counts(&self.sum))
    }

    pub fn begin(&mut self, time: Time) {
        self.begin = time;
    }

    pub fn end(&mut self, harts: Vec<HartCounts>) {
        // A machine is also set up in timed mode, and executes nothing.
        if harts.iter().all(|counts| counts.elapsed == 0) {
            return;
        }
        self.count += 1;
        self.sum.resize(harts.len(), HartCounts::default());
        for (sum, counts) in self.sum.iter_mut().zip(&harts) {
            sum.add(counts);
        }
        if self.first.len() < MOST {
            self.first.push(TimedPart {
                begin: self.begin,
                harts,
            });
        }
    }
}

/// What `flick machine stat` says of timed mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedRun {
    /// How many parts were timed, the current one included.
    pub parts: u64,
    /// The first ones.
    pub first: Vec<TimedPart>,
    /// The sums of all parts, by hart.
    pub sum: Vec<HartCounts>,
}

impl Machine<'_> {
    pub(super) fn current_counts(&self) -> Vec<HartCounts> {
        self.timed.iter().map(|timing| timing.counts()).collect()
    }

    /// What was counted in timed mode.
    pub fn timed_run(&self) -> TimedRun {
        let mut all = self.parts.clone();
        if self.is_timed {
            all.end(self.current_counts());
        }
        TimedRun {
            parts: all.count,
            first: all.first,
            sum: all.sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_beyond_the_most_are_in_the_sum() {
        let mut parts = TimedParts::default();
        let counts = |elapsed| HartCounts {
            elapsed,
            ..HartCounts::default()
        };
        parts.end(vec![counts(0), counts(0)]);
        for n in 1..=MOST as u64 + 2 {
            parts.begin(n);
            parts.end(vec![counts(n), counts(0)]);
        }
        assert_eq!((parts.count, parts.first.len()), (66, MOST));
        let third = TimedPart {
            begin: 3,
            harts: vec![counts(3), counts(0)],
        };
        assert_eq!(parts.first[2], third);
        assert_eq!(parts.sum, [counts(66 * 67 / 2), counts(0)]);
    }
}
