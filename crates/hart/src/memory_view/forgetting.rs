//! What a view of memory forgets of its translations, and when.
use super::{
    ALL_ENTRIES, EMPTY, ENTRIES, Entry, NEXT_GENERATION, NO_ADDRESSES, NO_GENERATION, NO_SPACE,
    SPACES, View,
};
use crate::bus::{Bus, PAGE};
use std::cell::Cell;

impl<B: Bus> View<'_, B> {
    /// Another address space: what is known of it since the last fence holds ("Supervisor Memory-Management
    /// Fence Instruction": a change of `satp` orders nothing).
    pub(super) fn change_space(&self, satp: u64) {
        let known = self
            .spaces
            .iter()
            .map(Cell::get)
            .find(|space| space.0 == satp);
        match known {
            Some((_, generation)) => self.generation.set(generation),
            None => self.begin_generation(),
        }
    }

    /// Forgets all translations.
    pub fn flush(&self) {
        self.spaces.iter().for_each(|space| space.set(NO_SPACE));
        self.large.set(NO_ADDRESSES);
        self.begin_generation();
    }

    /// No entry is of the current space.
    fn begin_generation(&self) {
        let next = match self.last_generation.get() + NEXT_GENERATION {
            NO_GENERATION => 0,
            next => next,
        };
        // Generations come again.
        if next == 0 {
            self.tlb.entries.iter().for_each(|entry| entry.set(EMPTY));
            self.spaces.iter().for_each(|space| space.set(NO_SPACE));
            self.large.set(NO_ADDRESSES);
        }
        self.last_generation.set(next);
        self.generation.set(next);
        let place = &self.spaces[(next / NEXT_GENERATION) as usize % SPACES];
        place.set((self.regime.get().satp, next));
    }

    /// Forgets what depends on physical memory protection.
    pub fn flush_protections(&self) {
        self.protections.iter().for_each(|page| page.set((1, 0)));
        self.flush();
    }

    /// The entries for stores.
    pub(super) fn stores(&self) -> impl Iterator<Item = &Cell<Entry>> {
        let halves = self.tlb.entries.chunks_exact(ENTRIES);
        halves.skip(1).step_by(2).flatten()
    }

    /// Forgets what an entry of a page table that maps `address` says.
    pub fn flush_page(&self, address: u64) {
        let forget = |at: usize| {
            let (entry, bits) = (&self.tlb.entries[at], self.tlb.bits[at].get());
            if bits < 64 && (entry.get().tag ^ address) >> bits == 0 {
                entry.set(EMPTY);
            }
        };
        let (first, last) = self.large.get();
        if (first..=last).contains(&address) {
            return (0..ALL_ENTRIES).for_each(forget);
        }
        let at = (address / PAGE) as usize % ENTRIES;
        (at..ALL_ENTRIES).step_by(ENTRIES).for_each(forget);
    }
}
