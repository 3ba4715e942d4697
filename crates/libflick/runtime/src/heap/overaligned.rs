//! Blocks whose alignment is beyond what mimalloc serves inside an arena.
//!
//! They are an aligned part of a larger block; a table remembers which. Pointers to look up are
//! recognised by their own alignment, so that ordinary ones do not come here.
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::mimalloc::MAX_ALIGN;
use crate::locks::order::OVERALIGNED;

struct Table(UnsafeCell<BTreeMap<usize, usize>>);
// SAFETY: accessed only with OVERALIGNED held.
unsafe impl Sync for Table {}
/// Aligned address → block.
static TABLE: Table = Table(UnsafeCell::new(BTreeMap::new()));
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn with<R>(f: impl FnOnce(&mut BTreeMap<usize, usize>) -> R) -> R {
    OVERALIGNED.with(|| {
        // SAFETY: the lock is held.
        let table = unsafe { &mut *TABLE.0.get() };
        let result = f(table);
        COUNT.store(table.len(), Relaxed);
        result
    })
}

fn may_be(ptr: *mut c_void) -> bool {
    (ptr as usize).is_multiple_of(2 * MAX_ALIGN) && COUNT.load(Relaxed) != 0
}

/// Bytes to allocate for `size` bytes at `align`; `None` on overflow.
pub(crate) fn block_size(align: usize, size: usize) -> Option<usize> {
    size.checked_add(align)
}

/// The address within `block` (of [`block_size`] bytes) that is aligned to `align`, remembered.
pub(crate) fn place(block: *mut c_void, align: usize) -> *mut c_void {
    let aligned = (block as usize).next_multiple_of(align);
    with(|table| table.insert(aligned, block as usize));
    block.with_addr(aligned)
}

/// The block that `ptr` lies in, if [`place`] made it.
pub(crate) fn block_of(ptr: *mut c_void) -> Option<*mut c_void> {
    if !may_be(ptr) {
        return None;
    }
    with(|table| table.get(&(ptr as usize)).copied()).map(|block| ptr.with_addr(block))
}

/// [`block_of`], whose entry is removed.
pub(crate) fn take(ptr: *mut c_void) -> Option<*mut c_void> {
    if !may_be(ptr) {
        return None;
    }
    with(|table| table.remove(&(ptr as usize))).map(|block| ptr.with_addr(block))
}
