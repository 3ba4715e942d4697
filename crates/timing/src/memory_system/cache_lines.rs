//! The tags of a cache: which lines it holds, in which state, with least-recently-used replacement.
use std::cell::Cell;

mod saved_lines;

pub use saved_lines::SavedLines;

/// The state of a line in a cache (the MESI protocol).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LineState {
    /// Other caches may have it, too.
    Shared = 1,
    /// No other cache has it, and memory has the same.
    Exclusive = 2,
    /// No other cache has it, and memory has an older content.
    Modified = 3,
}

/// A cache's size and shape; of a TLB, too, whose lines are translations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// log2 of the bytes of a line. For TLBs it is 0.
    pub line: u32,
    /// Sets, a power of two.
    pub sets: usize,
    /// Lines of a set.
    pub ways: usize,
}

/// A line that had to leave for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    /// The line's first address.
    pub address: u64,
    /// It must be written to the next level.
    pub is_dirty: bool,
}

/// The lines of a cache. A line is named by any address within it.
#[derive(Debug)]
pub struct Lines {
    shift: u32,
    /// Set after set, the most recently used line first: 0, or the number + 1, the bit of contention, and
    /// two bits of state.
    entries: Box<[Cell<u64>]>,
    ways: usize,
    mask: u64,
}

const STATE: u64 = 3;
const CONTENDED: u64 = 4;
/// Bits below the number.
const BITS: u32 = 3;

fn state_of(entry: u64) -> LineState {
    match entry & STATE {
        1 => LineState::Shared,
        2 => LineState::Exclusive,
        _ => LineState::Modified,
    }
}

impl Lines {
    /// An empty cache.
    pub fn new(shape: CacheShape) -> Self {
        Self {
            shift: shape.line,
            entries: (0..shape.sets * shape.ways).map(|_| Cell::new(0)).collect(),
            ways: shape.ways,
            mask: shape.sets as u64 - 1,
        }
    }

    /// The line's number, and its set.
    #[inline(always)]
    fn set(&self, address: u64) -> (u64, &[Cell<u64>]) {
        let line = address >> self.shift;
        let start = (line & self.mask) as usize * self.ways;
        (line, &self.entries[start..start + self.ways])
    }

    /// Its shape.
    pub fn shape(&self) -> CacheShape {
        CacheShape {
            line: self.shift,
            sets: self.sets(),
            ways: self.ways,
        }
    }

    /// log2 of the bytes of a line.
    pub fn line_shift(&self) -> u32 {
        self.shift
    }

    /// How many sets there are.
    pub fn sets(&self) -> usize {
        self.mask as usize + 1
    }

    /// The addresses of all lines that the cache has.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        let all = self.entries.iter().map(Cell::get);
        let used = all.filter(|&entry| entry != 0);
        used.map(|entry| ((entry >> BITS) - 1) << self.shift)
    }

    /// Has the set of an address a line whose address is so?
    pub fn has_in_set(&self, address: u64, is_so: impl Fn(u64) -> bool) -> bool {
        let mut all = self.set(address).1.iter().map(Cell::get);
        all.any(|entry| entry != 0 && is_so(((entry >> BITS) - 1) << self.shift))
    }

    /// Uses a line. `None`: the cache has it not.
    #[inline]
    pub fn touch(&self, address: u64) -> Option<LineState> {
        let (line, set) = self.set(address);
        let first = set[0].get();
        if first >> BITS == line + 1 {
            return Some(state_of(first));
        }
        self.touch_others(set, line)
    }

    fn touch_others(&self, set: &[Cell<u64>], line: u64) -> Option<LineState> {
        let entry = match set.len() {
            // As many steps for each place: nobody foresees where a line is.
            4 => touch_in_few::<4>(set.first_chunk()?, line),
            8 => touch_in_few::<8>(set.first_chunk()?, line),
            _ => touch_in_many(set, line),
        };
        entry.map(state_of)
    }

    /// The state of a line, which stays as old as it is.
    pub fn state(&self, address: u64) -> Option<LineState> {
        let (line, set) = self.set(address);
        let mut entries = set.iter().map(Cell::get);
        entries
            .find(|entry| entry >> BITS == line + 1)
            .map(state_of)
    }

    /// Changes the state of a line that the cache may have.
    #[inline]
    pub fn change(&self, address: u64, state: LineState) {
        let (line, set) = self.set(address);
        let entry = set.iter().find(|e| e.get() >> BITS == line + 1);
        if let Some(entry) = entry {
            entry.set((line + 1) << BITS | entry.get() & CONTENDED | state as u64);
        }
    }

    /// Marks a line that the cache has as contended: other harts store to it, or read what this one
    /// stores.
    pub fn contend(&self, address: u64) {
        let (line, set) = self.set(address);
        let entry = set.iter().find(|e| e.get() >> BITS == line + 1);
        if let Some(entry) = entry {
            entry.set(entry.get() | CONTENDED);
        }
    }

    /// Is the line that was used last contended?
    #[inline]
    pub fn is_contended(&self, address: u64) -> bool {
        self.set(address).1[0].get() & CONTENDED != 0
    }

    /// Puts a line that the cache does not have in place of the one that was used least recently.
    pub fn insert(&self, address: u64, state: LineState) -> Option<Victim> {
        let (line, set) = self.set(address);
        let last = set.len() - 1;
        let old = set[last].get();
        move_to_front(set, last, (line + 1) << BITS | state as u64);
        (old != 0).then(|| Victim {
            address: ((old >> BITS) - 1) << self.shift,
            is_dirty: state_of(old) == LineState::Modified,
        })
    }

    /// Drops a line. Returns the state that it had.
    pub fn remove(&self, address: u64) -> Option<LineState> {
        let (line, set) = self.set(address);
        let at = set
            .iter()
            .position(|entry| entry.get() >> BITS == line + 1)?;
        let old = set[at].get();
        // Empty places are the last ones.
        for next in at + 1..set.len() {
            set[next - 1].set(set[next].get());
        }
        set[set.len() - 1].set(0);
        Some(state_of(old))
    }

    /// Drops all lines, and returns the addresses of those that were dirty.
    pub fn clear(&self) -> Vec<u64> {
        let dirty = |entry: &Cell<u64>| {
            let entry = entry.take();
            (entry & STATE == LineState::Modified as u64)
                .then(|| ((entry >> BITS) - 1) << self.shift)
        };
        self.entries.iter().filter_map(dirty).collect()
    }
}

