//! The try-lock of the translator: one thread at a time may change it, and no other waits.
//!
//! Signals are not blocked meanwhile: a program may have forbidden itself that system call. A
//! handler that interrupts the translator, and any other thread, finds it taken, and its NxP code
//! is interpreted. A handler that leaves the translator for good, by `longjmp` or by unwinding,
//! leaves it in pieces: nothing more is translated then. What is translated stays, since the tables
//! that lead to it only grow.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::os::thread_pointer;

pub struct OwnedLock<T> {
    /// Thread pointer of the owner, [`FREE`] or [`BROKEN`].
    owner: AtomicUsize,
    value: UnsafeCell<T>,
}

const FREE: usize = 0;
const BROKEN: usize = 1;

// SAFETY: the value is the owner's alone.
unsafe impl<T: Send> Sync for OwnedLock<T> {}

impl<T> OwnedLock<T> {
    pub const fn new(value: T) -> Self {
        Self {
            owner: AtomicUsize::new(FREE),
            value: UnsafeCell::new(value),
        }
    }

    fn take(&self) -> bool {
        let taken = self.owner.compare_exchange(
            FREE,
            thread_pointer::pointer(),
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        taken.is_ok()
    }

    /// Whether the calling thread is the owner: a handler has interrupted it.
    pub fn is_mine(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == thread_pointer::pointer()
    }

    /// `None`: somebody else has it.
    pub fn try_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !self.take() {
            return None;
        }
        // SAFETY: ours alone.
        let result = f(unsafe { &mut *self.value.get() });
        self.owner.store(FREE, Ordering::Release);
        Some(result)
    }

    /// Waits until it is free. Only where no handler can have interrupted the owner and wait for
    /// this thread. `None`: it is broken, or the calling thread's already.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !self.lock() {
            return None;
        }
        // SAFETY: ours alone.
        let result = f(unsafe { &mut *self.value.get() });
        self.unlock();
        Some(result)
    }

    /// Keeps everybody out, as around `fork`. False: it is broken, or the calling thread's already.
    #[must_use]
    pub fn lock(&self) -> bool {
        while !self.take() {
            if self.owner.load(Ordering::Relaxed) == BROKEN || self.is_mine() {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// By who has locked it: what is inside.
    ///
    /// # Safety
    /// The calling thread has locked it, and has no other reference.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn locked(&self) -> &mut T {
        // SAFETY: by contract.
        unsafe { &mut *self.value.get() }
    }

    /// By who has locked it.
    pub fn unlock(&self) {
        self.owner.store(FREE, Ordering::Release);
    }

    /// The calling thread goes on somewhere else. Async-signal-safe.
    pub fn left(&self) {
        if self.is_mine() {
            self.owner.store(BROKEN, Ordering::Release);
        }
    }
}
