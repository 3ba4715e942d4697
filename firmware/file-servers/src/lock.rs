//! What the threads of a server have together.
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::calls;

/// A value that one thread at a time uses, for a moment.
#[derive(Debug)]
pub struct Lock<T> {
    is_held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` lets one thread at a time use the value.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A value that nobody uses.
    pub const fn new(value: T) -> Self {
        Self {
            is_held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Uses the value, which nobody else does meanwhile. It is not called from within `f`.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        while self.is_held.swap(true, Ordering::Acquire) {
            calls::give_way();
        }
        // SAFETY: this thread has changed `is_held`, and the others wait.
        let result = f(unsafe { &mut *self.value.get() });
        self.is_held.store(false, Ordering::Release);
        result
    }
}
