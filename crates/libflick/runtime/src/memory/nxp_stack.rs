//! NxP stacks: one for each thread that migrates, with a guard below.
//!
//! The top of the region is cut into slots, from the top downwards: slot `i + 1` ends where slot
//! `i` starts. A slot is a guard (never committed) and above it the stack. A released slot waits
//! for the next thread; neighbouring free slots are joined when a bigger stack is needed, so that
//! threads of ever different stack sizes do not use the region up. Slots are never moved, and their
//! bounds are atomics, so that the fault handler can ask [`guard_of`] without a lock.
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use super::{commit, nxp_region};
use crate::locks::order::BOUNDARY;
use crate::os::process_facts::page_size;

/// A stack in use. The usable bytes are `lo..hi`; `hi` is a multiple of the page size.
#[derive(Debug, PartialEq, Eq)]
pub struct Stack {
    pub lo: usize,
    pub hi: usize,
    slot: usize,
}

/// Most stacks at a time; address space runs out earlier for stacks of the usual 8 MiB.
const MAX_SLOTS: usize = 16 << 10;

/// A slot covers `start..end`; its stack, when there is one, `lo..end`.
struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    /// 0: free.
    lo: AtomicUsize,
    /// For a free slot: `lo` of the stack that is still committed, or 0.
    warm: AtomicUsize,
}

static SLOTS: [Slot; MAX_SLOTS] = [const {
    Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        lo: AtomicUsize::new(0),
        warm: AtomicUsize::new(0),
    }
}; MAX_SLOTS];

/// How many slots have been cut.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The slot that was released last: most likely the right one for the next thread.
static LAST: AtomicUsize = AtomicUsize::new(0);

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// What a released stack keeps at its top, where the next thread starts.
const KEEP: usize = 64 << 10;

/// NxP code has no stack probes, so a frame may step over a small guard; Linux keeps 1 MiB below
/// the main thread's stack. Small regions cannot afford that for each thread.
fn guard_size() -> usize {
    if nxp_region::size() >= 4 << 30 {
        1 << 20
    } else {
        64 << 10
    }
}

impl Slot {
    fn size(&self) -> usize {
        self.end.load(Relaxed) - self.start.load(Relaxed)
    }

    fn is_free(&self) -> bool {
        self.lo.load(Relaxed) == 0
    }
}

/// A thread's stack of at least `size` bytes (rounded up to pages), its content zero or what an
/// earlier thread left; `None` if the region or the machine's memory is exhausted.
pub fn acquire(size: usize) -> Option<Stack> {
    let stack = take(size)?;
    THREADS.fetch_add(1, Relaxed);
    Some(stack)
}

/// A second stack of a thread, for handlers that find little of its first. Of at least `size` bytes.
pub fn acquire_spare(size: usize) -> Option<Stack> {
    const LEAST: usize = 256 << 10;
    take(size.max(LEAST))
}

/// Memory of a thread's that is no stack: at least `size` bytes, which are not zero.
pub fn acquire_small(size: usize) -> Option<Stack> {
    take(size)
}

fn take(size: usize) -> Option<Stack> {
    let size = size.max(1).checked_next_multiple_of(page_size())?;
    let need = size.checked_add(guard_size())?;
    BOUNDARY.with(|| {
        let i = exact(need).or_else(|| cut(need)).or_else(|| fit(need))?;
        let slot = &SLOTS[i];
        let hi = slot.end.load(Relaxed);
        let lo = hi - size;
        let warm = slot.warm.load(Relaxed);
        if warm != lo {
            if warm != 0 {
                cool(slot);
            }
            if !commit::commit(lo, size) {
                return None;
            }
            commit::advise_small(lo, size);
        }
        slot.warm.store(0, Relaxed);
        slot.lo.store(lo, Release);
        let in_use = IN_USE.load(Relaxed) + size;
        IN_USE.store(in_use, Relaxed);
        PEAK.fetch_max(in_use, Relaxed);
        Some(Stack { lo, hi, slot: i })
    })
}

