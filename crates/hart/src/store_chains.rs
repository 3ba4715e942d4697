//! Which entries of a TLB are for stores to a physical page: chains of entries, so that those of one page
//! are found without a look at all.
use std::cell::Cell;

/// Chains, by the physical page.
const CHAINS: usize = 1024;
const END: u32 = u32::MAX;

/// Links of all entries of a TLB.
pub struct StoreChains {
    heads: Box<[Cell<u32>]>,
    /// Of each entry: the next one, and the one in front; a head is behind the entries' numbers.
    links: Box<[Cell<(u32, u32)>]>,
}

impl StoreChains {
    /// No entry is in a chain.
    pub fn new(entries: usize) -> Self {
        Self {
            heads: vec![Cell::new(END); CHAINS].into(),
            links: vec![Cell::new((END, END)); entries].into(),
        }
    }

    fn set_next(&self, before: u32, next: u32) {
        match (before as usize).checked_sub(self.links.len()) {
            Some(head) => self.heads[head].set(next),
            None => {
                let place = &self.links[before as usize];
                place.set((next, place.get().1));
            }
        }
    }

    /// Takes an entry from its chain.
    fn remove(&self, entry: usize) {
        let (next, before) = self.links[entry].replace((END, END));
        if before != END {
            self.set_next(before, next);
            if next != END {
                let place = &self.links[next as usize];
                place.set((place.get().0, before));
            }
        }
    }

    /// The entry is for a page now.
    pub fn put(&self, entry: usize, page_number: u64) {
        self.remove(entry);
        let chain = page_number as usize % CHAINS;
        let head = (self.links.len() + chain) as u32;
        let next = self.heads[chain].replace(entry as u32);
        self.links[entry].set((next, head));
        if next != END {
            let place = &self.links[next as usize];
            place.set((place.get().0, entry as u32));
        }
    }

    /// Takes from the page's chain all entries for which `goes` says so.
    pub fn drain(&self, page_number: u64, mut goes: impl FnMut(usize) -> bool) {
        let mut at = self.heads[page_number as usize % CHAINS].get();
        while at != END {
            let entry = at as usize;
            at = self.links[entry].get().0;
            if goes(entry) {
                self.remove(entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(chains: &StoreChains, page: u64) -> Vec<usize> {
        let mut all = vec![];
        chains.drain(page, |entry| {
            all.push(entry);
            false
        });
        all.sort_unstable();
        all
    }

    #[test]
    fn entries_change_their_chain() {
        let chains = StoreChains::new(10);
        for entry in 0..5 {
            chains.put(entry, 7);
        }
        chains.put(9, 8);
        chains.put(2, 8);
        chains.put(0, 8);
        chains.put(4, 8);
        chains.put(4, 8);
        assert_eq!(of(&chains, 7), [1, 3]);
        assert_eq!(of(&chains, 8), [0, 2, 4, 9]);
        chains.drain(8, |entry| entry % 4 == 0);
        assert_eq!(of(&chains, 8), [2, 9]);
        chains.put(0, 7);
        assert_eq!(of(&chains, 7), [0, 1, 3]);
    }
}
