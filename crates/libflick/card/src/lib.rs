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
//! | `process_space.rs` | the memory of the process, for the card's copy unit |
//!
//! **Where to.** libflick lets the owner execute what is to be executed, and gives it its messages.
//!
//! Memory comes from a heap of the library's own: a signal handler that crosses may have interrupted the
//! program's `malloc`.
#![warn(missing_docs)]

mod process_machine;
mod process_space;

use std::cell::UnsafeCell;
use std::ffi::c_void;

use flick_abi::card_interface::{Functions, Order, OrderKind, Setup};
use flick_abi::descriptor::Descriptor;
use flick_engine::Hart;

use process_machine::Driver;

#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

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
pub static __flick_card_2: Functions = Functions {
    open,
    send,
    advance,
    registers,
    executed,
    forked,
    counts,
};

unsafe extern "C" fn open(setup: &mut Setup) -> bool {
    let text = |at: *const u8, size: usize| {
        // SAFETY: the caller's bytes.
        let bytes = unsafe { std::slice::from_raw_parts(at, size) };
        String::from_utf8_lossy(bytes).into_owned()
    };
    let machine = text(setup.machine, setup.machine_size);
    let kernel = text(setup.kernel, setup.kernel_size);
    match Driver::open(&machine, &kernel) {
        Ok(driver) => {
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

unsafe extern "C" fn send(descriptor: &Descriptor) -> bool {
    // SAFETY: the caller has the token.
    unsafe { with(|driver| driver.send(descriptor)) }.unwrap_or(false)
}

unsafe extern "C" fn advance(order: &mut Order) {
    order.kind = OrderKind::Ended;
    // SAFETY: the caller has the token.
    unsafe { with(|driver| driver.advance(order)) };
}

unsafe extern "C" fn registers(hart: u32, registers: *mut c_void) {
    // SAFETY: the caller has the token, and passes a hart of its own.
    unsafe { with(|driver| driver.registers(hart, &mut *registers.cast::<Hart>())) };
}

unsafe extern "C" fn executed(
    hart: u32,
    instructions: u64,
    registers: *const c_void,
    fcsr: u64,
    cause: u64,
    value: u64,
) {
    // SAFETY: as above.
    unsafe {
        let registers = &*registers.cast::<Hart>();
        with(|driver| driver.executed(hart, instructions, (registers, fcsr), (cause, value)));
    }
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
