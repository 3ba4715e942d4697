//! The cache of translations, for snapshots. Software may change a page table and leave out the fence:
//! what the hart sees then depends on what the cache has, and a run that goes on has to see the same.
use std::cell::Cell;

use serde::{Deserialize, Serialize};

use super::{ALL_ENTRIES, EMPTY, ENTRIES, Entry, GENERATION, NO_GENERATION, PAGE, SPACES, View};
use crate::bus::Bus;
use crate::page_tables::Regime;

/// An entry: its place, tag, number of the physical page, and bits.
type SavedEntry = (u32, u64, u64, u8);

/// The translations that a hart knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedView {
    entries: Vec<SavedEntry>,
    generation: u64,
    last_generation: u64,
    spaces: [(u64, u64); SPACES],
    large: (u64, u64),
    code_pages: u64,
}

impl<B: Bus> View<'_, B> {
    pub fn save(&self) -> SavedView {
        let tlb = &self.tlb;
        let known = tlb.entries.iter().enumerate();
        let known = known.filter(|(_, entry)| entry.get().tag & GENERATION != NO_GENERATION);
        let entries = known.map(|(at, entry)| {
            let (page, bits) = (tlb.pages[at].get(), tlb.bits[at].get());
            (at as u32, entry.get().tag, page, bits)
        });
        SavedView {
            entries: entries.collect(),
            generation: self.generation.get(),
            last_generation: self.last_generation.get(),
            spaces: std::array::from_fn(|at| self.spaces[at].get()),
            large: self.large.get(),
            code_pages: self.code_pages.get() as u64,
        }
    }

    /// False: no cache is so. `pmp` is right already.
    pub fn restore(&self, saved: &SavedView, regime: Regime) -> bool {
        let is_generation = |generation: u64| generation & !GENERATION == 0;
        let is_current = |generation| is_generation(generation) && generation != NO_GENERATION;
        let spaces = saved.spaces.iter().all(|&(_, at)| is_generation(at));
        let entry = |&(at, tag, page, _): &SavedEntry| {
            (at as usize) < ALL_ENTRIES - 2 * ENTRIES
                && is_current(tag & (PAGE - 1))
                && page < 1 << 44
        };
        let entries = saved.entries.iter().all(entry);
        let generations = is_current(saved.generation) && is_current(saved.last_generation);
        let code_pages = usize::try_from(saved.code_pages);
        let most = self.code.pages_from(0).len();
        let Some(code_pages) = code_pages.ok().filter(|&known| known <= most) else {
            return false;
        };
        if !(spaces && entries && generations) {
            return false;
        }
        self.flush_protections();
        self.set_regime(regime);
        self.tlb.entries.iter().for_each(|entry| entry.set(EMPTY));
        for &(at, tag, page, bits) in &saved.entries {
            // A page that the machine does not have has no translation.
            let Some(memory) = self.bus.memory(page * PAGE) else {
                continue;
            };
            let start = tag & !(PAGE - 1);
            let distance = (memory.expose_provenance() as u64).wrapping_sub(start);
            let at = at as usize;
            self.tlb.entries[at].set(Entry { tag, distance });
            self.tlb.pages[at].set(page);
            self.tlb.bits[at].set(bits);
            if at % (2 * ENTRIES) >= ENTRIES {
                self.chains.put(at, page);
            }
        }
        self.generation.set(saved.generation);
        self.last_generation.set(saved.last_generation);
        let pairs = self.spaces.iter().zip(saved.spaces);
        pairs.for_each(|(place, space): (&Cell<_>, _)| place.set(space));
        self.large.set(saved.large);
        self.code_pages.set(code_pages);
        self.postponed.set(false);
        true
    }
}
