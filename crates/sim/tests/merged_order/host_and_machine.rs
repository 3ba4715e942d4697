//! The state of the model: host threads, the machine, and the order between them.
use std::collections::{BTreeMap, VecDeque};

use flick_sim::thread_token::Token;

/// What a thread does, one after the other. A stated point comes before each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Time passes.
    Computes(u64),
    Lock,
    Unlock,
    /// A call that takes the machine so long.
    Cross(u64),
    End,
}

/// What a thread waits for: the lock, or what comes for it from the machine.
pub const LOCK: usize = 0;

pub fn owner(thread: usize) -> usize {
    thread + 1
}

/// How long a descriptor is on its way.
pub const LINK: u64 = 2;

/// What is left out, or done wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mistake {
    None,
    /// The thread that waits for the machine does not say when that goes on.
    MachineIsNotTold,
    /// A thread sleeps without a look at its word.
    SleepsWithoutALook,
    /// Who is given the token is not woken.
    NobodyIsWoken,
    /// Who has driven the machine gives the token to nobody.
    DriverGoesAway,
    /// The machine runs until something comes for an owner, whatever threads are earlier.
    MachineRunsOn,
    /// A thread goes on at a stated point though another one is earlier.
    PointIsPassed,
    /// What comes for a thread that does not wait for it yet is forgotten.
    EarlyIsForgotten,
    /// A thread that takes the token leaves its word as it is.
    WordStays,
}

/// Who has got the token by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    Nobody,
    Thread(usize),
    Machine,
}

/// What a host thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// The stated point of its next step.
    Point,
    Operation,
    /// It has sent a descriptor, and is about to wait for the answer.
    Answer,
    /// It has left the lock: who has got the token goes on.
    GoOn(Next),
    /// It drives the machine.
    Drive,
    /// It has driven it: something may have come for an owner.
    Merge(Option<(usize, u64)>),
    /// It looks at its word.
    Park,
    Sleep,
    End,
}

/// What it does behind that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    /// It waits for the token, and then does the operation of its step, or that step is over.
    Operation,
    Over,
    /// The step is over at once.
    GoesOn,
    End,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    pub step: usize,
    pub time: u64,
    pub doing: Doing,
    pub then: Then,
    /// It has got the token, and does not know yet.
    pub word: bool,
    /// Somebody has ended its sleep.
    pub woken: bool,
    /// It knows that it has lost the token.
    pub away: bool,
    /// When that has come for which it waits.
    pub came: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Arrives(usize, u64),
    Done(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Machine {
    /// By time and number.
    pub events: BTreeMap<(u64, u64), Event>,
    pub scheduled: u64,
    /// Its only hart, and who waits for that.
    pub busy: bool,
    pub waiting: VecDeque<(usize, u64)>,
}

impl Machine {
    pub fn next(&self) -> Option<u64> {
        self.events.first_key_value().map(|(&(time, _), _)| time)
    }

    pub fn schedule(&mut self, time: u64, event: Event) {
        self.scheduled += 1;
        self.events.insert((time, self.scheduled), event);
    }

    /// Runs the next event: its time, and the owner for whom something has come.
    pub fn run(&mut self) -> Option<(u64, Option<usize>)> {
        let ((time, _), event) = self.events.pop_first()?;
        let owner = match event {
            Event::Arrives(thread, work) => {
                self.waiting.push_back((thread, work));
                None
            }
            Event::Done(thread) => {
                self.busy = false;
                Some(thread)
            }
        };
        if !self.busy
            && let Some((thread, work)) = self.waiting.pop_front()
        {
            self.busy = true;
            self.schedule(time + work, Event::Done(thread));
        }
        Some((time, owner))
    }
}

/// An event: its time, the thread whose it is, and what it was.
pub type Logged = (u64, usize, &'static str);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub token: Token<usize>,
    pub threads: Vec<Thread>,
    pub machine: Machine,
    /// When the next thread, or the machine, would go on: what threads look at without the lock.
    pub next: Option<u64>,
    /// What has come for threads that do not wait for it yet.
    pub early: BTreeMap<usize, u64>,
    pub lock: Option<usize>,
    pub thefts: u32,
    pub log: Vec<Logged>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Go(usize),
    Steal,
}

impl State {
    /// The machine's number in the order: behind those of the threads.
    pub fn machine_thread(&self) -> usize {
        self.threads.len()
    }

    pub fn hand_over(&mut self) -> Next {
        let next = match self.token.hand_over() {
            None => Next::Nobody,
            Some(next) if next == self.machine_thread() => Next::Machine,
            Some(next) => {
                self.threads[next].word = true;
                Next::Thread(next)
            }
        };
        self.next = self.token.next();
        next
    }

    pub fn tell_machine(&mut self) {
        let (machine, next) = (self.machine_thread(), self.machine.next());
        self.token.set_ready(machine, next);
    }

    /// Whether a thread runs the program's code.
    pub fn runs(&self, thread: usize) -> bool {
        use Doing::{Answer, Operation, Point};
        matches!(self.threads[thread].doing, Point | Operation | Answer)
    }

    pub fn can_go(&self, thread: usize) -> bool {
        let thread = &self.threads[thread];
        match thread.doing {
            Doing::End => false,
            Doing::Sleep => thread.woken,
            _ => true,
        }
    }

    /// Whether somebody is about to end the thread's sleep, if it sleeps with the token.
    pub fn is_remembered(&self, thread: usize) -> bool {
        let Thread {
            doing, word, woken, ..
        } = self.threads[thread];
        let wakes = |other: &Thread| other.doing == Doing::GoOn(Next::Thread(thread));
        doing != Doing::Sleep || !word || woken || self.threads.iter().any(wakes)
    }

    pub fn have_ended(&self) -> bool {
        let mut threads = self.threads.iter();
        threads.all(|thread| thread.doing == Doing::End)
    }
}
