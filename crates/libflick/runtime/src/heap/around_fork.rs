//! A lock that survives `fork` and is not left behind by a signal handler.
use std::cell::UnsafeCell;
use std::sync::Once;

use super::gate;
use crate::stats;
use crate::sync::BlockedSignals;

/// A mutex. While it is held all signals are blocked in the thread, so that a handler that needs a
/// stack never waits for the code it interrupted.
pub(crate) struct Lock(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a pthread mutex is made for use from many threads.
unsafe impl Sync for Lock {}

impl Lock {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        let _blocked = BlockedSignals::new();
        self.lock();
        let result = f();
        self.unlock();
        result
    }

    fn lock(&self) {
        // SAFETY: a valid mutex that is never moved (statics only) nor destroyed.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
    }

    fn unlock(&self) {
        // SAFETY: as above; this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}

/// Every lock of this module and the statistics', in the order in which one may be taken under another. `fork` takes
/// them and releases them on both sides, so that the child never finds one held by a thread that it
/// does not have.
static ALL: [&Lock; 4] = [
    &stats::LOCK,
    &super::ranges::WRITERS,
    &super::overaligned::LOCK,
    &super::region::BOUNDARY,
];

/// Of the thread that forks.
struct Mask(UnsafeCell<Option<BlockedSignals>>);
// SAFETY: accessed only with all of ALL held.
unsafe impl Sync for Mask {}
static MASK: Mask = Mask(UnsafeCell::new(None));

extern "C" fn before_fork() {
    let blocked = BlockedSignals::new();
    gate::close();
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
    gate::reopen(child);
    drop(blocked);
}

pub(super) fn install_fork_handlers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        gate::init();
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
