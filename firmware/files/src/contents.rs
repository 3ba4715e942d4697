//! The data of files: each is a list of extents, of which all but the last one are used in full.
use crate::blocks::{Blocks, Run};
use crate::shares::{NOBODY, Shares};
use crate::{BLOCK, EXTENT_BLOCKS, Failure, Memory};

/// Extents of all files.
pub const MOST_EXTENTS: usize = 4096;
/// The end of a list.
pub const NOTHING: u16 = u16::MAX;

#[derive(Clone, Copy, Debug)]
struct Extent {
    run: Run,
    next: u16,
    /// The session that has taken it.
    owner: u8,
}

/// The extents of a file.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    first: u16,
    last: u16,
    /// Blocks of all extents.
    blocks: u32,
    /// Bytes. A writer may have blocks behind them, which are not the file's yet.
    pub size: u64,
}

impl Contents {
    /// An empty file.
    pub const EMPTY: Self = Self {
        first: NOTHING,
        last: NOTHING,
        blocks: 0,
        size: 0,
    };

    fn capacity(&self) -> u64 {
        u64::from(self.blocks) * BLOCK
    }
}

/// Bytes of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Where they begin.
    pub offset: u64,
    /// How many.
    pub length: u64,
}

/// The extents of all files.
#[derive(Debug)]
pub struct Extents {
    all: [Extent; MOST_EXTENTS],
    free: u16,
    free_count: u32,
    pub blocks: Blocks,
    /// The session that takes extents and blocks now.
    pub client: u8,
    /// Extents and blocks of sessions.
    shares: Shares,
    block_shares: Shares,
}

impl Extents {
    /// None.
    pub const fn new() -> Self {
        const FREE: Extent = Extent {
            run: Run { start: 0, count: 0 },
            next: NOTHING,
            owner: NOBODY,
        };
        Self {
            all: [FREE; MOST_EXTENTS],
            free: NOTHING,
            free_count: 0,
            blocks: Blocks::new(),
            client: NOBODY,
            shares: Shares::new(),
            block_shares: Shares::new(),
        }
    }

    /// So many extents and blocks, which are free.
    pub fn begin(&mut self, extents: usize, blocks: u32) {
        let extents = extents.min(MOST_EXTENTS);
        for (n, extent) in self.all[..extents].iter_mut().enumerate() {
            extent.next = if n + 1 == extents {
                NOTHING
            } else {
                n as u16 + 1
            };
        }
        self.free = if extents == 0 { NOTHING } else { 0 };
        self.free_count = extents as u32;
        self.blocks.begin(blocks);
    }

    /// A session is over: what it has taken is nobody's.
    pub fn end_session(&mut self, session: u8) {
        let owners = self.all.iter_mut().map(|extent| &mut extent.owner);
        self.shares.end(session, owners);
        self.block_shares.end(session, core::iter::empty());
    }

    /// Blocks that the client may take, up to as many as an extent has.
    fn allowed_blocks(&self) -> u32 {
        let allowed = self.block_shares.allowed(self.client, self.blocks.free());
        allowed.min(EXTENT_BLOCKS)
    }

    /// The extents from one on.
    fn list(&self, first: u16) -> impl Iterator<Item = (u16, Run)> {
        let mut next = first;
        core::iter::from_fn(move || {
            let at = next;
            let extent = self.all.get(usize::from(at))?;
            next = extent.next;
            Some((at, extent.run))
        })
    }

    /// Where the byte at a position of a file is, and how many follow it there up to `end`.
    pub fn find(&self, of: &Contents, position: u64, end: u64) -> Option<Range> {
        let mut start = 0;
        self.list(of.first).find_map(|(_, run)| {
            let size = u64::from(run.count) * BLOCK;
            let before = start;
            start += size;
            (position < start && position < end).then(|| Range {
                offset: u64::from(run.start) * BLOCK + position - before,
                length: start.min(end) - position,
            })
        })
    }

