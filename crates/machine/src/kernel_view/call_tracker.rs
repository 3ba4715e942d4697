//! Makes kernel calls of what harts do: which thread has made them, and how long each of their parts has
//! taken. It knows a tile, and gets what its harts do in the order of virtual time.
use flick_abi::card::{Call, CallPlace, pages};
use flick_device::Time;
use flick_events::trace::WOKEN_BY;
use std::collections::HashMap;

use super::kernel_points::PointKind;
use super::point_watch::Spent;

/// Flags of a command with which a thread goes on: `REPLY`, `RUN` and `GO_ON` of the kernel's `lines.rs`.
const STARTS: u64 = 1 | RUN | 32;
const RUN: u64 = 2;

/// What has led to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// A call of this number.
    Call(u64),
    /// An exception of this code.
    Exception(u64),
    /// An interrupt.
    Interrupt,
}

impl Entry {
    /// By `mcause` and a7.
    pub fn of(cause: u64, call: u64) -> Self {
        const CALL_FROM_USER: u64 = 8;
        match cause {
            CALL_FROM_USER => Self::Call(call),
            cause if cause >> 63 != 0 => Self::Interrupt,
            code => Self::Exception(code),
        }
    }

    /// The name of the call, or of the exception.
    pub fn name(self) -> String {
        match self {
            Self::Call(number) => match pages().find(|page| page.number == number) {
                Some(page) => page.name.into(),
                None => format!("call {number}"),
            },
            Self::Exception(code) => crate::machine_trace::exception(code).into(),
            Self::Interrupt => "interrupt".into(),
        }
    }
}

/// A part of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum CallPart {
    /// Into the kernel and out of it, on the user hart: traps, registers, lines that it writes.
    Switch = 0,
    /// From the complete call line to the kernel hart, and from its answer to the user hart.
    Transfer = 1,
    /// While the kernel hart served others.
    Wait = 2,
    /// What the call wants is done.
    Work = 3,
    /// The thread waits for what it has called for, or for a hart.
    Blocked = 4,
}

/// Names of [`CallPart`].
pub const CALL_PARTS: [&str; 5] = ["switch", "transfer", "wait", "work", "blocked"];

/// A call that has returned.
#[derive(Clone, Debug)]
pub struct FinishedCall {
    /// What it was.
    pub entry: Entry,
    /// Has the kernel hart executed it?
    pub is_remote: bool,
    /// The user hart with which it ends.
    pub hart: usize,
    /// From the instruction that calls to the one behind it.
    pub time: Time,
    /// By [`CallPart`].
    pub parts: [Time; CALL_PARTS.len()],
    /// What the user hart has stood still for in `Switch`.
    pub switch: Spent,
    /// What it has stood still for while it waited for the kernel hart, and how long that was; `None`:
    /// its thread left it meanwhile.
    pub meanwhile: Option<(Time, Spent)>,
    /// What the kernel hart has stood still for in `Work`.
    pub work: Spent,
}

/// What a thread does from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// The place of the thread.
    pub place: u64,
    /// When it begins.
    pub time: Time,
    /// How it is named.
    pub state: String,
}

/// What the tracker has found.
pub enum Found {
    /// A call has returned.
    Call(Box<FinishedCall>),
    /// A call will not return.
    Unfinished(Entry),
    /// A thread is in another state.
    Thread(ThreadState),
    /// The hart is in a state that has a name.
    Hart(usize, String),
}

/// A moment of a hart, and what it had stood still for.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    time: Time,
    spent: Spent,
}

/// A call that has not returned.
#[derive(Clone, Debug)]
struct OpenCall {
    /// Of its thread.
    number: Option<u64>,
    entry: Entry,
    begun: Time,
    entered: Moment,
    local: Option<Time>,
    /// What was local.
    local_work: Time,
    asked: Option<Moment>,
    /// The kernel hart's time with others, when it was asked.
    busy: Time,
    served: Option<Moment>,
    waited: Time,
    /// The kernel hart has done what the call wants.
    done: Option<Moment>,
    told: Option<Moment>,
    /// Its hart has given its thread to another one, without the kernel hart.
    given: Option<Moment>,
    /// When the command was given.
    tell: Time,
    has_left: bool,
}

