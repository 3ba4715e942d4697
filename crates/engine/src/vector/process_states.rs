//! Where the harts of a process have their vector states, if the owner of the harts makes each at
//! its hart's first vector instruction.

use core::mem::transmute;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::VectorState;
use crate::hart_state::Hart;

/// Gives the vector state of a hart that is at a vector instruction; `None`: it has none, and the
/// instruction is illegal. The state is that of this hart alone, for as long as the hart executes
/// without leaving its run.
pub type StateOf = fn(&Hart) -> Option<NonNull<VectorState>>;

/// The [`StateOf`], or null.
static OF: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// From now on harts of a [`ProcessCore`](crate::ProcessCore) that was given no state have those of
/// `of`. It is asked at each vector instruction, and must be quick.
pub fn set_process_states(of: StateOf) {
    OF.store(of as *mut (), Ordering::Release);
}

/// The state that [`set_process_states`] provides.
pub fn process_state(hart: &Hart) -> Option<NonNull<VectorState>> {
    let of = OF.load(Ordering::Acquire);
    if of.is_null() {
        return None;
    }
    // SAFETY: `set_process_states` has stored a function of this type.
    let of = unsafe { transmute::<*mut (), StateOf>(of) };
    of(hart)
}
