//! What the fast path of calls with a signature ([`crate::crossing::signature_path`]) knows of
//! signatures and of calls by them, for all threads.
//!
//! Who does not find it here takes the slow path, which adds it. What is here does not change as
//! long as the modules that it names are there. Everything is async-signal-safe.
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::signatures::Plan;

const COUNT: usize = 1 << 12;
/// The lower bits of a text's address choose its place. Texts lie close together.
pub const TEXT_MASK: usize = COUNT - 1;
/// The same of a function's, which is mostly a multiple of 16.
pub const FUNCTION_MASK: usize = (COUNT - 1) << 4;

/// A text may also be in the place behind its own.
pub struct Signatures {
    /// Addresses of texts; 0: free; [`CLAIMED`]: about to be used.
    texts: [AtomicU64; COUNT + 1],
    /// Their plans.
    plans: [AtomicU64; COUNT + 1],
}

/// Distance from a text to its plan.
pub const PLANS: usize = std::mem::offset_of!(Signatures, plans);

const CLAIMED: u64 = 1;

pub static SIGNATURES: Signatures = Signatures {
    texts: [const { AtomicU64::new(0) }; COUNT + 1],
    plans: [const { AtomicU64::new(0) }; COUNT + 1],
};

/// A call of the host by NxP code.
#[repr(C, align(32))]
pub struct Call {
    /// 0: free; [`CLAIMED`]: about to be used.
    pub function: AtomicU64,
    /// Of its signature.
    pub text: AtomicU64,
    pub plan: AtomicU64,
}

/// A call may also be in the place behind its own.
pub static CALLS: [Call; COUNT + 1] = [const {
    Call {
        function: AtomicU64::new(0),
        text: AtomicU64::new(0),
        plan: AtomicU64::new(0),
    }
}; COUNT + 1];

static HAS_CALLS: AtomicBool = AtomicBool::new(false);

/// Whether it was free and is the caller's now.
fn claim(place: &AtomicU64) -> bool {
    let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
    place.compare_exchange(0, CLAIMED, success, failure).is_ok()
}

/// From here on the fast path knows the plan of the signature at `text`, if it makes such calls and
/// there is room.
pub fn add(text: u64, plan: &'static Plan) {
    let has_moves = !plan.to_nxp.first.is_null() || !plan.to_host.first.is_null();
    if !has_moves {
        return;
    }
    let first = text as usize & TEXT_MASK;
    for at in [first, first + 1] {
        let place = &SIGNATURES.texts[at];
        if place.load(Ordering::Relaxed) == text {
            return;
        }
        if claim(place) {
            SIGNATURES.plans[at].store(std::ptr::from_ref(plan) as u64, Ordering::Relaxed);
            place.store(text, Ordering::Release);
            return;
        }
    }
}

/// The same for calls of the host's `function` by this signature. Whether the fast path knows the
/// call now.
pub fn add_call(function: u64, text: u64, plan: &'static Plan) -> bool {
    if plan.to_host.first.is_null() {
        return false;
    }
    let first = (function as usize & FUNCTION_MASK) >> 4;
    for call in [&CALLS[first], &CALLS[first + 1]] {
        let known = |field: &AtomicU64| field.load(Ordering::Relaxed);
        if known(&call.function) == function && known(&call.text) == text {
            return true;
        }
        if claim(&call.function) {
            HAS_CALLS.store(true, Ordering::Relaxed);
            call.text.store(text, Ordering::Relaxed);
            let plan = std::ptr::from_ref(plan) as u64;
            call.plan.store(plan, Ordering::Relaxed);
            call.function.store(function, Ordering::Release);
            return true;
        }
    }
    false
}

/// What is at these addresses goes away, or something else comes there.
pub fn forget(ranges: &[Range<u64>]) {
    let is_gone = |at: &AtomicU64| {
        let at = at.load(Ordering::Relaxed);
        ranges.iter().any(|range| range.contains(&at))
    };
    if HAS_CALLS.load(Ordering::Relaxed) {
        let gone = |call: &&Call| is_gone(&call.function) || is_gone(&call.text);
        for call in CALLS.iter().filter(gone) {
            call.function.store(0, Ordering::Release);
        }
    }
}

/// The texts of a module that goes, in its image.
pub fn forget_texts(image: &Range<u64>) {
    for place in &SIGNATURES.texts {
        if image.contains(&place.load(Ordering::Relaxed)) {
            place.store(0, Ordering::Release);
        }
    }
}
