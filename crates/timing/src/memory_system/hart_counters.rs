//! What a hart counts in timed mode, for `flick machine stat`.
use std::cell::Cell;

use serde::{Deserialize, Serialize};

use super::Time;
use super::saved_system::{are_times, set_all};

/// Why a hart stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Stall {
    /// A line of instructions that its cache does not have.
    Fetch = 0,
    /// Loads that miss.
    Load = 1,
    /// Stores that find the store buffer full.
    Store = 2,
    /// Translations that the TLB does not have.
    Translation = 3,
    /// Fences, which wait for the store buffer.
    Fence = 4,
    /// Branches and jumps that were not foreseen.
    Branch = 5,
    /// Accesses of devices.
    Device = 6,
}

/// Names of [`Stall`].
pub const STALLS: [&str; 7] = [
    "fetch",
    "load",
    "store",
    "translation",
    "fence",
    "branch",
    "device",
];

/// Events that a hart counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Event {
    /// Fetches of a line that the instruction cache does not have.
    FetchMiss = 0,
    /// Loads of a line that the data cache does not have.
    LoadMiss = 1,
    /// Stores to a line that the data cache does not have.
    StoreMiss = 2,
    /// Stores to a line that other caches have, too.
    Upgrade = 3,
    /// Lines that another hart's store has taken away.
    Invalidated = 4,
    /// Translations of fetches that the first TLB does not have.
    FetchTlbMiss = 5,
    /// The same of loads and stores.
    DataTlbMiss = 6,
    /// Lines that no cache has.
    SharedMiss = 7,
    /// Branches and jumps that were not foreseen.
    Mispredicted = 8,
    /// Lines that the prefetcher has asked for.
    Prefetch = 9,
}

/// Names of [`Event`].
pub const EVENTS: [&str; 10] = [
    "fetch-misses",
    "load-misses",
    "store-misses",
    "upgrades",
    "invalidated",
    "fetch-tlb-misses",
    "data-tlb-misses",
    "shared-misses",
    "mispredicted",
    "prefetches",
];

/// Stalls, events, and waits for banks, for snapshots.
pub type SavedCounters = ([Time; STALLS.len()], [u64; EVENTS.len()], Time);

/// What a hart has counted in a part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HartCounts {
    /// Picoseconds that have passed.
    pub elapsed: Time,
    /// Instructions that have completed.
    pub instructions: u64,
    /// Picoseconds by cause, in the order of [`STALLS`].
    pub stalls: [Time; STALLS.len()],
    /// In the order of [`EVENTS`].
    pub events: [u64; EVENTS.len()],
    /// Picoseconds of waiting for banks, which are part of the stalls.
    pub bank_wait: Time,
}

impl HartCounts {
    /// Could a hart have counted so much in its life?
    pub fn are_possible(&self) -> bool {
        let times = [self.elapsed, self.instructions, self.bank_wait];
        are_times(&times) && are_times(&self.stalls) && are_times(&self.events)
    }

    /// Adds those of another part, or of another hart.
    pub fn add(&mut self, other: &Self) {
        self.elapsed += other.elapsed;
        self.instructions += other.instructions;
        let add = |sums: &mut [u64], counts: &[u64]| {
            let pairs = sums.iter_mut().zip(counts);
            pairs.for_each(|(sum, count)| *sum += count);
        };
        add(&mut self.stalls, &other.stalls);
        add(&mut self.events, &other.events);
        self.bank_wait += other.bank_wait;
    }
}

/// Counts of a hart.
#[derive(Debug, Default)]
pub struct HartCounters {
    stalls: [Cell<Time>; STALLS.len()],
    events: [Cell<u64>; EVENTS.len()],
    bank_wait: Cell<Time>,
}

impl HartCounters {
    /// The hart stands still for so long.
    pub fn stall(&self, cause: Stall, time: Time) {
        let all = &self.stalls[cause as usize];
        all.set(all.get() + time);
    }

    /// Something happens.
    pub fn count(&self, event: Event) {
        let all = &self.events[event as usize];
        all.set(all.get() + 1);
    }

    /// Part of a stall is the wait for a bank that serves another access.
    pub fn wait(&self, time: Time) {
        self.bank_wait.set(self.bank_wait.get() + time);
    }

    /// Picoseconds by cause, in the order of [`STALLS`].
    pub fn stalls(&self) -> [Time; STALLS.len()] {
        std::array::from_fn(|n| self.stalls[n].get())
    }

    /// In the order of [`EVENTS`].
    pub fn events(&self) -> [u64; EVENTS.len()] {
        std::array::from_fn(|n| self.events[n].get())
    }

    /// Picoseconds of waiting for banks, which are part of the stalls.
    pub fn bank_wait(&self) -> Time {
        self.bank_wait.get()
    }

    pub(super) fn save(&self) -> SavedCounters {
        (self.stalls(), self.events(), self.bank_wait())
    }

    /// False: no hart has counted so much.
    pub(super) fn restore(&self, saved: &SavedCounters) -> bool {
        let (stalls, events, bank_wait) = saved;
        set_all(&self.stalls, stalls);
        set_all(&self.events, events);
        self.bank_wait.set(*bank_wait);
        are_times(stalls) && are_times(events) && are_times(&[*bank_wait])
    }
}
