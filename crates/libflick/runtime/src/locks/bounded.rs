//! Locks that a signal handler may find held by the very thread that it has interrupted.
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Holds `mutex` as soon as other threads let it go; `None` where that takes so long that its
/// holder can only be the code that this handler has interrupted.
pub fn lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    /// Try-locks before the caller gives up.
    const ATTEMPTS: usize = 10_000;
    for _ in 0..ATTEMPTS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

/// Holds `mutex`: for what no handler does.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
