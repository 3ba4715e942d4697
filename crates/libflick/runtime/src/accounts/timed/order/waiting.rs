//! Waiting in the order: for a key, until another thread opens it, or for data.
use std::sync::atomic::Ordering::Relaxed;

use flick_sim::thread_token::Turn;

use super::super::setting::picoseconds;
use super::super::sums::{Times, Wait};
use super::keys::Key;
use super::ordered_threads::{Shared, next, with};
use super::stated_points::Here;
use super::watchdog;
use super::written_data::is_written;

/// Milliseconds between two looks of a thread that waits for data, and the looks at data that has
/// come before it is taken while other threads are ready.
const LOOK_FOR_DATA: i32 = 100;
const LOOKS_FOR_DATA: i32 = 2;

impl Here {
    /// Waits for `key`, until `deadline` at most, if `needed` says so, which is asked when nobody
    /// else can wake the thread before it waits. `None`: it was not needed.
    pub fn wait_if(
        &self,
        wait: Wait,
        key: Key,
        deadline: Option<u64>,
        needed: impl FnOnce(&mut Opening) -> bool,
    ) -> Option<Turn> {
        let slot = self.slot;
        let began = self.times();
        let now = picoseconds(began.migrating);
        let waits = with(Some(slot), |shared| {
            let waits = needed(&mut Opening {
                shared,
                times: began,
            });
            if waits {
                shared.free_hart(slot);
                shared.token.wait(slot.thread, key, now, deadline);
            }
            waits
        });
        if !waits {
            return None;
        }
        watchdog::park(slot);
        let turn = self.after_waiting(wait, began, deadline);
        self.deliver();
        Some(turn)
    }

    /// Waits for `key` until data comes, which `ready` says, until `deadline` at most. Other threads
    /// that bring it wake this one. What comes from outside of the process is taken when no other
    /// thread is ready, or after a while.
    pub fn wait_for_data(
        &self,
        wait: Wait,
        key: Key,
        deadline: Option<u64>,
        ready: impl Fn(i32) -> bool,
    ) -> Turn {
        let slot = self.slot;
        let began = self.times();
        let now = picoseconds(began.migrating);
        with(Some(slot), |shared| {
            shared.free_hart(slot);
            shared.token.wait(slot.thread, key, now, deadline);
            shared.for_data.push(slot);
        });
        let mut looks = 0;
        while !slot.take() {
            let rouse = |shared: &mut Shared| shared.token.rouse(slot.thread, now);
            if with(Some(slot), |shared| shared.is_idle()) {
                // Nobody in the process can bring it.
                if ready(LOOK_FOR_DATA) {
                    with(Some(slot), |shared| shared.is_idle().then(|| rouse(shared)));
                }
            } else if slot.sleep() {
                watchdog::look();
                looks += i32::from(ready(0));
                if looks > LOOKS_FOR_DATA {
                    self.not_exact();
                    with(Some(slot), rouse);
                }
            }
        }
        with(Some(slot), |shared| {
            shared.for_data.retain(|other| other.thread != slot.thread);
        });
        slot.away.store(false, Relaxed);
        let turn = self.after_waiting(wait, began, deadline);
        self.deliver();
        turn
    }

    /// Whether another process may have sent what is there to be read, while other threads run: it
    /// could have come later.
    pub fn may_come_later(&self, key: Key) -> bool {
        next().is_some() && !is_written(key)
    }

    /// Charges the time that the thread has waited; why it goes on.
    fn after_waiting(&self, wait: Wait, began: Times, deadline: Option<u64>) -> Turn {
        let slot = self.slot;
        let turn = with(Some(slot), |shared| shared.token.turn(slot.thread));
        if let Some(mut state) = self.state() {
            let until = match turn {
                Turn::Woken | Turn::Interrupted => slot.woken.get(),
                Turn::TimedOut => {
                    let now = picoseconds(began.migrating);
                    let limit = deadline.unwrap_or(now).saturating_sub(now);
                    began.after(1000 * u128::from(limit))
                }
                Turn::Ready => began,
            };
            state.catch_up(wait, &until);
        }
        turn
    }

    /// Wakes up to `count` threads that wait for `key`: how many there were.
    pub fn wake(&self, key: Key, count: usize) -> usize {
        let times = self.times();
        with(Some(self.slot), |shared| {
            (0..count)
                .take_while(|_| shared.wake(key, &times).is_some())
                .count()
        })
    }

    /// Threads that wait for one wait for the other.
    pub fn requeue(&self, from: Key, to: Key, count: usize) -> usize {
        with(Some(self.slot), |shared| {
            shared.token.requeue(from, to, count)
        })
    }

    /// `key` was opened, or given, now: who takes it later goes on at this time, in each world. Wakes
    /// one thread that waits for it, or all.
    pub fn open(&self, key: Key, all: bool) {
        let times = self.times();
        with(Some(self.slot), |shared| {
            let last = shared.moments.get(&key).copied().unwrap_or_default();
            shared.keep(key, last.latest(&times));
            while shared.wake(key, &times).is_some() && all {}
        });
    }

    /// `key` has been taken: the thread has waited until it was opened.
    pub fn took(&self, wait: Wait, key: Key) {
        let moment = with(Some(self.slot), |shared| shared.moments.get(&key).copied());
        if let (Some(moment), Some(mut state)) = (moment, self.state()) {
            state.catch_up(wait, &moment);
        }
    }

    /// `key` is no more.
    pub fn forget(&self, key: Key) {
        with(Some(self.slot), |shared| shared.moments.remove(&key));
    }

    /// `other` is about to be cancelled: it goes on, if it waits where that ends it.
    pub fn rouse(&self, other: libc::pthread_t) {
        let now = self.now();
        with(Some(self.slot), |shared| {
            let Some(&other) = shared.numbers.get(&other) else {
                return;
            };
            let awaited = shared.token.awaited_by(other);
            let Some(awaited) = awaited else { return };
            use Key::{Condition, Data, End, Semaphore, Signals};
            if let Condition(_) | Semaphore(_) | End(_) | Data(..) | Signals = awaited {
                shared.token.rouse(other, now);
            }
        });
    }
}

/// What a thread that is about to wait may do, while nobody else changes the order.
pub struct Opening<'a> {
    pub shared: &'a mut Shared,
    times: Times,
}

impl Opening<'_> {
    /// As [`Here::open`], for one thread.
    pub fn open(&mut self, key: Key) {
        let last = self.shared.moments.get(&key).copied().unwrap_or_default();
        self.shared.keep(key, last.latest(&self.times));
        self.shared.wake(key, &self.times);
    }
}
