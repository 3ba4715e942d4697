//! `free` & co. of a static program: the linker leads all callers here (`--wrap`), those within the
//! C library too. Blocks of the NxP heap go to it, all others to the C library.
//!
//! A program may bring an allocator of its own that has `malloc`, `free`, `calloc` and `realloc`
//! only. A reference from here to more would make the linker take the C library's besides, and both
//! define `malloc`; hence the weak reference here, and those that `scripts/static-library.sh` makes
//! of the rest.
use std::arch::naked_asm;
use std::ffi::c_void;
use std::ptr;

use flick_runtime::heap::blocks;

unsafe extern "C" {
    fn __real_free(ptr: *mut c_void);
    fn __real_realloc(ptr: *mut c_void, size: usize) -> *mut c_void;
}

/// # Safety
/// As for the C library's `free`; blocks of either heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_free(ptr: *mut c_void) {
    if blocks::owns(ptr) {
        // SAFETY: the caller's block, of the NxP heap.
        unsafe { blocks::release(ptr) };
    } else {
        // SAFETY: the caller's block, of the C library's heap, or NULL.
        unsafe { __real_free(ptr) };
    }
}

/// # Safety
/// As for the C library's `realloc`; blocks of either heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_realloc(ptr: *mut c_void, size: usize) -> *mut c_void {
    if blocks::owns(ptr) {
        // SAFETY: the caller's live block, of the NxP heap.
        unsafe { blocks::resize(ptr, size) }
    } else {
        // SAFETY: the caller's live block, of the C library's heap, or NULL.
        unsafe { __real_realloc(ptr, size) }
    }
}

/// # Safety
/// As for the C library's `reallocarray`; blocks of either heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_reallocarray(
    ptr: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: as this function's.
        Some(size) => unsafe { __wrap_realloc(ptr, size) },
        None => {
            // SAFETY: the C library's errno of this thread.
            unsafe { *libc::__errno_location() = libc::ENOMEM };
            ptr::null_mut()
        }
    }
}

/// # Safety
/// As for the C library's `malloc_usable_size`; blocks of either heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_malloc_usable_size(ptr: *mut c_void) -> usize {
    if blocks::owns(ptr) {
        // SAFETY: the caller's live block, of the NxP heap.
        unsafe { blocks::usable_size(ptr) }
    } else {
        // SAFETY: the caller's live block, of the process's heap, or NULL.
        unsafe { real_malloc_usable_size(ptr) }
    }
}

/// The C library's, if the program has it.
#[unsafe(naked)]
unsafe extern "C" fn real_malloc_usable_size(ptr: *mut c_void) -> usize {
    naked_asm!(
        ".weak __real_malloc_usable_size",
        "mov rax, qword ptr [rip + __real_malloc_usable_size@GOTPCREL]",
        "test rax, rax",
        "je 2f",
        "jmp rax",
        "2:",
        "ret",
    )
}
