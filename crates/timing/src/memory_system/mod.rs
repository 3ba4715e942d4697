//! The memory system of a tile in timed mode: caches and TLBs of each hart, a shared cache, banked
//! memories, and the coherence between the caches.
//!
//! An access has two parts. The private part asks the hart's own TLB and cache, and costs nothing
//! more if they have what it needs. The shared part changes what other harts see: other caches,
//! the shared cache, banks. It is done in the order of virtual time, so the caller lets the hart wait
//! until it is the first of all.
//!
//! Caches hold tags and no data. Numbers of lines are of physical addresses, so that the result does not
//! depend on the host.
mod cache_lines;
mod hart_counters;
mod memory_banks;

use std::cell::{Cell, RefCell};
use std::ops::Range;

pub use cache_lines::{CacheShape, LineState, Lines, Victim};
pub use hart_counters::{EVENTS, Event, HartCounters, STALLS, Stall};
pub use memory_banks::{BankShape, Banks};

/// Picoseconds of virtual time.
pub type Time = u64;

/// TLBs of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlbShape {
    /// Of fetches, and the same again of loads and stores.
    pub first: CacheShape,
    /// A second one for both, and what a hit there takes.
    pub second: Option<(CacheShape, Time)>,
    /// What a walk takes beside its accesses.
    pub walk: Time,
    /// Entries of page tables are read through the data cache. Otherwise `walk` is all.
    pub reads: bool,
}

/// What a hart has of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct HartShape {
    /// The instruction cache. Without one, each fetch of a line goes to the shared level.
    pub code: Option<CacheShape>,
    /// The data cache. Without one, each access goes to the shared level.
    pub data: Option<CacheShape>,
    /// Without TLBs translations take no time.
    pub tlb: Option<TlbShape>,
    /// Stores that may be under way while the hart goes on.
    pub store_buffer: usize,
    /// How many misses of loads overlap, on average.
    pub overlap: f64,
}

/// The cache that all harts of the tile share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedShape {
    /// Its size.
    pub lines: CacheShape,
    /// From a miss in a hart's cache to the hit here.
    pub hit: Time,
    /// Its banks.
    pub banks: BankShape,
}

/// What the protocol between the caches of a tile costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherenceShape {
    /// From the cache of another hart that has the line modified.
    pub transfer: Time,
    /// Taking a shared line from the other caches.
    pub upgrade: Time,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryShape {
    /// Physical addresses.
    pub range: Range<u64>,
    /// From a miss in the last cache to the data.
    pub latency: Time,
    /// Its banks.
    pub banks: BankShape,
}

/// The memory system of a tile.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemShape {
    /// log2 of the bytes of a line, in all caches.
    pub line: u32,
    /// By hart.
    pub harts: Vec<HartShape>,
    /// The shared cache.
    pub shared: Option<SharedShape>,
    /// Without it, the harts' caches keep lines that others change.
    pub coherence: Option<CoherenceShape>,
    /// The memories.
    pub memories: Vec<MemoryShape>,
    /// What an access takes where none of the memories is.
    pub elsewhere: Time,
}

#[derive(Debug)]
struct HartCaches {
    code: Option<Lines>,
    data: Option<Lines>,
    tlb: Option<Tlbs>,
    /// When stores that are under way will have been made.
    stores: RefCell<Vec<Time>>,
    overlap: f64,
    counters: HartCounters,
}

#[derive(Debug)]
struct Tlbs {
    code: Lines,
    data: Lines,
    second: Option<(Lines, Time)>,
    walk: Time,
    reads: bool,
}

#[derive(Debug)]
struct Memory {
    range: Range<u64>,
    latency: Time,
    banks: Banks,
}

/// The state of a tile's memory system.
#[derive(Debug)]
pub struct MemorySystem {
    line: u32,
    harts: Box<[HartCaches]>,
    shared: Option<(Lines, Time, Banks)>,
    coherence: Option<CoherenceShape>,
    memories: Box<[Memory]>,
    elsewhere: Time,
    /// The memory of the last access.
    last: Cell<usize>,
}

/// What an access is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An instruction.
    Fetch,
    /// A load.
    Load,
    /// A store or an atomic.
    Store,
}

/// What a hart's own cache says to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The access costs no more than its instruction.
    Hit,
    /// The same, but harts store to the line in turns: the hart has to be the first of all.
    Contended,
    /// The shared part is needed.
    Miss,
}

