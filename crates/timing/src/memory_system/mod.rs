//! The memory system of a tile in timed mode: caches and TLBs of each hart, a shared cache, banked
//! memories, and the coherence between the caches.
//!
//! An access has two parts. The private part asks the hart's own TLB and cache, and costs nothing
//! more if they have what it needs. The shared part changes what other harts see: other caches,
//! the shared cache, banks. It is done in the order of virtual time, so the caller lets the hart wait
//! until it is the first of all.
//!
//! Caches hold tags and no data; where they are not coherent, `flick-hart` keeps the bytes of their lines.
//! Numbers of lines are of physical addresses, so that the result does not
//! depend on the host.
mod bank_requests;
mod cache_lines;
mod cache_operations;
mod hart_counters;
mod memory_banks;
mod prefetcher;
mod saved_system;
mod shapes;
mod sharers;

use std::cell::{Cell, RefCell};
use std::ops::Range;

use bank_requests::Request;
use cache_lines::{LineState, Lines};
use serde::{Deserialize, Serialize};

pub use cache_lines::{CacheShape, Victim};
pub use cache_operations::BlockOperation;
pub use hart_counters::{EVENTS, Event, HartCounters, HartCounts, STALLS, Stall};
pub use memory_banks::BankShape;
use memory_banks::Banks;
use prefetcher::Prefetcher;
pub use prefetcher::PrefetcherShape;
pub use saved_system::{END_OF_TIME, SavedMemorySystem};
pub use shapes::{CoherenceShape, DataShape, HartShape, MemoryShape, SystemShape, TlbShape};
use sharers::Sharers;

/// Picoseconds of virtual time.
pub type Time = u64;

#[derive(Debug)]
struct HartCaches {
    code: Option<(Lines, Time)>,
    data: Option<DataCache>,
    second: Option<(Lines, Time)>,
    prefetcher: Option<Prefetcher>,
    code_tlb: Option<Tlb>,
    data_tlb: Option<Tlb>,
    shared: Vec<Time>,
    /// When stores that are under way will have been made.
    stores: RefCell<Vec<Time>>,
    /// In 1/1024. While a hart runs, the thread's floating-point environment is the hart's.
    overlap: u64,
    /// Lines that have left the data cache and whose bytes the caller has.
    evicted: RefCell<Vec<Victim>>,
    counters: HartCounters,
    /// The access that waits for a bank, or that one has been chosen for.
    request: Cell<Option<Request>>,
}

#[derive(Debug)]
struct DataCache {
    lines: Lines,
    writes_through: bool,
    allocates: bool,
}

#[derive(Debug)]
struct Tlb {
    entries: Lines,
    walk: Time,
    reads: bool,
}

#[derive(Debug)]
struct Memory {
    range: Range<u64>,
    latency: Time,
    /// Femtoseconds.
    byte: u64,
    banks: Banks,
}

/// The state of a tile's memory system.
#[derive(Debug)]
pub struct MemorySystem {
    harts: Box<[HartCaches]>,
    shared: Box<[Lines]>,
    coherence: Option<CoherenceShape>,
    /// Of coherent caches with lines of equal size.
    sharers: Option<Sharers>,
    holds_bytes: bool,
    memories: Box<[Memory]>,
    elsewhere: Time,
    /// Memories take no time, so that an access without caches has no shared part.
    is_free: bool,
    /// Banks of a memory choose among harts.
    arbitrates: bool,
    /// The memory of the last access.
    last: Cell<usize>,
}

/// What an access is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// log2 of the least bytes of a line: a hart without an instruction cache fetches such lines.
const LEAST_LINE: u32 = 6;

