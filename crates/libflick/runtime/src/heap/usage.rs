//! How much of the NxP heap is in use, where somebody wants to know.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

static COUNTED: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// From now on blocks are counted.
pub(crate) fn count() {
    COUNTED.store(true, Relaxed);
}

/// Whether blocks are counted.
#[inline]
pub(crate) fn is_counted() -> bool {
    COUNTED.load(Relaxed)
}

/// A block of `size` usable bytes was allocated in the NxP heap.
#[inline]
pub(crate) fn grew(size: usize) {
    let live = LIVE.fetch_add(size, Relaxed) + size;
    PEAK.fetch_max(live, Relaxed);
}

/// A block of `size` usable bytes of the NxP heap was freed.
#[inline]
pub(crate) fn shrank(size: usize) {
    LIVE.fetch_sub(size, Relaxed);
}

/// Bytes in use.
pub(crate) fn live() -> usize {
    LIVE.load(Relaxed)
}

/// The most bytes that were in use at a time.
pub(crate) fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// The child of a fork has a peak of its own.
pub(crate) fn forked() {
    PEAK.store(live(), Relaxed);
}
