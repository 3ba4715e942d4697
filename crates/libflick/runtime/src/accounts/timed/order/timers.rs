//! Timers in virtual time: they expire in the order of the threads. A signal comes to a thread when
//! that has the token, at a stated point or where it waits.
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use flick_sim::timers::{Setting, Timers};

use super::super::sums::{Times, Wait};
use super::lives::begin;
use super::ordered_threads::{ANY_DATA, Key, Shared, with};
use super::slot::Slot;
use super::stated_points::{Call, Here, point};
use super::written_data::writes;
use super::{clocks_are_virtual, notes, sent_signals};

/// Picoseconds, or femtoseconds of [`Times`].
const FEMTOSECONDS: u128 = 1000;
/// Expirations without a thread that goes on, after which the threads wait for something else.
const MOST_IN_VAIN: u32 = 100_000;

/// A timer of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// That of `alarm`, `ualarm` and `setitimer`.
    Alarm,
    /// One of `timer_create`, by its number.
    Posix(usize),
    /// One of `timerfd_create`, by its file.
    File(c_int),
}

/// What happens when a timer expires.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    Nothing,
    Signal(Signal),
    /// The timer's file can be read, for which threads wait by this key.
    File(Key),
}

/// A timer's signal.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub number: c_int,
    /// Fields of `siginfo_t`.
    pub code: c_int,
    pub timer: c_int,
    pub value: usize,
    /// The kernel's number of the thread that gets it; otherwise one that does not block it.
    pub thread: Option<c_int>,
}

/// A signal that waits for its thread to have the token.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub timer: Timer,
    pub signal: Signal,
    /// Expirations since it was sent.
    pub overrun: c_int,
}

struct Record {
    effect: Effect,
    /// What absolute times are on.
    clock: c_int,
    /// When it expires next, in each world.
    moment: Times,
    /// Of the last signal; expirations that nobody has read, of a file.
    count: u64,
}

/// All timers, and signals on their way.
#[derive(Default)]
pub struct VirtualTimers {
    armed: Timers<Timer>,
    records: HashMap<Timer, Record>,
    sent: Vec<(usize, Sent)>,
}

impl VirtualTimers {
    /// When the next one expires.
    pub fn next(&self) -> Option<u64> {
        self.armed.next()
    }
}

impl Shared {
    /// Timers expire that are not later than the thread that is next.
    pub fn let_expire(&mut self) {
        if self.token.holder().is_some() {
            return;
        }
        let mut in_vain = 0;
        while let Some(timer) = self.timers.next() {
            match self.token.next() {
                Some(thread) if thread < timer => return,
                None if in_vain == MOST_IN_VAIN => return,
                next => in_vain += u32::from(next.is_none()),
            }
            self.expire();
        }
    }

    fn expire(&mut self) {
        let Some((timer, at)) = self.timers.armed.expire() else {
            return;
        };
        let interval = self.timers.armed.get(timer).map_or(0, |left| left.interval);
        let Some(record) = self.timers.records.get_mut(&timer) else {
            return;
        };
        let moment = record.moment;
        record.moment = moment.after(FEMTOSECONDS * u128::from(interval));
        match record.effect {
            Effect::Nothing => {}
            Effect::Signal(signal) => self.send(timer, signal, (at, moment)),
            Effect::File(key) => {
                record.count += 1;
                if let (Timer::File(file), 1) = (timer, record.count) {
                    sent_signals::let_file_expire(file);
                }
                writes(key);
                for key in [key, ANY_DATA] {
                    while self.wake(key, &moment).is_some() {}
                }
            }
        }
    }

    /// The timer's signal is for a thread from now on.
    fn send(&mut self, timer: Timer, signal: Signal, (at, moment): (u64, Times)) {
        if sent_signals::is_ignored(signal.number) {
            return;
        }
        // As the kernel does: the first thread, if it does not block the signal.
        let live = self
            .slots
            .iter()
            .filter(|slot| !self.token.has_ended(slot.thread));
        let target = live.copied().find(|slot| {
            let tid = slot.tid.load(Relaxed);
            match signal.thread {
                Some(thread) => thread == tid,
                None => tid != 0 && !sent_signals::is_blocked(tid, signal.number),
            }
        });
        let Some(slot) = target else {
            sent_signals::send_to_process(&signal);
            return;
        };
        let is_same = |(thread, sent): &&mut (usize, Sent)| {
            let is_pending = match timer {
                Timer::Posix(_) => sent.timer == timer,
                _ => sent.signal.number == signal.number,
            };
            *thread == slot.thread && is_pending
        };
        if let Some((_, pending)) = self.timers.sent.iter_mut().find(is_same) {
            pending.overrun = pending.overrun.saturating_add(1);
            return;
        }
        let sent = Sent {
            timer,
            signal,
            overrun: 0,
        };
        self.timers.sent.push((slot.thread, sent));
        slot.signalled.store(true, Relaxed);
        // What waits for a hart does so in the middle of a crossing, and gets its signals behind it.
        let awaited = self.token.awaited_by(slot.thread);
        if awaited.is_some_and(|key| !matches!(key, Key::Owner(_))) {
            slot.woken.set(moment);
            self.token.interrupt(slot.thread, at);
        }
    }

    /// The next signal for a thread.
    fn take_signal(&mut self, slot: &Slot) -> Option<Sent> {
        let mine = |(thread, _): &(usize, Sent)| *thread == slot.thread;
        let found = self.timers.sent.iter().position(mine);
        let Some(at) = found else {
            slot.signalled.store(false, Relaxed);
            return None;
        };
        let (_, sent) = self.timers.sent.remove(at);
        if let Some(record) = self.timers.records.get_mut(&sent.timer) {
            record.count = sent.overrun as u64;
        }
        Some(sent)
    }
}