/// Where a TLB has a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translated {
    /// It is at hand.
    Free,
    /// The second TLB has it, after so long.
    Second(Time),
    /// Page tables have to be read.
    Walk,
}

impl MemorySystem {
    /// Empty caches and free banks.
    pub fn new(shape: &SystemShape) -> Self {
        let caches = |hart: &HartShape| HartCaches {
            code: hart.code.map(Lines::new),
            data: hart.data.map(Lines::new),
            tlb: hart.tlb.map(|tlb| Tlbs {
                code: Lines::new(tlb.first),
                data: Lines::new(tlb.first),
                second: tlb.second.map(|(shape, hit)| (Lines::new(shape), hit)),
                walk: tlb.walk,
                reads: tlb.reads,
            }),
            stores: RefCell::new(vec![0; hart.store_buffer]),
            overlap: hart.overlap.max(1.0),
            counters: HartCounters::default(),
        };
        let shared = |shape: SharedShape| {
            let banks = Banks::new(shape.banks);
            (Lines::new(shape.lines), shape.hit, banks)
        };
        let memory = |memory: &MemoryShape| Memory {
            range: memory.range.clone(),
            latency: memory.latency,
            banks: Banks::new(memory.banks),
        };
        Self {
            line: shape.line,
            harts: shape.harts.iter().map(caches).collect(),
            shared: shape.shared.map(shared),
            coherence: shape.coherence,
            memories: shape.memories.iter().map(memory).collect(),
            elsewhere: shape.elsewhere,
            last: Cell::new(0),
        }
    }

    /// log2 of the bytes of a line.
    pub fn line_shift(&self) -> u32 {
        self.line
    }

    /// What the hart of this number has counted.
    pub fn counters(&self, hart: usize) -> &HartCounters {
        &self.harts[hart].counters
    }

    /// Asks the TLBs for the translation of an address, which a page-table entry maps with others of
    /// the same `bits` and `space`. `bits` of 64 and more: the address is physical.
    #[inline]
    pub fn translation(
        &self,
        hart: usize,
        kind: Kind,
        address: u64,
        bits: u32,
        space: u64,
    ) -> Translated {
        let Some(tlb) = self.harts[hart].tlb.as_ref().filter(|_| bits < 64) else {
            return Translated::Free;
        };
        let entry = tlb_entry(address, bits, space);
        let first = match kind {
            Kind::Fetch => &tlb.code,
            Kind::Load | Kind::Store => &tlb.data,
        };
        if first.touch(entry).is_some() {
            return Translated::Free;
        }
        match &tlb.second {
            Some((second, hit)) if second.touch(entry).is_some() => Translated::Second(*hit),
            _ => Translated::Walk,
        }
    }

    /// The first TLB, and the second one, get a translation that they did not have. `walked` has the
    /// addresses of the page-table entries that were read. Returns how long the hart waits. Belongs to
    /// the shared part if it was a [`Translated::Walk`].
    pub fn translate(
        &self,
        hart: usize,
        kind: Kind,
        page: (u64, u32, u64),
        found: Translated,
        walked: &[u64],
        now: Time,
    ) -> Time {
        let caches = &self.harts[hart];
        let Some(tlb) = &caches.tlb else {
            return 0;
        };
        let entry = tlb_entry(page.0, page.1, page.2);
        let (first, event) = match kind {
            Kind::Fetch => (&tlb.code, Event::FetchTlbMiss),
            Kind::Load | Kind::Store => (&tlb.data, Event::DataTlbMiss),
        };
        caches.counters.count(event);
        first.insert(entry, LineState::Shared);
        let stall = match found {
            Translated::Free => 0,
            Translated::Second(hit) => hit,
            Translated::Walk => {
                caches.counters.count(Event::Walk);
                if let Some((second, _)) = &tlb.second {
                    second.insert(entry, LineState::Shared);
                }
                let mut time = tlb.walk;
                for &address in walked.iter().filter(|_| tlb.reads) {
                    if self.lookup(hart, Kind::Load, address) == Lookup::Miss {
                        time += self.fill(hart, Kind::Load, address, now + time);
                    }
                }
                time
            }
        };
        caches.counters.stall(Stall::Translation, stall);
        stall
    }

