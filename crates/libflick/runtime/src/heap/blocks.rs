//! The NxP heap: what `malloc` & co. of NxP code, `flick_alloc` and the interposed `free` & co. do.
//!
//! A pointer says by its address which heap it is of, so each function takes pointers of either.
//! Results are those of the GNU C library (malloc(3), posix_memalign(3)): 16-byte alignment,
//! `malloc(0)` a unique pointer, errno, `realloc(p, 0)` frees.
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use libmimalloc_sys as mi;

use super::{exhausted, mimalloc, overaligned, tile_heaps};
use crate::heap::{fork_gate, marks, usage};
use crate::memory::{commit, nxp_region};
use crate::os::errno::set_errno;

/// Smallest block: the alignment that `malloc` promises.
const MIN: usize = 16;

/// The user's half of the address space (47 bits). A request beyond it fails on any machine, so it
/// says nothing about NxP-local memory.
const IMPOSSIBLE: usize = 1 << 47;

static OPEN: AtomicBool = AtomicBool::new(false);

pub(crate) fn open() {
    OPEN.store(true, Relaxed);
}

/// Whether allocations come from NxP-local memory; else the process's own `malloc` serves them.
/// The first allocation makes the heap.
#[inline]
pub fn is_open() -> bool {
    OPEN.load(Relaxed) && (mimalloc::is_started() || mimalloc::start())
}

/// Whether `ptr` is a block of the NxP heap. Async-signal-safe; false for NULL.
#[inline]
pub fn owns(ptr: *const c_void) -> bool {
    nxp_region::in_heap(ptr as usize)
}

/// `size` bytes in the region, or NULL with ENOMEM.
pub fn alloc(size: usize) -> *mut c_void {
    // SAFETY: mi_malloc has no preconditions.
    obtain(size, |size| unsafe { mi::mi_malloc(size) })
}

/// The same in the memory of a tile of a card.
pub fn alloc_on(tile: u16, size: usize) -> *mut c_void {
    let heap = tile_heaps::heap_of(tile);
    if heap.is_null() {
        exhausted::report(size, true);
        return no_memory();
    }
    obtain_or(
        size,
        // SAFETY: a heap of mimalloc's, which stays.
        |size| unsafe { mimalloc::mi_heap_malloc(heap, size) },
        |size, _| {
            exhausted::report(size, true);
            no_memory()
        },
    )
}

/// As [`alloc`], zeroed.
pub fn alloc_zeroed(size: usize) -> *mut c_void {
    if size > commit::LARGE {
        // mimalloc would write all of it if any page had been in use before.
        let block = alloc(size);
        if !block.is_null() {
            // SAFETY: a new block of at least `size` bytes.
            unsafe { commit::zero(block as usize, size) };
        }
        return block;
    }
    // SAFETY: mi_zalloc has no preconditions.
    obtain(size, |size| unsafe { mi::mi_zalloc(size) })
}

/// `size` bytes at a multiple of `align`, a power of two; or NULL with ENOMEM.
pub fn alloc_aligned(align: usize, size: usize) -> *mut c_void {
    if align <= MIN {
        alloc(size)
    } else if align <= mimalloc::MAX_ALIGN {
        // SAFETY: `align` is a power of two.
        obtain(size, |size| unsafe { mi::mi_malloc_aligned(size, align) })
    } else {
        let block = match overaligned::block_size(align, size) {
            Some(size) => alloc(size),
            None => no_memory(),
        };
        if block.is_null() {
            block
        } else {
            overaligned::place(block, align)
        }
    }
}

/// Calls `f` with a size that is fit for mimalloc, gives the heap more of the region when it fails,
/// and does what follows on every allocation.
fn obtain(size: usize, f: impl Fn(usize) -> *mut c_void) -> *mut c_void {
    obtain_or(size, f, obtain_slowly)
}

/// The same with what is done where it fails.
fn obtain_or<F: Fn(usize) -> *mut c_void>(
    size: usize,
    f: F,
    slowly: impl FnOnce(usize, F) -> *mut c_void,
) -> *mut c_void {
    if size > IMPOSSIBLE {
        return no_memory();
    }
    let rounded = size.max(MIN);
    fork_gate::will_allocate();
    let mut ptr = fork_gate::inside(|| f(rounded));
    if ptr.is_null() {
        ptr = slowly(rounded, f);
        if ptr.is_null() {
            return ptr;
        }
    }
    if rounded > commit::LARGE {
        commit::advise_huge(ptr as usize, rounded);
    }
    if usage::is_counted() {
        usage::grew(block_usable(ptr));
    }
    ptr
}

#[cold]
fn obtain_slowly(size: usize, f: impl Fn(usize) -> *mut c_void) -> *mut c_void {
    loop {
        let seen = nxp_region::heap_size();
        let failures = commit::failures();
        let ptr = fork_gate::inside(|| f(size));
        if !ptr.is_null() {
            return ptr;
        }
        let refused = commit::failures() != failures;
        if refused || !mimalloc::grow(size, seen) {
            exhausted::report(size, !refused);
            return no_memory();
        }
    }
}

fn no_memory() -> *mut c_void {
    set_errno(libc::ENOMEM);
    ptr::null_mut()
}

/// Frees a block of the NxP heap.
///
/// # Safety
/// `ptr` came from this heap and is not used any more.
pub unsafe fn release(ptr: *mut c_void) {
    if marks::is_allocated(ptr) {
        // SAFETY: a live block.
        marks::released(ptr, unsafe { usable_size(ptr) });
    }
    if usage::is_counted() {
        // SAFETY: a live block.
        usage::shrank(unsafe { usable_size(ptr) });
    }
    let block = overaligned::take(ptr).unwrap_or(ptr);
    // SAFETY: a live block of mimalloc's.
    fork_gate::inside(|| unsafe { mi::mi_free(block) });
}

/// Usable bytes of a block of the NxP heap.
///
/// # Safety
/// `ptr` is a live block of this heap.
pub unsafe fn usable_size(ptr: *mut c_void) -> usize {
    match overaligned::block_of(ptr) {
        Some(block) => block_usable(block) - (ptr as usize - block as usize),
        None => block_usable(ptr),
    }
}

fn block_usable(block: *mut c_void) -> usize {
    // SAFETY: callers pass live blocks of mimalloc's.
    unsafe { mi::mi_usable_size(block) }
}

/// `realloc` of a block of the NxP heap; it stays there, and whose it is in a timed run stays, too.
///
/// # Safety
/// `ptr` is a live block of this heap.
pub unsafe fn resize(ptr: *mut c_void, size: usize) -> *mut c_void {
    if size == 0 {
        // SAFETY: as this function's.
        unsafe { release(ptr) };
        return ptr::null_mut();
    }
    // SAFETY: a live block.
    let old = unsafe { usable_size(ptr) };
    if size <= old && size >= old / 2 {
        return ptr;
    }
    let new = match tile_heaps::tile_of(ptr as usize) {
        Some(tile) => alloc_on(tile, size),
        None => alloc(size),
    };
    if !new.is_null() {
        // SAFETY: both blocks are live and distinct, and both have the bytes; then the old one
        // goes.
        unsafe {
            ptr::copy_nonoverlapping(ptr.cast::<u8>(), new.cast(), old.min(size));
            if marks::is_allocated(ptr) {
                marks::allocated(new, usable_size(new));
            }
            release(ptr);
        }
    }
    new
}
