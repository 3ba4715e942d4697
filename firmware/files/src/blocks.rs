//! Which blocks of the memory are free, and which have been another file's.
use crate::{BLOCK, Failure, Memory};

/// Blocks at most: 64 MiB.
pub const MOST_BLOCKS: usize = 16384;
const WORDS: usize = MOST_BLOCKS / 64;

/// A row of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first one.
    pub start: u32,
    /// How many.
    pub count: u32,
}

/// All blocks.
#[derive(Debug)]
pub struct Blocks {
    used: [u64; WORDS],
    /// They may have data of a file that is gone.
    dirty: [u64; WORDS],
    count: u32,
    free: u32,
    /// Where the search for a free one begins.
    next: u32,
}

fn bit(words: &[u64; WORDS], block: u32) -> bool {
    words[block as usize / 64] >> (block % 64) & 1 != 0
}

fn set(words: &mut [u64; WORDS], block: u32, to: bool) {
    let word = &mut words[block as usize / 64];
    *word = *word & !(1 << (block % 64)) | u64::from(to) << (block % 64);
}

impl Blocks {
    /// None.
    pub const fn new() -> Self {
        Self {
            used: [0; WORDS],
            dirty: [0; WORDS],
            count: 0,
            free: 0,
            next: 0,
        }
    }

    /// So many blocks, which are free and 0.
    pub fn begin(&mut self, count: u32) {
        self.count = count.min(MOST_BLOCKS as u32);
        self.free = self.count;
    }

    /// Free blocks.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// How many blocks are free from one on, up to a number.
    fn free_from(&self, start: u32, most: u32) -> u32 {
        let end = self.count.min(start.saturating_add(most));
        let used = (start..end).find(|&block| bit(&self.used, block));
        used.unwrap_or(end).saturating_sub(start)
    }

    /// Takes up to `most` blocks at the block `start`. They are 0.
    pub fn take_at(
        &mut self,
        start: u32,
        most: u32,
        memory: &mut impl Memory,
    ) -> Result<u32, Failure> {
        let count = self.free_from(start, most);
        let mut block = start;
        while block < start + count {
            let is_dirty = bit(&self.dirty, block);
            let same = (block..start + count).find(|&other| bit(&self.dirty, other) != is_dirty);
            let end = same.unwrap_or(start + count);
            if is_dirty {
                memory.clear(u64::from(block) * BLOCK, u64::from(end - block) * BLOCK)?;
            }
            block = end;
        }
        for block in start..start + count {
            set(&mut self.used, block, true);
            set(&mut self.dirty, block, false);
        }
        self.free -= count;
        self.next = start + count;
        Ok(count)
    }

    /// Takes a row of up to `most` blocks: the first one that is so long, or else the longest one.
    pub fn take(&mut self, most: u32, memory: &mut impl Memory) -> Result<Run, Failure> {
        let mut best = Run { start: 0, count: 0 };
        // Once around, from the last one that was taken on.
        for (from, to) in [(self.next, self.count), (0, self.next)] {
            let mut block = from;
            while block < to && best.count < most {
                // Words without a free block are passed over.
                if block % 64 == 0 && self.used[block as usize / 64] == u64::MAX {
                    block += 64;
                    continue;
                }
                let count = self.free_from(block, most);
                if count > best.count {
                    best = Run {
                        start: block,
                        count,
                    };
                }
                block += count + 1;
            }
        }
        if best.count == 0 {
            return Err(Failure::NoSpace);
        }
        let count = self.take_at(best.start, best.count, memory)?;
        Ok(Run { count, ..best })
    }

    /// Gives blocks back.
    pub fn give_back(&mut self, run: Run) {
        for block in run.start..run.start + run.count {
            debug_assert!(bit(&self.used, block), "block {block} is free twice");
            set(&mut self.used, block, false);
            set(&mut self.dirty, block, true);
        }
        self.free += run.count;
    }
}
