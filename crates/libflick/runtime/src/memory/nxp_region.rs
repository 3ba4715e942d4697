//! The reserved address space.
//!
//! It is mapped `PROT_NONE` and private, so it costs no memory and no overcommit charge; a part
//! counts when it is committed, as `malloc`'s memory does. (With `MAP_NORESERVE` committed parts
//! would never be charged, and a request beyond the machine's memory would end in the OOM killer
//! rather than in `ENOMEM`.) It does count against `RLIMIT_AS`, therefore it shrinks under one.
use std::fmt::{self, Display, Formatter};
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::Release};

use super::commit;
use crate::os::errno::last_errno;
use crate::os::process_facts::page_size;

/// Size of the region in bytes; powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tried first, then halved until the kernel agrees.
    pub max: usize,
    /// Below this there is no NxP-local memory.
    pub min: usize,
}

impl Limits {
    pub const DEFAULT: Limits = Limits {
        max: 64 << 30,
        min: 64 << 20,
    };
}

/// There is no NxP-local memory (FLK0402).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// Not even the smallest region could be mapped.
    Reserve {
        size: usize,
        errno: i32,
        limited: bool,
    },
}

impl Display for MemoryError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            MemoryError::Reserve {
                size,
                errno,
                limited,
            } => {
                let why = io::Error::from_raw_os_error(errno);
                let limit = if limited {
                    " under the address space limit"
                } else {
                    ""
                };
                write!(
                    f,
                    "{} MiB of address space cannot be reserved{limit}: {why}",
                    size >> 20
                )
            }
        }
    }
}

impl std::error::Error for MemoryError {}

/// Alignment of the region: a huge page.
const ALIGN: usize = 2 << 20;

static BASE: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);
static LIMITED: AtomicBool = AtomicBool::new(false);

/// Heap below `HEAP_TOP`, stacks from `STACK_BOTTOM` on, free address space between them. They only
/// move towards each other, under `BOUNDARY`.
static HEAP_TOP: AtomicUsize = AtomicUsize::new(0);
static STACK_BOTTOM: AtomicUsize = AtomicUsize::new(0);

/// Maps the region. Called once.
pub(crate) fn reserve(limits: Limits) -> Result<(), MemoryError> {
    let mut size = limits.max;
    let room = room_under_rlimit();
    LIMITED.store(room.is_some(), Relaxed);
    // The program needs address space too: at most half of what the limit leaves.
    while room.is_some_and(|room| size > room / 2) && size > limits.min {
        size /= 2;
    }
    loop {
        match map(size) {
            Ok(base) => {
                SIZE.store(size, Relaxed);
                HEAP_TOP.store(base, Relaxed);
                STACK_BOTTOM.store(base + size, Relaxed);
                BASE.store(base, Release);
                return Ok(());
            }
            Err(errno) if size <= limits.min => {
                return Err(MemoryError::Reserve {
                    size,
                    errno,
                    limited: room.is_some(),
                });
            }
            Err(_) => size /= 2,
        }
    }
}

fn map(size: usize) -> Result<usize, i32> {
    // SAFETY: a new mapping at an address of the kernel's choice; no memory of ours is touched.
    let at = unsafe {
        libc::mmap(
            ptr::null_mut(),
            size + ALIGN,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(last_errno());
    }
    let start = at as usize;
    let base = start.next_multiple_of(ALIGN);
    let end = base + size;
    // SAFETY: both ranges are the unused ends of the mapping made above.
    unsafe {
        if base > start {
            libc::munmap(at, base - start);
        }
        if start + size + ALIGN > end {
            libc::munmap(end as *mut _, start + size + ALIGN - end);
        }
    }
    commit::advise_no_dump(base, size);
    Ok(base)
}

/// Bytes of address space that `RLIMIT_AS` still allows; `None` without a limit.
fn room_under_rlimit() -> Option<usize> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writing.
    if unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } != 0
        || limit.rlim_cur == libc::RLIM_INFINITY
    {
        return None;
    }
    // proc_pid_statm(5): the first field is the size of the address space in pages.
    let used = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|s| s.split(' ').next()?.parse::<usize>().ok())
        .map_or(0, |pages| pages * page_size());
    Some(
        usize::try_from(limit.rlim_cur)
            .unwrap_or(usize::MAX)
            .saturating_sub(used),
    )
}

/// Whether `addr` lies in the region.
pub(crate) fn contains(addr: usize) -> bool {
    // Before `reserve` SIZE is 0 and nothing is inside.
    addr.wrapping_sub(BASE.load(Relaxed)) < SIZE.load(Relaxed)
}

/// Whether `addr` lies in the part that the heap has taken.
#[inline]
pub(crate) fn in_heap(addr: usize) -> bool {
    let base = BASE.load(Relaxed);
    addr.wrapping_sub(base) < HEAP_TOP.load(Relaxed).wrapping_sub(base)
}

/// Base of the region, bytes below the stacks, bytes of all.
pub fn parts() -> (usize, usize, usize) {
    let base = BASE.load(Relaxed);
    let stacks = STACK_BOTTOM.load(Relaxed);
    (base, stacks.wrapping_sub(base), SIZE.load(Relaxed))
}

/// Bytes of reserved address space; 0 without a region.
pub fn size() -> usize {
    SIZE.load(Relaxed)
}

/// Whether `RLIMIT_AS` had a say in [`size`].
pub(crate) fn is_limited() -> bool {
    LIMITED.load(Relaxed)
}

/// Bytes that the heap has taken of the region.
pub(crate) fn heap_size() -> usize {
    HEAP_TOP.load(Relaxed) - BASE.load(Relaxed)
}

/// Start of `size` more bytes for the heap, directly above the last. With `BOUNDARY` held.
pub(crate) fn grow_heap(size: usize) -> Option<usize> {
    let (start, limit) = (HEAP_TOP.load(Relaxed), STACK_BOTTOM.load(Relaxed));
    if size > limit - start {
        return None;
    }
    HEAP_TOP.store(start + size, Relaxed);
    Some(start)
}

/// Takes the last [`grow_heap`] back, if the heap could not use it. With `BOUNDARY` held.
pub(crate) fn shrink_heap(size: usize) {
    HEAP_TOP.store(HEAP_TOP.load(Relaxed) - size, Relaxed);
}

/// Bytes between heap and stacks. With `BOUNDARY` held.
pub(crate) fn gap() -> usize {
    STACK_BOTTOM.load(Relaxed) - HEAP_TOP.load(Relaxed)
}

/// Start of `size` more bytes for stacks, directly below the last. With `BOUNDARY` held.
pub(crate) fn grow_stacks(size: usize) -> Option<usize> {
    let (limit, end) = (HEAP_TOP.load(Relaxed), STACK_BOTTOM.load(Relaxed));
    if size > end - limit {
        return None;
    }
    STACK_BOTTOM.store(end - size, Relaxed);
    Some(end - size)
}
