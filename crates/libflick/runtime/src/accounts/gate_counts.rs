//! How often the host has called each gate, where calls are counted.
//!
//! A module's counters stand beside its gates, one for each record. They are found without a lock,
//! also from handlers of signals. A closed module leaves its counters unused.
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed, Ordering::Release};

use flick_abi::layout::Gate;

/// The counters of one module.
struct Counters {
    /// Address of the first record; 0: its module is closed.
    first: AtomicU64,
    counts: Box<[AtomicU64]>,
    next: *const Counters,
}

static NEWEST: AtomicPtr<Counters> = AtomicPtr::new(ptr::null_mut());

fn all() -> impl Iterator<Item = &'static Counters> {
    // SAFETY: what is in the list lives as long as the process.
    let get = |counters: *const Counters| unsafe { counters.as_ref() };
    let newest = get(NEWEST.load(std::sync::atomic::Ordering::Acquire));
    std::iter::successors(newest, move |counters| get(counters.next))
}

fn counter(gate: *const Gate) -> Option<&'static AtomicU64> {
    all().find_map(|counters| {
        let first = counters.first.load(Relaxed);
        let distance = (gate as u64).checked_sub(first).filter(|_| first != 0)?;
        counters.counts.get(distance as usize / size_of::<Gate>())
    })
}

/// Counts calls of the gates from `first` to `end` from now on. The caller holds the lock of the
/// modules' table, or nobody else registers modules.
pub fn add(first: *const Gate, end: *const Gate) {
    let count = (end as usize - first as usize) / size_of::<Gate>();
    let counters = Box::new(Counters {
        first: AtomicU64::new(first as u64),
        counts: (0..count).map(|_| AtomicU64::new(0)).collect(),
        next: NEWEST.load(Relaxed),
    });
    NEWEST.store(Box::into_raw(counters), Release);
}

/// The module with the gates from `first` on is closed.
pub fn remove(first: *const Gate) {
    for counters in all().filter(|counters| counters.first.load(Relaxed) == first as u64) {
        counters.first.store(0, Relaxed);
    }
}

/// The host calls the function of `gate`. Async-signal-safe.
pub extern "C" fn count(gate: *const Gate) {
    if let Some(counter) = counter(gate) {
        counter.fetch_add(1, Relaxed);
    }
}

/// How often it has.
pub fn of(gate: *const Gate) -> u64 {
    counter(gate).map_or(0, |counter| counter.load(Relaxed))
}

/// The same, and from now on it counts from 0.
pub fn take(gate: *const Gate) -> u64 {
    counter(gate).map_or(0, |counter| counter.swap(0, Relaxed))
}

/// All count from 0.
pub fn reset() {
    for counter in all().flat_map(|counters| &counters.counts) {
        counter.store(0, Relaxed);
    }
}
