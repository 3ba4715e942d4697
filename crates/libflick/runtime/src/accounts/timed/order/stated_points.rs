//! A stated point: the calling thread goes on when no other is earlier.
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

use super::super::setting::picoseconds;
use super::super::state::{self, State};
use super::super::sums::{Times, Wait};
use super::linked_library::is_on;
use super::ordered_threads::{next, with};
use super::slot::Slot;
use super::{notes, sent_signals, watchdog};

/// Who calls, for notes: the function's name, and where it returns to.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub name: &'static str,
    pub place: usize,
    /// The caller says that others shall go on.
    pub yields: bool,
}

impl Call {
    pub const fn new(name: &'static str, place: usize) -> Self {
        Self {
            name,
            place,
            yields: false,
        }
    }
}

/// Stated points that a thread may come to without its time moving: with more it spins, and waits
/// for what a later thread does.
const STUCK: u32 = 10_000;
/// The same if it says itself that others shall go on.
const STUCK_YIELDING: u32 = 10;

/// The calling thread inside the order's code: it holds the token.
pub struct Here {
    pub slot: &'static Slot,
    pub call: Call,
    /// A timer's signal has come to the thread during the call.
    pub had_signal: Cell<bool>,
    /// Its handler ends calls that wait.
    pub interrupted: Cell<bool>,
}

impl Here {
    pub fn new(slot: &'static Slot, call: Call) -> Self {
        Self {
            slot,
            call,
            had_signal: Cell::new(false),
            interrupted: Cell::new(false),
        }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.slot.busy.store(false, Relaxed);
    }
}

/// A stated point: goes on when no other thread is earlier. `None` where the thread is not ordered,
/// or a handler has interrupted the order's own code: the function is the C library's then.
pub fn point(call: Call) -> Option<Here> {
    let slot = own_slot(call)?;
    if slot.busy.swap(true, Relaxed) {
        notes::not_exact(&format!("{} in a signal handler", call.name), call.place);
        return None;
    }
    let here = Here::new(slot, call);
    here.order();
    here.deliver();
    Some(here)
}

/// The thread with this state comes to a stated point of the NxP.
pub fn arrive(state: &mut State, call: Call) {
    if !is_on() {
        return;
    }
    if let Some(slot) = Slot::own()
        && !slot.busy.swap(true, Relaxed)
    {
        let here = Here::new(slot, call);
        here.order_with(state);
        here.deliver();
    } else if Slot::own().is_none() {
        let what = format!("{} of a thread that pthread_create has not made", call.name);
        notes::not_exact(&what, call.place);
    }
}

/// The calling thread's slot, if threads are ordered.
pub fn own_slot(call: Call) -> Option<&'static Slot> {
    match Slot::own() {
        _ if !is_on() => None,
        None => come_from_outside(call),
        slot => slot,
    }
}

/// A thread that the C library has made for itself: it is ordered from now on.
#[cold]
fn come_from_outside(call: Call) -> Option<&'static Slot> {
    let state = state::current()?;
    notes::not_exact(
        &format!("{} in a thread that pthread_create has not made", call.name),
        call.place,
    );
    let time = picoseconds(state.now());
    let slot = with(None, |shared| shared.enter(time));
    slot.adopt();
    watchdog::park(slot);
    Some(slot)
}

impl Here {
    /// Its account.
    pub fn state(&self) -> Option<state::Own> {
        state::current()
    }

    /// The thread's times.
    pub fn times(&self) -> Times {
        self.state().map(|state| state.times()).unwrap_or_default()
    }

    /// The thread's time.
    pub fn now(&self) -> u64 {
        picoseconds(self.times().migrating)
    }

    /// Until no other thread is earlier.
    pub fn order(&self) {
        if let Some(mut state) = self.state() {
            self.order_with(&mut state);
        }
    }

    fn order_with(&self, state: &mut State) {
        let slot = self.slot;
        state.settle();
        slot.place.store(self.call.place, Relaxed);
        slot.may_sleep.store(false, Relaxed);
        slot.count_point();
        let mut now = picoseconds(state.now());
        let (last, count) = slot.stuck.get();
        let count = if last == now { count + 1 } else { 0 };
        let most = match self.call.yields {
            true => STUCK_YIELDING,
            false => STUCK,
        };
        if count > most
            // Those of the same time spin, too, or have their turns before.
            && let Some(later) = with(Some(slot), |shared| shared.next_after(now))
        {
            let until = state.times().after(1000 * u128::from(later - now));
            state.catch_up(Wait::Signal, &until);
            now = picoseconds(state.now());
        }
        slot.stuck.set((now, count));
        if next().is_none_or(|next| now < next) && !slot.away.load(Relaxed) {
            return;
        }
        with(Some(slot), |shared| shared.token.pass(slot.thread, now));
        watchdog::park(slot);
    }

    /// The signals that have come to the thread are delivered: handlers run.
    pub fn deliver(&self) {
        self.let_processor_timers_expire();
        self.deliver_sent();
    }

    /// The same of those that have been sent already.
    pub fn deliver_sent(&self) {
        while self.slot.signalled.load(Relaxed) {
            let sent = with(Some(self.slot), |shared| {
                shared.timers.take_signal(self.slot)
            });
            let Some(sent) = sent else { return };
            if !self.slot.blocks(sent.signal.number) {
                if sent_signals::interrupts(sent.signal.number) {
                    self.interrupted.set(true);
                }
                self.had_signal.set(true);
            }
            self.outside(|| sent_signals::raise(&sent.signal, sent.overrun));
        }
    }

    /// What lets handlers run, which may come to stated points of their own.
    pub fn outside(&self, f: impl FnOnce()) {
        self.slot.busy.store(false, Relaxed);
        f();
        self.slot.busy.store(true, Relaxed);
    }

    /// The call is not ordered.
    pub fn not_exact(&self) {
        notes::not_exact(self.call.name, self.call.place);
    }

    /// The call that follows may sleep in the kernel, and ends without other threads.
    pub fn may_sleep(&self) {
        self.slot.may_sleep.store(true, Relaxed);
    }
}
