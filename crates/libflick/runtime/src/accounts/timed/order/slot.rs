//! Where a thread of a timed run waits for the token.
use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};

use flick_sim::thread_token::Thread;

use super::super::sums::Times;
use super::sent_signals;
use crate::os::system_call::system_call;
use crate::os::thread_clock::own_tid;
use crate::os::thread_pointer;

/// A thread's place in the order; never freed, for others may look at it when it has ended.
pub struct Slot {
    pub thread: Thread,
    /// 1: the thread has got the token, and does not know yet.
    granted: AtomicU32,
    /// The kernel's number of the thread.
    pub tid: AtomicI32,
    /// `pthread_self` of the thread.
    pub thread_pointer: AtomicUsize,
    /// The thread is inside the order's own code: a handler that interrupts that stays outside.
    pub busy: AtomicBool,
    /// It may sleep in the kernel, in a call that ends without other threads.
    pub may_sleep: AtomicBool,
    /// It has lost the token.
    pub away: AtomicBool,
    /// A timer's signal waits for it.
    pub signalled: AtomicBool,
    /// The mask of a thread that waits with another one than the kernel's, if [`Slot::has_mask`].
    mask: AtomicU64,
    has_mask: AtomicBool,
    /// Its processor time at which a timer of that expires. Picoseconds.
    pub processor_limit: AtomicU64,
    /// The number of the owner as which the thread executes code on a hart of a card, and 1; 0: none.
    lent: AtomicU32,
    /// Return address of the last stated point, and which it was ([`super::notes`]).
    pub place: AtomicUsize,
    /// Stated points that it has come to.
    points: AtomicU64,
    /// When somebody has woken the thread.
    pub woken: Cell<Times>,
    /// The time of the last stated points, and how many there were at it.
    pub stuck: Cell<(u64, u32)>,
}

// SAFETY: `woken` is only touched under the order's lock, `stuck` by the thread itself.
unsafe impl Sync for Slot {}

thread_local! {
    static OWN: Cell<*const Slot> = const { Cell::new(ptr::null()) };
    /// The mask of a thread that has all signals blocked under the order's lock.
    static MASK: Cell<Option<u64>> = const { Cell::new(None) };
}

/// How long a thread waits before it looks whether the order has come to a halt.
const LOOK: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

impl Slot {
    pub fn new(thread: Thread) -> &'static Self {
        Box::leak(Box::new(Self {
            thread,
            granted: AtomicU32::new(0),
            tid: AtomicI32::new(0),
            thread_pointer: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            may_sleep: AtomicBool::new(false),
            away: AtomicBool::new(false),
            signalled: AtomicBool::new(false),
            mask: AtomicU64::new(0),
            has_mask: AtomicBool::new(false),
            processor_limit: AtomicU64::new(u64::MAX),
            lent: AtomicU32::new(0),
            place: AtomicUsize::new(0),
            points: AtomicU64::new(0),
            woken: Cell::default(),
            stuck: Cell::new((0, 0)),
        }))
    }

    /// The slot becomes the calling thread's.
    pub fn adopt(&'static self) {
        self.thread_pointer
            .store(thread_pointer::pointer(), Relaxed);
        self.tid.store(own_tid(), Release);
        OWN.set(self);
    }

    /// The calling thread has no slot any longer.
    pub fn drop_own() {
        OWN.set(ptr::null());
    }

    /// The calling thread's.
    #[inline]
    pub fn own() -> Option<&'static Self> {
        // SAFETY: slots are never freed.
        unsafe { OWN.get().as_ref() }
    }

    /// The thread waits with this mask, of which the kernel does not know, or does so no longer.
    pub fn wait_with_mask(&self, mask: Option<u64>) {
        self.mask.store(mask.unwrap_or(0), Relaxed);
        self.has_mask.store(mask.is_some(), Relaxed);
    }

    /// The calling thread has this mask, while the order blocks all signals, or has that of the kernel again.
    pub fn set_own_mask(mask: Option<u64>) {
        MASK.set(mask);
    }

    /// The mask, if the kernel does not know it.
    fn mask(&self) -> Option<u64> {
        match self.has_mask.load(Relaxed) {
            true => Some(self.mask.load(Relaxed)),
            false => MASK.get().filter(|_| ptr::eq(OWN.get(), self)),
        }
    }

    /// Whether the thread blocks a signal.
    pub fn blocks(&self, number: c_int) -> bool {
        match self.mask() {
            Some(mask) => mask >> (number - 1) & 1 != 0,
            None => sent_signals::is_blocked(self.tid.load(Relaxed), number),
        }
    }

    /// Whether it waits with a mask of which the kernel does not know.
    pub fn has_mask(&self) -> bool {
        self.has_mask.load(Relaxed)
    }

    /// The thread executes code on a hart of a card as this owner, or does so no longer.
    pub fn set_lent(&self, owner: Option<u32>) {
        self.lent.store(owner.map_or(0, |owner| owner + 1), Relaxed);
    }

    /// As which owner it does so. That is over now.
    pub fn take_lent(&self) -> Option<u32> {
        self.lent.swap(0, Relaxed).checked_sub(1)
    }

    /// The thread has come to a stated point.
    pub fn count_point(&self) {
        // Nobody else counts here.
        self.points
            .store(self.points.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Stated points that the thread has come to.
    pub fn points(&self) -> u64 {
        self.points.load(Relaxed)
    }

    /// The thread has got the token. [`Slot::wake`] follows, without the lock.
    pub fn grant(&self) {
        self.granted.store(1, Release);
    }

    pub fn wake(&self) {
        let word = self.granted.as_ptr() as usize;
        let operation = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
        // SAFETY: a word of ours.
        unsafe { system_call(libc::SYS_futex, [word, operation, 1, 0]) };
    }

    /// Whether the token has come; it is taken.
    pub fn take(&self) -> bool {
        self.granted.swap(0, Acquire) == 1
    }

    /// Sleeps until the token comes, or for a while: whether that is over.
    pub fn sleep(&self) -> bool {
        let word = self.granted.as_ptr() as usize;
        let operation = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
        let limit = ptr::from_ref(&LOOK) as usize;
        // SAFETY: a word of ours, and a time. That it may return for no reason is the caller's.
        let result = unsafe { system_call(libc::SYS_futex, [word, operation, 0, limit]) };
        result == -(libc::ETIMEDOUT as isize)
    }
}
