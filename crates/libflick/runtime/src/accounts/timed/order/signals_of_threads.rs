//! Signals that threads send each other: a handler runs when its thread has the token, at a stated point
//! or where it waits, and not while the sender runs.
use std::ffi::c_int;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::ordered_threads::{Shared, with};
use super::sent_signals::{self, Signal};
use super::slot::Slot;
use super::stated_points::Here;
use super::virtual_timers::{Sent, target};
use crate::os::system_call::system_call;

/// `siginfo_t.si_code` of `kill`, `sigqueue` and `tgkill`.
pub const FROM_KILL: c_int = 0;
pub const FROM_QUEUE: c_int = -1;
pub const FROM_THREAD: c_int = -6;

/// Who a signal is for.
#[derive(Clone, Copy, Debug)]
pub enum Receiver {
    /// `pthread_self` of a thread.
    Thread(libc::pthread_t),
    /// The kernel's number of a thread.
    Tid(c_int),
    Process,
}

impl Receiver {
    fn find(self, number: c_int, shared: &Shared) -> Option<&'static Slot> {
        let live = || {
            let slots = shared.slots.iter().copied();
            slots.filter(|slot| !shared.token.has_ended(slot.thread))
        };
        match self {
            Self::Process => target(number, &shared.token, &shared.slots),
            Self::Tid(tid) => live().find(|slot| slot.tid.load(Relaxed) == tid),
            Self::Thread(thread) => match shared.numbers.get(&thread) {
                // It may be one that has not begun.
                Some(&thread) => live().find(|slot| slot.thread == thread),
                None => live().find(|slot| slot.thread_pointer.load(Relaxed) == thread as usize),
            },
        }
    }
}

impl Here {
    /// Sends a signal with a handler to another thread that is in the order. False: the kernel sends it, at
    /// once.
    pub fn send(&self, to: Receiver, number: c_int, (code, value): (c_int, usize)) -> bool {
        if !sent_signals::is_handled(number) {
            return false;
        }
        let found = with(Some(self.slot), |shared| to.find(number, shared));
        let Some(slot) = found.filter(|slot| slot.thread != self.slot.thread) else {
            return false;
        };
        while slot.tid.load(Acquire) == 0 {
            // It comes to the order by itself.
            // SAFETY: a system call without arguments.
            unsafe { system_call(libc::SYS_sched_yield, []) };
        }
        let moment = self.times();
        let signal = Signal {
            number,
            code,
            timer: sent_signals::sender(),
            value,
            thread: None,
        };
        let sent = Sent {
            timer: None,
            signal,
            overrun: sent_signals::user(),
        };
        let at = self.now();
        with(Some(self.slot), |shared| {
            // The kernel knows what is pending, and has the signals of a thread that waits for them.
            let is_ordered =
                !shared.token.is_away(slot.thread) && !slot.has_mask() && !slot.blocks(number);
            if is_ordered {
                shared
                    .timers
                    .put(slot, sent, (at, moment), &mut shared.token);
            }
            is_ordered
        })
    }
}
