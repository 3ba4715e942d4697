//! What a memory system consists of. Times are picoseconds.
use std::ops::Range;

use super::Time;
use super::cache_lines::CacheShape;
use super::memory_banks::BankShape;
use super::prefetcher::PrefetcherShape;

/// A TLB, whose lines are translations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlbShape {
    /// Its entries.
    pub entries: CacheShape,
    /// What a miss takes beside its accesses.
    pub walk: Time,
    /// Entries of page tables are read through the data cache. Otherwise `walk` is all.
    pub reads: bool,
}

/// The data cache of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataShape {
    /// Its lines.
    pub lines: CacheShape,
    /// A store goes on to the next level at once.
    pub writes_through: bool,
    /// A store that misses fills a line.
    pub allocates: bool,
}

/// What a hart has of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct HartShape {
    /// The instruction cache, and what a hit there takes. Without one fetches take no time.
    pub code: Option<(CacheShape, Time)>,
    /// The data cache. Without one, each access goes to the next level.
    pub data: Option<DataShape>,
    /// The second level for both, and what a hit there takes.
    pub second: Option<(CacheShape, Time)>,
    /// What asks for lines in front of accesses, into the second level.
    pub prefetcher: Option<PrefetcherShape>,
    /// The TLB for fetches. Without one translations take no time.
    pub code_tlb: Option<TlbShape>,
    /// The TLB for loads and stores.
    pub data_tlb: Option<TlbShape>,
    /// What a hit in each of the tile's shared caches takes.
    pub shared: Vec<Time>,
    /// Stores that may be under way while the hart goes on.
    pub store_buffer: usize,
    /// How many misses of loads overlap, on average.
    pub overlap: f64,
}

/// What the protocol between the caches of a tile takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherenceShape {
    /// From the cache of another hart that has the line modified.
    pub transfer: Time,
    /// Taking a shared line from the other caches.
    pub upgrade: Time,
}

/// A memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryShape {
    /// Physical addresses.
    pub range: Range<u64>,
    /// From a request to its answer.
    pub latency: Time,
    /// Further for each byte, which keep the bank, too.
    pub byte: f64,
    /// Its banks.
    pub banks: BankShape,
}

impl MemoryShape {
    pub(super) fn is_free(&self) -> bool {
        self.latency == 0 && self.byte == 0.0 && self.banks.occupancy == 0
    }
}

/// The memory system of a tile.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemShape {
    /// By hart.
    pub harts: Vec<HartShape>,
    /// The caches that all harts of the tile share, nearest first.
    pub shared: Vec<CacheShape>,
    /// What the protocol between the harts' data caches takes. `None`: nobody is asked.
    pub coherence: Option<CoherenceShape>,
    /// The harts' data caches have bytes of their own, so that a hart can load what memory no longer
    /// has. The caller keeps the bytes; the system says which lines leave
    /// ([`super::MemorySystem::take_evicted`]).
    pub holds_bytes: bool,
    /// The memories.
    pub memories: Vec<MemoryShape>,
    /// What an access takes where none of the memories is.
    pub elsewhere: Time,
}
