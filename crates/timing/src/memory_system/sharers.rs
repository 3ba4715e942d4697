//! Which data caches of a tile may have a line, so that a miss asks these alone. A directory of the
//! simulator: it takes no virtual time, and the protocol is the same without it.
use std::cell::Cell;

use super::cache_lines::Lines;

/// Entries at least. Lines whose numbers differ by a multiple of the entries share one.
const LEAST_ENTRIES: usize = 1 << 14;
/// Harts of a word of an entry.
const BITS: usize = u64::BITS as usize;

/// By line: bits of the harts that have a line of this entry.
#[derive(Debug)]
pub struct Sharers {
    words: Box<[Cell<u64>]>,
    /// Words of an entry.
    width: usize,
    mask: u64,
    shift: u32,
}

impl Sharers {
    /// For caches with lines of equal size, by hart. `None`: their lines differ, or there is nothing to
    /// be asked.
    pub fn new<'l>(caches: impl Iterator<Item = Option<&'l Lines>> + Clone) -> Option<Self> {
        let harts = caches.clone().count();
        let mut all = caches.clone().flatten();
        let first = all.next()?;
        let shift = first.line_shift();
        let mut most = first.sets();
        for lines in all {
            if lines.line_shift() != shift {
                return None;
            }
            most = most.max(lines.sets());
        }
        let entries = LEAST_ENTRIES.max(most);
        let width = harts.div_ceil(BITS);
        let new = Self {
            words: (0..entries * width).map(|_| Cell::new(0)).collect(),
            width,
            mask: entries as u64 - 1,
            shift,
        };
        new.look_up(caches);
        Some(new)
    }

    /// The same caches have other lines than before.
    pub fn look_up<'l>(&self, caches: impl Iterator<Item = Option<&'l Lines>>) {
        self.words.iter().for_each(|word| word.set(0));
        for (hart, lines) in caches.enumerate() {
            let all = lines.into_iter().flat_map(Lines::addresses);
            all.for_each(|address| self.add(hart, address));
        }
    }

    fn entry(&self, address: u64) -> &[Cell<u64>] {
        let start = (address >> self.shift & self.mask) as usize * self.width;
        &self.words[start..start + self.width]
    }

    /// The hart gets a line.
    pub fn add(&self, hart: usize, address: u64) {
        let word = &self.entry(address)[hart / BITS];
        word.set(word.get() | 1 << (hart % BITS));
    }

    /// The hart has lost a line; `lines` is what it has now.
    pub fn remove(&self, hart: usize, address: u64, lines: &Lines) {
        // Lines of the same entry are in the same set.
        let has_other = lines.has_in_set(address, |other| {
            (other ^ address) >> self.shift & self.mask == 0
        });
        if !has_other {
            let word = &self.entry(address)[hart / BITS];
            word.set(word.get() & !(1 << (hart % BITS)));
        }
    }

    /// The harts that may have a line, in the order of their numbers.
    pub fn of(&self, address: u64) -> impl Iterator<Item = usize> {
        let words = self.entry(address).iter().enumerate();
        words.flat_map(|(n, word)| {
            let mut bits = word.get();
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
                (bit < BITS).then_some(n * BITS + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::cache_lines::{CacheShape, LineState};
    use super::*;

    #[test]
    fn an_entry_has_the_harts_of_all_its_lines() {
        let shape = CacheShape {
            line: 6,
            sets: 4,
            ways: 2,
        };
        let all: Vec<_> = (0..70).map(|_| Some(Lines::new(shape))).collect();
        let sharers = Sharers::new(all.iter().map(Option::as_ref)).unwrap();
        let of = |address| sharers.of(address).collect::<Vec<_>>();
        let alias = (LEAST_ENTRIES as u64) << 6;
        for (hart, address) in [(3, 0x100), (69, 0x13f), (3, 0x100 + alias)] {
            let lines = all[hart].as_ref().unwrap();
            lines.insert(address, LineState::Shared);
            sharers.add(hart, address);
        }
        assert_eq!((of(0x100), of(0x140)), (vec![3, 69], vec![]));
        let third = all[3].as_ref().unwrap();
        third.remove(0x100);
        sharers.remove(3, 0x100, third);
        assert_eq!(of(alias + 0x100), [3, 69]);
        third.remove(0x100 + alias);
        sharers.remove(3, 0x100 + alias, third);
        assert_eq!(of(0x100), [69]);
        third.insert(0x200, LineState::Modified);
        sharers.look_up(all.iter().map(Option::as_ref));
        assert_eq!((of(0x100), of(0x200)), (vec![69], vec![3]));
        // Other lines have other entries.
        let other = Lines::new(CacheShape { line: 5, ..shape });
        let both = [all[0].as_ref(), None, Some(&other)];
        assert!(Sharers::new(both.into_iter()).is_none());
    }
}
