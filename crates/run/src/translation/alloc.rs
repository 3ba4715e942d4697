//! Memory of the translator: a heap of its own, used under its lock, since a handler that interrupted
//! `malloc` may translate. A timed process, which translates nothing, has all that libflick allocates there, so that
//! the program's own heap does not depend on it.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::io;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use dlmalloc::Dlmalloc;
use flick_abi::settings;

use crate::thread;

/// Address space for it.
const SIZE: usize = 512 << 20;
/// As much of it goes to core files.
const DUMPED: usize = 32 << 20;

static START: AtomicUsize = AtomicUsize::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);
/// Thread pointer of who is in [`with`]; 0: nobody.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// Where dlmalloc gets its memory: a reservation, from its start on.
struct Pages;

// SAFETY: hands out each part of the reservation once.
unsafe impl dlmalloc::Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let size = size.next_multiple_of(self.page_size());
        let used = USED.load(Ordering::Relaxed);
        if size > SIZE - used {
            return (std::ptr::null_mut(), 0, 0);
        }
        let place = (START.load(Ordering::Relaxed) + used) as *mut u8;
        USED.store(used + size, Ordering::Relaxed);
        (place, size, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        std::ptr::null_mut()
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

// SAFETY: only who is in `with` uses it.
unsafe impl Sync for Heap {}

static HEAP: Heap = Heap(UnsafeCell::new(Dlmalloc::new_with_allocator(Pages)));

pub fn init() -> io::Result<()> {
    const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
    // Usable at once: a program may have forbidden itself the calls that would make it so.
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at a place of the kernel's choice.
    let place = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, READ_WRITE, flags, -1, 0) };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // gdb writes all of it to core files, used or not, and reads tables in it.
    // SAFETY: inside the mapping just made.
    unsafe { libc::madvise(place.byte_add(DUMPED), SIZE - DUMPED, libc::MADV_DONTDUMP) };
    START.store(place as usize, Ordering::Release);
    Ok(())
}

/// Calls `f`, whose allocations by this thread come from the translator's heap. The caller holds the
/// translator's lock.
pub fn with<R>(f: impl FnOnce() -> R) -> R {
    OWNER.store(thread::pointer(), Ordering::Relaxed);
    let result = f();
    OWNER.store(0, Ordering::Relaxed);
    result
}

/// Who is in [`with`] goes on somewhere else.
pub fn left() {
    OWNER.store(0, Ordering::Relaxed);
}

/// Rust's allocator in libflick: the process's, but the translator's own in [`with`].
pub struct Allocator;

/// Whether the process is timed: 0 not decided, 1 no, 2 yes.
static TIMED: AtomicU8 = AtomicU8::new(0);
/// Thread pointer of who allocates in a timed process; 0: nobody.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// At the first allocation, which reading the settings makes, so that these cannot be asked.
#[cold]
fn decide() -> bool {
    // SAFETY: C strings; nobody changes the environment before `main`.
    let timed = unsafe {
        let platform = libc::getenv(settings::PLATFORM.as_ptr());
        libc::getauxval(libc::AT_SECURE) == 0 && !platform.is_null() && *platform != 0
    };
    let timed = timed && init().is_ok();
    TIMED.store(if timed { 2 } else { 1 }, Ordering::Relaxed);
    timed
}

fn is_timed() -> bool {
    match TIMED.load(Ordering::Relaxed) {
        0 => decide(),
        state => state == 2,
    }
}

/// The child of a fork has one thread, which does not allocate now.
pub fn forked() {
    BUSY.store(0, Ordering::Relaxed);
}

/// Holds the heap of a timed process.
struct Hold;

impl Hold {
    /// `None` in a handler that interrupts this very thread's allocation.
    fn new() -> Option<Self> {
        let own = thread::pointer();
        while let Err(owner) = BUSY.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed) {
            if owner == own {
                return None;
            }
            std::hint::spin_loop();
        }
        Some(Self)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        BUSY.store(0, Ordering::Release);
    }
}

impl Allocator {
    fn is_ours() -> bool {
        OWNER.load(Ordering::Relaxed) == thread::pointer()
    }

    fn has(place: *mut u8) -> bool {
        let start = START.load(Ordering::Relaxed);
        start != 0 && (start..start + SIZE).contains(&(place as usize))
    }
}

// SAFETY: two allocators with separate address ranges; the second is used by one thread at a time, and
// what it has allocated is freed under the same lock.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by contract.
        unsafe {
            if Self::is_ours() {
                (*HEAP.0.get()).malloc(layout.size(), layout.align())
            } else if is_timed()
                && let Some(_hold) = Hold::new()
            {
                (*HEAP.0.get()).malloc(layout.size(), layout.align())
            } else {
                System.alloc(layout)
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by contract.
        unsafe {
            if Self::is_ours() {
                (*HEAP.0.get()).calloc(layout.size(), layout.align())
            } else if is_timed()
                && let Some(_hold) = Hold::new()
            {
                (*HEAP.0.get()).calloc(layout.size(), layout.align())
            } else {
                System.alloc_zeroed(layout)
            }
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: by contract.
        unsafe {
            if Self::has(place) {
                // What a handler frees in the middle of an allocation is lost.
                let hold = is_timed().then(Hold::new);
                if !matches!(hold, Some(None)) {
                    (*HEAP.0.get()).free(place, layout.size(), layout.align());
                }
            } else {
                System.dealloc(place, layout);
            }
        }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by contract.
        unsafe {
            if Self::has(place) {
                let hold = is_timed().then(Hold::new);
                if matches!(hold, Some(None)) {
                    let new = System.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    if !new.is_null() {
                        new.copy_from_nonoverlapping(place, size.min(layout.size()));
                    }
                    return new;
                }
                (*HEAP.0.get()).realloc(place, layout.size(), layout.align(), size)
            } else {
                System.realloc(place, layout, size)
            }
        }
    }
}
