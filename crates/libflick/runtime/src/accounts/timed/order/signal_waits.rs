//! Waiting for signals in the order. Meanwhile the kernel blocks all of the thread's, so that those
//! that come are seen, and handlers run when the thread has the token.
use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use flick_sim::thread_token::Turn;

use super::super::sums::Wait;
use super::keys::{ANY_DATA, Key};
use super::linked_library::clocks_are_virtual;
use super::ordered_threads::with;
use super::sent_signals;
use super::stated_points::{Call, Here, point};
use super::virtual_timers::target;
use crate::os::signal_mask::{block_all, change_mask};

/// How waiting for signals has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A handler has run.
    Handled,
    /// One is pending that is waited for.
    Pending,
    TimedOut,
    /// Nobody in the process will send one, or the thread is cancelled.
    Outside,
}

/// The calling thread's signals wait, as long as it waits with another mask.
pub struct SignalWait<'a> {
    here: &'a Here,
    /// The thread's mask, and that with which it waits.
    before: u64,
    mask: u64,
    /// Signals that end the waiting without a handler.
    set: u64,
}

impl<'a> SignalWait<'a> {
    /// `mask`: `None` is the thread's own.
    pub fn begin(here: &'a Here, set: u64, mask: Option<u64>) -> Self {
        let before = block_all();
        let mask = mask.unwrap_or(before);
        here.slot.wait_with_mask(Some(mask & !set));
        Self {
            here,
            before,
            mask,
            set,
        }
    }

    /// Whether a signal has come that ends the waiting.
    pub fn has_come(&self) -> bool {
        let pending = sent_signals::pending();
        pending & self.set != 0 || sent_signals::has_handler(pending & !self.mask & !self.set)
    }

    /// The thread has its own mask again, and handlers of what has come have run. Whether one has.
    pub fn end(self) -> bool {
        let pending = sent_signals::pending();
        let is_handled = sent_signals::has_handler(pending & !self.mask & !self.set);
        let slot = self.here.slot;
        slot.wait_with_mask(None);
        self.here.outside(|| {
            if is_handled {
                change_mask(libc::SIG_SETMASK, self.mask | self.set & self.before);
            }
            change_mask(libc::SIG_SETMASK, self.before);
        });
        is_handled
    }
}

impl Here {
    /// Sends a signal to the thread that the kernel would choose, if that waits with a mask of which
    /// the kernel does not know.
    pub fn send_to_waiter(&self, number: c_int) -> bool {
        if !(1..=64).contains(&number) {
            return false;
        }
        let times = self.times();
        let tid = with(Some(self.slot), |shared| {
            let slot = target(number, &shared.token, &shared.slots);
            let tid = slot.filter(|slot| slot.has_mask())?.tid.load(Relaxed);
            for key in [Key::Signals, ANY_DATA] {
                while shared.wake(key, &times).is_some() {}
            }
            Some(tid)
        });
        tid.is_some_and(|tid| sent_signals::send_to_thread(tid, number))
    }

    /// Waits until a handler has run, or a signal of `set` is pending, until `deadline` at most.
    /// `mask` is the thread's meanwhile; `None`: its own.
    pub fn await_signal(&self, set: u64, mask: Option<u64>, deadline: Option<u64>) -> Awaited {
        if !clocks_are_virtual() {
            return Awaited::Outside;
        }
        let wait = SignalWait::begin(self, set, mask);
        let mut turn = Turn::Woken;
        while !wait.has_come() && matches!(turn, Turn::Woken | Turn::Interrupted) {
            // Without others it goes on to the kernel's waiting at once.
            let look = |milliseconds| milliseconds != 0 || wait.has_come();
            turn = self.wait_for_data(Wait::Signal, Key::Signals, deadline, look);
        }
        if sent_signals::pending() & set != 0 {
            wait.end();
            return Awaited::Pending;
        }
        match (wait.end(), turn) {
            (true, _) => Awaited::Handled,
            (false, Turn::TimedOut) => Awaited::TimedOut,
            (false, _) => Awaited::Outside,
        }
    }
}

/// Of sigsuspend, which is libflick's: whether a handler has run.
pub fn suspend(mask: u64) -> bool {
    let here = point(Call::new("sigsuspend", 0));
    here.is_some_and(|here| here.await_signal(0, Some(mask), None) == Awaited::Handled)
}
