//! A readers-writer spin lock for tables that signal handlers read: a reader may interrupt a reader
//! of its own thread. A writer must keep signals out of its thread while it writes.
use crate::platform::atomic::{AtomicU32, Ordering};
use crate::platform::{UnsafeCell, constructor, yield_now};

const WRITER: u32 = 1 << 31;

/// A value that many readers, or one writer, may use at a time.
pub struct RwSpinLock<T> {
    /// Number of readers, or [`WRITER`].
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: readers get `&T` only while no writer holds the lock, a writer gets `&mut T` alone.
unsafe impl<T: Send + Sync> Sync for RwSpinLock<T> {}

impl<T> RwSpinLock<T> {
    constructor! {
        /// An unlocked value.
        new(value: T) -> Self {
            Self {
                state: AtomicU32::new(0),
                value: UnsafeCell::new(value),
            }
        }
    }

    /// Calls `f` with the value, once no writer has the lock. Async-signal-safe, if `f` is.
    pub fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        loop {
            let now = self.state.load(Ordering::Relaxed);
            if now & WRITER == 0
                && self
                    .state
                    .compare_exchange_weak(now, now + 1, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                break;
            }
            yield_now();
        }
        // SAFETY: the count of readers keeps writers out.
        let result = self.value.with(|value| f(unsafe { &*value }));
        self.state.fetch_sub(1, Ordering::Release);
        result
    }

    /// Signals are blocked in this thread.
    pub fn write<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.lock();
        // SAFETY: state is WRITER, so nobody else is inside.
        let result = self.value.with_mut(|value| f(unsafe { &mut *value }));
        self.unlock();
        result
    }

    /// Keeps everybody out: around `fork`, so that the child finds the lock free.
    pub fn lock(&self) {
        while self
            .state
            .compare_exchange_weak(0, WRITER, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            yield_now();
        }
    }

    /// By who has locked it.
    pub fn unlock(&self) {
        self.state.store(0, Ordering::Release);
    }
}
