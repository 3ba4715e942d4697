//! A lock that survives `fork` and is not left behind by a signal handler.
use std::cell::UnsafeCell;

use crate::os::signal_mask::BlockedSignals;

/// A mutex. While it is held all signals are blocked in the thread, so that a handler that needs a
/// stack never waits for the code it interrupted.
pub(crate) struct ForkMutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a pthread mutex is made for use from many threads.
unsafe impl Sync for ForkMutex {}

impl ForkMutex {
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

    /// Keeps everybody out, as around `fork`. Signals are blocked meanwhile.
    pub(crate) fn lock(&self) {
        // SAFETY: a valid mutex that is never moved (statics only) nor destroyed.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
    }

    /// By who has locked it.
    pub(crate) fn unlock(&self) {
        // SAFETY: as above; this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}