    /// Room behind the end of a file, in one piece: what is left of its last block, and new blocks.
    pub fn reserve(
        &mut self,
        of: &mut Contents,
        memory: &mut impl Memory,
    ) -> Result<Range, Failure> {
        let last = self.all.get(usize::from(of.last)).copied();
        let mut grown = 0;
        // An extent is of one session.
        if let Some(Extent { run, owner, .. }) = last.filter(|last| last.owner == self.client) {
            let most = EXTENT_BLOCKS.saturating_sub(run.count);
            let most = most.min(self.allowed_blocks());
            grown = self.blocks.take_at(run.start + run.count, most, memory)?;
            self.all[usize::from(of.last)].run.count += grown;
            self.block_shares.take(owner, grown);
            of.blocks += grown;
        }
        if grown == 0 && of.size == of.capacity() {
            self.add(of, memory)?;
        }
        self.find(of, of.size, of.capacity())
            .ok_or(Failure::NoSpace)
    }

    fn add(&mut self, of: &mut Contents, memory: &mut impl Memory) -> Result<(), Failure> {
        let place = self.free;
        let next = self.all.get(usize::from(place)).ok_or(Failure::NoSpace)?;
        let next = next.next;
        if self.shares.allowed(self.client, self.free_count) == 0 {
            return Err(Failure::NoSpace);
        }
        let run = self.blocks.take(self.allowed_blocks(), memory)?;
        self.free = next;
        self.free_count -= 1;
        self.shares.take(self.client, 1);
        self.block_shares.take(self.client, run.count);
        self.all[usize::from(place)] = Extent {
            run,
            next: NOTHING,
            owner: self.client,
        };
        match self.all.get_mut(usize::from(of.last)) {
            Some(last) => last.next = place,
            None => of.first = place,
        }
        of.last = place;
        of.blocks += run.count;
        Ok(())
    }

    /// Gives back what is behind the first `size` bytes, which the file has from now on at most.
    pub fn cut(&mut self, of: &mut Contents, size: u64) {
        of.size = of.size.min(size);
        let wanted = of.size.div_ceil(BLOCK) as u32;
        let (mut kept, mut at, mut last) = (0, of.first, NOTHING);
        while let Some(&Extent { run, next, owner }) = self.all.get(usize::from(at)) {
            let keeps = run.count.min(wanted - kept);
            if keeps < run.count {
                self.block_shares.give_back(owner, run.count - keeps);
                self.blocks.give_back(Run {
                    start: run.start + keeps,
                    count: run.count - keeps,
                });
            }
            kept += keeps;
            if keeps == 0 {
                self.all[usize::from(at)].next = core::mem::replace(&mut self.free, at);
                self.free_count += 1;
                self.shares.give_back(owner, 1);
            } else {
                self.all[usize::from(at)].run.count = keeps;
                // All behind it go.
                if kept == wanted {
                    self.all[usize::from(at)].next = NOTHING;
                }
                last = at;
            }
            at = next;
        }
        of.last = last;
        of.blocks = kept;
        if last == NOTHING {
            of.first = NOTHING;
        }
    }

    /// The file has at least so many bytes: new ones are 0.
    pub fn extend(
        &mut self,
        of: &mut Contents,
        size: u64,
        memory: &mut impl Memory,
    ) -> Result<(), Failure> {
        if size.saturating_sub(of.size) > u64::from(self.blocks.free() + 1) * BLOCK {
            return Err(Failure::NoSpace);
        }
        let before = of.size;
        while of.size < size {
            // The rest of its last block may have been written to. New blocks are 0.
            let in_block = of.size.next_multiple_of(BLOCK) - of.size;
            match self.reserve(of, memory) {
                Ok(room) if memory.clear(room.offset, in_block.min(room.length)).is_ok() => {
                    of.size += room.length.min(size - of.size);
                }
                failed => {
                    self.cut(of, before);
                    return Err(failed.err().unwrap_or(Failure::Failed));
                }
            }
        }
        self.cut(of, size);
        Ok(())
    }

    /// Extents and blocks of a session, for tests.
    #[cfg(test)]
    pub fn used(&self, session: u8) -> (u32, u32) {
        (self.shares.used(session), self.block_shares.used(session))
    }

    /// Extents of a file, for tests.
    #[cfg(test)]
    pub fn runs(&self, of: &Contents) -> Vec<Run> {
        self.list(of.first).map(|(_, run)| run).collect()
    }
}
