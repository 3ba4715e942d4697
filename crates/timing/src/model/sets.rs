//! A set-associative table, for a cache's lines or a TLB's pages. The least recently used entry is replaced, or the
//! oldest one.

/// Entries are numbers of lines or pages. Any set index is in range by construction.
#[derive(Clone, Debug)]
pub struct Sets {
    /// The sets, one after the other, most recently used entry first. 0 is an empty entry, other
    /// values are the number + 1.
    entries: Box<[u64]>,
    ways: usize,
    mask: u64,
}

impl Sets {
    /// `entries` / `ways` is a power of two.
    pub fn new(entries: usize, ways: usize) -> Self {
        Self {
            entries: vec![0; entries].into_boxed_slice(),
            ways,
            mask: (entries / ways) as u64 - 1,
        }
    }

    /// How many sets there are.
    pub fn sets(&self) -> u64 {
        self.mask + 1
    }

    /// Copies the state of `other`, which has the same size.
    pub fn copy(&mut self, other: &Sets) {
        self.entries.copy_from_slice(&other.entries);
    }

    /// Uses `number`, and returns whether it was in the table.
    #[inline]
    pub fn touch(&mut self, number: u64) -> bool {
        let start = (number & self.mask) as usize * self.ways;
        let set = &mut self.entries[start..start + self.ways];
        let wanted = number + 1;
        if set[0] == wanted {
            return true;
        }
        self.touch_others(start, wanted)
    }

    /// Uses `number`, where the entry that came first goes. `None`: it was in the table. Else the number that has gone,
    /// if any has.
    #[inline]
    pub fn enter(&mut self, number: u64) -> Option<Option<u64>> {
        let start = (number & self.mask) as usize * self.ways;
        let set = &mut self.entries[start..start + self.ways];
        let wanted = number + 1;
        if set.contains(&wanted) {
            return None;
        }
        let last = set.len() - 1;
        let gone = set[last].checked_sub(1);
        set.copy_within(0..last, 1);
        set[0] = wanted;
        Some(gone)
    }

    fn touch_others(&mut self, start: usize, wanted: u64) -> bool {
        let set = &mut self.entries[start..start + self.ways];
        let found = set.iter().position(|&entry| entry == wanted);
        let last = found.unwrap_or(set.len() - 1);
        set.copy_within(0..last, 1);
        set[0] = wanted;
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes() {
        let mut sets = Sets::new(4, 2);
        // Sets of even and of odd numbers.
        assert!(!sets.touch(0) && !sets.touch(2) && !sets.touch(1));
        assert!(sets.touch(0) && sets.touch(2) && sets.touch(1));
        assert!(sets.touch(0));
        assert!(!sets.touch(4));
        assert!(sets.touch(0) && !sets.touch(2) && !sets.touch(4));
    }

    #[test]
    fn the_first_to_come_goes() {
        let mut sets = Sets::new(4, 2);
        assert_eq!((sets.enter(0), sets.enter(2)), (Some(None), Some(None)));
        // That it is used does not keep it.
        assert_eq!((sets.enter(0), sets.enter(4)), (None, Some(Some(0))));
        assert_eq!((sets.enter(2), sets.enter(0)), (None, Some(Some(2))));
        assert_eq!(sets.enter(1), Some(None));
    }

    #[test]
    fn one_entry() {
        let mut one = Sets::new(1, 1);
        assert!(!one.touch(7) && one.touch(7) && !one.touch(8) && !one.touch(7));
    }
}