    /// Forgets the hart's translations (`sfence.vma`).
    pub fn flush_translations(&self, hart: usize) {
        if let Some(tlb) = &self.harts[hart].tlb {
            tlb.code.clear();
            tlb.data.clear();
            if let Some((second, _)) = &tlb.second {
                second.clear();
            }
        }
    }

    /// Asks the hart's own cache for the line of an address.
    #[inline]
    pub fn lookup(&self, hart: usize, kind: Kind, address: u64) -> Lookup {
        let line = address >> self.line;
        let caches = &self.harts[hart];
        let lines = match kind {
            Kind::Fetch => &caches.code,
            Kind::Load | Kind::Store => &caches.data,
        };
        let Some(lines) = lines else {
            return Lookup::Miss;
        };
        match (kind, lines.touch(line)) {
            (_, None) | (Kind::Store, Some(LineState::Shared)) => Lookup::Miss,
            _ if lines.is_contended(line) => Lookup::Contended,
            _ => Lookup::Hit,
        }
    }

    /// A store hits in the hart's own cache: memory has an older content from now on.
    #[inline]
    pub fn modify(&self, hart: usize, address: u64) {
        if let Some(data) = &self.harts[hart].data {
            data.change(address >> self.line, LineState::Modified);
        }
    }

    /// The shared part of an access of a line that the hart's own cache does not have so: how long the
    /// hart stands still.
    pub fn access(&self, hart: usize, kind: Kind, address: u64, now: Time) -> Time {
        let caches = &self.harts[hart];
        let latency = self.fill(hart, kind, address, now);
        let (cause, stall) = match kind {
            Kind::Fetch => (Stall::Fetch, latency),
            Kind::Load => (
                Stall::Load,
                (latency as f64 / caches.overlap).round() as u64,
            ),
            Kind::Store => (Stall::Store, self.buffer_store(hart, latency, now)),
        };
        caches.counters.stall(cause, stall);
        stall
    }

    /// A store takes the place of the oldest one in the buffer, and waits until that one has been made.
    fn buffer_store(&self, hart: usize, latency: Time, now: Time) -> Time {
        let mut stores = self.harts[hart].stores.borrow_mut();
        let Some(oldest) = stores.iter_mut().min() else {
            return latency;
        };
        let start = now.max(*oldest);
        *oldest = start + latency;
        start - now
    }

    /// A fence: how long the hart waits for its stores.
    pub fn fence(&self, hart: usize, now: Time) -> Time {
        let caches = &self.harts[hart];
        let last = caches.stores.borrow().iter().copied().max().unwrap_or(0);
        let stall = last.saturating_sub(now);
        caches.counters.stall(Stall::Fence, stall);
        stall
    }

    /// Brings a line into the hart's cache, and returns the latency.
    fn fill(&self, hart: usize, kind: Kind, address: u64, now: Time) -> Time {
        let line = address >> self.line;
        let caches = &self.harts[hart];
        let own = match kind {
            Kind::Fetch => &caches.code,
            Kind::Load | Kind::Store => &caches.data,
        };
        let had = own.as_ref().and_then(|lines| lines.state(line));
        caches.counters.count(match (kind, had) {
            (Kind::Fetch, _) => Event::FetchMiss,
            (Kind::Load, _) => Event::LoadMiss,
            (Kind::Store, None) => Event::StoreMiss,
            (Kind::Store, Some(_)) => Event::Upgrade,
        });
        let others = match kind {
            Kind::Fetch => Others::default(),
            Kind::Load | Kind::Store => self.snoop(hart, line, kind == Kind::Store, now),
        };
        let latency = match (&self.coherence, had) {
            (Some(costs), _) if others.is_modified => costs.transfer,
            // Without coherence nobody is asked.
            (None, Some(_)) => 0,
            (Some(costs), Some(_)) => costs.upgrade,
            (_, None) => self.beyond(hart, address, now),
        };
        let state = match kind {
            Kind::Store => LineState::Modified,
            _ if self.coherence.is_some() && !others.has => LineState::Exclusive,
            _ => LineState::Shared,
        };
        if let Some(own) = own {
            if had.is_some() {
                own.change(line, state);
            } else if let Some(victim) = own.insert(line, state)
                && victim.is_dirty
            {
                self.write_back(victim.line, now + latency);
            }
            if others.is_modified || kind == Kind::Store && others.has {
                own.contend(line);
            }
        }
        latency
    }

