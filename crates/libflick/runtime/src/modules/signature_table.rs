//! Plans by the addresses of signatures' texts, for all threads: where the fast path of calls with a
//! signature ([`crate::crossing::signature_path`]) finds them.
//!
//! Who finds none takes the slow path, which adds it. Everything here is async-signal-safe.
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::signatures::Plan;
use crate::thread::crossing_code;
use crate::translation;

/// A slot in use does not change as long as the module with the text is there.
#[repr(C, align(16))]
pub struct Slot {
    /// 0: free; [`CLAIMED`]: about to be used.
    text: AtomicU64,
    plan: AtomicU64,
}

const CLAIMED: u64 = 1;
const COUNT: usize = 1 << 12;
/// The lower bits of a text's address choose its slot. Texts lie close together.
pub const MASK: usize = COUNT - 1;

/// A text may also be in the slot behind its own.
pub static SLOTS: [Slot; COUNT + 1] = [const {
    Slot {
        text: AtomicU64::new(0),
        plan: AtomicU64::new(0),
    }
}; COUNT + 1];

fn places(text: u64) -> [&'static Slot; 2] {
    let first = text as usize & MASK;
    [&SLOTS[first], &SLOTS[first + 1]]
}

/// From here on the fast path knows the plan of the signature at `text`, if it makes such calls and
/// there is room.
pub fn add(text: u64, plan: &'static Plan) {
    let fast = !plan.to_nxp.first.is_null() || !plan.to_host.first.is_null();
    if !fast || !translation::enabled() || crossing_code::counted() {
        return;
    }
    let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
    for slot in places(text) {
        if slot.text.load(Ordering::Relaxed) == text {
            return;
        }
        let claimed = slot.text.compare_exchange(0, CLAIMED, success, failure);
        if claimed.is_ok() {
            let plan = std::ptr::from_ref(plan) as u64;
            slot.plan.store(plan, Ordering::Relaxed);
            slot.text.store(text, Ordering::Release);
            return;
        }
    }
}

/// The texts of a module that goes: those in its image, and those of its gates.
pub fn forget(image: &Range<u64>, gates: impl Iterator<Item = u64>) {
    let clear = |slot: &Slot| slot.text.store(0, Ordering::Release);
    for text in gates {
        let known = |slot: &&Slot| slot.text.load(Ordering::Relaxed) == text;
        places(text).into_iter().filter(known).for_each(clear);
    }
    let within = |slot: &&Slot| image.contains(&slot.text.load(Ordering::Relaxed));
    SLOTS.iter().filter(within).for_each(clear);
}