/// The stated point of a call that uses a timer: the order begins with the first one. `None`: the
/// timer is the machine's.
pub fn point_of_timer(call: Call) -> Option<Here> {
    if !clocks_are_virtual() {
        return None;
    }
    begin();
    point(call)
}

/// How a signal has come that a thread has waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Its handler has run.
    Handled,
    /// It is blocked.
    Pending,
}

/// What is left of a timer, and its interval. Picoseconds.
pub type Left = (u64, u64);

impl Here {
    /// Arms a timer, which expires after `delay`, or disarms it; what was left of it. Picoseconds.
    pub fn set_timer(&self, timer: Timer, delay: Option<u64>, interval: u64) -> Option<Left> {
        let (now, times) = (self.now(), self.times());
        with(Some(self.slot), |shared| {
            let setting = delay.map(|delay| Setting {
                at: now.saturating_add(delay),
                interval,
            });
            if let Some(record) = shared.timers.records.get_mut(&timer) {
                record.moment = times.after(FEMTOSECONDS * u128::from(delay.unwrap_or(0)));
                record.count = 0;
            }
            let before = shared.timers.armed.set(timer, setting)?;
            Some((before.at.saturating_sub(now), before.interval))
        })
    }

    /// What is left of a timer, if it is armed.
    pub fn timer_left(&self, timer: Timer) -> Option<Left> {
        let now = self.now();
        let setting = with(Some(self.slot), |shared| shared.timers.armed.get(timer))?;
        Some((setting.at.saturating_sub(now), setting.interval))
    }

    /// Expirations of a timer's file since it was read, which it is now; 0: none. `None`: the file is
    /// no timer in virtual time.
    pub fn read_timer(&self, file: c_int) -> Option<u64> {
        with(Some(self.slot), |shared| {
            let record = shared.timers.records.get_mut(&Timer::File(file))?;
            Some(std::mem::take(&mut record.count))
        })
    }

    /// The signals that have come to the thread are delivered: handlers run.
    pub fn deliver(&self) {
        while self.slot.signalled.load(Relaxed) {
            let sent = with(Some(self.slot), |shared| shared.take_signal(self.slot));
            let Some(sent) = sent else { return };
            if sent_signals::interrupts(sent.signal.number) {
                self.interrupted.set(true);
            }
            self.had_signal.set(true);
            self.slot.busy.store(false, Relaxed);
            sent_signals::raise(&sent);
            self.slot.busy.store(true, Relaxed);
        }
    }

    /// Whether a timer is armed, so that a signal may end a sleep.
    pub fn has_timers(&self) -> bool {
        with(Some(self.slot), |shared| shared.timers.next().is_some())
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
            if let Some(mut state) = self.state() {
                let until = state.times().after(FEMTOSECONDS * u128::from(until - now));
                state.catch_up(Wait::Sleep, &until);
            }
            self.order();
            self.deliver();
            if self.had_signal.get() {
                return Some(wake.saturating_sub(self.now()));
            }
        }
    }

    /// The only thread of the process waits until a timer's signal has come to it or to the process.
    /// `None`: none will, or other threads may send one.
    pub fn await_timer(&self) -> Option<Awaited> {
        self.had_signal.set(false);
        let has_signal = |shared: &mut Shared| {
            let is_machine = |slot: &Slot| shared.machine == Some(slot.thread);
            let live =
                |slot: &&&'static Slot| !shared.token.has_ended(slot.thread) && !is_machine(slot);
            let is_alone = shared.slots.iter().filter(live).count() == 1;
            let sends = |record: &Record| matches!(record.effect, Effect::Signal(_));
            let timers = &shared.timers;
            let mut armed = timers.records.iter();
            is_alone
                && armed.any(|(&timer, record)| sends(record) && timers.armed.get(timer).is_some())
        };
        for _ in 0..MOST_IN_VAIN {
            let next = with(Some(self.slot), |shared| {
                has_signal(shared).then(|| shared.timers.next()).flatten()
            });
            let left = next?.saturating_sub(self.now());
            if let Some(mut state) = self.state() {
                let until = state.times().after(FEMTOSECONDS * u128::from(left));
                state.catch_up(Wait::Signal, &until);
            }
            self.order();
            self.deliver();
            if sent_signals::are_pending() {
                return Some(Awaited::Pending);
            }
            if self.had_signal.get() {
                return Some(Awaited::Handled);
            }
        }
        None
    }
}

/// A timer has this effect when it expires.
pub fn has_effect(timer: Timer, effect: Effect) {
    with(Slot::own(), |shared| {
        let record = Record {
            effect,
            clock: libc::CLOCK_MONOTONIC,
            moment: Times::default(),
            count: 0,
        };
        shared.timers.armed.set(timer, None);
        shared.timers.records.insert(timer, record);
    });
}

/// Absolute times of a timer are on this clock.
pub fn has_clock(timer: Timer, clock: c_int) {
    with(Slot::own(), |shared| {
        if let Some(record) = shared.timers.records.get_mut(&timer) {
            record.clock = clock;
        }
    });
}

/// See [`has_clock`].
pub fn clock_of(timer: Timer) -> c_int {
    with(Slot::own(), |shared| {
        let record = shared.timers.records.get(&timer);
        record.map_or(libc::CLOCK_MONOTONIC, |record| record.clock)
    })
}

/// A timer is no more.
pub fn forget(timer: Timer) {
    with(Slot::own(), |shared| {
        shared.timers.armed.set(timer, None);
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

/// The timer is the machine's.
pub fn is_of_machine(name: &str, place: usize) {
    notes::not_exact(name, place);
}
