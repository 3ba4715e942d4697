//! A readers-writer spin lock for tables that signal handlers read: a reader may interrupt a reader of
//! its own thread, and a writer keeps signals out while it writes.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};

const WRITER: u32 = 1 << 31;

pub struct SignalSafeLock<T> {
    /// Number of readers, or [`WRITER`].
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: readers get `&T` only while no writer holds the lock, a writer gets `&mut T` alone.
unsafe impl<T: Send + Sync> Sync for SignalSafeLock<T> {}

impl<T> SignalSafeLock<T> {
    pub const fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

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
            std::thread::yield_now();
        }
        // SAFETY: the count of readers keeps writers out.
        let result = f(unsafe { &*self.value.get() });
        self.state.fetch_sub(1, Ordering::Release);
        result
    }

    pub fn write<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let blocked = BlockedSignals::new();
        self.lock();
        // SAFETY: state is WRITER, so nobody else is inside.
        let result = f(unsafe { &mut *self.value.get() });
        self.unlock();
        drop(blocked);
        result
    }

    /// Keeps everybody out: around `fork`, so that the child finds the lock free.
    pub fn lock(&self) {
        while self
            .state
            .compare_exchange_weak(0, WRITER, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            std::thread::yield_now();
        }
    }

    pub fn unlock(&self) {
        self.state.store(0, Ordering::Release);
    }
}

/// Blocks every signal of this thread while it lives, so that no handler runs in between.
pub struct BlockedSignals(libc::sigset_t);

impl BlockedSignals {
    pub fn new() -> Self {
        // SAFETY: both sets are plain memory that the calls initialise.
        unsafe {
            let mut all = std::mem::zeroed();
            let mut old = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
            Self(old)
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: restores the mask that `new` found.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_see_whole_writes() {
        static LOCK: SignalSafeLock<(u64, u64)> = SignalSafeLock::new((0, 0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        LOCK.write(|pair| {
                            pair.0 += 1;
                            pair.1 += 1;
                        });
                    }
                });
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        LOCK.read(|pair| assert_eq!(pair.0, pair.1));
                        LOCK.read(|outer| LOCK.read(|inner| assert_eq!(outer, inner)));
                    }
                });
            }
        });
        assert_eq!(LOCK.read(|pair| *pair), (20_000, 20_000));
    }
}
