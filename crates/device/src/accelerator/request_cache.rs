//! The cache between the steps of requests and the memory of other tiles, and the lines that a step uses.
use std::collections::BTreeMap;

use flick_abi::step_request::Array;
use serde::{Deserialize, Serialize};

use super::request_logic::Arrays;
use crate::device::Refused;

/// The shape of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Bytes of a line: a power of two, and not more than a page.
    pub line: u64,
    /// Lines of a set.
    pub ways: usize,
    /// Sets: a power of two.
    pub sets: u64,
}

/// A line, by its address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Line {
    pub address: u64,
    pub bytes: Vec<u8>,
    is_dirty: bool,
}

/// The lines of the sets that have some. That which was not used for the longest time is the first of its set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Cache(BTreeMap<u64, Vec<Line>>);

impl CacheShape {
    fn set_of(&self, address: u64) -> u64 {
        (address / self.line) & (self.sets - 1)
    }
}

impl Cache {
    /// The bytes of a line, if the cache has it.
    fn find(&mut self, shape: CacheShape, address: u64) -> Option<&[u8]> {
        let set = self.0.get_mut(&shape.set_of(address))?;
        let at = set.iter().position(|line| line.address == address)?;
        set[at..].rotate_left(1);
        set.last().map(|line| &*line.bytes)
    }

    /// Takes a line. Returns one that has to be written to memory.
    pub fn put(
        &mut self,
        shape: CacheShape,
        address: u64,
        bytes: Vec<u8>,
        is_dirty: bool,
    ) -> Option<Line> {
        let set = self.0.entry(shape.set_of(address)).or_default();
        let own = set.iter().position(|line| line.address == address);
        let was_dirty = own.is_some_and(|at| set.remove(at).is_dirty);
        let victim = (set.len() >= shape.ways).then(|| set.remove(0));
        set.push(Line {
            address,
            bytes,
            is_dirty: is_dirty || was_dirty,
        });
        victim.filter(|line| line.is_dirty)
    }

    /// The lines that have to be written to memory, by address. The cache keeps them.
    pub fn take_dirty(&mut self) -> Vec<Line> {
        let all = self.0.values_mut().flatten();
        let dirty = all.filter(|line| line.is_dirty).map(|line| {
            let taken = line.clone();
            line.is_dirty = false;
            taken
        });
        let mut dirty: Vec<Line> = dirty.collect();
        dirty.sort_unstable_by_key(|line| line.address);
        dirty
    }

    /// Forgets all lines.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether a cache of that shape can have these lines.
    pub fn is_possible(&self, shape: CacheShape) -> bool {
        self.0.iter().all(|(&set, lines)| {
            let mut addresses: Vec<u64> = lines.iter().map(|line| line.address).collect();
            addresses.sort_unstable();
            addresses.dedup();
            let is_possible =
                |line: &Line| line.is_possible(shape) && shape.set_of(line.address) == set;
            addresses.len() == lines.len()
                && lines.len() <= shape.ways
                && lines.iter().all(is_possible)
        })
    }
}

impl Line {
    /// Whether a cache of that shape can have this line.
    pub fn is_possible(&self, shape: CacheShape) -> bool {
        self.address.is_multiple_of(shape.line) && self.bytes.len() as u64 == shape.line
    }
}

/// The arrays of a request as a step sees them. What it writes counts when the step has ended.
pub(super) struct StepView<'a> {
    shape: CacheShape,
    arrays: &'a [Array],
    cache: &'a mut Cache,
    /// The lines that the step has read, also when it was made before.
    seen: &'a mut BTreeMap<u64, Vec<u8>>,
    /// Lines as the step has changed them.
    pub written: BTreeMap<u64, Vec<u8>>,
    /// The line that the step needs and that has still to be read.
    pub missing: Option<u64>,
}

impl<'a> StepView<'a> {
    pub fn new(
        shape: CacheShape,
        arrays: &'a [Array],
        cache: &'a mut Cache,
        seen: &'a mut BTreeMap<u64, Vec<u8>>,
    ) -> Self {
        Self {
            shape,
            arrays,
            cache,
            seen,
            written: BTreeMap::new(),
            missing: None,
        }
    }

    /// The address of bytes of an array.
    fn address(&self, array: usize, offset: usize, size: usize) -> Result<u64, Refused> {
        let array = self.arrays.get(array).ok_or(Refused)?;
        let (offset, size) = (offset as u64, size as u64);
        let end = offset.checked_add(size).filter(|&end| end <= array.size);
        let last = end.and_then(|end| array.address.checked_add(end));
        last.map(|last| last - size).ok_or(Refused)
    }

