//! The C functions: `__flick_heap_*` in place of the C library's in NxP code, and `flick.h`.
#![allow(
    clippy::missing_safety_doc,
    reason = "the contracts are those of malloc(3)"
)]
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use crate::heap::{blocks, marks};
use crate::memory::is_local;
use crate::os::errno::{last_errno, set_errno};
use crate::os::process_facts::page_size;

fn fail(errno: c_int) -> *mut c_void {
    set_errno(errno);
    ptr::null_mut()
}

/// What NxP code has allocated.
fn own(block: *mut c_void) -> *mut c_void {
    if marks::enabled() && blocks::owns(block) {
        // SAFETY: a live block of the NxP's heap.
        marks::allocated(block, unsafe { blocks::usable_size(block) });
    }
    block
}

/// In NxP-local memory, if there is any.
fn alloc(size: usize) -> *mut c_void {
    if blocks::is_open() {
        blocks::alloc(size)
    } else {
        // SAFETY: malloc(3) has no preconditions.
        unsafe { libc::malloc(size) }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __flick_heap_malloc(size: usize) -> *mut c_void {
    own(alloc(size))
}

#[unsafe(no_mangle)]
pub extern "C" fn __flick_heap_calloc(count: usize, size: usize) -> *mut c_void {
    if !blocks::is_open() {
        // SAFETY: calloc(3) has no preconditions.
        return unsafe { libc::calloc(count, size) };
    }
    match count.checked_mul(size) {
        Some(size) => own(blocks::alloc_zeroed(size)),
        None => fail(libc::ENOMEM),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_heap_realloc(ptr: *mut c_void, size: usize) -> *mut c_void {
    if ptr.is_null() {
        __flick_heap_malloc(size)
    } else if blocks::owns(ptr) {
        // SAFETY: the caller's live block, of the NxP heap.
        unsafe { blocks::resize(ptr, size) }
    } else {
        // SAFETY: the caller's live block, of the process's heap.
        unsafe { libc::realloc(ptr, size) }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_heap_reallocarray(
    ptr: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: as this function's.
        Some(size) => unsafe { __flick_heap_realloc(ptr, size) },
        None => fail(libc::ENOMEM),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_heap_free(ptr: *mut c_void) {
    if blocks::owns(ptr) {
        // SAFETY: the caller's block, of the NxP heap.
        unsafe { blocks::release(ptr) };
    } else {
        // SAFETY: NULL or the caller's block, of the process's heap.
        unsafe { libc::free(ptr) };
    }
}

/// memalign(3): an alignment that is not a power of two is raised to the next.
#[unsafe(no_mangle)]
pub extern "C" fn __flick_heap_memalign(align: usize, size: usize) -> *mut c_void {
    if !blocks::is_open() {
        // SAFETY: memalign(3) has no preconditions in the GNU C library.
        return unsafe { libc::memalign(align, size) };
    }
    match align.checked_next_power_of_two() {
        Some(align) => own(blocks::alloc_aligned(align, size)),
        None => fail(libc::EINVAL),
    }
}

/// aligned_alloc(3); in the GNU C library of Debian 12 the same as memalign(3).
#[unsafe(no_mangle)]
pub extern "C" fn __flick_heap_aligned_alloc(align: usize, size: usize) -> *mut c_void {
    __flick_heap_memalign(align, size)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_heap_posix_memalign(
    out: *mut *mut c_void,
    align: usize,
    size: usize,
) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<*mut c_void>()) {
        return libc::EINVAL;
    }
    let saved = last_errno();
    let ptr = __flick_heap_memalign(align, size);
    // posix_memalign reports by its result alone.
    set_errno(saved);
    if ptr.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's pointer, valid for writing.
    unsafe { *out = ptr };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn __flick_heap_valloc(size: usize) -> *mut c_void {
    __flick_heap_memalign(page_size(), size)
}

/// valloc(3) with the size rounded up to pages.
#[unsafe(no_mangle)]
pub extern "C" fn __flick_heap_pvalloc(size: usize) -> *mut c_void {
    match size.checked_next_multiple_of(page_size()) {
        Some(size) => __flick_heap_memalign(page_size(), size),
        None => fail(libc::ENOMEM),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_heap_strdup(text: *const c_char) -> *mut c_char {
    // SAFETY: the caller's NUL-terminated string.
    unsafe { duplicate(text, libc::strlen(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_heap_strndup(text: *const c_char, max: usize) -> *mut c_char {
    // SAFETY: the caller's string, of which at most `max` bytes are read.
    unsafe { duplicate(text, libc::strnlen(text, max)) }
}

/// A copy of `len` bytes with a NUL behind them.
unsafe fn duplicate(text: *const c_char, len: usize) -> *mut c_char {
    let copy: *mut c_char = __flick_heap_malloc(len + 1).cast();
    if !copy.is_null() {
        // SAFETY: `text` has `len` bytes, the new block one more.
        unsafe {
            ptr::copy_nonoverlapping(text, copy, len);
            *copy.add(len) = 0;
        }
    }
    copy
}

/// `FLICK_MEM_HOST`, `FLICK_MEM_NXP` of `flick.h`.
const MEM_HOST: c_int = 0;
pub(crate) const MEM_NXP: c_int = 1;

#[unsafe(no_mangle)]
pub extern "C" fn flick_alloc(kind: c_int, size: usize) -> *mut c_void {
    match kind {
        // SAFETY: malloc(3) has no preconditions.
        MEM_HOST => unsafe { libc::malloc(size) },
        MEM_NXP => alloc(size),
        _ => fail(libc::EINVAL),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn flick_free(ptr: *mut c_void) {
    // SAFETY: the caller's block of either heap.
    unsafe { __flick_heap_free(ptr) };
}

#[unsafe(no_mangle)]
pub extern "C" fn flick_is_nxp_memory(address: *const c_void) -> c_int {
    c_int::from(is_local(address as usize))
}
