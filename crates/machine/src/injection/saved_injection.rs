//! Which faults of a run are left, for snapshots. The faults themselves are in their file.
use flick_device::Time;
use flick_timing::faults::When;
use flick_timing::memory_system::END_OF_TIME;
use serde::{Deserialize, Serialize};

use super::faulty_lines::{FaultyLines, Line};
use super::{Ending, Injection};

/// The state of an [`Injection`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedInjection {
    waiting: Vec<usize>,
    ends: Vec<(Time, Ending)>,
    lines: FaultyLines,
}

/// Bits of a hart's `mip`.
const MOST_BITS: u32 = 64;

impl Injection {
    /// What is left.
    pub fn save(&self) -> SavedInjection {
        SavedInjection {
            waiting: self.waiting.clone(),
            ends: self.ends.clone(),
            lines: self.lines.clone(),
        }
    }

    /// How many faults the run has in all.
    pub fn count(&self) -> usize {
        self.faults.len()
    }

    /// All about the faults, for the identity of a run.
    pub fn description(&self) -> String {
        let all = self.faults.iter().map(|fault| (fault.when, fault.action));
        format!("{:?}", all.collect::<Vec<_>>())
    }

    /// Takes what [`save`](Self::save) of the same faults of a machine with so many harts gave. False: it
    /// is of others, and nothing has changed.
    pub fn restore(&mut self, saved: &SavedInjection, harts: usize) -> bool {
        let has_time = |&number: &usize| {
            let fault = self.faults.get(number);
            fault.is_some_and(|f| matches!(f.when, When::Time(_) | When::Cycle { .. }))
        };
        let is_line = |&(hart, bit): &Line| hart < harts && bit < MOST_BITS;
        let is_end = |&(time, end): &(Time, Ending)| {
            let is_possible = match end {
                Ending::Line(hart, bit) | Ending::Rise(hart, bit) => is_line(&(hart, bit)),
                Ending::Refusal(..) | Ending::Ring | Ending::Endpoint(_) => true,
            };
            is_possible && time < END_OF_TIME
        };
        let fits = saved.waiting.iter().all(has_time)
            && saved.ends.iter().all(is_end)
            && saved.lines.lines().all(is_line)
            && saved.lines.delays_are_below(END_OF_TIME);
        if fits {
            self.waiting.clone_from(&saved.waiting);
            self.ends.clone_from(&saved.ends);
            self.lines = saved.lines.clone();
        }
        fits
    }
}