impl MemorySystem {
    /// Empty caches and free banks.
    pub fn new(shape: &SystemShape) -> Self {
        let tlb = |tlb: TlbShape| Tlb {
            entries: Lines::new(tlb.entries),
            walk: tlb.walk,
            reads: tlb.reads,
        };
        let caches = |hart: &HartShape| HartCaches {
            code: hart.code.map(|(shape, hit)| (Lines::new(shape), hit)),
            data: hart.data.map(|data| DataCache {
                lines: Lines::new(data.lines),
                writes_through: data.writes_through,
                allocates: data.allocates,
            }),
            second: hart.second.map(|(shape, hit)| (Lines::new(shape), hit)),
            prefetcher: hart.prefetcher.map(Prefetcher::new),
            code_tlb: hart.code_tlb.map(tlb),
            data_tlb: hart.data_tlb.map(tlb),
            shared: hart.shared.clone(),
            stores: RefCell::new(vec![0; hart.store_buffer]),
            overlap: (hart.overlap.max(1.0) * 1024.0).round() as u64,
            evicted: RefCell::default(),
            counters: HartCounters::default(),
            request: Cell::new(None),
        };
        let memory = |memory: &MemoryShape| Memory {
            range: memory.range.clone(),
            latency: memory.latency,
            byte: (memory.byte * 1000.0).round() as u64,
            banks: Banks::new(memory.banks),
        };
        let harts: Box<[_]> = shape.harts.iter().map(caches).collect();
        let lines = data_caches(&harts);
        let memories: Box<[_]> = shape.memories.iter().map(memory).collect();
        Self {
            sharers: shape.coherence.and_then(|_| Sharers::new(lines)),
            harts,
            shared: shape.shared.iter().copied().map(Lines::new).collect(),
            coherence: shape.coherence,
            holds_bytes: shape.holds_bytes,
            arbitrates: memories.iter().any(|memory| memory.banks.choose()),
            memories,
            elsewhere: shape.elsewhere,
            is_free: shape.shared.is_empty() && shape.memories.iter().all(MemoryShape::is_free),
            last: Cell::new(0),
        }
    }

    /// log2 of the bytes of a line that a hart fetches from.
    pub fn fetch_shift(&self, hart: usize) -> u32 {
        let code = self.harts[hart].code.as_ref();
        code.map_or(LEAST_LINE, |(lines, _)| lines.line_shift())
    }

    /// log2 of the bytes of a line of a hart's data cache; without one, an access is one line.
    pub fn data_shift(&self, hart: usize) -> u32 {
        let data = self.harts[hart].data.as_ref();
        data.map_or(LEAST_LINE, |data| data.lines.line_shift())
    }

    /// What the hart of this number has counted.
    pub fn counters(&self, hart: usize) -> &HartCounters {
        &self.harts[hart].counters
    }

    fn tlb(&self, hart: usize, kind: Kind) -> Option<&Tlb> {
        match kind {
            Kind::Fetch => self.harts[hart].code_tlb.as_ref(),
            Kind::Load | Kind::Store => self.harts[hart].data_tlb.as_ref(),
        }
    }

    /// Has the TLB the translation of an address, which a page-table entry maps with others of the same
    /// `bits` in this address space? `bits` of 64 and more: the address is physical.
    #[inline]
    pub fn is_translated(
        &self,
        hart: usize,
        kind: Kind,
        address: u64,
        bits: u32,
        space: u64,
    ) -> bool {
        match self.tlb(hart, kind) {
            Some(tlb) if bits < 64 => tlb.entries.touch(tlb_entry(address, bits, space)).is_some(),
            _ => true,
        }
    }

    /// The TLB gets a translation that it did not have. `walked` has the addresses of the page-table
    /// entries that were read. Returns how long the hart waits. Belongs to the shared part.
    pub fn translate(
        &self,
        hart: usize,
        kind: Kind,
        page: (u64, u32, u64),
        walked: &[u64],
        now: Time,
    ) -> Time {
        let caches = &self.harts[hart];
        let Some(tlb) = self.tlb(hart, kind) else {
            return 0;
        };
        caches.counters.count(match kind {
            Kind::Fetch => Event::FetchTlbMiss,
            Kind::Load | Kind::Store => Event::DataTlbMiss,
        });
        let entry = tlb_entry(page.0, page.1, page.2);
        tlb.entries.insert(entry, LineState::Shared);
        let mut stall = tlb.walk;
        for &address in walked.iter().filter(|_| tlb.reads) {
            if self.lookup(hart, Kind::Load, address) == Lookup::Miss {
                stall += self.fill(hart, Kind::Load, address, now + stall);
            }
        }
        caches.counters.stall(Stall::Translation, stall);
        stall
    }

