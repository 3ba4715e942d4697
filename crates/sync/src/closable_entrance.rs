//! An entrance that can be closed: many threads are inside at a time, until one of them wants
//! everybody out.
use crate::hash::spread;
use crate::platform::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use crate::platform::{between_seq_cst, yield_now};

/// A counter with a cache line of its own.
#[repr(align(64))]
struct Shard(AtomicI32);

/// Threads are known by numbers, which are not 0. Threads that are inside are counted, in `SHARDS`
/// (a power of two) shards so that they do not wait for each other's cache lines.
pub struct Entrance<const SHARDS: usize> {
    inside: [Shard; SHARDS],
    /// The thread that has closed it, or 0.
    closer: AtomicUsize,
}

impl<const SHARDS: usize> Entrance<SHARDS> {
    /// An open entrance with no thread inside.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            inside: [const { Shard(AtomicI32::new(0)) }; SHARDS],
            closer: AtomicUsize::new(0),
        }
    }

    /// An open entrance with no thread inside.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            inside: std::array::from_fn(|_| Shard(AtomicI32::new(0))),
            closer: AtomicUsize::new(0),
        }
    }

    #[inline]
    fn shard_of(&self, thread: usize) -> &AtomicI32 {
        // Thread descriptors are far apart at equal offsets.
        &self.inside[spread(thread as u64) % SHARDS].0
    }

    /// Goes inside; waits while another thread has closed the entrance.
    #[inline]
    pub fn enter(&self, thread: usize) {
        let shard = self.shard_of(thread);
        shard.fetch_add(1, SeqCst);
        between_seq_cst();
        if self.closer.load(SeqCst) != 0 {
            self.wait(shard, thread);
        }
    }

    /// Goes outside, after [`Entrance::enter`] by the same thread.
    #[inline]
    pub fn leave(&self, thread: usize) {
        self.shard_of(thread).fetch_sub(1, SeqCst);
    }

    /// As [`Entrance::enter`] for the only thread there is: nobody else closes it, and no update of
    /// another can be lost. A handler of a signal in between leaves what it found.
    #[inline]
    pub fn enter_alone(&self, thread: usize) {
        let shard = self.shard_of(thread);
        shard.store(shard.load(Relaxed) + 1, Relaxed);
    }

    /// As [`Entrance::leave`] for the only thread there is.
    #[inline]
    pub fn leave_alone(&self, thread: usize) {
        let shard = self.shard_of(thread);
        shard.store(shard.load(Relaxed) - 1, Relaxed);
    }

    /// Stays outside while another thread has closed it; who closed it may go in.
    #[cold]
    fn wait(&self, shard: &AtomicI32, thread: usize) {
        while ![0, thread].contains(&self.closer.load(SeqCst)) {
            shard.fetch_sub(1, SeqCst);
            while ![0, thread].contains(&self.closer.load(Relaxed)) {
                yield_now();
            }
            shard.fetch_add(1, SeqCst);
            between_seq_cst();
        }
    }

    /// Lets nobody in, and waits until nobody is inside or `give_up` says so.
    pub fn close(&self, thread: usize, mut give_up: impl FnMut() -> bool) {
        while self
            .closer
            .compare_exchange_weak(0, thread, SeqCst, Relaxed)
            .is_err()
        {
            yield_now();
        }
        between_seq_cst();
        while self.inside.iter().any(|shard| shard.0.load(SeqCst) > 0) && !give_up() {
            yield_now();
        }
    }

    /// By who has closed it. `alone`: the other threads are gone, and so nobody is inside.
    pub fn reopen(&self, alone: bool) {
        if alone {
            self.inside
                .iter()
                .for_each(|shard| shard.0.store(0, Relaxed));
        }
        self.closer.store(0, SeqCst);
    }
}

impl<const SHARDS: usize> Default for Entrance<SHARDS> {
    fn default() -> Self {
        Self::new()
    }
}
