//! The state of a memory system, for snapshots: a run that goes on from it has the hits, misses and waits
//! of the run that was saved. Sizes and times of the parts are the machine file's, and not part of it.
use std::cell::Cell;

use serde::{Deserialize, Serialize};

use super::bank_requests::Request;
use super::cache_lines::{Lines, SavedLines};
use super::hart_counters::SavedCounters;
use super::memory_banks::SavedBanks;
use super::prefetcher::{Prefetcher, SavedPrefetcher};
use super::{HartCaches, MemorySystem, Time, Victim, data_caches};

/// What a [`MemorySystem`] has in its caches and TLBs, and when its banks are free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedMemorySystem {
    harts: Vec<SavedHart>,
    shared: Vec<SavedLines>,
    /// By memory.
    banks: Vec<SavedBanks>,
    /// The memory of the last access.
    last: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedHart {
    /// Of [`lines_of`]; `None`: the hart has no such cache.
    lines: Vec<Option<SavedLines>>,
    stores: Vec<Time>,
    counters: SavedCounters,
    /// Addresses of lines that have left the data cache, and whether they are dirty.
    evicted: Vec<(u64, bool)>,
    request: Option<Request>,
    prefetcher: Option<SavedPrefetcher>,
}

/// No machine runs for so long.
pub const END_OF_TIME: Time = 1 << 62;

/// A hart's caches and TLBs.
fn lines_of(hart: &HartCaches) -> [Option<&Lines>; 5] {
    [
        hart.code.as_ref().map(|(lines, _)| lines),
        hart.data.as_ref().map(|data| &data.lines),
        hart.second.as_ref().map(|(lines, _)| lines),
        hart.code_tlb.as_ref().map(|tlb| &tlb.entries),
        hart.data_tlb.as_ref().map(|tlb| &tlb.entries),
    ]
}

#[cfg(test)]
impl SavedMemorySystem {
    /// What harts ask banks for.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.harts.iter().filter_map(|hart| hart.request.as_ref())
    }
}

impl MemorySystem {
    /// Its state.
    pub fn save(&self) -> SavedMemorySystem {
        let evicted = |victim: &Victim| (victim.address, victim.is_dirty);
        let hart = |hart: &HartCaches| SavedHart {
            lines: lines_of(hart).map(|lines| lines.map(Lines::save)).to_vec(),
            stores: hart.stores.borrow().clone(),
            counters: hart.counters.save(),
            evicted: hart.evicted.borrow().iter().map(evicted).collect(),
            request: hart.request.get(),
            prefetcher: hart.prefetcher.as_ref().map(Prefetcher::save),
        };
        SavedMemorySystem {
            harts: self.harts.iter().map(hart).collect(),
            shared: self.shared.iter().map(Lines::save).collect(),
            banks: self.memories.iter().map(|m| m.banks.save()).collect(),
            last: self.last.get() as u64,
        }
    }

    /// Takes what [`save`](Self::save) of a system of the same shape gave. False: no such system is so;
    /// then it is in no sensible state.
    pub fn restore(&self, saved: &SavedMemorySystem) -> bool {
        let has_parts = saved.harts.len() == self.harts.len()
            && saved.shared.len() == self.shared.len()
            && saved.banks.len() == self.memories.len();
        let last = usize::try_from(saved.last).ok();
        // Without a memory there is no last one.
        let last = last.filter(|&last| last < self.memories.len().max(1));
        let (true, Some(last)) = (has_parts, last) else {
            return false;
        };
        self.last.set(last);
        let mut harts = self.harts.iter().zip(&saved.harts);
        let mut shared = self.shared.iter().zip(&saved.shared);
        let mut memories = self.memories.iter().zip(&saved.banks);
        let have_state = harts.all(|(hart, saved)| restore_hart(hart, saved));
        if let Some(sharers) = &self.sharers {
            sharers.look_up(data_caches(&self.harts));
        }
        have_state
            && shared.all(|(lines, saved)| lines.restore(saved))
            && memories.all(|(memory, saved)| memory.banks.restore(saved, self.harts.len()))
            && saved
                .harts
                .iter()
                .enumerate()
                .all(|(hart, saved)| self.restore_request(hart, saved.request))
    }
}

fn restore_hart(hart: &HartCaches, saved: &SavedHart) -> bool {
    let lines = lines_of(hart);
    let mut pairs = lines.into_iter().zip(&saved.lines);
    let fit = saved.lines.len() == lines.len()
        && pairs.all(|pair| match pair {
            (Some(lines), Some(saved)) => lines.restore(saved),
            (None, None) => true,
            _ => false,
        });
    let mut stores = hart.stores.borrow_mut();
    let are_stores = saved.stores.len() == stores.len() && are_times(&saved.stores);
    let is_prefetcher = match (&hart.prefetcher, &saved.prefetcher) {
        (Some(prefetcher), Some(saved)) => prefetcher.restore(saved),
        (None, None) => true,
        _ => false,
    };
    if !fit || !are_stores || !is_prefetcher {
        return false;
    }
    stores.clone_from(&saved.stores);
    let victim = |&(address, is_dirty): &(u64, bool)| Victim { address, is_dirty };
    let evicted = saved.evicted.iter().map(victim);
    hart.evicted.replace(evicted.collect());
    hart.counters.restore(&saved.counters)
}

/// Could a machine have come to these times?
pub(super) fn are_times(times: &[Time]) -> bool {
    times.iter().all(|&time| time < END_OF_TIME)
}

/// Sets each place to its value.
pub(super) fn set_all(places: &[Cell<u64>], values: &[u64]) {
    let pairs = places.iter().zip(values);
    pairs.for_each(|(place, &value)| place.set(value));
}
