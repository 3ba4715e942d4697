//! Counts by key, from many threads and signal handlers.
use crate::hash::spread;
use crate::platform::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Key 0: unused.
struct Entry {
    key: AtomicUsize,
    count: AtomicU64,
}

/// An open hash table of `N` keys; what does not fit is counted together.
pub struct Tally<const N: usize> {
    entries: [Entry; N],
    others: AtomicU64,
}

/// A full table must not make every count slow.
const PROBES: usize = 64;

impl<const N: usize> Tally<N> {
    /// A table without counts.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            entries: [const {
                Entry {
                    key: AtomicUsize::new(0),
                    count: AtomicU64::new(0),
                }
            }; N],
            others: AtomicU64::new(0),
        }
    }

    /// A table without counts.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            entries: std::array::from_fn(|_| Entry {
                key: AtomicUsize::new(0),
                count: AtomicU64::new(0),
            }),
            others: AtomicU64::new(0),
        }
    }

    /// One more of `key`, which is not 0: how many there were, or `None` if it did not fit.
    /// Async-signal-safe.
    pub fn add(&self, key: usize) -> Option<u64> {
        let hash = spread(key as u64);
        for probe in 0..PROBES.min(N) {
            let entry = &self.entries[(hash + probe) % N];
            let known = entry.key.load(Relaxed);
            let ours = known == key
                || known == 0
                    && match entry.key.compare_exchange(0, key, Relaxed, Relaxed) {
                        Ok(_) => true,
                        Err(other) => other == key,
                    };
            if ours {
                return Some(entry.count.fetch_add(1, Relaxed));
            }
        }
        self.others.fetch_add(1, Relaxed);
        None
    }

    /// Key and count of those that were counted by key.
    pub fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        self.used()
            .map(|(key, entry)| (key, entry.count.load(Relaxed)))
    }

    /// The same of those keys that `choose` takes, which begin anew.
    pub fn take(&self, choose: impl Fn(usize) -> bool) -> impl Iterator<Item = (usize, u64)> {
        self.used()
            .filter(move |&(key, _)| choose(key))
            .map(|(key, entry)| (key, entry.count.swap(0, Relaxed)))
    }

    fn used(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().filter_map(|entry| {
            let key = entry.key.load(Relaxed);
            (key != 0).then_some((key, entry))
        })
    }

    /// Everything begins anew.
    pub fn reset(&self) {
        self.entries
            .iter()
            .for_each(|entry| entry.count.store(0, Relaxed));
        self.others.store(0, Relaxed);
    }

    /// How often what did not fit was counted.
    pub fn others(&self) -> u64 {
        self.others.load(Relaxed)
    }
}

impl<const N: usize> Default for Tally<N> {
    fn default() -> Self {
        Self::new()
    }
}
