//! The platform's NxP cores: each serves one thread at a time, and others wait in virtual time.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// When each core is free, as far as is known: femtoseconds.
static FREE: OnceLock<Box<[AtomicU64]>> = OnceLock::new();

pub fn init(cores: usize) {
    FREE.get_or_init(|| (0..cores).map(|_| AtomicU64::new(0)).collect());
}

/// Takes the core that is free first, at `now`: which one, and how long the thread waits.
pub fn take(now: u64) -> (usize, u64) {
    let Some(cores) = FREE.get() else {
        return (0, 0);
    };
    let mut best = (0, u64::MAX);
    for (core, free) in cores.iter().enumerate() {
        let free = free.load(Relaxed);
        if free < best.1 {
            best = (core, free);
        }
    }
    (best.0, best.1.saturating_sub(now))
}

/// The thread leaves `core` at `now`.
pub fn leave(core: usize, now: u64) {
    if let Some(core) = FREE.get().and_then(|cores| cores.get(core)) {
        core.fetch_max(now, Relaxed);
    }
}

/// The child of a fork has all cores for itself.
pub fn forget() {
    for core in FREE.get().into_iter().flatten() {
        core.store(0, Relaxed);
    }
}
