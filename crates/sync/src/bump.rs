//! A range that is handed out part by part.
use crate::platform::atomic::{AtomicUsize, Ordering};
use crate::platform::constructor;

/// Hands out parts of `0..limit`, each once; none is given back.
pub struct Bump {
    used: AtomicUsize,
    limit: usize,
}

impl Bump {
    constructor! {
        /// All of `0..limit` is there.
        new(limit: usize) -> Self {
            Self {
                used: AtomicUsize::new(0),
                limit,
            }
        }
    }

    /// The start of the next `size` units; `None` if the rest is smaller. A later, smaller request
    /// may still be served.
    pub fn take(&self, size: usize) -> Option<usize> {
        // A request that fails must not be seen: what it took for a moment would make another fail
        // that fits, and both would give back more than was taken.
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(size).filter(|end| *end <= self.limit)
            })
            .ok()
    }
}
