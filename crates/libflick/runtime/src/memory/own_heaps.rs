//! Memory of libflick: two heaps of its own. What a program defines as `malloc` sees nothing of
//! libflick, and the program's own heap does not depend on it.
//!
//! One is the translator's, used under its lock, since a handler that interrupted an allocation may
//! translate. The other is for everything else.
use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dlmalloc::Dlmalloc;

use crate::os::thread_pointer;

/// Address space for each; less for the second where it is limited.
const SIZE: usize = 512 << 20;
const LEAST: usize = 1 << 20;
const LIMITED: usize = 16 << 20;
/// As much of the translator's goes to core files: gdb writes all of it, used or not, and reads
/// tables in it.
const DUMPED: usize = 32 << 20;
/// The second becomes usable in steps of this.
const STEP: usize = 1 << 20;

const READ_WRITE: c_int = libc::PROT_READ | libc::PROT_WRITE;

/// A reservation, from whose start on dlmalloc gets its memory.
struct Reservation {
    start: AtomicUsize,
    size: AtomicUsize,
    used: AtomicUsize,
    /// Of it can be written.
    writable: AtomicUsize,
}

impl Reservation {
    const fn new() -> Self {
        Self {
            start: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            writable: AtomicUsize::new(0),
        }
    }

    /// Memory of `size` bytes, of which `writable` can be used at once.
    fn make(&self, size: usize, writable: usize) -> io::Result<()> {
        let protection = if writable == 0 {
            libc::PROT_NONE
        } else {
            READ_WRITE
        };
        let place = map(size, protection)?;
        let dumped = writable.min(DUMPED);
        // SAFETY: inside the mapping just made.
        unsafe { libc::madvise(place.add(dumped).cast(), size - dumped, libc::MADV_DONTDUMP) };
        self.size.store(size, Ordering::Relaxed);
        self.writable.store(writable, Ordering::Relaxed);
        self.start.store(place as usize, Ordering::Release);
        Ok(())
    }

    /// The next `size` bytes. By one thread at a time.
    fn take(&self, size: usize) -> Option<*mut u8> {
        let used = self.used.load(Ordering::Relaxed);
        let end = used
            .checked_add(size)
            .filter(|end| *end <= self.size.load(Ordering::Relaxed))?;
        let writable = self.writable.load(Ordering::Relaxed);
        let start = self.start.load(Ordering::Relaxed);
        if end > writable {
            let more = (end - writable).next_multiple_of(STEP);
            let place = (start + writable) as *mut libc::c_void;
            // SAFETY: inside the reservation, behind what is used.
            unsafe {
                if libc::mprotect(place, more, READ_WRITE) != 0 {
                    return None;
                }
                libc::madvise(place, more, libc::MADV_DODUMP);
            }
            self.writable.store(writable + more, Ordering::Relaxed);
        }
        self.used.store(end, Ordering::Relaxed);
        Some((start + used) as *mut u8)
    }

    fn has(&self, place: *mut u8) -> bool {
        let start = self.start.load(Ordering::Acquire);
        start != 0 && (start..start + self.size.load(Ordering::Relaxed)).contains(&(place as usize))
    }
}

fn map(size: usize, protection: c_int) -> io::Result<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at a place of the kernel's choice.
    let place = unsafe { libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0) };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(place.cast())
}

struct Pages(&'static Reservation);

// SAFETY: hands out each part of the reservation once.
unsafe impl dlmalloc::Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let size = size.next_multiple_of(self.page_size());
        match self.0.take(size) {
            Some(place) => (place, size, 0),
            None => (ptr::null_mut(), 0, 0),
        }
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        64 << 10
    }
}

struct Heap(UnsafeCell<Dlmalloc<Pages>>);

// SAFETY: only who holds it uses it ([`with`], [`Hold`]).
unsafe impl Sync for Heap {}

static TRANSLATORS: Reservation = Reservation::new();
static TRANSLATORS_HEAP: Heap = Heap(UnsafeCell::new(Dlmalloc::new_with_allocator(Pages(
    &TRANSLATORS,
))));
/// Thread pointer of who is in [`with`]; 0: nobody.
static OWNER: AtomicUsize = AtomicUsize::new(0);

static COMMON: Reservation = Reservation::new();
static COMMON_HEAP: Heap = Heap(UnsafeCell::new(Dlmalloc::new_with_allocator(Pages(
    &COMMON,
))));
/// Thread pointer of who holds it; 0: nobody.
static HOLDER: AtomicUsize = AtomicUsize::new(0);

/// Makes the translator's.
pub fn init() -> io::Result<()> {
    // Usable at once: a program may have forbidden itself the calls that would make it so.
    TRANSLATORS.make(SIZE, SIZE)
}

/// Calls `f`, whose allocations by this thread come from the translator's heap. The caller holds
/// the translator's lock.
pub fn with<R>(f: impl FnOnce() -> R) -> R {
    OWNER.store(thread_pointer::pointer(), Ordering::Relaxed);
    let result = f();
    OWNER.store(0, Ordering::Relaxed);
    result
}

/// Who is in [`with`] goes on somewhere else.
pub fn left() {
    OWNER.store(0, Ordering::Relaxed);
}

