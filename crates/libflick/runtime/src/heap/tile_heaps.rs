//! The heaps of tiles: NxP-local memory of one tile of a card that has several (`flick_alloc_on`). Each is
//! an arena of the region that nothing else is allocated from. The other NxP-local memory is the first
//! tile's.
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Release};

use flick_abi::descriptor::HOST_TILES;

use super::mimalloc;
use crate::locks::order::BOUNDARY;
use crate::memory::nxp_data;

/// A heap; null and empty as long as nothing was allocated there.
struct TileHeap {
    heap: AtomicPtr<c_void>,
    start: AtomicUsize,
    size: AtomicUsize,
}

static HEAPS: [TileHeap; HOST_TILES] = [const {
    TileHeap {
        heap: AtomicPtr::new(std::ptr::null_mut()),
        start: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
    }
}; HOST_TILES];

/// The tile's heap, which mimalloc has; null: there is no room for it.
pub fn heap_of(tile: u16) -> *mut c_void {
    match HEAPS[usize::from(tile)].heap.load(Acquire) {
        heap if heap.is_null() => make(tile),
        heap => heap,
    }
}

#[cold]
fn make(tile: u16) -> *mut c_void {
    let own = &HEAPS[usize::from(tile)];
    BOUNDARY.with(|| {
        if own.heap.load(Acquire).is_null()
            && let Some((heap, range)) = mimalloc::exclusive_heap()
        {
            own.start.store(range.start, Release);
            own.size.store(range.len(), Release);
            own.heap.store(heap, Release);
        }
        own.heap.load(Acquire)
    })
}

/// The tile that has this NxP-local memory; `None`: the first one, as all that is of no other. Async-signal-safe.
pub fn owner_of(address: usize) -> Option<u16> {
    tile_of(address).or_else(|| nxp_data::tile_of(address))
}

/// The tile whose heap has this address; `None`: that is in none of these heaps.
pub fn tile_of(address: usize) -> Option<u16> {
    let has =
        |own: &TileHeap| address.wrapping_sub(own.start.load(Acquire)) < own.size.load(Acquire);
    HEAPS.iter().position(has).map(|tile| tile as u16)
}
