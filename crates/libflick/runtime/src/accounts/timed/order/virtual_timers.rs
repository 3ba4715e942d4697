//! The timers of the order: when they expire, and the signals that wait for their threads.
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use flick_sim::thread_token::{Thread, Token};
use flick_sim::timer_queue::{Setting, Timers};

use super::super::setting::picoseconds;
use super::super::sums::Times;
use super::keys::{ANY_DATA, Key};
use super::processor_time::Meter;
use super::sent_signals::{self, Signal};
use super::slot::Slot;
use super::written_data::writes;

/// Femtoseconds of [`Times`] of a picosecond.
pub const FEMTOSECONDS: u128 = 1000;
/// Expirations without a thread that goes on, after which the threads wait for something else.
pub const MOST_IN_VAIN: u32 = 100_000;

/// `siginfo_t.si_code` of a signal of the kernel's own timers (Linux).
const FROM_KERNEL: c_int = 0x80;

/// A timer of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// That of `alarm`, `ualarm` and `setitimer`, and its two of processor time.
    Alarm,
    Virtual,
    Profile,
    /// One of `timer_create`, by its number.
    Posix(usize),
    /// One of `timerfd_create`, by its file.
    File(c_int),
    /// A thread sleeps until then.
    Sleep(Thread),
}

/// What happens when a timer expires.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    Nothing,
    Signal(Signal),
    /// The timer's file can be read, for which threads wait by this key.
    File(Key),
    /// Who waits for this key goes on.
    Wakes(Key),
}

impl Effect {
    /// That of a signal of the kernel's own timers.
    pub fn of_interval(number: c_int) -> Self {
        Self::Signal(Signal {
            number,
            code: FROM_KERNEL,
            timer: 0,
            value: 0,
            thread: None,
        })
    }
}

/// The processor time of the process at which a timer expires. That of threads is in their slots.
static PROCESSOR_LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Whether a timer of processor time is due, of the process or of the calling thread, which has this
/// slot.
#[inline]
pub fn is_processor_timer_due(own: &Slot) -> bool {
    let is_over = |limit: u64, meter: Meter| limit != u64::MAX && meter.read() >= limit;
    is_over(PROCESSOR_LIMIT.load(Relaxed), Meter::Process)
        || is_over(
            own.processor_limit.load(Relaxed),
            Meter::Thread(own.tid.load(Relaxed)),
        )
}

/// A signal that waits for its thread to have the token.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// `None`: a thread has sent it.
    pub timer: Option<Timer>,
    pub signal: Signal,
    /// Expirations since it was sent; the user of a thread.
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

/// The child of a fork has no timers.
pub fn forget() {
    PROCESSOR_LIMIT.store(u64::MAX, Relaxed);
}

/// What has become of a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    Done,
    /// It is pending for the process.
    Pending,
}

/// Threads that live.
fn live<'a>(
    token: &'a Token<Key>,
    slots: &'a [&'static Slot],
) -> impl Iterator<Item = &'static Slot> + 'a {
    let is_live = |slot: &&Slot| slot.tid.load(Relaxed) != 0 && !token.has_ended(slot.thread);
    slots.iter().copied().filter(is_live)
}