fn touch_in_many(set: &[Cell<u64>], line: u64) -> Option<u64> {
    let at = set
        .iter()
        .position(|entry| entry.get() >> BITS == line + 1)?;
    let entry = set[at].get();
    move_to_front(set, at, entry);
    Some(entry)
}

fn touch_in_few<const WAYS: usize>(set: &[Cell<u64>; WAYS], line: u64) -> Option<u64> {
    let mut at = WAYS;
    for (n, entry) in set.iter().enumerate() {
        at = if entry.get() >> BITS == line + 1 {
            n
        } else {
            at
        };
    }
    let entry = set.get(at)?.get();
    let mut front = entry;
    for (n, place) in set.iter().enumerate() {
        let old = place.get();
        place.set(if n <= at { front } else { old });
        front = old;
    }
    Some(entry)
}

fn move_to_front(set: &[Cell<u64>], at: usize, entry: u64) {
    for place in (0..at).rev() {
        set[place + 1].set(set[place].get());
    }
    set[0].set(entry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_goes() {
        let lines = Lines::new(CacheShape {
            line: 0,
            sets: 2,
            ways: 2,
        });
        assert_eq!(lines.insert(0, LineState::Exclusive), None);
        assert_eq!(lines.insert(2, LineState::Shared), None);
        assert_eq!(lines.touch(0), Some(LineState::Exclusive));
        lines.change(0, LineState::Modified);
        let victim = lines.insert(4, LineState::Shared).unwrap();
        assert_eq!((victim.address, victim.is_dirty), (2, false));
        let victim = lines.insert(6, LineState::Shared).unwrap();
        assert_eq!((victim.address, victim.is_dirty), (0, true));
        assert_eq!(lines.touch(0), None);
        assert_eq!(lines.remove(6), Some(LineState::Shared));
        assert_eq!(lines.state(4), Some(LineState::Shared));
        lines.change(4, LineState::Modified);
        assert_eq!(lines.clear(), [4]);
        assert_eq!(lines.state(4), None);
    }

    #[test]
    fn sets_of_all_sizes_keep_the_order() {
        for ways in [2, 3, 4, 5, 8, 16] {
            let lines = Lines::new(CacheShape {
                line: 0,
                sets: 1,
                ways,
            });
            let mut order = vec![];
            for n in 0..1000_u64 {
                let line = n * n * 7 % (2 * ways as u64 - 1);
                let known = order.iter().position(|&other| other == line);
                assert_eq!(lines.touch(line).is_some(), known.is_some());
                if known.is_none() {
                    let victim = lines.insert(line, LineState::Shared);
                    let last = (order.len() == ways).then(|| order.pop()).flatten();
                    assert_eq!(victim.map(|victim| victim.address), last);
                }
                known.map(|at| order.remove(at));
                order.insert(0, line);
            }
        }
    }
}