/// A service of the kernel hart.
#[derive(Clone, Copy, Debug)]
struct Service {
    hart: usize,
    thread: Option<u64>,
    /// The thread goes on: what it calls now is another call.
    is_answered: bool,
}

#[derive(Clone, Debug, Default)]
struct UserHart {
    /// The number of its thread.
    thread: Option<u64>,
    /// Of the thread that the next command names.
    next: Option<u64>,
    /// It runs programs.
    is_user: bool,
    /// When it began the trap that it takes.
    trapped: Time,
}

/// See the module.
#[derive(Debug, Default)]
pub struct CallTracker {
    /// The first hart of the tile.
    first: usize,
    names: Vec<String>,
    harts: Vec<UserHart>,
    /// By the places of threads; those of threads that are not known are behind all places.
    calls: HashMap<u64, OpenCall>,
    service: Option<Service>,
    /// Since when the kernel hart is busy, and how long it was before.
    busy_since: Option<Time>,
    busy: Time,
}

const PLACE: u64 = 0xffff;

impl CallTracker {
    /// Of a tile whose first hart has this number; the names of its harts.
    pub fn new(first: usize, names: Vec<String>) -> Self {
        Self {
            first,
            harts: vec![UserHart::default(); names.len()],
            names,
            ..Self::default()
        }
    }

    /// What was before is another run's.
    pub fn restart(&mut self) {
        let names = std::mem::take(&mut self.names);
        *self = Self::new(self.first, names);
    }

    /// Calls that have begun are not finished: time has another unit from now on.
    pub fn forget_calls(&mut self) {
        self.calls.clear();
        (self.service, self.busy_since) = (None, None);
    }

    /// What has begun, and not ended.
    pub fn open_calls(&self) -> impl Iterator<Item = Entry> {
        let all = self.calls.values().map(|call| call.entry);
        all.filter(|&entry| entry != Entry::Interrupt)
    }

    /// Does the hart run programs, so that its states have names from here?
    pub fn is_user_hart(&self, hart: usize) -> bool {
        self.harts[hart - self.first].is_user
    }

    /// Where the call of a hart's thread is.
    fn key(&self, hart: usize) -> u64 {
        match self.harts[hart].thread {
            Some(number) => number & PLACE,
            None => PLACE + 1 + hart as u64,
        }
    }

    fn busy_at(&self, time: Time) -> Time {
        self.busy + self.busy_since.map_or(0, |since| time - since)
    }

    /// The hart begins to take a trap.
    pub fn trap_begins(&mut self, hart: usize, begun: Time) {
        self.harts[hart - self.first].trapped = begun;
    }

    /// The hart goes on with its thread.
    pub fn back(&mut self, hart: usize, time: Time, spent: Spent, found: &mut dyn FnMut(Found)) {
        let own = hart - self.first;
        let key = self.key(own);
        match self.calls.remove(&key) {
            // Of the thread that had the place before.
            Some(call) if call.number != self.harts[own].thread => {
                found(Found::Unfinished(call.entry));
            }
            Some(call) if call.entry != Entry::Interrupt => {
                let call = call.finish(hart, Moment { time, spent });
                found(Found::Call(Box::new(call)));
            }
            _ => {}
        }
        if let Some(number) = self.harts[own].thread {
            found(Found::Hart(hart, format!("U: thread {number:#x}")));
            let state = format!("runs on {}", self.names[own]);
            found(thread(number, time, state));
        } else {
            found(Found::Hart(hart, "U".into()));
        }
    }

