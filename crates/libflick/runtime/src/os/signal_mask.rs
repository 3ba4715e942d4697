//! The calling thread's signal mask, as the kernel has it.
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// The mask that the kernel gets where every signal is meant.
static ALL: AtomicU64 = AtomicU64::new(u64::MAX);

/// From now on `all` are the signals that [`BlockedSignals`] blocks.
pub fn set_all(all: u64) {
    ALL.store(all, Ordering::Relaxed);
}

/// Blocks every signal of this thread while it lives, so that no handler runs in between.
pub struct BlockedSignals(u64);

impl BlockedSignals {
    pub fn new() -> Self {
        Self(block_all())
    }

    /// The mask before. `None`: all of these signals were blocked.
    pub fn before(&self) -> Option<u64> {
        Some(self.0).filter(|&mask| mask != ALL.load(Ordering::Relaxed))
    }
}

/// Blocks every signal of this thread. Returns the mask before.
pub fn block_all() -> u64 {
    change_mask(libc::SIG_SETMASK, ALL.load(Ordering::Relaxed))
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        change_mask(libc::SIG_SETMASK, self.0);
    }
}

/// rt_sigprocmask(2): changes the calling thread's mask as the kernel has it, and returns the one
/// before. The C library's functions are the program's, and go through
/// [`interpose`](crate::interpose). Async-signal-safe.
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
