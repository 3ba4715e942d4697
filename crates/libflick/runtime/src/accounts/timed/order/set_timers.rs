//! Timers in virtual time: they expire in the order of the threads. A signal comes to a thread when
//! that has the token, at a stated point or where it waits.
use std::ffi::c_int;

use flick_sim::timer_queue::Setting;

use super::super::sums::{Times, Wait};
use super::keys::Key;
use super::linked_library::clocks_are_virtual;
use super::lives::begin;
use super::ordered_threads::{Shared, with};
use super::processor_time::Meter;
use super::slot::Slot;
use super::stated_points::{Call, Here, point};
use super::virtual_timers::{FEMTOSECONDS, Record};
use super::written_data::writes;
use super::{sent_signals, virtual_timers};

pub use super::sent_signals::Signal;
pub use super::virtual_timers::{Effect, Timer};

/// The stated point of a call that uses a timer: the order begins with the first one. `None`: the
/// timer is the machine's.
pub fn point_of_timer(call: Call) -> Option<Here> {
    if !clocks_are_virtual() {
        return None;
    }
    begin();
    point(call)
}

/// What is left of a timer, and its interval. Picoseconds.
pub type Left = (u64, u64);

impl Here {
    /// Arms a timer, which expires after `delay`, or disarms it; what was left of it. Picoseconds.
    pub fn set_timer(&self, timer: Timer, delay: Option<u64>, interval: u64) -> Option<Left> {
        let times = self.times();
        with(Some(self.slot), |shared| {
            let now = shared.timers.now(timer, &times);
            let setting = delay.map(|delay| Setting {
                at: now.saturating_add(delay),
                interval,
            });
            if let Some(record) = shared.timers.records.get_mut(&timer) {
                record.moment = times.after(FEMTOSECONDS * u128::from(delay.unwrap_or(0)));
                record.count = 0;
            }
            let before = shared.timers.set(timer, setting);
            shared.timers.set_processor_limits(&shared.slots);
            let before = before?;
            Some((before.at.saturating_sub(now), before.interval))
        })
    }

    /// What is left of a timer, if it is armed.
    pub fn timer_left(&self, timer: Timer) -> Option<Left> {
        let times = self.times();
        with(Some(self.slot), |shared| {
            let now = shared.timers.now(timer, &times);
            let setting = shared.timers.get(timer)?;
            Some((setting.at.saturating_sub(now), setting.interval))
        })
    }

    /// Expirations of a timer's file since it was read, which it is now; 0: none. `None`: the file is
    /// no timer in virtual time.
    pub fn read_timer(&self, file: c_int) -> Option<u64> {
        with(Some(self.slot), |shared| {
            let record = shared.timers.records.get_mut(&Timer::File(file))?;
            Some(std::mem::take(&mut record.count))
        })
    }

    /// Whether a timer is armed, so that a signal may end a sleep.
    pub fn has_timers(&self) -> bool {
        with(Some(self.slot), |shared| shared.timers.are_armed())
    }

    /// So many picoseconds pass, and what is due until then is done.
    fn let_pass(&self, wait: Wait, time: u64) {
        if let Some(mut state) = self.state() {
            let until = state.times().after(FEMTOSECONDS * u128::from(time));
            state.catch_up(wait, &until);
        }
        self.order();
        self.deliver();
    }

    /// Sleeps until `wake`, or a signal: how much is left then. Picoseconds.
    pub fn sleep_until(&self, wake: u64) -> Option<u64> {
        self.had_signal.set(false);
        loop {
            let now = self.now();
            if now >= wake {
                return None;
            }
            let next = with(Some(self.slot), |shared| shared.timers.next());
            let until = next.map_or(wake, |next| next.clamp(now, wake));
            self.let_pass(Wait::Sleep, until - now);
            if self.had_signal.get() {
                return Some(wake.saturating_sub(self.now()));
            }
        }
    }

    /// Sleeps until the processor time is so much, or a signal: how much is left then. Picoseconds.
    pub fn sleep_by(&self, meter: Meter, clock: c_int, wake: u64) -> Option<u64> {
        let thread = self.slot.thread;
        let timer = Timer::Sleep(thread);
        has_effect(timer, Effect::Wakes(Key::Sleep(thread)), clock);
        self.had_signal.set(false);
        let left = loop {
            let left = wake.saturating_sub(meter.read());
            if left == 0 || self.had_signal.get() {
                break (left != 0).then_some(left);
            }
            self.set_timer(timer, Some(left), 0);
            self.wait_if(Wait::Sleep, Key::Sleep(thread), None, |_| true);
        };
        forget(timer);
        left
    }

    /// Timers of processor time expire that are due.
    pub fn let_processor_timers_expire(&self) {
        if !virtual_timers::is_processor_timer_due(self.slot) {
            return;
        }
        let moment = self.times();
        with(Some(self.slot), |shared| {
            let Shared {
                timers,
                token,
                slots,
                ..
            } = shared;
            timers.let_processor_timers_expire((self.slot, moment), token, slots);
        });
    }
}

/// A timer has this effect when it expires. Absolute times of it are on this clock.
pub fn has_effect(timer: Timer, effect: Effect, clock: c_int) {
    with(Slot::own(), |shared| {
        let record = Record {
            effect,
            clock,
            moment: Times::default(),
            count: 0,
        };
        shared.timers.set(timer, None);
        shared.timers.records.insert(timer, record);
    });
}

/// See [`has_effect`].
pub fn clock_of(timer: Timer) -> c_int {
    with(Slot::own(), |shared| {
        let record = shared.timers.records.get(&timer);
        record.map_or(libc::CLOCK_MONOTONIC, |record| record.clock)
    })
}

/// A timer's file has expired so often, and nobody has read it.
pub fn has_expired(timer: Timer, count: u64) {
    with(Slot::own(), |shared| {
        let Some(record) = shared.timers.records.get_mut(&timer) else {
            return;
        };
        record.count = count;
        if let (Timer::File(file), Effect::File(key), 1..) = (timer, record.effect, count) {
            sent_signals::let_file_expire(file);
            writes(key);
        }
    });
}

/// A timer is no more.
pub fn forget(timer: Timer) {
    with(Slot::own(), |shared| {
        shared.timers.set(timer, None);
        shared.timers.set_processor_limits(&shared.slots);
        shared.timers.records.remove(&timer);
    });
}

/// Whether a timer has an effect in virtual time.
pub fn is_known(timer: Timer) -> bool {
    with(Slot::own(), |shared| {
        shared.timers.records.contains_key(&timer)
    })
}

/// Expirations behind the one whose signal was delivered last.
pub fn overrun(timer: Timer) -> Option<u64> {
    with(Slot::own(), |shared| {
        Some(shared.timers.records.get(&timer)?.count)
    })
}
