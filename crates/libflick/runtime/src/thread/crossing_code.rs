//! Addresses in the code of the crossing and the engine, by which frames and program counters are
//! recognised. The labels are in `crossing/slow_path.rs` and `crossing/fast_path.rs`.
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

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
    static __flick_cross_card: u8;
    static __flick_cross_card_end: u8;
    static __flick_cross_card_called: u8;
    static __flick_cross_card_landing: u8;
    static __flick_cross_card_calls: u8;
    static __flick_cross_card_again: u8;
    static __flick_cross_card_counted: u8;
    static __flick_cross_card_counted_end: u8;
    static __flick_cross_card_counted_called: u8;
    static __flick_cross_card_counted_landing: u8;
    static __flick_cross_card_counted_calls: u8;
    static __flick_cross_card_counted_again: u8;
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

static ON_CARD: AtomicBool = AtomicBool::new(false);

/// From now on NxP code is entered by the crossing of the backend `card`. Call before gates get their
/// targets.
pub fn enter_card() {
    ON_CARD.store(true, Relaxed);
}

/// Is NxP code executed on a card?
pub fn on_card() -> bool {
    ON_CARD.load(Relaxed)
}

/// The slow path of a backend. Each has one with accounts and one without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Crossing {
    /// The fast path belongs to it, too.
    Inline,
    InlineCounted,
    Card,
    CardCounted,
}

impl Crossing {
    pub const ALL: [Self; 4] = [
        Self::Inline,
        Self::InlineCounted,
        Self::Card,
        Self::CardCounted,
    ];

    /// The entry of gates, in assembly.
    pub fn entrance(self) -> usize {
        match self {
            Self::Inline => &raw const __flick_cross as usize,
            Self::InlineCounted => &raw const __flick_cross_counted as usize,
            Self::Card => &raw const __flick_cross_card as usize,
            Self::CardCounted => &raw const __flick_cross_card_counted as usize,
        }
    }

    /// Where it makes the host call that is due, with its `Next` in eax.
    pub fn calls(self) -> u64 {
        match self {
            Self::Inline => &raw const __flick_cross_calls as u64,
            Self::InlineCounted => &raw const __flick_cross_counted_calls as u64,
            Self::Card => &raw const __flick_cross_card_calls as u64,
            Self::CardCounted => &raw const __flick_cross_card_counted_calls as u64,
        }
    }

    /// Where an unwinder must go on for a landing pad in NxP code, with the activation's rbp and
    /// the landing pad's values in rax and rdx.
    pub fn landing(self) -> u64 {
        match self {
            Self::Inline => &raw const __flick_cross_landing as u64,
            Self::InlineCounted => &raw const __flick_cross_counted_landing as u64,
            Self::Card => &raw const __flick_cross_card_landing as u64,
            Self::CardCounted => &raw const __flick_cross_card_counted_landing as u64,
        }
    }

    /// Where `__flick_setjmp` goes on when it returns again.
    pub fn again(self) -> u64 {
        match self {
            Self::Inline => &raw const __flick_cross_again as u64,
            Self::InlineCounted => &raw const __flick_cross_counted_again as u64,
            Self::Card => &raw const __flick_cross_card_again as u64,
            Self::CardCounted => &raw const __flick_cross_card_counted_again as u64,
        }
    }
}

/// The places of a copy of the fast path (`flick_abi::layout::NearCrossing`).
pub struct NearAddresses {
    pub entry: u64,
    pub host_call: u64,
    pub calls: u64,
    pub called: u64,
    pub end: u64,
    pub signature: u64,
    pub signature_aligned: u64,
    pub signature_call: u64,
    pub signature_calls: u64,
    pub signature_called: u64,
}

/// Of the copy in the program; all 0 without one.
static NEAR: [AtomicU64; 10] = [const { AtomicU64::new(0) }; 10];

/// The program's copy is used from now on. Call before a thread enters it.
pub fn set_near(all: &NearAddresses) {
    let all = [
        all.entry,
        all.host_call,
        all.calls,
        all.called,
        all.end,
        all.signature,
        all.signature_aligned,
        all.signature_call,
        all.signature_calls,
        all.signature_called,
    ];
    for (place, value) in NEAR.iter().zip(all) {
        place.store(value, Relaxed);
    }
}

