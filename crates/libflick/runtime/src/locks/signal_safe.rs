//! Locks beside signal handlers.
use std::ffi::c_int;

use flick_sync::RwSpinLock;

use crate::signals;

/// For tables that signal handlers read: a reader may interrupt a reader of its own thread, and a writer
/// keeps signals out while it writes.
pub struct SignalSafeLock<T>(RwSpinLock<T>);

impl<T> SignalSafeLock<T> {
    pub const fn new(value: T) -> Self {
        Self(RwSpinLock::new(value))
    }

    pub fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        self.0.read(f)
    }

    pub fn write<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let _blocked = BlockedSignals::new();
        self.0.write(f)
    }

    /// Keeps everybody out: around `fork`, so that the child finds the lock free.
    pub fn lock(&self) {
        self.0.lock();
    }

    pub fn unlock(&self) {
        self.0.unlock();
    }
}

/// Blocks every signal of this thread while it lives, so that no handler runs in between.
pub struct BlockedSignals(u64);

impl BlockedSignals {
    pub fn new() -> Self {
        Self(change_mask(libc::SIG_SETMASK, signals::all()))
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        change_mask(libc::SIG_SETMASK, self.0);
    }
}

/// rt_sigprocmask(2): changes the calling thread's mask as the kernel has it, and returns the one before. The C library's
/// functions are the program's, and go through [`interpose`](crate::interpose). Async-signal-safe.
pub fn change_mask(how: c_int, set: u64) -> u64 {
    let mut old = 0_u64;
    let size = size_of::<u64>();
    // SAFETY: two sets of the kernel's size.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            how,
            &raw const set,
            &raw mut old,
            size,
        )
    };
    old
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