/// Whether [`before_fork`] holds it. It does not if a handler forks that interrupted an allocation.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Before `fork`, so that the child finds the heap whole.
pub fn before_fork() {
    if let Some(hold) = Hold::new() {
        std::mem::forget(hold);
        FORKING.store(true, Ordering::Relaxed);
    }
}

/// After it, on both sides.
pub fn after_fork() {
    if FORKING.swap(false, Ordering::Relaxed) {
        HOLDER.store(0, Ordering::Release);
    }
}

/// Holds the common heap.
struct Hold;

impl Hold {
    /// `None` in a handler that interrupts this very thread's allocation.
    fn new() -> Option<Self> {
        let own = thread_pointer::pointer();
        while let Err(holder) =
            HOLDER.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed)
        {
            if holder == own {
                return None;
            }
            std::thread::yield_now();
        }
        Some(Self)
    }

    /// The heap; `None` if there is no address space for it.
    fn heap(&mut self) -> Option<&mut Dlmalloc<Pages>> {
        if COMMON.start.load(Ordering::Relaxed) == 0 && !reserve() {
            return None;
        }
        // SAFETY: whoever holds it is alone.
        Some(unsafe { &mut *COMMON_HEAP.0.get() })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::Release);
    }
}

#[cold]
fn reserve() -> bool {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: `limit` is valid for writing.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    let mut size = if limit.rlim_cur == libc::RLIM_INFINITY {
        SIZE
    } else {
        LIMITED
    };
    while COMMON.make(size, 0).is_err() {
        size /= 2;
        if size < LEAST {
            return false;
        }
    }
    true
}

/// Rust's allocator in libflick.
pub struct Allocator;

impl Allocator {
    fn is_translators() -> bool {
        OWNER.load(Ordering::Relaxed) == thread_pointer::pointer()
    }

    /// What `f` makes of a heap; from the kernel where the common one is full, or a handler has
    /// interrupted its holder.
    fn from_heap(
        layout: Layout,
        f: unsafe fn(&mut Dlmalloc<Pages>, usize, usize) -> *mut u8,
    ) -> *mut u8 {
        // SAFETY: the heap is the caller's alone; sizes and alignments are those of a layout.
        unsafe {
            if Self::is_translators() {
                let heap = &mut *TRANSLATORS_HEAP.0.get();
                return f(heap, layout.size(), layout.align());
            }
            let place = Hold::new().map_or(ptr::null_mut(), |mut hold| {
                hold.heap().map_or(ptr::null_mut(), |heap| {
                    f(heap, layout.size(), layout.align())
                })
            });
            if place.is_null() {
                from_kernel(layout)
            } else {
                place
            }
        }
    }
}

const PAGE: usize = 4096;
/// Bytes from which on zeroed memory comes from the kernel.
const LARGE: usize = 64 << 10;

/// Zeroed memory of whole pages, from no heap; null if there is none. Async-signal-safe.
pub fn from_kernel(layout: Layout) -> *mut u8 {
    if layout.align() > PAGE {
        return ptr::null_mut();
    }
    map(layout.size().next_multiple_of(PAGE), READ_WRITE).unwrap_or(ptr::null_mut())
}

/// Gives it back.
///
/// # Safety
/// [`from_kernel`] gave `place` for this layout, and nobody uses it any more.
pub unsafe fn to_kernel(place: *mut u8, layout: Layout) {
    // SAFETY: by contract.
    unsafe { libc::munmap(place.cast(), layout.size().next_multiple_of(PAGE)) };
}

// SAFETY: places with separate address ranges, each used by one thread at a time.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::from_heap(layout, |heap, size, align| {
            // SAFETY: the heap is the caller's alone.
            unsafe { heap.malloc(size, align) }
        })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // The kernel's pages are zero, and take no memory before they are used.
        if layout.size() >= LARGE && !Self::is_translators() {
            let place = from_kernel(layout);
            if !place.is_null() {
                return place;
            }
        }
        Self::from_heap(layout, |heap, size, align| {
            // SAFETY: the heap is the caller's alone.
            unsafe { heap.calloc(size, align) }
        })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: by contract, with what this block came from.
        unsafe {
            if TRANSLATORS.has(place) {
                (*TRANSLATORS_HEAP.0.get()).free(place, layout.size(), layout.align());
            } else if COMMON.has(place) {
                // What a handler frees in the middle of an allocation is lost.
                if let Some(mut hold) = Hold::new()
                    && let Some(heap) = hold.heap()
                {
                    heap.free(place, layout.size(), layout.align());
                }
            } else {
                to_kernel(place, layout);
            }
        }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by contract, with what this block came from.
        unsafe {
            if TRANSLATORS.has(place) {
                let heap = &mut *TRANSLATORS_HEAP.0.get();
                return heap.realloc(place, layout.size(), layout.align(), size);
            }
            if COMMON.has(place)
                && let Some(mut hold) = Hold::new()
                && let Some(heap) = hold.heap()
            {
                let new = heap.realloc(place, layout.size(), layout.align(), size);
                if !new.is_null() {
                    return new;
                }
            }
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(place, size.min(layout.size()));
                self.dealloc(place, layout);
            }
            new
        }
    }
}
