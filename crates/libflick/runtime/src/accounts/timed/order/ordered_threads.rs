//! The threads that are in the order, under one lock, and what they wait for.
use std::collections::HashMap;
use std::mem::{self, ManuallyDrop};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use flick_sim::thread_token::{Thread, Token};

use super::super::setting::picoseconds;
use super::super::state::{self, State};
use super::super::sums::Times;
use super::driven_machine;
use super::fork_lock::ForkLock;
use super::keys::Key;
use super::slot::Slot;
use super::virtual_timers::{self, VirtualTimers};
use crate::os::signal_mask::BlockedSignals;

/// A barrier.
#[derive(Clone, Copy, Default)]
pub struct Barrier {
    /// Threads that it is for, and those that are there.
    pub count: u32,
    pub there: u32,
    /// How often it was passed, and when the last time.
    pub passed: u64,
    pub moment: Times,
}

/// All that the order knows.
#[derive(Default)]
pub struct Shared {
    pub token: Token<Key>,
    pub slots: Vec<&'static Slot>,
    /// The machine of a card, which has a number as threads have.
    pub machine: Option<Thread>,
    /// When something has come from it for owners that do not wait for it yet: they have lost the token
    /// before.
    pub early: HashMap<u32, u64>,
    /// When locks were opened, semaphores posted and barriers passed the last time.
    pub moments: HashMap<Key, Times>,
    pub barriers: HashMap<usize, Barrier>,
    pub timers: VirtualTimers,
    /// Threads that wait for data.
    pub for_data: Vec<&'static Slot>,
    /// Of threads that can be joined.
    pub numbers: HashMap<libc::pthread_t, Thread>,
}

static SHARED: ForkLock<Option<Shared>> = ForkLock::new(None);
/// The time of the thread or timer that is next.
static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Moments that are kept before those that are past for all threads go.
const MOMENTS: usize = 1 << 12;

/// Who has got the token.
pub enum Next {
    Nobody,
    Thread(&'static Slot),
    Machine,
}

impl Next {
    /// Wakes it, if it is not the calling thread, or runs the machine.
    pub fn go_on(self, own: Option<&Slot>) {
        match self {
            Self::Thread(next) if own.is_none_or(|own| own.thread != next.thread) => next.wake(),
            Self::Thread(_) | Self::Nobody => {}
            Self::Machine => drive(own),
        }
    }
}

/// What is done under the lock, and whoever has got the token by it goes on.
pub fn with<R>(own: Option<&Slot>, f: impl FnOnce(&mut Shared) -> R) -> R {
    let (result, next) = locked(|shared| {
        let result = f(shared);
        (result, shared.hand_over())
    });
    next.go_on(own);
    result
}

/// Runs the machine, which has got the token, until a thread gets it.
fn drive(own: Option<&Slot>) {
    let Some(machine) = driven_machine::get() else {
        return;
    };
    let _blocked = BlockedSignals::new();
    loop {
        let advanced = (machine.advance)(next());
        let (next, is_stuck) = locked(|shared| {
            if let Some((owner, time)) = advanced.to {
                let woken = shared.token.wake(Key::Owner(owner), time);
                if woken.is_none() {
                    shared.early.insert(owner, time);
                }
            }
            shared.set_machine(advanced.next);
            (shared.hand_over(), shared.is_stuck())
        });
        if is_stuck {
            (machine.stuck)()
        }
        match next {
            Next::Machine => {}
            next => return next.go_on(own),
        }
    }
}

/// What is done under the lock. Where there is a card, a handler may come to the order while the thread that it
/// has interrupted is in the order's code.
pub fn locked<R>(f: impl FnOnce(&mut Shared) -> R) -> R {
    let blocked = driven_machine::is_there().then(BlockedSignals::new);
    let mask = blocked.as_ref().and_then(BlockedSignals::before);
    if mask.is_some() {
        Slot::set_own_mask(mask);
    }
    let result = SHARED.with(|shared| f(shared.get_or_insert_default()));
    if mask.is_some() {
        Slot::set_own_mask(None);
    }
    result
}

/// The time of the thread or timer that is next.
#[inline]
pub fn next() -> Option<u64> {
    Some(NEXT.load(Relaxed)).filter(|&next| next != u64::MAX)
}

/// Who holds the token.
pub fn holder() -> Option<&'static Slot> {
    SHARED.with(|shared| {
        let shared = shared.as_ref()?;
        Some(shared.slots[shared.token.holder()?])
    })
}

