//! The map of NxP-local memory that host code reads which was compiled with `--flick-timed`
//! (`flick_abi::timed::MAP`).
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering::Relaxed, Ordering::Release};

use flick_abi::timed::MAP_SHIFT;

use super::setting;
use crate::locks::bounded::held;
use crate::memory;
use crate::os::fatal;

/// Bytes of the map for all of the user's address space, of 47 bits.
const MAP_SIZE: usize = 1 << (47 - MAP_SHIFT);

/// `flick_abi::timed::MAP`.
#[repr(C)]
pub struct Map {
    bytes: AtomicPtr<u8>,
    /// Of an index of `bytes`.
    mask: AtomicUsize,
}

/// The map before there is one: code of the program's may run before its unit is registered (its
/// own `malloc`).
static NOTHING: AtomicU8 = AtomicU8::new(0);

#[unsafe(no_mangle)]
pub static __flick_timed_map: Map = Map {
    bytes: AtomicPtr::new((&raw const NOTHING).cast::<u8>().cast_mut()),
    mask: AtomicUsize::new(0),
};

/// The map of a run that looks at the host's own memory, too: it has one byte, for all that there is.
static ALL: AtomicU8 = AtomicU8::new(1);

fn has_map() -> bool {
    let nothing = (&raw const NOTHING).cast::<u8>().cast_mut();
    __flick_timed_map.bytes.load(Relaxed) != nothing
}

/// Makes the map, empty. Before any instrumented code runs, which all of it begins by registering
/// its unit.
pub fn make_map() {
    if has_map() {
        return;
    }
    // SAFETY: a new mapping of zeroes, of which only what is written takes memory.
    let map = unsafe {
        libc::mmap(
            ptr::null_mut(),
            MAP_SIZE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if map == libc::MAP_FAILED {
        fatal::exit(
            "FLK0402",
            &format!(
                "no {} MiB of address space for the map of a timed program",
                MAP_SIZE >> 20
            ),
            "give the program more address space (ulimit -v)",
        );
    }
    __flick_timed_map.bytes.store(map.cast(), Relaxed);
    __flick_timed_map.mask.store(MAP_SIZE - 1, Release);
    let data = held(&DATA);
    for &(start, end) in data.iter() {
        mark(start, end);
    }
}

/// `FLICK_NXP_DATA` of all modules that there have been.
static DATA: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// A module with such data has been loaded.
pub fn add_data(start: usize, end: usize) {
    if start == end {
        return;
    }
    let mut data = held(&DATA);
    data.push((start, end));
    if has_map() {
        mark(start, end);
    }
}

pub fn has_data() -> bool {
    !held(&DATA).is_empty()
}

/// Marks all that is NxP-local; in a profile, and where the host's own memory is looked at, all that
/// there is.
pub fn mark_all() {
    make_map();
    if setting::has_own_memory() {
        // Code that runs meanwhile finds a byte of either map.
        __flick_timed_map.mask.store(0, Release);
        let all = (&raw const ALL).cast::<u8>().cast_mut();
        __flick_timed_map.bytes.store(all, Release);
        return;
    }
    if setting::is_profiled() {
        mark(0, 1 << 47);
    }
    let (base, _, size) = memory::nxp_region::parts();
    mark(base, base + size);
}

/// There is, or may be, NxP-local memory from `start` to `end`.
fn mark(start: usize, end: usize) {
    if __flick_timed_map.mask.load(Relaxed) == 0 {
        // The map of one byte, which is marked.
        return;
    }
    let map = __flick_timed_map.bytes.load(Relaxed);
    for granule in start >> MAP_SHIFT..end.div_ceil(1 << MAP_SHIFT).min(MAP_SIZE) {
        // SAFETY: an index of the map.
        unsafe { map.add(granule).write_volatile(1) };
    }
}