/// Who gets a signal of the process, as the kernel chooses: the first thread that does not block it.
pub fn target(number: c_int, token: &Token<Key>, slots: &[&'static Slot]) -> Option<&'static Slot> {
    live(token, slots).find(|slot| !slot.blocks(number))
}

/// All timers, and signals on their way.
#[derive(Default)]
pub struct VirtualTimers {
    armed: Timers<Timer>,
    /// Those of processor time.
    metered: BTreeMap<Meter, Timers<Timer>>,
    pub records: HashMap<Timer, Record>,
    sent: Vec<(usize, Sent)>,
}

impl VirtualTimers {
    /// Whose processor time a timer counts; `None`: it counts time.
    fn meter(&self, timer: Timer) -> Option<Meter> {
        Meter::of_clock(self.records.get(&timer)?.clock)
    }

    /// What a timer's clock shows to a thread at these times. Picoseconds.
    pub fn now(&self, timer: Timer, times: &Times) -> u64 {
        match self.meter(timer) {
            Some(meter) => meter.read(),
            None => picoseconds(times.migrating),
        }
    }

    /// Arms a timer, or disarms it; what it was.
    pub fn set(&mut self, timer: Timer, setting: Option<Setting>) -> Option<Setting> {
        let Some(meter) = self.meter(timer) else {
            return self.armed.set(timer, setting);
        };
        self.metered.entry(meter).or_default().set(timer, setting)
    }

    /// Timers of processor time have been set, or have expired.
    pub fn set_processor_limits(&mut self, slots: &[&'static Slot]) {
        self.metered.retain(|_, timers| timers.armed() != 0);
        let limit = |meter| self.metered.get(&meter).and_then(Timers::next);
        let limit = |meter| limit(meter).unwrap_or(u64::MAX);
        PROCESSOR_LIMIT.store(limit(Meter::Process), Relaxed);
        for slot in slots {
            let meter = Meter::Thread(slot.tid.load(Relaxed));
            slot.processor_limit.store(limit(meter), Relaxed);
        }
    }

    /// What a timer is set to, if it is armed.
    pub fn get(&self, timer: Timer) -> Option<Setting> {
        match self.meter(timer) {
            Some(meter) => self.metered.get(&meter)?.get(timer),
            None => self.armed.get(timer),
        }
    }

    /// Whether any is.
    pub fn are_armed(&self) -> bool {
        self.next().is_some() || !self.metered.is_empty()
    }

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
            let Some((timer, at)) = self.armed.expire() else {
                return;
            };
            let interval = self.armed.get(timer).map_or(0, |left| left.interval);
            let Some(record) = self.records.get_mut(&timer) else {
                return;
            };
            let moment = record.moment;
            record.moment = moment.after(FEMTOSECONDS * u128::from(interval));
            self.expires(timer, None, (at, moment), token, slots);
        }
    }

    /// Timers of processor time expire that are due where this thread has a stated point.
    pub fn let_processor_timers_expire(
        &mut self,
        (own, moment): (&'static Slot, Times),
        token: &mut Token<Key>,
        slots: &[&'static Slot],
    ) {
        let mut due = Vec::new();
        for (meter, timers) in &mut self.metered {
            let now = meter.read();
            while timers.next().is_some_and(|next| next <= now) {
                due.extend(timers.expire());
            }
        }
        let at = picoseconds(moment.migrating);
        for (timer, _) in due {
            self.expires(timer, Some(own), (at, moment), token, slots);
        }
        self.set_processor_limits(slots);
    }

    /// The timer expires. `own`: the thread that gets its signal rather than others.
    fn expires(
        &mut self,
        timer: Timer,
        own: Option<&'static Slot>,
        (at, moment): (u64, Times),
        token: &mut Token<Key>,
        slots: &[&'static Slot],
    ) {
        let wake = |token: &mut Token<Key>, key| {
            while let Some(thread) = token.wake(key, at) {
                slots[thread].woken.set(moment);
            }
        };
        let Some(record) = self.records.get_mut(&timer) else {
            return;
        };
        match record.effect {
            Effect::Nothing => {}
            Effect::Signal(signal) => {
                if self.send((timer, signal), own, (at, moment), token, slots) == Sending::Pending {
                    wake(token, Key::Signals);
                }
            }
            Effect::Wakes(key) => wake(token, key),
            Effect::File(key) => {
                record.count += 1;
                if let (Timer::File(file), 1) = (timer, record.count) {
                    sent_signals::let_file_expire(file);
                }
                writes(key);
                for key in [key, ANY_DATA] {
                    wake(token, key);
                }
            }
        }
    }

    /// The timer's signal is for a thread from now on.
    fn send(
        &mut self,
        (timer, signal): (Timer, Signal),
        own: Option<&'static Slot>,
        (at, moment): (u64, Times),
        token: &mut Token<Key>,
        slots: &[&'static Slot],
    ) -> Sending {
        if sent_signals::is_ignored(signal.number) {
            return Sending::Done;
        }
        let target = match signal.thread {
            Some(thread) => live(token, slots).find(|slot| slot.tid.load(Relaxed) == thread),
            None => own
                .filter(|slot| !slot.blocks(signal.number))
                .or_else(|| target(signal.number, token, slots)),
        };
        let Some(slot) = target else {
            sent_signals::send_to_process(&signal);
            return Sending::Pending;
        };
        let sent = Sent {
            timer: Some(timer),
            signal,
            overrun: 0,
        };
        self.put(slot, sent, (at, moment), token);
        Sending::Done
    }

    /// The signal waits for the thread, which goes on if that ends what it waits for.
    pub fn put(
        &mut self,
        slot: &'static Slot,
        sent: Sent,
        (at, moment): (u64, Times),
        token: &mut Token<Key>,
    ) {
        let number = sent.signal.number;
        let is_same = |(thread, pending): &&mut (usize, Sent)| {
            let is_pending = match sent.timer {
                Some(Timer::Posix(_)) => pending.timer == sent.timer,
                None if sent_signals::is_queued(number) => false,
                _ => pending.signal.number == number,
            };
            *thread == slot.thread && is_pending
        };
        if let Some((_, pending)) = self.sent.iter_mut().find(is_same) {
            if sent.timer.is_some() && pending.timer.is_some() {
                pending.overrun = pending.overrun.saturating_add(1);
            }
            return;
        }
        self.sent.push((slot.thread, sent));
        slot.signalled.store(true, Relaxed);
        // What waits for a hart does so in the middle of a crossing, and gets its signals behind it.
        let awaited = token.awaited_by(slot.thread);
        if awaited.is_some_and(|key| !matches!(key, Key::Owner(_))) && !slot.blocks(number) {
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
        let timer = sent.timer.and_then(|timer| self.records.get_mut(&timer));
        if let Some(record) = timer {
            record.count = sent.overrun as u64;
        }
        Some(sent)
    }
}