/// Gives a stack back. Nothing may run on it any more.
pub fn release(stack: Stack) {
    BOUNDARY.with(|| {
        let slot = &SLOTS[stack.slot];
        let size = stack.hi - stack.lo;
        slot.lo.store(0, Release);
        slot.warm.store(stack.lo, Relaxed);
        if size > KEEP {
            commit::discard(stack.lo, size - KEEP);
        }
        IN_USE.store(IN_USE.load(Relaxed) - size, Relaxed);
        LAST.store(stack.slot, Relaxed);
    });
}

/// Takes the memory of a free slot back to the reserved state.
fn cool(slot: &Slot) {
    let warm = slot.warm.swap(0, Relaxed);
    if warm != 0 {
        commit::decommit(warm, slot.end.load(Relaxed) - warm);
    }
}

/// A free slot of just this size, first the one released last.
fn exact(need: usize) -> Option<usize> {
    let fits = |i: &usize| SLOTS[*i].is_free() && SLOTS[*i].size() == need;
    let count = COUNT.load(Relaxed);
    Some(LAST.load(Relaxed))
        .filter(|i| *i < count && fits(i))
        .or_else(|| (0..count).find(fits))
}

/// A new slot, below the last.
fn cut(need: usize) -> Option<usize> {
    let i = COUNT.load(Relaxed);
    if i == MAX_SLOTS {
        return None;
    }
    let start = nxp_region::grow_stacks(need)?;
    SLOTS[i].start.store(start, Relaxed);
    SLOTS[i].end.store(start + need, Relaxed);
    COUNT.store(i + 1, Release);
    Some(i)
}

/// The smallest free slot that is big enough, or else one made of free neighbours. What is left
/// over goes to the next slot if that is empty, else it lengthens the guard.
fn fit(need: usize) -> Option<usize> {
    let count = COUNT.load(Relaxed);
    let big_enough = |i: &usize| SLOTS[*i].is_free() && SLOTS[*i].size() >= need;
    let i = (0..count)
        .filter(big_enough)
        .min_by_key(|i| SLOTS[*i].size())
        .or_else(|| join(need, count))?;
    let slot = &SLOTS[i];
    let left = slot.size() - need;
    let next = i + 1;
    if left > guard_size() && next < count && SLOTS[next].size() == 0 && SLOTS[next].is_free() {
        cool(slot);
        let middle = slot.end.load(Relaxed) - need;
        SLOTS[next].start.store(slot.start.load(Relaxed), Relaxed);
        SLOTS[next].end.store(middle, Relaxed);
        slot.start.store(middle, Relaxed);
    }
    Some(i)
}

/// Makes one slot of the first run of free neighbours that is big enough; the others become empty.
fn join(need: usize, count: usize) -> Option<usize> {
    let mut first = 0;
    for i in 0..count {
        if !SLOTS[i].is_free() {
            first = i + 1;
            continue;
        }
        let start = SLOTS[i].start.load(Relaxed);
        if SLOTS[first].end.load(Relaxed) - start < need {
            continue;
        }
        SLOTS[first..=i].iter().for_each(cool);
        for slot in &SLOTS[first + 1..=i] {
            slot.start.store(start, Relaxed);
            slot.end.store(start, Relaxed);
        }
        SLOTS[first].start.store(start, Relaxed);
        return Some(first);
    }
    None
}

/// If `addr` lies in the guard of a stack in use, that stack's usable bytes `(lo, hi)`.
/// Async-signal-safe.
pub fn guard_of(addr: usize) -> Option<(usize, usize)> {
    SLOTS[..COUNT.load(Acquire)].iter().find_map(|slot| {
        let lo = slot.lo.load(Acquire);
        let start = slot.start.load(Relaxed);
        (lo != 0 && start <= addr && addr < lo).then(|| (lo, slot.end.load(Relaxed)))
    })
}

/// Most bytes of NxP stacks in use at a time.
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// How often a thread got a stack.
pub fn acquired() -> usize {
    THREADS.load(Relaxed)
}

/// The NxP stack size for a thread whose host stack has `host` bytes, so that what recurses there
/// recurses here. A limit above an eighth of the region is cut to that; an unlimited one
/// (`ulimit -s unlimited`) means 1 GiB, or an eighth of a smaller region.
pub fn size_for(host: Option<usize>) -> usize {
    const LEAST: usize = 64 << 10;
    host.unwrap_or(1 << 30)
        .min(nxp_region::size() / 8)
        .max(LEAST)
}