    /// The hart comes to a point.
    pub fn point(
        &mut self,
        (hart, time): (usize, Time),
        (kind, [first, second]): (PointKind, [u64; 2]),
        (cause, call): (u64, u64),
        spent: Spent,
        found: &mut dyn FnMut(Found),
    ) {
        let own = hart - self.first;
        let now = Moment { time, spent };
        let other = usize::try_from(first).unwrap_or(usize::MAX);
        match kind {
            PointKind::Trap => self.trap(own, Entry::of(cause, call), now, found),
            PointKind::Return => self.harts[own].is_user = true,
            PointKind::Local | PointKind::LocalDone => {
                let key = self.key(own);
                if let Some(call) = self.calls.get_mut(&key) {
                    match call.local.take() {
                        None => call.local = Some(time),
                        Some(begun) => call.local_work += time - begun,
                    }
                }
            }
            PointKind::Ask => {
                let busy = self.busy_at(time);
                let key = self.key(own);
                if let Some(call) = self.calls.get_mut(&key) {
                    (call.asked, call.busy) = (Some(now), busy);
                }
            }
            PointKind::Told => {
                let key = self.key(own);
                if let Some(call) = self.calls.get_mut(&key) {
                    call.told = Some(now);
                }
            }
            PointKind::End => {
                if let Some(number) = self.harts[own].thread {
                    found(thread(number, time, "has ended".into()));
                }
            }
            PointKind::Serve if other < self.harts.len() => self.serve(hart, other, now, found),
            PointKind::Served => self.served(hart, now, found),
            PointKind::Run if other < self.harts.len() => self.harts[other].next = Some(second),
            PointKind::Tell if other < self.harts.len() && second & STARTS != 0 => {
                self.tell(other, second, now);
            }
            PointKind::Wake => {
                let by = self.service.and_then(|service| service.thread);
                let by = by.map_or("the kernel".into(), |number| format!("thread {number:#x}"));
                found(thread(first, time, format!("{WOKEN_BY}{by}")));
            }
            PointKind::Attend => self.busy_since = Some(time),
            PointKind::Attended => self.rest(time),
            PointKind::Serve | PointKind::Run | PointKind::Tell | PointKind::Move => {}
        }
    }

    fn rest(&mut self, time: Time) {
        self.busy = self.busy_at(time);
        self.busy_since = None;
    }

    fn trap(&mut self, own: usize, entry: Entry, now: Moment, found: &mut dyn FnMut(Found)) {
        let UserHart {
            thread: number,
            trapped,
            ..
        } = self.harts[own];
        let call = OpenCall {
            number,
            entry,
            begun: trapped,
            entered: now,
            local: None,
            local_work: 0,
            asked: None,
            busy: 0,
            served: None,
            waited: 0,
            done: None,
            told: None,
            given: None,
            tell: 0,
            has_left: false,
        };
        let key = self.key(own);
        if let Some(before) = self.calls.insert(key, call)
            && before.entry != Entry::Interrupt
        {
            found(Found::Unfinished(before.entry));
        }
        let name = entry.name();
        found(Found::Hart(own + self.first, format!("M: {name}")));
        let Some(number) = number else {
            return;
        };
        let state = match entry {
            Entry::Interrupt => "is interrupted".into(),
            Entry::Exception(_) => format!("has an exception: {name}"),
            Entry::Call(call) => match place_of(call) {
                None | Some(CallPlace::Caller | CallPlace::Unit) => {
                    format!("calls {name} (its hart)")
                }
                Some(CallPlace::Kernel) => format!("calls {name} (kernel hart)"),
                Some(CallPlace::Either) => format!("calls {name}"),
            },
        };
        found(thread(number, trapped, state));
    }

    /// The number of the thread that a hart moves: that whose call is served, or a user hart's own.
    pub fn moved_thread(&self, hart: usize) -> Option<u64> {
        let own = self.harts[hart - self.first].thread;
        own.or_else(|| self.service?.thread)
    }

    fn serve(&mut self, kernel: usize, own: usize, now: Moment, found: &mut dyn FnMut(Found)) {
        let busy = self.busy_at(now.time);
        self.busy_since = Some(now.time);
        let thread = self.harts[own].thread;
        self.service = Some(Service {
            hart: own,
            thread,
            is_answered: false,
        });
        let key = self.key(own);
        let mut name = "a call".into();
        if let Some(call) = self.calls.get_mut(&key) {
            (call.served, call.waited) = (Some(now), busy - call.busy);
            name = call.entry.name();
        }
        let user = &self.names[own];
        found(Found::Hart(kernel, format!("M: {name} of {user}")));
    }

