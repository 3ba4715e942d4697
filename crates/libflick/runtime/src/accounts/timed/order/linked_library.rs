//! What `libflick-time` and libflick know of each other: the C library's functions, and whether
//! threads are ordered.
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};

use flick_abi::thread_order::{FUNCTIONS, ORDERED, TIMED, VIRTUAL};

/// What the interposed functions look at first (`flick_abi::thread_order::LEVEL`).
#[unsafe(no_mangle)]
pub static __flick_order_level: AtomicU8 = AtomicU8::new(0);

/// The C library's own functions, in the order of [`FUNCTIONS`]; null where the program was not
/// linked with those that come by here.
static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());

/// What is done when it is. It comes from above.
static WHEN_LINKED: OnceLock<fn()> = OnceLock::new();

type Table = [*const c_void; FUNCTIONS.len()];

/// `libflick-time` is in the process.
///
/// # Safety
/// `table` has an address for each function, for as long as the process lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __flick_order_linked(table: *const Table) {
    TABLE.store(table.cast_mut(), Relaxed);
    if let Some(what) = WHEN_LINKED.get() {
        what();
    }
}

/// Does this as soon as it is.
pub fn when_linked(what: fn()) {
    match is_linked() {
        true => what(),
        // A second call would have the same function.
        false => _ = WHEN_LINKED.set(what),
    }
}

/// Whether it is.
pub fn is_linked() -> bool {
    !TABLE.load(Relaxed).is_null()
}

/// The C library's own function.
pub fn real(place: usize) -> *const c_void {
    // SAFETY: the table of `__flick_order_linked`: those who call come from its functions.
    unsafe { (*TABLE.load(Relaxed))[place] }
}

/// Whether threads run in the order of virtual time.
#[inline]
pub fn is_on() -> bool {
    __flick_order_level.load(Relaxed) & ORDERED != 0
}

/// The process is timed from now on. `clocks`: they are virtual, and sleeping is.
pub fn timed(clocks: bool) {
    let clocks = if clocks { VIRTUAL } else { 0 };
    __flick_order_level.fetch_or(TIMED | clocks, Relaxed);
}

/// Whether clocks and sleeping are virtual.
pub fn clocks_are_virtual() -> bool {
    __flick_order_level.load(Relaxed) & VIRTUAL != 0
}

/// Threads run in the order of virtual time from now on, or no longer.
pub fn set_on(on: bool) {
    match on {
        true => __flick_order_level.fetch_or(ORDERED, Relaxed),
        false => __flick_order_level.fetch_and(!ORDERED, Relaxed),
    };
}
