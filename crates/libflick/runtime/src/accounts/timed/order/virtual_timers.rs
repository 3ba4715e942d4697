//! The timers of the order: when they expire, and the signals that wait for their threads.
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use flick_sim::thread_token::Token;
use flick_sim::timer_queue::Timers;

use super::super::setting::picoseconds;
use super::super::sums::Times;
use super::keys::{ANY_DATA, Key};
use super::sent_signals::{self, Signal};
use super::slot::Slot;
use super::written_data::writes;

/// Femtoseconds of [`Times`] of a picosecond.
pub const FEMTOSECONDS: u128 = 1000;
/// Expirations without a thread that goes on, after which the threads wait for something else.
pub const MOST_IN_VAIN: u32 = 100_000;

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

/// A signal that waits for its thread to have the token.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub timer: Timer,
    pub signal: Signal,
    /// Expirations since it was sent.
    pub overrun: c_int,
}

/// A timer of the process, armed or not.
pub struct Record {
    pub effect: Effect,
    /// What absolute times are on.
    pub clock: c_int,
    /// When it expires next, in each world.
    pub moment: Times,
    /// Of the last signal; expirations that nobody has read, of a file.
    pub count: u64,
}

/// All timers, and signals on their way.
#[derive(Default)]
pub struct VirtualTimers {
    pub armed: Timers<Timer>,
    pub records: HashMap<Timer, Record>,
    sent: Vec<(usize, Sent)>,
}

impl VirtualTimers {
    /// When the next one expires.
    pub fn next(&self) -> Option<u64> {
        self.armed.next()
    }

    /// Timers expire that are not later than the thread that is next, if nobody has the token.
    pub fn let_expire(&mut self, token: &mut Token<Key>, slots: &[&'static Slot]) {
        if token.holder().is_some() {
            return;
        }
        let mut in_vain = 0;
        while let Some(timer) = self.next() {
            match token.next() {
                Some(thread) if thread < timer => return,
                None if in_vain == MOST_IN_VAIN => return,
                next => in_vain += u32::from(next.is_none()),
            }
            self.expire(token, slots);
        }
    }

    fn expire(&mut self, token: &mut Token<Key>, slots: &[&'static Slot]) {
        let Some((timer, at)) = self.armed.expire() else {
            return;
        };
        let interval = self.armed.get(timer).map_or(0, |left| left.interval);
        let Some(record) = self.records.get_mut(&timer) else {
            return;
        };
        let moment = record.moment;
        record.moment = moment.after(FEMTOSECONDS * u128::from(interval));
        match record.effect {
            Effect::Nothing => {}
            Effect::Signal(signal) => self.send((timer, signal), (at, moment), token, slots),
            Effect::File(key) => {
                record.count += 1;
                if let (Timer::File(file), 1) = (timer, record.count) {
                    sent_signals::let_file_expire(file);
                }
                writes(key);
                for key in [key, ANY_DATA] {
                    while let Some(thread) = token.wake(key, picoseconds(moment.migrating)) {
                        slots[thread].woken.set(moment);
                    }
                }
            }
        }
    }

    /// The timer's signal is for a thread from now on.
    fn send(
        &mut self,
        (timer, signal): (Timer, Signal),
        (at, moment): (u64, Times),
        token: &mut Token<Key>,
        slots: &[&'static Slot],
    ) {
        if sent_signals::is_ignored(signal.number) {
            return;
        }
        // As the kernel does: the first thread, if it does not block the signal.
        let live = slots.iter().filter(|slot| !token.has_ended(slot.thread));
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
        if let Some((_, pending)) = self.sent.iter_mut().find(is_same) {
            pending.overrun = pending.overrun.saturating_add(1);
            return;
        }
        let sent = Sent {
            timer,
            signal,
            overrun: 0,
        };
        self.sent.push((slot.thread, sent));
        slot.signalled.store(true, Relaxed);
        // What waits for a hart does so in the middle of a crossing, and gets its signals behind it.
        let awaited = token.awaited_by(slot.thread);
        if awaited.is_some_and(|key| !matches!(key, Key::Owner(_))) {
            slot.woken.set(moment);
            token.interrupt(slot.thread, at);
        }
    }

    /// The next signal for a thread.
    pub fn take_signal(&mut self, slot: &Slot) -> Option<Sent> {
        let mine = |(thread, _): &(usize, Sent)| *thread == slot.thread;
        let found = self.sent.iter().position(mine);
        let Some(at) = found else {
            slot.signalled.store(false, Relaxed);
            return None;
        };
        let (_, sent) = self.sent.remove(at);
        if let Some(record) = self.records.get_mut(&sent.timer) {
            record.count = sent.overrun as u64;
        }
        Some(sent)
    }
}
