//! Operations on caches that instructions ask for: `fence.i`, those on a line (Zicbom), and those on a whole
//! cache (XTheadCmo).
use super::cache_lines::LineState;
use super::{DataCache, MemorySystem, Stall, Time};

/// What an operation does with each line (chapter "CMO Extensions").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOperation {
    /// A dirty line is written back and stays.
    Clean,
    /// A dirty line is written back, and no line stays.
    Flush,
    /// No line stays. What was dirty is lost where caches are not coherent.
    Invalidate,
}

impl MemorySystem {
    /// `fence.i`: the hart's instruction cache is empty behind it.
    pub fn flush_code(&self, hart: usize) {
        if let Some((lines, _)) = &self.harts[hart].code {
            lines.clear();
        }
    }

    /// A cache-block operation (Zicbom) on the line of an address, in the caches of all harts that are
    /// coherent with this one's. Returns how long the hart waits. Belongs to the shared part.
    pub fn operate(&self, hart: usize, address: u64, operation: BlockOperation, now: Time) -> Time {
        let domain = match self.coherence {
            Some(_) => 0..self.harts.len(),
            None => hart..hart + 1,
        };
        let writes = domain.filter(|&number| self.operate_own(number, address, operation, now));
        let latency = match writes.count() {
            0 => 0,
            _ => self.latency_at(address),
        };
        let stall = self.buffer_store(hart, latency, now);
        self.harts[hart].counters.stall(Stall::Store, stall);
        stall
    }

    /// An operation on the hart's whole data cache, and on no other (XTheadCmo). Lines that are written back
    /// go through the store buffer, one behind the other. Returns how long the hart waits. Belongs to the
    /// shared part.
    pub fn operate_on_all(&self, hart: usize, operation: BlockOperation, now: Time) -> Time {
        let Some(DataCache { lines, .. }) = &self.harts[hart].data else {
            return 0;
        };
        let mut stall = 0;
        for address in lines.addresses().collect::<Vec<_>>() {
            if self.operate_own(hart, address, operation, now + stall) {
                let latency = self.latency_at(address);
                stall += self.buffer_store(hart, latency, now + stall);
            }
        }
        self.harts[hart].counters.stall(Stall::Store, stall);
        stall
    }

    fn latency_at(&self, address: u64) -> Time {
        self.memory_at(address).map_or(0, |memory| memory.latency)
    }

    /// The same in one data cache. Was the line written back?
    fn operate_own(&self, hart: usize, address: u64, operation: BlockOperation, now: Time) -> bool {
        let Some(DataCache { lines, .. }) = &self.harts[hart].data else {
            return false;
        };
        let state = lines.state(address);
        // Where all see the same bytes, none may get lost.
        let drops = operation == BlockOperation::Invalidate && self.coherence.is_none();
        let writes = state == Some(LineState::Modified) && !drops;
        if writes {
            self.write_back(hart, address, now);
        }
        match (operation, state) {
            (BlockOperation::Clean, Some(LineState::Modified)) => {
                lines.change(address, LineState::Exclusive);
            }
            (BlockOperation::Clean, _) => {}
            _ => {
                lines.remove(address);
                if let Some(sharers) = &self.sharers {
                    sharers.remove(hart, address, lines);
                }
            }
        }
        writes
    }
}