    /// Forgets the hart's translations (`sfence.vma`).
    pub fn flush_translations(&self, hart: usize) {
        let caches = &self.harts[hart];
        for tlb in [&caches.code_tlb, &caches.data_tlb].into_iter().flatten() {
            tlb.entries.clear();
        }
    }

    /// Asks the hart's own cache for the line of an address.
    #[inline(always)]
    pub fn lookup(&self, hart: usize, kind: Kind, address: u64) -> Lookup {
        let caches = &self.harts[hart];
        if kind == Kind::Fetch {
            return match &caches.code {
                Some((lines, _)) if lines.touch(address).is_none() => Lookup::Miss,
                _ => Lookup::Hit,
            };
        }
        let Some(DataCache {
            lines,
            writes_through,
            ..
        }) = &caches.data
        else {
            return match self.is_free {
                true => Lookup::Hit,
                false => Lookup::Miss,
            };
        };
        match lines.touch(address) {
            None => Lookup::Miss,
            Some(_) if kind == Kind::Store && *writes_through => Lookup::Miss,
            Some(LineState::Shared) if kind == Kind::Store && self.coherence.is_some() => {
                Lookup::Miss
            }
            Some(_) if lines.is_contended(address) => Lookup::Contended,
            Some(_) => Lookup::Hit,
        }
    }

    /// A store hits in the hart's own cache: memory has an older content from now on.
    #[inline]
    pub fn modify(&self, hart: usize, address: u64) {
        if let Some(data) = &self.harts[hart].data
            && !data.writes_through
        {
            data.lines.change(address, LineState::Modified);
        }
    }

    /// The shared part of an access that the hart's own cache does not serve: how long the hart stands
    /// still.
    pub fn access(&self, hart: usize, kind: Kind, address: u64, now: Time) -> Time {
        let caches = &self.harts[hart];
        let latency = self.fill(hart, kind, address, now);
        let (cause, stall) = match kind {
            Kind::Fetch => (Stall::Fetch, latency),
            Kind::Load => {
                let share = (latency * 1024 + caches.overlap / 2) / caches.overlap;
                (Stall::Load, share)
            }
            Kind::Store => (Stall::Store, self.buffer_store(hart, latency, now)),
        };
        caches.counters.stall(cause, stall);
        stall
    }

