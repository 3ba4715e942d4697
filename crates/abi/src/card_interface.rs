//! What libflick and `libflick-card.so` agree on. That library has the machine on which placed functions
//! run under `FLICK_BACKEND=card` (`docs/card.md`).
//!
//! Both are installed together. The number in the table's name changes with its type.
use core::ffi::{CStr, c_void};

use crate::descriptor::Descriptor;

/// The library's file, beside `libflick.so`.
pub const LIBRARY: &str = "libflick-card.so";
/// The name of a value of type [`Functions`].
pub const FUNCTIONS: &CStr = c"__flick_card_2";

/// What machine there is to be.
#[repr(C)]
pub struct Setup {
    /// The name or file of the machine, as UTF-8, and its bytes.
    pub machine: *const u8,
    /// See `machine`.
    pub machine_size: usize,
    /// The file of the kernel, and its bytes.
    pub kernel: *const u8,
    /// See `kernel`.
    pub kernel_size: usize,
    /// Room for a reason, which gets a fragment of UTF-8 for people if there is none.
    pub reason: [u8; 512],
    /// Bytes of it.
    pub reason_size: usize,
}

/// What comes next in the machine that is not the machine's own.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// `owner` executes its code on `hart`, `budget` instructions at most.
    Run = 0,
    /// `message` is for its owner.
    Message = 1,
    /// Nothing will happen without a further descriptor.
    Idle = 2,
    /// The machine has ended.
    Ended = 3,
}

/// See [`OrderKind`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Which.
    pub kind: OrderKind,
    /// Of [`OrderKind::Run`].
    pub hart: u32,
    /// The extensions that this hart has: `flick_riscv::Isa::bits`.
    pub extensions: u32,
    /// See `hart`.
    pub owner: u64,
    /// See `hart`.
    pub budget: u64,
    /// Of [`OrderKind::Message`].
    pub message: Descriptor,
}

/// The cause of no exception, in [`Functions::executed`].
pub const NO_EXCEPTION: u64 = u64::MAX;

/// What the library does. One thread calls at a time, with all signals blocked. Nothing waits.
#[repr(C)]
pub struct Functions {
    /// Makes the machine, and boots it. False: there is none, for a reason.
    pub open: unsafe extern "C" fn(&mut Setup) -> bool,
    /// A descriptor for the card. False: the ring is full; it has room again after some `advance`.
    pub send: unsafe extern "C" fn(&Descriptor) -> bool,
    /// Runs the machine up to what comes next.
    pub advance: unsafe extern "C" fn(&mut Order),
    /// Loads the registers of a hart that is lent into a `flick_engine::Hart`: x, f and pc.
    pub registers: unsafe extern "C" fn(hart: u32, registers: *mut c_void),
    /// The owner has executed so many instructions on a hart that is lent, which is back with these
    /// registers (a `flick_engine::Hart`) and this fcsr. It goes on, or takes an exception.
    pub executed: unsafe extern "C" fn(
        hart: u32,
        instructions: u64,
        registers: *const c_void,
        fcsr: u64,
        cause: u64,
        value: u64,
    ),
    /// In a child of `fork`, before anything else: the machine is the child's own from now on.
    pub forked: unsafe extern "C" fn(),
    /// What has been counted: instructions of all harts, those of owners, descriptors there and back, and
    /// picoseconds of virtual time.
    pub counts: unsafe extern "C" fn(&mut [u64; 5]),
}
