//! A thread's part of a trace that has a limit of size: events as long as there is much room, and
//! sums of longer and longer intervals behind that.
use std::collections::BTreeMap;

use super::crossing_steps::{Span, Step, Walk};
use super::encoder::Encoder;
use super::event::{Event, What};
use super::interval_sums::{Accounts, Sums};
use super::trace_format::{MAX_STACK, Side};

/// How much of what happens a trace has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Detail {
    /// Every event.
    #[default]
    Events,
    /// Sums of a 128th of the time that has passed.
    Fine,
    /// Of a 16th.
    Middle,
    /// Of as much as has passed.
    Long,
    /// One sum of all threads that end, for the whole process.
    Merged,
}

/// By how they are kept in one byte.
const DETAILS: [Detail; 5] = [
    Detail::Events,
    Detail::Fine,
    Detail::Middle,
    Detail::Long,
    Detail::Merged,
];

/// The shortest interval of a sum, in picoseconds.
const SHORTEST: u64 = 1_000_000;

impl Detail {
    /// What a trace of `size` bytes has from now on that may have `most` of them. Half of it is for
    /// events, and half of the rest for each further kind of interval.
    pub fn of(size: u64, most: u64) -> Self {
        let left = most.saturating_sub(size);
        match left {
            _ if left >= most / 2 => Self::Events,
            _ if left >= most / 4 => Self::Fine,
            _ if left >= most / 8 => Self::Middle,
            _ if left >= most / 16 => Self::Long,
            _ => Self::Merged,
        }
    }

    /// The one with this number; the last for others.
    pub fn numbered(number: u8) -> Self {
        let found = DETAILS.get(usize::from(number));
        found.copied().unwrap_or(Self::Merged)
    }

    /// When the interval ends that begins at `time`; `None`: with the thread.
    fn next(self, time: u64) -> Option<u64> {
        let length = match self {
            Self::Events | Self::Fine => time / 128,
            Self::Middle => time / 16,
            Self::Long => time,
            Self::Merged => return None,
        };
        Some(time.saturating_add(length.max(SHORTEST)))
    }
}

/// Samples by side and stack: both weights.
type Samples = BTreeMap<(Side, Vec<u32>), (u64, u64)>;

/// What is to be written of an interval.
#[derive(Debug, Default)]
pub struct Interval {
    span: Option<Span>,
    sums: Sums,
    samples: Samples,
}

impl Interval {
    /// Whether nothing has happened in it.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.samples.is_empty()
    }

    /// Adds that of another thread.
    pub fn merge(&mut self, other: Self) {
        if let Some(more) = other.span {
            let span = self.span.get_or_insert(more);
            span.begin = span.begin.min(more.begin);
            span.end = span.end.max(more.end);
        }
        self.sums.merge(&other.sums);
        for (stack, weights) in other.samples {
            self.sample(stack, weights);
        }
    }

    fn sample(&mut self, stack: (Side, Vec<u32>), (weight, staying): (u64, u64)) {
        let sum = self.samples.entry(stack).or_default();
        *sum = (sum.0.saturating_add(weight), sum.1.saturating_add(staying));
    }

    /// Encodes it and begins the next.
    pub fn encode(&mut self, encoder: &mut Encoder<'_>, write: &impl Fn(&[u8])) {
        let span = self.span.take().unwrap_or_default();
        if !self.sums.is_empty() {
            std::mem::take(&mut self.sums).encode(encoder, span, write);
        }
        for ((side, stack), (weight, staying)) in std::mem::take(&mut self.samples) {
            encoder.with(write, |encoder| {
                encoder.sample(span.end, side, weight, staying, &stack)
            });
        }
    }
}

/// Encodes the events of one thread in the detail that there is room for.
#[derive(Debug)]
pub struct Recorder<'b> {
    encoder: Encoder<'b>,
    walk: Walk,
    accounts: Accounts,
    /// Since when there are sums instead of events, and those of the interval.
    begin: Option<u64>,
    interval: Interval,
    /// The state of now has been counted.
    is_counted: bool,
    /// When the interval ends; `None`: with the thread.
    due: Option<u64>,
}

impl<'b> Recorder<'b> {
    /// As [`Encoder::new`].
    pub fn new(buffer: &'b mut [u8], process: u32, thread: u32) -> Self {
        Self {
            encoder: Encoder::new(buffer, process, thread),
            walk: Walk::default(),
            accounts: Accounts::new(thread),
            begin: None,
            interval: Interval::default(),
            is_counted: false,
            due: None,
        }
    }

