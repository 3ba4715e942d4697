//! The lines of a cache, for snapshots.
use std::cell::Cell;

use super::{BITS, Lines, STATE};

/// The entries of [`Lines`], set after set.
pub type SavedLines = Vec<u64>;

impl Lines {
    /// All entries, in their order.
    pub fn save(&self) -> SavedLines {
        self.entries.iter().map(Cell::get).collect()
    }

    /// Takes what [`save`](Self::save) of a cache of this shape gave. False: no such cache has it, and
    /// nothing has changed.
    pub fn restore(&self, saved: &SavedLines) -> bool {
        let fits = saved.len() == self.entries.len();
        let mut sets = saved.chunks_exact(self.ways).zip(0..);
        if !fits || !sets.all(|(set, number)| self.is_set(set, number)) {
            return false;
        }
        let pairs = self.entries.iter().zip(saved);
        pairs.for_each(|(place, &entry)| place.set(entry));
        true
    }

    /// Can the set of this number have these entries?
    fn is_set(&self, set: &[u64], number: u64) -> bool {
        // Empty places are the last ones.
        let used = set.iter().take_while(|&&entry| entry != 0).count();
        let (lines, empty) = set.split_at(used);
        let is_line = |entry: u64| {
            let line = (entry >> BITS).checked_sub(1);
            entry & STATE != 0
                && line.is_some_and(|line| {
                    line & self.mask == number && line << self.shift >> self.shift == line
                })
        };
        let is_twice = |(at, &entry): (usize, &u64)| {
            let mut others = lines[..at].iter();
            others.any(|other| other >> BITS == entry >> BITS)
        };
        empty.iter().all(|&entry| entry == 0)
            && lines.iter().all(|&entry| is_line(entry))
            && !lines.iter().enumerate().any(is_twice)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CacheShape, LineState};
    use super::*;

    #[test]
    fn lines_come_back_in_their_order() {
        let shape = CacheShape {
            line: 6,
            sets: 2,
            ways: 2,
        };
        let lines = Lines::new(shape);
        lines.insert(0x100, LineState::Modified);
        lines.insert(0x40, LineState::Shared);
        lines.insert(0x80, LineState::Exclusive);
        lines.contend(0x80);
        let saved = lines.save();
        let other = Lines::new(shape);
        assert!(other.restore(&saved) && other.save() == saved);
        assert!(other.is_contended(0x80));
        let victim = other.insert(0x180, LineState::Shared).unwrap();
        assert_eq!((victim.address, victim.is_dirty), (0x100, true));
        // Another shape, a line of another set, no state, twice the same, a hole, too far away.
        let line = |number: u64| (number + 1) << BITS | 1;
        let bad = [
            vec![0; 3],
            vec![line(1), 0, 0, 0],
            vec![line(2) & !STATE, 0, 0, 0],
            vec![1, 0, 0, 0],
            vec![line(2), line(2), 0, 0],
            vec![0, line(2), 0, 0],
            vec![line(1 << 58), 0, 0, 0],
        ];
        for saved in bad {
            assert!(!lines.restore(&saved), "{saved:?}");
        }
        assert_eq!(lines.save(), saved);
        assert!(lines.restore(&vec![line(2), line(4), line(3), 0]));
    }
}