fn near() -> NearAddresses {
    let at = |n: usize| NEAR[n].load(Relaxed);
    NearAddresses {
        entry: at(0),
        host_call: at(1),
        calls: at(2),
        called: at(3),
        end: at(4),
        signature: at(5),
        signature_aligned: at(6),
        signature_call: at(7),
        signature_calls: at(8),
        signature_called: at(9),
    }
}

/// Whether a branch between `address` and libflick's own copy of the fast path is a short one.
pub fn is_near(address: u64) -> bool {
    is_short(address, &raw const __flick_fast as u64)
}

/// Processors remember targets of branches that are nearer at less cost.
fn is_short(from: u64, to: u64) -> bool {
    from.abs_diff(to) < 1 << 31
}

/// The fast path of the gate at `gate`, of a plain function, in assembly.
/// `has_code`: the function's translation is known.
pub fn fast_entrance(gate: usize, has_code: bool) -> usize {
    entrance(gate, has_code, near().entry, &raw const __flick_fast)
}

/// The same for functions with a signature.
pub fn signature_entrance(gate: usize, has_code: bool) -> usize {
    entrance(
        gate,
        has_code,
        near().signature,
        &raw const __flick_signature,
    )
}

/// The same for those that get the address of an object aligned to 16.
pub fn aligned_signature_entrance(gate: usize, has_code: bool) -> usize {
    let own = &raw const __flick_signature_aligned;
    entrance(gate, has_code, near().signature_aligned, own)
}

/// `near`, the place in the program's copy, if the gate may enter there; else libflick's `own`.
fn entrance(gate: usize, has_code: bool, near: u64, own: *const u8) -> usize {
    if near != 0 && has_code && is_short(gate as u64, near) {
        return near as usize;
    }
    own as usize
}

/// Start and end of the fast path of calls with a signature.
pub fn signature_path() -> [u64; 2] {
    [
        &raw const __flick_signature as u64,
        &raw const __flick_signature_end as u64,
    ]
}

/// Start and end of the program's copy of the fast path, and where a host function comes back in it
/// to translated code, plain and with a signature; 0 without one.
pub fn near_crossing() -> [u64; 4] {
    let near = near();
    [near.entry, near.end, near.called, near.signature_called]
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

/// The same of the backend `card`.
pub fn card_crossings() -> [u64; 4] {
    [
        &raw const __flick_cross_card as u64,
        &raw const __flick_cross_card_end as u64,
        &raw const __flick_cross_card_counted as u64,
        &raw const __flick_cross_card_counted_end as u64,
    ]
}

/// Where host functions come back to them.
pub fn called_on_card() -> [u64; 2] {
    [
        &raw const __flick_cross_card_called as u64,
        &raw const __flick_cross_card_counted_called as u64,
    ]
}

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
        || pc == &raw const __flick_cross_card_called as u64
        || pc == &raw const __flick_cross_card_counted_called as u64
        || pc == &raw const __flick_fast_called as u64
        || pc == &raw const __flick_fast_calls as u64
        || pc == &raw const __flick_signature_called as u64
        || pc == &raw const __flick_signature_calls as u64
        || is_near_host_call(pc)
}

fn is_near_host_call(pc: u64) -> bool {
    let near = near();
    let all = [
        near.called,
        near.calls,
        near.signature_called,
        near.signature_calls,
    ];
    pc != 0 && all.contains(&pc)
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
        return &raw const __flick_fast_host_call_counted as u64;
    }
    match near().host_call {
        0 => &raw const __flick_fast_host_call as u64,
        near => near,
    }
}

/// Whether `code` is what translated code calls for a host function, in either copy.
pub fn is_host_call_code(code: u64) -> bool {
    code == &raw const __flick_fast_host_call as u64 || code == host_call()
}

/// What the code that calls through the cell at `cell` is to call, which `found` [`host_call`] or
/// [`signature_call`] in the table of targets: the copy that is near it.
pub fn host_call_for(cell: usize, found: u64) -> u64 {
    let near = near();
    if is_short(cell as u64, found) {
        found
    } else if found == near.host_call {
        &raw const __flick_fast_host_call as u64
    } else if found == near.signature_call {
        &raw const __flick_signature_call as u64
    } else {
        found
    }
}

/// What translated code calls in place of `__flick_xcall`.
pub fn signature_call() -> u64 {
    match near().signature_call {
        0 => &raw const __flick_signature_call as u64,
        near => near,
    }
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