    /// Asks the data caches of the other harts for a line; a store takes it from them.
    fn snoop(&self, hart: usize, line: u64, takes: bool, now: Time) -> Others {
        let mut all = Others::default();
        if self.coherence.is_none() {
            return all;
        }
        for (number, other) in self.harts.iter().enumerate() {
            let Some(data) = other.data.as_ref().filter(|_| number != hart) else {
                continue;
            };
            let state = if takes {
                data.remove(line)
            } else {
                data.state(line)
            };
            let Some(state) = state else {
                continue;
            };
            all.has = true;
            all.is_modified |= state == LineState::Modified;
            if takes {
                other.counters.count(Event::Invalidated);
            } else if state != LineState::Shared {
                data.change(line, LineState::Shared);
                if state == LineState::Modified {
                    data.contend(line);
                    self.write_back(line, now);
                }
            }
        }
        all
    }

    /// The latency of the levels behind the harts' caches.
    fn beyond(&self, hart: usize, address: u64, now: Time) -> Time {
        let line = address >> self.line;
        let counters = &self.harts[hart].counters;
        let Some((lines, hit, banks)) = &self.shared else {
            return self.memory(counters, address, now);
        };
        let wait = banks.access(address, now);
        counters.wait(wait);
        let there = wait + hit;
        if lines.touch(line).is_some() {
            return there;
        }
        counters.count(Event::SharedMiss);
        let latency = there + self.memory(counters, address, now + there);
        if let Some(victim) = lines.insert(line, LineState::Shared)
            && victim.is_dirty
        {
            self.write_to_memory(victim.line, now + latency);
        }
        latency
    }

    fn memory(&self, counters: &HartCounters, address: u64, now: Time) -> Time {
        let Some(memory) = self.memory_at(address) else {
            return self.elsewhere;
        };
        let wait = memory.banks.access(address, now);
        counters.wait(wait);
        wait + memory.latency
    }

    fn memory_at(&self, address: u64) -> Option<&Memory> {
        let last = self.memories.get(self.last.get());
        if let Some(memory) = last.filter(|memory| memory.range.contains(&address)) {
            return Some(memory);
        }
        let mut all = self.memories.iter();
        let at = all.position(|memory| memory.range.contains(&address))?;
        self.last.set(at);
        Some(&self.memories[at])
    }

    /// A dirty line goes to the shared cache, or to memory. Nobody waits for it.
    fn write_back(&self, line: u64, now: Time) {
        let Some((lines, _, banks)) = &self.shared else {
            return self.write_to_memory(line, now);
        };
        banks.access(line << self.line, now);
        if lines.touch(line).is_some() {
            lines.change(line, LineState::Modified);
        } else if let Some(victim) = lines.insert(line, LineState::Modified)
            && victim.is_dirty
        {
            self.write_to_memory(victim.line, now);
        }
    }

    fn write_to_memory(&self, line: u64, now: Time) {
        let address = line << self.line;
        if let Some(memory) = self.memory_at(address) {
            memory.banks.access(address, now);
        }
    }

    /// `fence.i`: the hart's instruction cache is empty behind it.
    pub fn flush_code(&self, hart: usize) {
        if let Some(code) = &self.harts[hart].code {
            code.clear();
        }
    }

    /// A cache-block operation (Zicbom) on the line of an address, in the hart's own data cache.
    /// `keeps`: it writes a dirty line back and lets the cache have it.
    pub fn clean(&self, hart: usize, address: u64, keeps: bool, now: Time) {
        let line = address >> self.line;
        let Some(data) = &self.harts[hart].data else {
            return;
        };
        let state = data.state(line);
        if state == Some(LineState::Modified) {
            self.write_back(line, now);
        }
        match state {
            Some(_) if !keeps => {
                data.remove(line);
            }
            Some(LineState::Modified) => data.change(line, LineState::Exclusive),
            _ => {}
        }
    }
}

/// What other harts' caches have of a line.
#[derive(Clone, Copy, Debug, Default)]
struct Others {
    has: bool,
    is_modified: bool,
}

/// An entry of a TLB, as a number whose low bits choose the set. Pages of each size have numbers of
/// their own.
fn tlb_entry(address: u64, bits: u32, space: u64) -> u64 {
    // Virtual addresses have 57 bits at most.
    let page = (address & ((1 << 57) - 1)) >> bits;
    let size = u64::from(bits.saturating_sub(12) / 9 & 3);
    page | size << 45 | (space & 0x3fff) << 47
}

#[cfg(test)]
mod tests;