impl Shared {
    /// Gives the token to who is next, if nobody holds it. [`Next::go_on`] follows, without the lock.
    pub fn hand_over(&mut self) -> Next {
        self.timers.let_expire(&mut self.token, &self.slots);
        let next = match self.token.hand_over() {
            None => Next::Nobody,
            next if next == self.machine => Next::Machine,
            Some(next) => {
                self.slots[next].grant();
                Next::Thread(self.slots[next])
            }
        };
        let timer = self.timers.next().unwrap_or(u64::MAX);
        let first = self.token.next().map_or(timer, |next| next.min(timer));
        NEXT.store(first, Relaxed);
        if self.is_idle() {
            // What they wait for comes from outside.
            self.for_data.iter().for_each(|slot| slot.wake());
        }
        next
    }

    /// When the machine, which does not run now, goes on.
    pub fn set_machine(&mut self, next: Option<u64>) {
        if let Some(machine) = self.machine {
            self.token.set_ready(machine, next);
        }
    }

    /// Does nobody do anything, while owners wait for the machine? Data may come from outside, and threads
    /// beside the order come back.
    fn is_stuck(&self) -> bool {
        let mut threads = 0..self.slots.len();
        self.is_idle()
            && self.for_data.is_empty()
            && self.token.awaited().any(|key| matches!(key, Key::Owner(_)))
            && threads.all(|thread| Some(thread) == self.machine || !self.token.is_away(thread))
    }

    /// The thread in this slot has lost the token, or waits: in a handler, over code on a hart, which
    /// others may have now.
    pub fn free_hart(&mut self, slot: &Slot) {
        if let (Some(machine), Some(owner)) = (driven_machine::get(), slot.take_lent()) {
            let _blocked = BlockedSignals::new();
            (machine.lost)(owner);
            self.set_machine((machine.next)());
        }
    }

    /// Whether nobody runs, and nobody will without help from outside.
    pub fn is_idle(&self) -> bool {
        self.token.holder().is_none() && self.token.next().is_none()
    }

    /// The time of the first thread or timer that is next later than at `time`.
    pub fn next_after(&self, time: u64) -> Option<u64> {
        let timer = self.timers.next().filter(|&timer| timer > time);
        let thread = self.token.next_after(time);
        thread.into_iter().chain(timer).min()
    }

    pub fn enter(&mut self, time: u64) -> &'static Slot {
        let slot = Slot::new(self.token.enter(time));
        self.slots.push(slot);
        slot
    }

    pub fn wake(&mut self, key: Key, times: &Times) -> Option<Thread> {
        let thread = self.token.wake(key, picoseconds(times.migrating))?;
        self.slots[thread].woken.set(*times);
        Some(thread)
    }

    /// Keeps the moment of `key`, and forgets those that are past for everybody.
    pub fn keep(&mut self, key: Key, times: Times) {
        if self.moments.len() >= MOMENTS {
            let earliest = state::all()
                .filter(|state| !state.has_ended())
                .map(State::times)
                .reduce(|a, b| a.earliest(&b))
                .unwrap_or_default();
            self.moments.retain(|_, times| {
                let left = earliest.until(times);
                left.migrating + left.staying + left.before > 0
            });
        }
        self.moments.insert(key, times);
    }
}

/// Around `fork`.
pub extern "C" fn before_fork() {
    SHARED.close();
}

/// Around `fork`, in the parent.
pub extern "C" fn after_fork() {
    SHARED.open();
}

/// The child of a fork knows no thread. The timers that it had.
pub fn forget_all() -> VirtualTimers {
    SHARED.open();
    let timers = SHARED.with(|shared| {
        let mut before = ManuallyDrop::new(shared.take());
        // All else is left as it is.
        before.as_mut().map(|shared| mem::take(&mut shared.timers))
    });
    NEXT.store(u64::MAX, Relaxed);
    virtual_timers::forget();
    timers.unwrap_or_default()
}
