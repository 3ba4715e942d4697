//! `libflick-card.so`: the machine on whose harts a program's placed functions run under
//! `FLICK_BACKEND=card` (`docs/card.md`).
//!
//! **From where.** libflick loads this library at the start of such a program, and calls the functions of
//! [`flick_abi::card_interface`] with the token: one thread at a time, with all signals blocked, on a stack
//! of their own.
//!
//! | file | subject |
//! |---|---|
//! | `lib.rs` | the functions |
//! | `process_machine.rs` | the machine, and what comes next in it |
//! | `machine_clock.rs` | the virtual time of the machine, as its owners see it |
//! | `ran.rs` | what functions have executed, for `flick stat` |
//! | `servers.rs` | servers of files and pipes, which the machine starts with |
//! | `process_space.rs` | the memory of the process, for the card's copy unit |
//!
//! **Where to.** libflick lets the owner execute what is to be executed, and gives it its messages.
//!
//! Memory comes from a heap of the library's own: a signal handler that crosses may have interrupted the
//! program's `malloc`.
#![warn(missing_docs)]

mod machine_clock;
mod process_machine;
mod process_space;
mod ran;
mod servers;

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ffi::c_void;

use flick_abi::card_interface::{
    Executed, Functions, HartRow, NO_TIME, Order, OrderKind, RanRow, Setup, TileRow,
};
use flick_abi::descriptor::Descriptor;
use flick_engine::Hart;

use process_machine::Driver;

/// The library's heap. Who has the token uses it, so that it needs no lock.
struct Heap(UnsafeCell<dlmalloc::Dlmalloc>);

// SAFETY: one thread at a time calls the library, and the library starts none.
unsafe impl Sync for Heap {}

// SAFETY: dlmalloc's blocks, which are its caller's until they are freed; one call at a time.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by contract; nobody else uses the heap.
        unsafe { (*self.0.get()).malloc(layout.size(), layout.align()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { (*self.0.get()).calloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { (*self.0.get()).free(block, layout.size(), layout.align()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        unsafe { (*self.0.get()).realloc(block, layout.size(), layout.align(), size) }
    }
}

#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(dlmalloc::Dlmalloc::new()));

struct Machine(UnsafeCell<Option<Driver>>);

// SAFETY: who has the token uses it, alone.
unsafe impl Sync for Machine {}

static MACHINE: Machine = Machine(UnsafeCell::new(None));

/// Calls `f` with the machine, if there is one.
///
/// # Safety
/// The caller has the token.
unsafe fn with<R>(f: impl FnOnce(&mut Driver) -> R) -> Option<R> {
    // SAFETY: by contract.
    unsafe { (*MACHINE.0.get()).as_mut() }.map(f)
}

/// See [`Functions`].
#[unsafe(no_mangle)]
pub static __flick_card_7: Functions = Functions {
    open,
    send,
    advance,
    next,
    until,
    registers,
    executed,
    forked,
    counts,
    has_run,
    ran,
    hart,
    tile,
};

unsafe extern "C" fn open(setup: &mut Setup) -> bool {
    let text = |at: *const u8, size: usize| {
        // SAFETY: the caller's bytes.
        let bytes = unsafe { std::slice::from_raw_parts(at, size) };
        String::from_utf8_lossy(bytes).into_owned()
    };
    let machine = text(setup.machine, setup.machine_size);
    let kernel = text(setup.kernel, setup.kernel_size);
    let inject = text(setup.inject, setup.inject_size);
    let files = text(setup.files, setup.files_size);
    match Driver::open(&machine, &kernel, (&inject, &files), setup.is_timed) {
        Ok(driver) => {
            setup.vlen = driver.vlen();
            setup.isa = driver.common_isa().bits();
            // SAFETY: the caller has the token.
            unsafe { *MACHINE.0.get() = Some(driver) };
            true
        }
        Err(reason) => {
            let size = reason.len().min(setup.reason.len());
            setup.reason[..size].copy_from_slice(&reason.as_bytes()[..size]);
            setup.reason_size = size;
            false
        }
    }
}

unsafe extern "C" fn send(descriptor: &Descriptor, time: u64) -> bool {
    // SAFETY: the caller has the token.
    unsafe { with(|driver| driver.send(descriptor, time)) }.unwrap_or(false)
}

unsafe extern "C" fn advance(order: &mut Order, until: u64) {
    order.kind = OrderKind::Ended;
    let until = (until != NO_TIME).then_some(until);
    // SAFETY: the caller has the token.
    unsafe { with(|driver| driver.advance(order, until)) };
}

unsafe extern "C" fn next() -> u64 {
    // SAFETY: as above.
    let next = unsafe { with(Driver::next) }.flatten();
    next.unwrap_or(NO_TIME)
}

unsafe extern "C" fn until(hart: u32, at: u64, others: u64) -> u64 {
    let others = (others != NO_TIME).then_some(others);
    // SAFETY: as above.
    let until = unsafe { with(|driver| driver.until(hart, at, others)) }.flatten();
    until.unwrap_or(at)
}

unsafe extern "C" fn registers(hart: u32, registers: *mut c_void) {
    // SAFETY: the caller has the token, and passes a hart of its own.
    unsafe { with(|driver| driver.registers(hart, &mut *registers.cast::<Hart>())) };
}

unsafe extern "C" fn executed(executed: &Executed, registers: *const c_void) {
    // SAFETY: as above.
    unsafe { with(|driver| driver.executed(executed, &*registers.cast::<Hart>())) };
}

unsafe extern "C" fn forked() {
    // SAFETY: as above.
    unsafe { with(Driver::forked) };
}

unsafe extern "C" fn counts(all: &mut [u64; 5]) {
    // SAFETY: the caller has the token.
    if let Some(found) = unsafe { with(|driver| driver.counts()) } {
        *all = found;
    }
}

unsafe extern "C" fn has_run(row: &RanRow) {
    // SAFETY: the caller has the token.
    unsafe { with(|driver| driver.ran.add(row)) };
}

unsafe extern "C" fn ran(at: usize, row: &mut RanRow) -> bool {
    // SAFETY: as above.
    let found = unsafe { with(|driver| driver.ran.row(at)) }.flatten();
    found.map(|found| *row = found).is_some()
}

unsafe extern "C" fn hart(at: usize, row: &mut HartRow) -> bool {
    // SAFETY: as above.
    unsafe { with(|driver| driver.hart(at, row)) }.unwrap_or(false)
}

unsafe extern "C" fn tile(at: usize, row: &mut TileRow) -> bool {
    // SAFETY: as above.
    unsafe { with(|driver| driver.tile(at, row)) }.unwrap_or(false)
}
