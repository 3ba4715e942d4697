//! Committing and releasing pages of the region.
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

use crate::os::errno::{last_errno, set_errno};
use crate::os::process_facts::page_size;

/// From this size on an allocation is worth huge pages, and its end worth giving back the charge.
pub(crate) const LARGE: usize = 4 << 20;
const HUGE_PAGE: usize = 2 << 20;

/// Why the last commit failed (0: none did), and how many did.
static FAILED: AtomicI32 = AtomicI32::new(0);
static FAILURES: AtomicUsize = AtomicUsize::new(0);

/// Makes pages readable and writable.
pub(crate) fn commit(start: usize, size: usize) -> bool {
    // SAFETY: callers own the range, which lies in the region.
    let ok =
        unsafe { libc::mprotect(start as *mut _, size, libc::PROT_READ | libc::PROT_WRITE) == 0 };
    if ok {
        advise(start, size, libc::MADV_DODUMP);
    } else {
        FAILED.store(last_errno(), Relaxed);
        FAILURES.fetch_add(1, Relaxed);
    }
    ok
}

/// Keeps reserved pages out of core files: gdb would write all of them.
pub(crate) fn advise_no_dump(start: usize, size: usize) {
    advise(start, size, libc::MADV_DONTDUMP);
}

/// The errno of the last commit that failed, or 0.
pub(crate) fn last_failure() -> i32 {
    FAILED.load(Relaxed)
}

/// How many commits have failed.
pub(crate) fn failures() -> usize {
    FAILURES.load(Relaxed)
}

/// Drops the contents of pages; they read as zero and stay committed. False if the kernel does not
/// want to (`mlockall`); they keep their contents then.
pub(crate) fn discard(start: usize, size: usize) -> bool {
    let errno = last_errno();
    // SAFETY: callers own the range and have no more use for what it holds.
    let ok = unsafe { libc::madvise(start as *mut _, size, libc::MADV_DONTNEED) } == 0;
    if !ok {
        // This may be inside `free`, which leaves errno alone.
        set_errno(errno);
    }
    ok
}

/// Makes committed bytes zero without touching the whole pages among them.
///
/// # Safety
/// The bytes are the caller's, in the region, and worth a system call (more than a page).
pub(crate) unsafe fn zero(start: usize, size: usize) {
    let (lo, hi) = (
        start.next_multiple_of(page_size()),
        (start + size) & !(page_size() - 1),
    );
    // SAFETY: by contract; both edges lie in the range.
    unsafe {
        ptr::write_bytes(start as *mut u8, 0, lo - start);
        ptr::write_bytes(hi as *mut u8, 0, start + size - hi);
    }
    if !discard(lo, hi - lo) {
        // SAFETY: by contract.
        unsafe { ptr::write_bytes(lo as *mut u8, 0, hi - lo) };
    }
}

/// Takes pages back to the reserved state: no memory, no charge, no access. False (and only
/// discarded) if the kernel has no mapping to spare for the split.
pub(crate) fn decommit(start: usize, size: usize) -> bool {
    let errno = last_errno();
    // SAFETY: the range lies in the region and its owner has no more use for it; MAP_FIXED replaces
    // it at once, so that no other mapping can get in between.
    let at = unsafe {
        libc::mmap(
            start as *mut _,
            size,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    let ok = at != libc::MAP_FAILED;
    if ok {
        advise_no_dump(start, size);
    } else {
        set_errno(errno);
        discard(start, size);
    }
    ok
}

/// Asks for huge pages in the part of the range that can have them. Where the system does not allow
/// them this does nothing.
pub(crate) fn advise_huge(start: usize, size: usize) {
    let lo = start.next_multiple_of(HUGE_PAGE);
    let hi = (start + size) & !(HUGE_PAGE - 1);
    if lo < hi {
        advise(lo, hi - lo, libc::MADV_HUGEPAGE);
    }
}

/// Keeps `transparent_hugepage/enabled = always` from making a stack's first touch a huge page.
pub(crate) fn advise_small(start: usize, size: usize) {
    advise(start, size, libc::MADV_NOHUGEPAGE);
}

/// Advice that may be refused, without a trace in errno: the callers have succeeded.
fn advise(start: usize, size: usize, advice: i32) {
    let errno = last_errno();
    // SAFETY: advice only; contents and access stay as they are.
    unsafe { libc::madvise(start as *mut _, size, advice) };
    set_errno(errno);
}
