//! `free` & co. of a dynamic program, ahead of the C library's in symbol lookup: blocks of the NxP
//! heap go to it, all others to the definition that comes next (the C library's, or an allocator
//! that was linked behind libflick). So libraries that know nothing of Flick may free and resize
//! them.
//!
//! The exported functions are naked jumps. The compiler therefore does not see what they do: it
//! neither inlines them into libflick's own calls of `free`, which must reach the process's
//! definition like everybody's, nor applies what it knows of functions with these names.
use std::arch::naked_asm;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Acquire, Ordering::Release};

use flick_runtime::heap::blocks;

type Free = unsafe extern "C" fn(*mut c_void);
type Realloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;

unsafe extern "C" {
    /// The GNU C library's own name of its `realloc`.
    fn __libc_realloc(ptr: *mut c_void, size: usize) -> *mut c_void;
}

static NEXT_FREE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static NEXT_REALLOC: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static NEXT_USABLE_SIZE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The next definition of `name`. `None` while another call is looking one up: `dlsym` itself may
/// free or resize what it allocated.
fn next(cache: &AtomicPtr<c_void>, name: &CStr) -> Option<*mut c_void> {
    static LOOKING: AtomicBool = AtomicBool::new(false);
    let mut found = cache.load(Acquire);
    if found.is_null() {
        if LOOKING.swap(true, Acquire) {
            return None;
        }
        // SAFETY: a NUL-terminated name.
        found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        cache.store(found, Release);
        LOOKING.store(false, Release);
    }
    (!found.is_null()).then_some(found)
}

/// Looks everything up while the process has one thread.
extern "C" fn look_up() {
    next(&NEXT_FREE, c"free");
    next(&NEXT_REALLOC, c"realloc");
    next(&NEXT_USABLE_SIZE, c"malloc_usable_size");
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_UP: extern "C" fn() = look_up;

unsafe extern "C" fn free_any(ptr: *mut c_void) {
    if blocks::owns(ptr) {
        // SAFETY: the caller's block, of the NxP heap.
        return unsafe { blocks::release(ptr) };
    }
    if ptr.is_null() {
        return;
    }
    // Without a next definition the few bytes that dlsym frees are lost.
    if let Some(free) = next(&NEXT_FREE, c"free") {
        // SAFETY: the next definition of `free`, with the caller's block.
        unsafe { std::mem::transmute::<*mut c_void, Free>(free)(ptr) };
    }
}

unsafe extern "C" fn realloc_any(ptr: *mut c_void, size: usize) -> *mut c_void {
    if blocks::owns(ptr) {
        // SAFETY: the caller's live block, of the NxP heap.
        return unsafe { blocks::resize(ptr, size) };
    }
    match next(&NEXT_REALLOC, c"realloc") {
        // SAFETY: the next definition of `realloc`, with the caller's block or NULL.
        Some(realloc) => unsafe { std::mem::transmute::<*mut c_void, Realloc>(realloc)(ptr, size) },
        // SAFETY: as above; only within dlsym.
        None => unsafe { __libc_realloc(ptr, size) },
    }
}

unsafe extern "C" fn reallocarray_any(ptr: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // The process's `realloc`, as the C library's does: a preloaded allocator may have that and
        // not this. SAFETY: the caller's live block or NULL.
        Some(size) => unsafe { libc::realloc(ptr, size) },
        None => {
            // SAFETY: the C library's errno of this thread.
            unsafe { *libc::__errno_location() = libc::ENOMEM as c_int };
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn malloc_usable_size_any(ptr: *mut c_void) -> usize {
    if blocks::owns(ptr) {
        // SAFETY: the caller's live block, of the NxP heap.
        return unsafe { blocks::usable_size(ptr) };
    }
    next(&NEXT_USABLE_SIZE, c"malloc_usable_size").map_or(0, |usable_size| {
        // SAFETY: the next definition, with the caller's block or NULL.
        unsafe { std::mem::transmute::<*mut c_void, UsableSize>(usable_size)(ptr) }
    })
}

macro_rules! export {
    ($name:ident, $to:ident, ($($arg:ident: $type:ty),*) $(-> $result:ty)?) => {
        /// # Safety
        /// As for the C library's function; blocks of either heap.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) $(-> $result)? {
            naked_asm!("endbr64", "jmp {}", sym $to)
        }
    };
}

export!(free, free_any, (ptr: *mut c_void));
export!(realloc, realloc_any, (ptr: *mut c_void, size: usize) -> *mut c_void);
export!(reallocarray, reallocarray_any, (ptr: *mut c_void, count: usize, size: usize) -> *mut c_void);
export!(malloc_usable_size, malloc_usable_size_any, (ptr: *mut c_void) -> usize);
