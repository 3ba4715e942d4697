//! The bytes of a data cache's lines, where the caches of a tile are not coherent: a hart loads what its
//! cache holds, however old that is. [`flick_timing::memory_system`] has the tags and says which lines
//! are held; the bytes of a line are fetched at its first use.
//!
//! Instruction fetches, page-table walks, atomics, devices and the debugger see memory.
use std::cell::Cell;
use std::ops::Range;

use flick_timing::memory_system::CacheShape;
use serde::{Deserialize, Serialize};

/// No line: lines begin at even addresses.
const NONE: u64 = 1;

/// The copies of a hart. A line is named by its first address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCopies {
    shift: u32,
    ways: usize,
    /// The line of each copy, set after set, in no order within a set.
    owners: Box<[Cell<u64>]>,
    bytes: Box<[Cell<u8>]>,
}

impl LineCopies {
    /// None.
    pub fn new(shape: CacheShape) -> Self {
        let count = shape.sets * shape.ways;
        Self {
            shift: shape.line,
            ways: shape.ways,
            owners: vec![Cell::new(NONE); count].into(),
            bytes: vec![Cell::new(0); count << shape.line].into(),
        }
    }

    /// Bytes of a line.
    pub fn line(&self) -> u64 {
        1 << self.shift
    }

    /// The first address of the line of an address.
    pub fn line_of(&self, address: u64) -> u64 {
        address & !(self.line() - 1)
    }

    fn set(&self, line: u64) -> Range<usize> {
        let sets = self.owners.len() / self.ways;
        let start = (line >> self.shift) as usize % sets * self.ways;
        start..start + self.ways
    }

    fn bytes_of(&self, copy: usize) -> &[Cell<u8>] {
        &self.bytes[copy << self.shift..(copy + 1) << self.shift]
    }

    /// The place of the copy of a line, or of none.
    fn place(&self, line: u64, owner: u64) -> Option<usize> {
        self.set(line).find(|&at| self.owners[at].get() == owner)
    }

    /// The copy of a line.
    pub fn find(&self, line: u64) -> Option<&[Cell<u8>]> {
        Some(self.bytes_of(self.place(line, line)?))
    }

    /// A place for the copy of a line that has none. The caller has dropped the line that left the cache
    /// for it.
    pub fn make(&self, line: u64) -> &[Cell<u8>] {
        // A line without a copy may have left the cache, so a place is free.
        let free = self.place(line, NONE);
        let copy = free.expect("a cache has as many copies as lines");
        self.owners[copy].set(line);
        self.bytes_of(copy)
    }

    /// Drops the copy of a line, and returns its bytes, which are good until the next is made.
    pub fn remove(&self, line: u64) -> Option<&[Cell<u8>]> {
        let copy = self.place(line, line)?;
        self.owners[copy].set(NONE);
        Some(self.bytes_of(copy))
    }

    /// Takes the copies of another cache of this shape. `holds`: does the cache hold a line? False: no such
    /// cache has them, and nothing has changed.
    pub fn restore(&self, saved: &Self, holds: impl Fn(u64) -> bool) -> bool {
        let has_shape = saved.shift == self.shift
            && saved.ways == self.ways
            && saved.owners.len() == self.owners.len()
            && saved.bytes.len() == self.bytes.len();
        let is_copy = |(at, owner): (usize, &Cell<u64>)| {
            let line = owner.get();
            let is_first = || saved.place(line, line) == Some(at);
            line == NONE || self.line_of(line) == line && is_first() && holds(line)
        };
        if !has_shape || !saved.owners.iter().enumerate().all(is_copy) {
            return false;
        }
        let owners = self.owners.iter().zip(&saved.owners);
        owners.for_each(|(place, owner)| place.set(owner.get()));
        let bytes = self.bytes.iter().zip(&saved.bytes);
        bytes.for_each(|(place, byte)| place.set(byte.get()));
        true
    }

    /// The lines that have copies, in the order of their places.
    pub fn lines(&self) -> Vec<u64> {
        let all = self.owners.iter().map(Cell::get);
        all.filter(|&line| line != NONE).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_found_until_it_is_dropped() {
        let shape = CacheShape {
            line: 4,
            sets: 2,
            ways: 2,
        };
        let copies = LineCopies::new(shape);
        assert_eq!((copies.line(), copies.line_of(0x4f)), (16, 0x40));
        copies.make(0x40)[3].set(7);
        copies.make(0x80)[3].set(8);
        assert_eq!(copies.find(0x40).unwrap()[3].get(), 7);
        assert_eq!(copies.find(0x80).unwrap()[3].get(), 8);
        assert!(copies.find(0x50).is_none());
        assert_eq!(copies.remove(0x40).unwrap()[3].get(), 7);
        assert!(copies.find(0x40).is_none() && copies.remove(0x40).is_none());
        assert_eq!(copies.lines(), [0x80]);
        let other = LineCopies::new(shape);
        assert!(other.restore(&copies, |line| line == 0x80) && other == copies);
        assert!(!other.restore(&copies, |_| false));
        // Twice the same, another set, no line's address.
        for owners in [[0x80, 0x80], [NONE, 0x90], [0x84, NONE]] {
            let bad = LineCopies::new(shape);
            let places = bad.owners.iter().zip(owners);
            places.for_each(|(place, owner)| place.set(owner));
            assert!(!other.restore(&bad, |_| true), "{owners:x?}");
        }
        let wide = LineCopies::new(CacheShape { ways: 4, ..shape });
        assert!(!other.restore(&wide, |_| true));
    }
}
