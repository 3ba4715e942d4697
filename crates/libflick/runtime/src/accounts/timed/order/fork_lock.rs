//! The lock of the order: one that the child of a fork can open.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering::*};

use crate::os::system_call::system_call;

/// A futex: 0 free, 1 held, 2 held while others wait. Handlers do not come here (`Slot::busy`).
pub struct ForkLock<T> {
    word: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is whose who has the lock.
unsafe impl<T: Send> Sync for ForkLock<T> {}

impl<T> ForkLock<T> {
    pub const fn new(value: T) -> Self {
        Self {
            word: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.close();
        // SAFETY: the calling thread has the lock.
        let result = f(unsafe { &mut *self.value.get() });
        self.open();
        result
    }

    /// Keeps everybody out, as around `fork`.
    pub fn close(&self) {
        if self.word.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
            return;
        }
        while self.word.swap(2, Acquire) != 0 {
            self.call(libc::FUTEX_WAIT, 2);
        }
    }

    /// By who has closed it.
    pub fn open(&self) {
        if self.word.swap(0, Release) == 2 {
            self.call(libc::FUTEX_WAKE, 1);
        }
    }

    fn call(&self, operation: i32, value: usize) {
        let operation = (operation | libc::FUTEX_PRIVATE_FLAG) as usize;
        let word = self.word.as_ptr() as usize;
        // SAFETY: a word of ours, and no time.
        unsafe { system_call(libc::SYS_futex, [word, operation, value, 0]) };
    }
}