    /// Lets `f` have the bytes at an address, in parts that are within a line: the offsets of a part in the bytes
    /// and in the line.
    fn by_lines(
        &mut self,
        address: u64,
        size: usize,
        mut f: impl FnMut(&mut Self, u64, std::ops::Range<usize>, usize),
    ) -> Result<(), Refused> {
        let mut done = 0;
        while done < size {
            let at = address + done as u64;
            let line = at & !(self.shape.line - 1);
            let start = (at - line) as usize;
            let part = (size - done).min(self.shape.line as usize - start);
            self.need(line)?;
            f(self, line, done..done + part, start);
            done += part;
        }
        Ok(())
    }

    /// The step needs a line. Behind one that is missing it needs no others.
    fn need(&mut self, line: u64) -> Result<(), Refused> {
        if self.missing.is_none() && !self.seen.contains_key(&line) {
            match self.cache.find(self.shape, line) {
                Some(bytes) => {
                    self.seen.insert(line, bytes.to_vec());
                }
                None => self.missing = Some(line),
            }
        }
        match self.missing {
            None => Ok(()),
            Some(_) => Err(Refused),
        }
    }
}

impl Arrays for StepView<'_> {
    fn read(&mut self, array: usize, offset: usize, bytes: &mut [u8]) -> Result<(), Refused> {
        let address = self.address(array, offset, bytes.len())?;
        self.by_lines(address, bytes.len(), |view, line, part, start| {
            let from = view.written.get(&line).or_else(|| view.seen.get(&line));
            if let Some(from) = from {
                let size = part.len();
                bytes[part].copy_from_slice(&from[start..start + size]);
            }
        })
    }

    fn write(&mut self, array: usize, offset: usize, bytes: &[u8]) -> Result<(), Refused> {
        let address = self.address(array, offset, bytes.len())?;
        self.by_lines(address, bytes.len(), |view, line, part, start| {
            let seen = &view.seen;
            let to = view.written.entry(line);
            let to = to.or_insert_with(|| seen.get(&line).cloned().unwrap_or_default());
            let size = part.len();
            to[start..start + size].copy_from_slice(&bytes[part]);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: CacheShape = CacheShape {
        line: 16,
        ways: 2,
        sets: 4,
    };

    #[test]
    fn the_line_that_was_not_used_goes() {
        let mut cache = Cache::default();
        // Three lines of one set.
        for (address, is_dirty) in [(0, true), (64, false)] {
            assert_eq!(
                cache.put(SHAPE, address, vec![address as u8; 16], is_dirty),
                None
            );
        }
        assert_eq!(cache.find(SHAPE, 0), Some(&[0; 16][..]));
        assert_eq!(cache.put(SHAPE, 128, vec![1; 16], false), None);
        assert_eq!(cache.find(SHAPE, 64), None);
        let victim = cache.put(SHAPE, 192, vec![2; 16], true).unwrap();
        assert_eq!(victim.address, 0);
        assert!(cache.is_possible(SHAPE));
        let dirty: Vec<u64> = cache.take_dirty().iter().map(|line| line.address).collect();
        assert_eq!(dirty, [192]);
        assert_eq!(cache.take_dirty(), []);
        let smaller = CacheShape { ways: 1, ..SHAPE };
        assert!(!cache.is_possible(smaller));
        assert!(!cache.is_possible(CacheShape { line: 32, ..SHAPE }));
    }

    #[test]
    fn a_step_needs_a_line_at_a_time_and_changes_nothing_before_its_end() {
        let (mut cache, mut seen) = (Cache::default(), BTreeMap::new());
        let arrays = [Array {
            address: 8,
            size: 20,
        }];
        let mut bytes = [0; 20];
        for line in [0, 16] {
            let mut view = StepView::new(SHAPE, &arrays, &mut cache, &mut seen);
            assert_eq!(view.read(0, 0, &mut bytes), Err(Refused));
            assert_eq!(view.missing, Some(line));
            assert_eq!(view.write(0, 0, &[1]), Err(Refused));
            cache.put(SHAPE, line, (line as u8..line as u8 + 16).collect(), false);
        }
        let mut view = StepView::new(SHAPE, &arrays, &mut cache, &mut seen);
        assert_eq!(view.read(0, 0, &mut bytes), Ok(()));
        assert!(bytes.iter().copied().eq(8..28));
        view.write(0, 7, &[100, 101]).unwrap();
        view.read(0, 0, &mut bytes).unwrap();
        assert_eq!(bytes[6..10], [14, 100, 101, 17]);
        assert_eq!(view.written.len(), 2);
        for (array, offset, size) in [(0, 19, 2), (0, usize::MAX, 1), (1, 0, 1)] {
            assert_eq!(view.read(array, offset, &mut vec![0; size]), Err(Refused));
            assert_eq!(view.missing, None);
        }
        assert_eq!(cache.find(SHAPE, 0).unwrap()[15], 15);
        let far = [Array {
            address: u64::MAX - 1,
            size: 8,
        }];
        let mut view = StepView::new(SHAPE, &far, &mut cache, &mut seen);
        assert_eq!(view.read(0, 0, &mut [0; 4]), Err(Refused));
        assert_eq!(view.missing, None);
    }
}
