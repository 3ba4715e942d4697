//! A thread's end without the kernel hart. Each thread has a line by which harts tell each other that it
//! has ended, and what a join gets.
//!
//! 1. The hart of a thread that ends stores the value, and sets [`ENDED`]. If nobody watches the thread,
//!    it sets its bit of the word of ends ([`crate::lines::Pending::end`]), and waits for a command.
//! 2. A join on another hart finds `ENDED` alone, and makes it [`JOINED`].
//! 3. The kernel hart takes the ends when it has time, and at once when a thread waits for a hart.
//!
//! If the kernel hart has to know of an end, it watches the thread: its hart calls then, and no join
//! succeeds without the kernel hart.
use core::sync::atomic::{AtomicU64, Ordering};

/// The thread has ended, and its value is there.
pub const ENDED: u64 = 1 << 40;
/// In place of [`ENDED`]: a join has got the value.
pub const JOINED: u64 = 1 << 41;
/// The kernel hart wants to know of the end.
pub const WATCHED: u64 = 1 << 42;
/// Nobody will join the thread.
pub const DETACHED: u64 = 1 << 43;

/// The line of a thread's place.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct ThreadLine {
    /// The thread's number, which has 32 bits, and the bits of this module.
    state: AtomicU64,
    /// What a join gets.
    value: AtomicU64,
    /// `satp` of the thread's process, of which joins are.
    owner: AtomicU64,
    /// The harts that its process lets it run on, a bit each. The kernel hart alone changes it.
    harts: AtomicU64,
}

const _: () = assert!(size_of::<ThreadLine>() == 64);

impl ThreadLine {
    /// The line of a state, for models.
    pub const fn from_state(state: u64) -> Self {
        Self {
            state: AtomicU64::new(state),
            value: AtomicU64::new(0),
            owner: AtomicU64::new(0),
            harts: AtomicU64::new(0),
        }
    }

    /// The line of a thread that begins, with [`WATCHED`] or 0, and may run on these harts. Harts see it
    /// with the next command.
    #[inline(always)]
    pub fn begin(&self, number: u64, owner: u64, watched: u64, harts: u64) {
        self.owner.store(owner, Ordering::Relaxed);
        self.harts.store(harts, Ordering::Relaxed);
        self.state.store(number | watched, Ordering::Relaxed);
    }

    /// The harts that its process lets it run on.
    #[inline(always)]
    pub fn harts(&self) -> u64 {
        self.harts.load(Ordering::Relaxed)
    }

    /// See [`Self::harts`]: by an atomic operation, as [`Self::set_value`].
    pub fn set_harts(&self, harts: u64) {
        self.harts.swap(harts, Ordering::Relaxed);
    }

    /// What the thread's hart stores before [`Self::end`]: by an atomic operation, since caches that write
    /// back write whole lines.
    pub fn set_value(&self, value: u64) {
        self.value.swap(value, Ordering::Relaxed);
    }

    /// The thread's hart: it has ended. True: the kernel hart wants to know.
    #[must_use]
    pub fn end(&self) -> bool {
        self.state.fetch_or(ENDED, Ordering::AcqRel) & WATCHED != 0
    }

    /// The value of a thread of this number that has ended, for a single join. `trap_entry.S` has the
    /// same steps for other harts than the kernel's.
    pub fn join(&self, number: u64) -> Option<u64> {
        self.state
            .compare_exchange(
                number | ENDED,
                number | JOINED,
                Ordering::AcqRel,
                Ordering::Acquire,
            )
            .is_ok()
            .then(|| self.value.load(Ordering::Relaxed))
    }

    /// The kernel hart wants to know of the end from now on, and joins come to it. Returns what was: with
    /// [`ENDED`] and without [`WATCHED`], the hart has not told it of the end, and will not.
    pub fn watch(&self) -> u64 {
        self.state.fetch_or(WATCHED, Ordering::AcqRel)
    }

    /// Joins do not come to the kernel hart any more.
    pub fn unwatch(&self) {
        self.state.fetch_and(!WATCHED, Ordering::AcqRel);
    }

    /// Nobody will join the thread. Returns what was.
    pub fn detach(&self) -> u64 {
        self.state.fetch_or(DETACHED, Ordering::AcqRel)
    }

    /// The kernel hart knows of the end: joins need it no more.
    pub fn settle(&self, number: u64, value: u64) {
        self.value.store(value, Ordering::Relaxed);
        self.state.store(number | ENDED, Ordering::Release);
    }

    /// What there is, as memory has it.
    pub fn state(&self) -> u64 {
        self.state.fetch_or(0, Ordering::AcqRel)
    }
}