    fn served(&mut self, kernel: usize, now: Moment, found: &mut dyn FnMut(Found)) {
        self.rest(now.time);
        found(Found::Hart(kernel, "M".into()));
        let Some(service) = self.service.take() else {
            return;
        };
        // Not that of a thread which runs there now.
        let place = match service.thread {
            Some(number) => number & PLACE,
            None => PLACE + 1 + service.hart as u64,
        };
        let Some(call) = self.calls.get_mut(&place) else {
            return;
        };
        if service.is_answered || call.number != service.thread {
            return;
        }
        call.done = Some(now);
        call.has_left = true;
        let (Some(number), entry) = (call.number, call.entry) else {
            return;
        };
        let state = match entry {
            // It has ended before.
            Entry::Call(call) if call == Call::ThreadExit as u64 => return,
            Entry::Call(call) if call == Call::ThreadYield as u64 => "ready".into(),
            Entry::Interrupt => "ready".into(),
            _ => format!("waits in {}", entry.name()),
        };
        found(thread(number, now.time, state));
    }

    fn tell(&mut self, own: usize, flags: u64, now: Moment) {
        if flags & RUN != 0 {
            let next = self.harts[own].next.take();
            self.harts[own].thread = next;
        }
        let key = self.key(own);
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        // It is another thread's, whose place this one has.
        if call.number != self.harts[own].thread {
            return;
        }
        if let Some(service) = &mut self.service
            && service.thread == call.number
        {
            service.is_answered = true;
        }
        call.tell = now.time;
        if call.asked.is_none() {
            call.given = Some(now);
        }
        if call.done.is_none() {
            call.done = Some(now);
        }
    }
}

fn thread(number: u64, time: Time, state: String) -> Found {
    let place = number & PLACE;
    Found::Thread(ThreadState { place, time, state })
}

impl OpenCall {
    fn finish(self, hart: usize, end: Moment) -> FinishedCall {
        let time = end.time - self.begun;
        let mut call = FinishedCall {
            entry: self.entry,
            is_remote: false,
            hart,
            time,
            parts: [0; CALL_PARTS.len()],
            switch: end.spent.since(&self.entered.spent),
            meanwhile: None,
            work: Spent::default(),
        };
        let parts = &mut call.parts;
        let all = [self.asked, self.served, self.done, self.told];
        let [Some(asked), Some(served), Some(done), Some(told)] = all else {
            if let (Some(given), Some(told)) = (self.given, self.told) {
                // It ends on another hart, which has stood still for other things.
                parts[CallPart::Transfer as usize] = told.time - given.time;
                parts[CallPart::Switch as usize] = time - (told.time - given.time);
                call.switch = given.spent.since(&self.entered.spent);
                call.switch.add(&end.spent.since(&told.spent));
                return call;
            }
            parts[CallPart::Work as usize] = self.local_work;
            parts[CallPart::Switch as usize] = time - self.local_work;
            return call;
        };
        call.is_remote = true;
        let way_there = served.time - asked.time;
        parts[CallPart::Switch as usize] = (asked.time - self.begun) + (end.time - told.time);
        parts[CallPart::Wait as usize] = self.waited;
        parts[CallPart::Transfer as usize] = way_there - self.waited + (told.time - self.tell);
        parts[CallPart::Work as usize] = done.time - served.time;
        parts[CallPart::Blocked as usize] = self.tell - done.time;
        call.switch = asked.spent.since(&self.entered.spent);
        call.switch.add(&end.spent.since(&told.spent));
        call.work = done.spent.since(&served.spent);
        if !self.has_left {
            call.meanwhile = Some((told.time - asked.time, told.spent.since(&asked.spent)));
        }
        call
    }
}

/// Which hart executes the call of a number.
fn place_of(call: u64) -> Option<CallPlace> {
    let page = pages().find(|page| page.number == call);
    page.map(|page| page.place)
}
