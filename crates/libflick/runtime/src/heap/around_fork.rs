//! What `fork` does with the NxP heap: nobody is in the allocator, and nobody holds a lock, when
//! the child is made.
use std::cell::UnsafeCell;
use std::sync::Once;

use super::fork_gate;
use crate::locks::order::ALL;
use crate::os::signal_mask::BlockedSignals;

/// Of the thread that forks.
struct Mask(UnsafeCell<Option<BlockedSignals>>);
// SAFETY: accessed only with all of ALL held.
unsafe impl Sync for Mask {}
static MASK: Mask = Mask(UnsafeCell::new(None));

extern "C" fn before_fork() {
    let blocked = BlockedSignals::new();
    fork_gate::close();
    ALL.iter().for_each(|lock| lock.lock());
    // SAFETY: all locks are held.
    unsafe { *MASK.0.get() = Some(blocked) };
}

extern "C" fn after_fork_in_parent() {
    after_fork(false);
}

extern "C" fn after_fork_in_child() {
    after_fork(true);
}

fn after_fork(child: bool) {
    // SAFETY: all locks are held.
    let blocked = unsafe { (*MASK.0.get()).take() };
    ALL.iter().rev().for_each(|lock| lock.unlock());
    fork_gate::reopen(child);
    drop(blocked);
}

/// Installs the handlers, once.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        fork_gate::init();
        // SAFETY: the handlers live as long as the process; libflick is never unloaded.
        unsafe {
            libc::pthread_atfork(
                Some(before_fork),
                Some(after_fork_in_parent),
                Some(after_fork_in_child),
            )
        };
    });
}
