//! The lock of tables that signal handlers read.
use flick_sync::RwSpinLock;

use crate::os::signal_mask::BlockedSignals;

/// For tables that signal handlers read: a reader may interrupt a reader of its own thread, and a
/// writer keeps signals out while it writes.
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
