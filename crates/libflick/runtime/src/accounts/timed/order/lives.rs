//! How threads come into the order and leave it.
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use flick_sim::thread_token::{Thread, Turn};

use super::super::ended;
use super::super::setting::picoseconds;
use super::super::state::{self, Own};
use super::super::sums::Wait;
use super::keys::Key;
use super::linked_library::{is_linked, is_on, set_on};
use super::ordered_threads::{forget_all, with};
use super::slot::Slot;
use super::stated_points::{Call, Here, point};
use super::virtual_timers::VirtualTimers;
use super::{machine_turn, notes, one_processor, watchdog};

/// A new thread, which its creator has announced.
#[derive(Clone, Copy)]
pub struct Child(&'static Slot);

/// The calling thread is about to make a thread, at these times: `None` where that is not ordered.
pub fn announce(call: Call) -> Option<Child> {
    if !is_on() {
        if !is_linked() {
            notes::not_exact(
                "pthread_create in a program that was linked without --flick-timed",
                call.place,
            );
            return None;
        }
        begin();
    }
    let here = point(call)?;
    let now = here.now();
    Some(Child(with(Some(here.slot), |shared| shared.enter(now))))
}

/// The process gets its second thread, or a timer: the calling one holds the token.
#[cold]
pub fn begin() {
    if is_on() || !is_linked() {
        return;
    }
    let slot = with(None, |shared| shared.enter(0));
    slot.adopt();
    watchdog::park(slot);
    one_processor::stay();
    machine_turn::enter_machine();
    PROCESS.store(std::process::id(), Relaxed);
    set_on(true);
}

impl Child {
    /// It was not made.
    pub fn drop_out(self) {
        with(Slot::own(), |shared| shared.token.end(self.0.thread));
    }

    /// It was made.
    pub fn known_as(self, thread: libc::pthread_t) {
        with(Slot::own(), |shared| {
            shared.numbers.insert(thread, self.0.thread);
        });
    }

    /// The calling thread is it, and waits for its turn. It runs the function at `start`.
    pub fn arrive(self, start: usize) {
        self.0.adopt();
        // As a return address: behind its first byte.
        self.0.place.store(start + 1, Relaxed);
        self.0.busy.store(true, Relaxed);
        watchdog::park(self.0);
        Here::new(self.0, Call::new("the start of a thread", start + 1)).deliver_sent();
    }
}

/// The calling thread ends, which has this account.
pub fn end(state: &Own) {
    let here = point(Call::new("the end of a thread", 0));
    let times = state.times();
    ended::ended(times);
    let Some(here) = here else { return };
    let slot = here.slot;
    machine_turn::thread_ends();
    drop(here);
    with(None, |shared| {
        shared.token.end(slot.thread);
        let key = Key::End(slot.thread);
        while shared.wake(key, &times).is_some() {}
    });
    Slot::drop_own();
}

/// The calling thread is about to join `thread`, and waits until that has ended.
pub fn join(call: Call, thread: libc::pthread_t) {
    let Some(here) = point(call) else { return };
    let other = with(Some(here.slot), |shared| {
        let other = shared.numbers.remove(&thread)?;
        (!shared.token.has_ended(other)).then_some(other)
    });
    if let Some(other) = other {
        wait_for_end(&here, other);
    }
    here.slot.may_sleep.store(true, Relaxed);
}

/// Until the other thread has ended. Signals of timers come meanwhile.
fn wait_for_end(here: &Here, other: Thread) {
    let slot = here.slot;
    let mut has_ended = false;
    while !has_ended {
        let now = here.now();
        // That time passes is said by who learns when the thread has ended.
        with(Some(slot), |shared| {
            shared.free_hart(slot);
            shared.token.wait(slot.thread, Key::End(other), now, None);
        });
        watchdog::park(slot);
        let turn = with(Some(slot), |shared| shared.token.turn(slot.thread));
        if turn != Turn::Interrupted {
            return;
        }
        if let Some(mut state) = here.state() {
            state.catch_up(Wait::Signal, &slot.woken.get());
        }
        here.deliver();
        has_ended = with(Some(slot), |shared| shared.token.has_ended(other));
    }
}

/// The calling thread has joined.
pub fn joined() {
    if let Some(slot) = Slot::own() {
        slot.may_sleep.store(false, Relaxed);
    }
}

/// The process that the order is of: not one that `vfork` has made in its memory.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Whether it is the calling one's.
pub fn is_own() -> bool {
    PROCESS.load(Relaxed) == std::process::id()
}

/// What the child of a fork had before: timers, at a time.
pub struct Before {
    pub timers: VirtualTimers,
    pub now: u64,
}

/// The child of a fork has one thread, and no order.
pub fn forked() -> Before {
    let now = state::if_any().map_or(0, |state| picoseconds(state.now()));
    set_on(false);
    Slot::drop_own();
    let timers = forget_all();
    one_processor::leave();
    notes::forget();
    Before { timers, now }
}