    /// What a fetch that hits takes.
    pub fn fetch_hit(&self, hart: usize) -> Time {
        self.harts[hart].code.as_ref().map_or(0, |code| code.1)
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

    /// Brings a line into the hart's cache, or stores to the next level, and returns the latency.
    fn fill(&self, hart: usize, kind: Kind, address: u64, now: Time) -> Time {
        let caches = &self.harts[hart];
        let data = caches.data.as_ref();
        let own = caches.lines_for(kind);
        let had = own.and_then(|lines| lines.state(address));
        let through = kind == Kind::Store && data.is_some_and(|data| data.writes_through);
        if !(through && had.is_some()) {
            caches.counters.count(match (kind, had) {
                (Kind::Fetch, _) => Event::FetchMiss,
                (Kind::Load, _) => Event::LoadMiss,
                (Kind::Store, None) => Event::StoreMiss,
                (Kind::Store, Some(_)) => Event::Upgrade,
            });
        }
        let others = match kind {
            Kind::Fetch => Others::default(),
            Kind::Load | Kind::Store => self.snoop(hart, address, kind == Kind::Store, now),
        };
        let latency = match (&self.coherence, had) {
            (Some(costs), _) if others.is_modified => costs.transfer,
            (Some(costs), Some(_)) if !through => costs.upgrade,
            _ => self.beyond(hart, address, now),
        };
        if kind != Kind::Fetch {
            self.prefetch(hart, address, now);
        }
        let state = match kind {
            Kind::Store if !through => LineState::Modified,
            Kind::Load if self.coherence.is_some() && !others.has => LineState::Exclusive,
            _ => LineState::Shared,
        };
        let fills = kind != Kind::Store || data.is_some_and(|data| data.allocates);
        let Some(own) = own.filter(|_| fills || had.is_some()) else {
            return latency;
        };
        if had.is_some() {
            own.change(address, state);
        } else {
            self.insert(hart, kind, own, address, state, now + latency);
        }
        if others.is_modified || kind == Kind::Store && others.has {
            own.contend(address);
        }
        latency
    }

    /// Puts a line into a cache of a hart.
    fn insert(
        &self,
        hart: usize,
        kind: Kind,
        own: &Lines,
        address: u64,
        state: LineState,
        now: Time,
    ) {
        let victim = own.insert(address, state);
        if let Some(sharers) = self.sharers.as_ref().filter(|_| kind != Kind::Fetch) {
            if let Some(victim) = &victim {
                sharers.remove(hart, victim.address, own);
            }
            sharers.add(hart, address);
        }
        if let Some(victim) = victim {
            if victim.is_dirty {
                self.write_back(hart, victim.address, now);
            }
            if self.holds_bytes && kind != Kind::Fetch {
                self.harts[hart].evicted.borrow_mut().push(victim);
            }
        }
    }

    /// Asks the data caches of the other harts for a line; a store takes it from them.
    fn snoop(&self, hart: usize, address: u64, takes: bool, now: Time) -> Others {
        let mut all = Others::default();
        if self.coherence.is_none() {
            return all;
        }
        match &self.sharers {
            Some(sharers) => {
                for number in sharers.of(address).filter(|&number| number != hart) {
                    self.ask(number, address, takes, now, &mut all);
                }
            }
            None => {
                for number in (0..self.harts.len()).filter(|&number| number != hart) {
                    self.ask(number, address, takes, now, &mut all);
                }
            }
        }
        all
    }

    /// Asks the data cache of one other hart.
    fn ask(&self, number: usize, address: u64, takes: bool, now: Time, all: &mut Others) {
        let other = &self.harts[number];
        let Some(data) = &other.data else {
            return;
        };
        let lines = &data.lines;
        let state = match takes {
            true => lines.remove(address),
            false => lines.state(address),
        };
        let Some(state) = state else {
            return;
        };
        all.has = true;
        all.is_modified |= state == LineState::Modified;
        if takes {
            if let Some(sharers) = &self.sharers {
                sharers.remove(number, address, lines);
            }
            other.counters.count(Event::Invalidated);
        } else if state != LineState::Shared {
            lines.change(address, LineState::Shared);
            if state == LineState::Modified {
                lines.contend(address);
                self.write_back(number, address, now);
            }
        }
    }

    /// The latency of the levels behind the hart's first caches.
    fn beyond(&self, hart: usize, address: u64, now: Time) -> Time {
        let caches = &self.harts[hart];
        let mut latency = 0;
        // Has a level the line, which it gets else?
        let mut has = |lines: &Lines, hit: Time| {
            latency += hit;
            let has = lines.touch(address).is_some();
            if !has
                && let Some(victim) = lines.insert(address, LineState::Shared)
                && victim.is_dirty
            {
                self.write_to_memory(victim.address, now + latency);
            }
            has
        };
        if let Some((lines, hit)) = &caches.second
            && has(lines, *hit)
        {
            let prefetcher = caches.prefetcher.as_ref();
            let wait = |prefetcher: &Prefetcher| {
                prefetcher.wait(address, lines.line_shift(), now + latency)
            };
            return latency + prefetcher.map_or(0, wait);
        }
        for (lines, &hit) in self.shared.iter().zip(&caches.shared) {
            if has(lines, hit) {
                return latency;
            }
        }
        if !self.shared.is_empty() {
            caches.counters.count(Event::SharedMiss);
        }
        let Some(memory) = self.memory_at(address) else {
            return latency + self.elsewhere;
        };
        let bytes = self.time_of_line(hart, memory);
        if let Some(request) = self.take_chosen(hart, address) {
            return (request.start() + memory.latency + bytes).saturating_sub(now);
        }
        let wait = memory.banks.access(address, bytes, now + latency);
        caches.counters.wait(wait);
        latency + wait + memory.latency + bytes
    }

    /// The prefetcher learns of an access, and asks for lines that may be needed next. Nobody waits for
    /// them.
    fn prefetch(&self, hart: usize, address: u64, now: Time) {
        let caches = &self.harts[hart];
        let (Some(prefetcher), Some((second, _))) = (&caches.prefetcher, &caches.second) else {
            return;
        };
        for address in prefetcher.follow(address, second.line_shift()) {
            let is_known = |lines: &Lines| lines.state(address).is_some();
            let data = caches.data.as_ref();
            if is_known(second) || data.is_some_and(|data| is_known(&data.lines)) {
                continue;
            }
            caches.counters.count(Event::Prefetch);
            let latency = self.beyond(hart, address, now);
            prefetcher.expect(address, now + latency);
        }
    }

    /// How long the bytes of a line keep a bank.
    fn time_of_line(&self, hart: usize, memory: &Memory) -> Time {
        let line = 1_u64 << self.data_shift(hart);
        (memory.byte * line).div_ceil(1000)
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

    /// A dirty line goes to the next cache, or to memory. Nobody waits for it.
    fn write_back(&self, hart: usize, address: u64, now: Time) {
        let second = self.harts[hart].second.as_ref().map(|(lines, _)| lines);
        let Some(lines) = second.or(self.shared.first()) else {
            return self.write_to_memory(address, now);
        };
        if lines.touch(address).is_some() {
            lines.change(address, LineState::Modified);
        } else if let Some(victim) = lines.insert(address, LineState::Modified)
            && victim.is_dirty
        {
            self.write_to_memory(victim.address, now);
        }
    }

    fn write_to_memory(&self, address: u64, now: Time) {
        if let Some(memory) = self.memory_at(address) {
            memory.banks.access(address, 0, now);
        }
    }

    /// The lines of a hart's data cache.
    pub fn data_lines(&self, hart: usize) -> Option<CacheShape> {
        let data = self.harts[hart].data.as_ref()?;
        Some(data.lines.shape())
    }

    /// Do data caches have bytes of their own?
    pub fn holds_bytes(&self) -> bool {
        self.holds_bytes
    }

    /// The lines that have left a hart's data cache since the last call, if it has bytes of its own.
    pub fn take_evicted(&self, hart: usize) -> Vec<Victim> {
        self.harts[hart].evicted.take()
    }

    /// Has a hart's data cache the line of an address, and has it changed there?
    pub fn is_dirty(&self, hart: usize, address: u64) -> Option<bool> {
        let data = self.harts[hart].data.as_ref()?;
        let state = data.lines.state(address)?;
        Some(state == LineState::Modified)
    }

    /// Does a store go on to the next level at once?
    pub fn writes_through(&self, hart: usize) -> bool {
        let data = self.harts[hart].data.as_ref();
        data.is_none_or(|data| data.writes_through)
    }
}

impl HartCaches {
    /// The first cache of an access.
    fn lines_for(&self, kind: Kind) -> Option<&Lines> {
        match kind {
            Kind::Fetch => self.code.as_ref().map(|code| &code.0),
            Kind::Load | Kind::Store => self.data.as_ref().map(|data| &data.lines),
        }
    }
}

/// By hart.
fn data_caches(harts: &[HartCaches]) -> impl Iterator<Item = Option<&Lines>> + Clone {
    harts.iter().map(|hart| Some(&hart.data.as_ref()?.lines))
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
    let size = u64::from((bits.saturating_sub(12) / 9) & 3);
    page | size << 45 | (space & 0x3fff) << 47
}

#[cfg(test)]
mod tests;
