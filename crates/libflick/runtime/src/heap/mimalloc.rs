//! mimalloc as the owner of the region's heap.
//!
//! It gets address space from us only: one arena (its word) at first, more when that is full, and
//! never from the system (`disallow_os_alloc`; its own page map apart). It commits through
//! [`on_commit`]. An object lies in one arena, which bounds its size to nearly 15 GiB.
use std::ffi::{c_int, c_long, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use libmimalloc_sys as mi;

use crate::locks::order::BOUNDARY;
use crate::memory::commit;
use crate::memory::nxp_region;
use crate::os::host_stack;

/// mimalloc takes multiples of this, and at least one (`mi_arena_min_size`).
const CHUNK: usize = 32 << 20;

/// The largest arena whose tables fit into one chunk, which mimalloc 3.3 asks for.
const MAX_ARENA: usize = 15 << 30;

/// Alignments that mimalloc serves inside an arena.
pub(crate) const MAX_ALIGN: usize = 64 << 10;

/// `mi_option_t` of mimalloc 3.3 that libmimalloc-sys does not name.
const DISALLOW_ARENA_ALLOC: c_int = 26;
const ARENA_MAX_OBJECT_SIZE: c_int = 45;
const DESTROY_ON_EXIT: c_int = 22;

type CommitFn = extern "C" fn(bool, *mut c_void, usize, *mut bool, *mut c_void) -> bool;

unsafe extern "C" {
    /// `mimalloc/internal.h`: what the loader would call at the start.
    fn _mi_auto_process_init();

    /// `mimalloc.h`: adds memory with a commit function of the caller's.
    fn mi_manage_memory(
        start: *mut c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        numa_node: c_int,
        exclusive: bool,
        commit_fun: CommitFn,
        commit_fun_arg: *mut c_void,
        arena_id: *mut *mut c_void,
    ) -> bool;

    /// `mimalloc.h`: a heap that allocates from this arena alone, in any thread.
    fn mi_heap_new_in_arena(arena_id: *mut c_void) -> *mut c_void;

    /// `mimalloc.h`
    pub(super) fn mi_heap_malloc(heap: *mut c_void, size: usize) -> *mut c_void;
}

/// `mi_commit_fun_t`: commits, or releases and says whether a later use must commit again.
extern "C" fn on_commit(
    commit: bool,
    start: *mut c_void,
    size: usize,
    _is_zero: *mut bool,
    _arg: *mut c_void,
) -> bool {
    let start = start as usize;
    if commit {
        commit::commit(start, size)
    } else if size >= commit::LARGE {
        commit::decommit(start, size)
    } else {
        // Small holes stay mapped: a mapping of their own each would run into vm.max_map_count.
        commit::discard(start, size);
        false
    }
}

static CONFIGURED: AtomicBool = AtomicBool::new(false);
static STARTED: AtomicBool = AtomicBool::new(false);

/// Whether the heap has its first arena.
#[inline]
pub(crate) fn is_started() -> bool {
    STARTED.load(Acquire)
}

/// Makes the heap with its first arena, and says whether there is memory for it. It does so at the
/// first allocation: a process that allocates nothing here is spared mimalloc's own start, which
/// reads files and asks the processor for its features.
#[cold]
pub(crate) fn start() -> bool {
    // mimalloc takes the thread that starts it for the main one, and must not outlive it. Threads
    // that libflick does not see begin are helpers of the C library.
    if !CONFIGURED.load(Acquire) && !host_stack::is_first_thread() {
        return false;
    }
    configure();
    BOUNDARY.with(|| {
        if !is_started() {
            // Small at first: each of its sixty tables has pages of its own, and all are written to.
            STARTED.store(add_arena(0, nxp_region::size() / 512), Release);
        }
        is_started()
    })
}

/// Starts mimalloc in the calling thread, before there is another one.
#[inline]
pub(crate) fn configure() {
    if !CONFIGURED.load(Acquire) {
        BOUNDARY.with(configure_once);
    }
}

#[cold]
fn configure_once() {
    if CONFIGURED.load(Acquire) {
        return;
    }
    const KIB: usize = 1 << 10;
    let options: [(c_int, c_long); 7] = [
        (mi::mi_option_limit_os_alloc, 1),
        // The program's own mimalloc may be tuned by MIMALLOC_* variables; they are not ours.
        (mi::mi_option_show_errors, 0),
        (mi::mi_option_show_stats, 0),
        (mi::mi_option_verbose, 0),
        (DISALLOW_ARENA_ALLOC, 0),
        (DESTROY_ON_EXIT, 0),
        (ARENA_MAX_OBJECT_SIZE, (16 << 30) / KIB as c_long),
    ];
    // SAFETY: it stands for mimalloc's constructor, which is left out (`.cargo/config.toml`), and is
    // called once.
    unsafe { _mi_auto_process_init() };
    for (option, value) in options {
        // SAFETY: options of the linked version (a test compares the numbers with the header's).
        unsafe { mi::mi_option_set(option, value) };
    }
    CONFIGURED.store(true, Release);
}

/// Gives the heap address space for an object of `size` bytes. True if it is worth trying again:
/// also when another thread did it, which it knows by the heap's size before the failed attempt.
pub(crate) fn grow(size: usize, seen: usize) -> bool {
    BOUNDARY.with(|| nxp_region::heap_size() != seen || add_arena(size, nxp_region::size() / 4))
}

/// A heap with an arena of its own, a sixteenth of the region, and where that is; `None`: there is no room.
/// With `BOUNDARY` held, behind [`start`].
pub(super) fn exclusive_heap() -> Option<(*mut c_void, Range<usize>)> {
    let size = (nxp_region::size() / 16 / CHUNK * CHUNK).clamp(2 * CHUNK, MAX_ARENA);
    if size > nxp_region::gap().saturating_sub(nxp_region::size() / 8) {
        return None;
    }
    let start = nxp_region::grow_heap(size)?;
    let arena = manage(start, size, true);
    if arena.is_null() {
        nxp_region::shrink_heap(size);
        return None;
    }
    // SAFETY: the arena is a new one.
    let heap = unsafe { mi_heap_new_in_arena(arena) };
    (!heap.is_null()).then_some((heap, start..start + size))
}

/// Adds an arena for an object of `size` bytes, of `wish` bytes if there is room. With `BOUNDARY`
/// held, or before there are threads.
fn add_arena(size: usize, wish: usize) -> bool {
    // An object takes whole chunks, and the first chunk also holds the arena's tables.
    let Some(need) = size
        .checked_add(CHUNK)
        .and_then(|n| n.checked_next_multiple_of(CHUNK))
    else {
        return false;
    };
    // The last eighth of the region is left to the stacks.
    let gap = nxp_region::gap().saturating_sub(nxp_region::size() / 8) / CHUNK * CHUNK;
    if need > gap.min(MAX_ARENA) {
        return false;
    }
    let size = need.max(wish / CHUNK * CHUNK).min(gap).min(MAX_ARENA);
    let Some(start) = nxp_region::grow_heap(size) else {
        return false;
    };
    let ok = !manage(start, size, false).is_null();
    if !ok {
        nxp_region::shrink_heap(size);
    }
    ok
}

/// Makes an arena of a range that is ours, reserved, zero and in nobody's use; null: it cannot.
/// `exclusive`: heaps that do not ask for it allocate elsewhere.
fn manage(start: usize, size: usize, exclusive: bool) -> *mut c_void {
    let mut arena = ptr::null_mut();
    // SAFETY: the range is as said.
    let ok = unsafe {
        mi_manage_memory(
            start as *mut c_void,
            size,
            false,
            false,
            true,
            -1,
            exclusive,
            on_commit,
            ptr::null_mut(),
            &mut arena,
        )
    };
    if ok { arena } else { ptr::null_mut() }
}

#[cfg(test)]
mod tests {
    /// The option numbers above are of this version.
    #[test]
    fn version_is_the_one_these_numbers_belong_to() {
        // SAFETY: no arguments, no state.
        assert_eq!(unsafe { libmimalloc_sys::mi_version() }, 30302);
    }
}