    /// As [`Encoder::restart`]: what has not been written is forgotten.
    pub fn restart(&mut self, process: u32, thread: u32) {
        self.encoder.restart(process, thread);
        self.walk = Walk::default();
        self.accounts = Accounts::new(thread);
        self.begin = None;
        self.interval = Interval::default();
        self.is_counted = false;
    }

    /// Writes out what is encoded.
    pub fn flush(&mut self, write: impl FnOnce(&[u8])) {
        self.encoder.flush(write);
    }

    /// Records an event. Full blocks go to `write`.
    pub fn put(&mut self, detail: Detail, write: impl Fn(&[u8]), event: Event<'_>) {
        self.change_to(detail, event.time);
        let is_coarse = self.begin.is_some();
        let Self {
            walk,
            accounts,
            interval,
            is_counted,
            ..
        } = self;
        walk.event(event, &mut |step| {
            let sums = is_coarse.then_some(&mut interval.sums);
            take(&step, accounts, sums, is_counted);
        });
        match event.what {
            _ if !is_coarse => {
                self.encoder.with(&write, |encoder| encoder.put(&event));
            }
            What::Sample {
                side,
                weight,
                staying,
                stack,
            } => {
                let stack = (side, stack.take(MAX_STACK).collect());
                self.interval.sample(stack, (weight, staying));
            }
            What::ThreadStart { .. } if detail == Detail::Merged && !self.accounts.is_hart() => {}
            What::ThreadStart { .. } | What::Name { .. } | What::Counter { .. } => {
                self.encoder.with(&write, |encoder| encoder.put(&event));
            }
            _ => {}
        }
        let now = self.walk.now();
        if let (Some(due), Some(now)) = (self.due, now)
            && is_coarse
            && now >= due
        {
            self.cut(now);
            self.interval.encode(&mut self.encoder, &write);
            self.due = detail.next(now);
        }
    }

    /// Sums begin where the trace has no room for events any longer.
    fn change_to(&mut self, detail: Detail, time: u64) {
        if detail == Detail::Events {
            return;
        }
        if detail == Detail::Merged {
            self.due = None;
        }
        if self.begin.is_some() {
            return;
        }
        let now = self.walk.now();
        if let Some(now) = now {
            // What was before is in the events: the reader ends everything there.
            let end = Step::End { time: now };
            self.accounts.step(&end, &mut |_| ());
            self.is_counted = self.walk.cut_state(now).is_some();
        }
        let begin = now.unwrap_or(time);
        self.begin = Some(begin);
        self.due = detail.next(begin);
    }

    /// Ends the interval.
    fn cut(&mut self, now: u64) {
        let Some(begin) = self.begin else { return };
        let sums = &mut self.interval.sums;
        let end = Step::End { time: now };
        self.accounts.step(&end, &mut |fact| sums.add(fact));
        if let Some(step) = self.walk.cut_state(now) {
            take(&step, &mut self.accounts, Some(sums), &mut self.is_counted);
            self.is_counted = true;
        }
        self.interval.span = Some(Span { begin, end: now });
        self.begin = Some(now);
    }

    /// The thread ends at `time`. Where the threads that end have one sum it is given back, and
    /// otherwise all is encoded, and to be written by [`Recorder::flush`].
    pub fn end(&mut self, detail: Detail, time: u64, write: impl Fn(&[u8])) -> Option<Interval> {
        let what = What::ThreadEnd;
        self.put(detail, &write, Event { time, what });
        if let (Some(_), Some(now)) = (self.begin, self.walk.now()) {
            self.cut(now);
            if detail == Detail::Merged {
                return Some(std::mem::take(&mut self.interval));
            }
            self.interval.encode(&mut self.encoder, &write);
            let end = Event { time: now, what };
            self.encoder.with(&write, |encoder| encoder.put(&end));
        }
        None
    }

    /// Encodes what threads have done that have no events of their own.
    pub fn put_all(&mut self, name: &[u8], interval: &mut Interval, write: impl Fn(&[u8])) {
        let span = interval.span.unwrap_or_default();
        self.encoder
            .with(&write, |encoder| encoder.thread_start(span.begin, name));
        interval.encode(&mut self.encoder, &write);
        self.encoder.flush(&write);
    }
}

/// Adds what a step says to the sums, if there are some.
fn take(step: &Step<'_>, accounts: &mut Accounts, sums: Option<&mut Sums>, is_counted: &mut bool) {
    let Some(sums) = sums else {
        accounts.step(step, &mut |_| ());
        return;
    };
    if let Step::State { span, id, thread } = *step
        && std::mem::take(is_counted)
    {
        sums.goes_on(span, id, thread.unwrap_or(0));
        return;
    }
    accounts.step(step, &mut |fact| sums.add(fact));
}
