//! Addresses in the code of the crossing and the engine, by which frames and program counters are
//! recognised. The labels are in `crossing/slow_path.rs` and `crossing/fast_path.rs`.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

unsafe extern "C" {
    static __flick_cross: u8;
    static __flick_cross_end: u8;
    static __flick_cross_called: u8;
    static __flick_cross_landing: u8;
    static __flick_cross_calls: u8;
    static __flick_cross_again: u8;
    static __flick_cross_counted: u8;
    static __flick_cross_counted_end: u8;
    static __flick_cross_counted_called: u8;
    static __flick_cross_counted_landing: u8;
    static __flick_cross_counted_calls: u8;
    static __flick_cross_counted_again: u8;
    static __flick_fast: u8;
    static __flick_fast_end: u8;
    static __flick_fast_host_call: u8;
    static __flick_fast_host_call_counted: u8;
    static __flick_fast_calls: u8;
    static __flick_fast_call_by_signature: u8;
    static __flick_fast_called: u8;
    static __flick_signature: u8;
    static __flick_signature_aligned: u8;
    static __flick_signature_end: u8;
    static __flick_signature_call: u8;
    static __flick_signature_calls: u8;
    static __flick_signature_called: u8;
    static __flick_activation_end: u8;
}

unsafe extern "C" {
    /// By its exported name. If a program without PIE has a PLT entry for it, the address of that
    /// entry is the function's address in all modules, and NxP code jumps there.
    fn __flick_xcall();
}

static COUNTED: AtomicBool = AtomicBool::new(false);

/// From now on NxP code is entered by the counted crossing. Call before gates get their targets.
pub fn count() {
    COUNTED.store(true, Relaxed);
}

/// Whether NxP code is entered by the counted crossing: something is counted, or watched.
#[inline]
pub fn counted() -> bool {
    COUNTED.load(Relaxed)
}

/// The slow path of a backend. Each has one with accounts and one without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Crossing {
    /// The fast path belongs to it, too.
    Inline,
    InlineCounted,
}

impl Crossing {
    pub const ALL: [Self; 2] = [Self::Inline, Self::InlineCounted];

    /// The entry of gates, in assembly.
    pub fn entrance(self) -> usize {
        match self {
            Self::Inline => &raw const __flick_cross as usize,
            Self::InlineCounted => &raw const __flick_cross_counted as usize,
        }
    }

    /// Where it makes the host call that is due, with its `Next` in eax.
    pub fn calls(self) -> u64 {
        match self {
            Self::Inline => &raw const __flick_cross_calls as u64,
            Self::InlineCounted => &raw const __flick_cross_counted_calls as u64,
        }
    }

    /// Where an unwinder must go on for a landing pad in NxP code, with the activation's rbp and
    /// the landing pad's values in rax and rdx.
    pub fn landing(self) -> u64 {
        match self {
            Self::Inline => &raw const __flick_cross_landing as u64,
            Self::InlineCounted => &raw const __flick_cross_counted_landing as u64,
        }
    }

    /// Where `__flick_setjmp` goes on when it returns again.
    pub fn again(self) -> u64 {
        match self {
            Self::Inline => &raw const __flick_cross_again as u64,
            Self::InlineCounted => &raw const __flick_cross_counted_again as u64,
        }
    }
}

/// The fast path: of gates of plain functions, in assembly.
pub fn fast_entrance() -> usize {
    &raw const __flick_fast as usize
}

/// The same for functions with a signature.
pub fn signature_entrance() -> usize {
    &raw const __flick_signature as usize
}

/// The same for those that get the address of an object aligned to 16.
pub fn aligned_signature_entrance() -> usize {
    &raw const __flick_signature_aligned as usize
}

/// Start and end of the fast path of calls with a signature.
pub fn signature_path() -> [u64; 2] {
    [
        &raw const __flick_signature as u64,
        &raw const __flick_signature_end as u64,
    ]
}

/// Start and end of each other crossing.
pub fn crossings() -> [u64; 6] {
    [
        &raw const __flick_cross as u64,
        &raw const __flick_cross_end as u64,
        &raw const __flick_cross_counted as u64,
        &raw const __flick_cross_counted_end as u64,
        &raw const __flick_fast as u64,
        &raw const __flick_fast_end as u64,
    ]
}

/// Bytes of the function `activation_end` in front of the return address.
pub const END_HEAD: usize = 1;

/// The address that NxP code returns to at the end of an activation.
#[inline]
pub fn return_address() -> u64 {
    &raw const __flick_activation_end as u64
}

/// The address that NxP code jumps to for a call that needs a signature.
#[inline]
pub fn xcall_address() -> u64 {
    __flick_xcall as *const () as u64
}

/// Whether a crossing's frame at `pc` waits for the host function that NxP code called, or is about
/// to call it by this instruction.
pub fn is_host_call(pc: u64) -> bool {
    pc == &raw const __flick_cross_called as u64
        || pc == &raw const __flick_cross_counted_called as u64
        || pc == &raw const __flick_fast_called as u64
        || pc == &raw const __flick_fast_calls as u64
        || pc == &raw const __flick_signature_called as u64
        || pc == &raw const __flick_signature_calls as u64
}

/// Where a host function comes back to that translated code has called, whose frames are on the
/// stack below.
pub fn called_by_translated() -> [u64; 2] {
    [
        &raw const __flick_fast_called as u64,
        &raw const __flick_signature_called as u64,
    ]
}

/// What translated code calls for the host function whose address is in rax.
pub fn host_call() -> u64 {
    if counted() {
        &raw const __flick_fast_host_call_counted as u64
    } else {
        &raw const __flick_fast_host_call as u64
    }
}

/// What translated code calls in place of `__flick_xcall`.
pub fn signature_call() -> u64 {
    &raw const __flick_signature_call as u64
}

/// The same where the fast path cannot call a host function by its signature, with the registers that
/// `__flick_xcall` wants.
pub fn call_by_signature() -> u64 {
    &raw const __flick_fast_call_by_signature as u64
}

unsafe extern "C" {
    static __start_flick_engine: u8;
    static __stop_flick_engine: u8;
}

/// Start and end of the engine's loop, which alone touches memory for NxP code.
pub fn engine() -> [u64; 2] {
    [
        &raw const __start_flick_engine as u64,
        &raw const __stop_flick_engine as u64,
    ]
}
