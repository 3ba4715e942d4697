//! All ways in which host threads and the machine of a card can take turns in virtual time: the token, with
//! hand-overs and sleeping as libflick has them (`accounts/timed/order/`), a machine that whoever finds it
//! next drives, and a watchdog.
//!
//! A step is what a thread does under the lock of the order, or between two of these; any other thread may
//! come in between. A thread that parks looks at its word, and then sleeps until it is woken: nothing ends
//! that after a while, as libflick's look at the watchdog does. Each way is a schedule of the host. Without
//! thefts all of them lead to the same order of events, by their times.
use std::collections::{BTreeMap, VecDeque};

use flick_sim::thread_token::Token;
use stateright::{Checker, HasDiscoveries, Model, Property};

/// What a thread does, one after the other. A stated point comes before each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// Time passes.
    Computes(u64),
    Lock,
    Unlock,
    /// A call that takes the machine so long.
    Cross(u64),
    End,
}

use Step::*;

/// What a thread waits for: the lock, or what comes for it from the machine.
const LOCK: usize = 0;

fn owner(thread: usize) -> usize {
    thread + 1
}

/// How long a descriptor is on its way.
const LINK: u64 = 2;

/// What is left out, or done wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mistake {
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
enum Next {
    Nobody,
    Thread(usize),
    Machine,
}

/// What a host thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Doing {
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
enum Then {
    /// It waits for the token, and then does the operation of its step, or that step is over.
    Operation,
    Over,
    /// The step is over at once.
    GoesOn,
    End,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    step: usize,
    time: u64,
    doing: Doing,
    then: Then,
    /// It has got the token, and does not know yet.
    word: bool,
    /// Somebody has ended its sleep.
    woken: bool,
    /// It knows that it has lost the token.
    away: bool,
    /// When that has come for which it waits.
    came: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Event {
    Arrives(usize, u64),
    Done(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Machine {
    /// By time and number.
    events: BTreeMap<(u64, u64), Event>,
    scheduled: u64,
    /// Its only hart, and who waits for that.
    busy: bool,
    waiting: VecDeque<(usize, u64)>,
}

impl Machine {
    fn next(&self) -> Option<u64> {
        self.events.first_key_value().map(|(&(time, _), _)| time)
    }

    fn schedule(&mut self, time: u64, event: Event) {
        self.scheduled += 1;
        self.events.insert((time, self.scheduled), event);
    }

    /// Runs the next event: its time, and the owner for whom something has come.
    fn run(&mut self) -> Option<(u64, Option<usize>)> {
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
type Logged = (u64, usize, &'static str);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    token: Token<usize>,
    threads: Vec<Thread>,
    machine: Machine,
    /// When the next thread, or the machine, would go on: what threads look at without the lock.
    next: Option<u64>,
    /// What has come for threads that do not wait for it yet.
    early: BTreeMap<usize, u64>,
    lock: Option<usize>,
    thefts: u32,
    log: Vec<Logged>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Action {
    Go(usize),
    Steal,
}

struct Merged {
    scripts: Vec<Vec<Step>>,
    thefts: u32,
    mistake: Mistake,
    /// The order of one schedule, if nothing is stolen.
    order: Option<Vec<Logged>>,
}

impl State {
    /// The machine's number in the order: behind those of the threads.
    fn machine_thread(&self) -> usize {
        self.threads.len()
    }

    fn hand_over(&mut self) -> Next {
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

    fn tell_machine(&mut self) {
        let (machine, next) = (self.machine_thread(), self.machine.next());
        self.token.set_ready(machine, next);
    }

    /// Whether a thread runs the program's code.
    fn runs(&self, thread: usize) -> bool {
        use Doing::{Answer, Operation, Point};
        matches!(self.threads[thread].doing, Point | Operation | Answer)
    }

    fn can_go(&self, thread: usize) -> bool {
        let thread = &self.threads[thread];
        match thread.doing {
            Doing::End => false,
            Doing::Sleep => thread.woken,
            _ => true,
        }
    }

    /// Whether somebody is about to end the thread's sleep, if it sleeps with the token.
    fn is_remembered(&self, thread: usize) -> bool {
        let Thread {
            doing, word, woken, ..
        } = self.threads[thread];
        let wakes = |other: &Thread| other.doing == Doing::GoOn(Next::Thread(thread));
        doing != Doing::Sleep || !word || woken || self.threads.iter().any(wakes)
    }

    fn have_ended(&self) -> bool {
        let mut threads = self.threads.iter();
        threads.all(|thread| thread.doing == Doing::End)
    }
}

impl Merged {
    fn new(scripts: &[&[Step]], thefts: u32, mistake: Mistake) -> Self {
        let scripts = scripts.iter().map(|script| script.to_vec()).collect();
        let mut model = Self {
            scripts,
            thefts,
            mistake,
            order: None,
        };
        if thefts == 0 {
            model.order = Some(model.first_order());
        }
        model
    }

    /// That of the schedule in which the first thread goes on that can.
    fn first_order(&self) -> Vec<Logged> {
        let mut state = self.init_states().remove(0);
        let mut actions = Vec::new();
        loop {
            actions.clear();
            self.actions(&state, &mut actions);
            let Some(&action) = actions.first() else {
                return state.log;
            };
            state = self.next_state(&state, action).unwrap();
        }
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    fn log(&self, state: &mut State, time: u64, thread: usize, what: &'static str) {
        if self.thefts == 0 {
            state.log.push((time, thread, what));
        }
    }

    /// The thread leaves the lock.
    fn leave(&self, state: &mut State, number: usize, then: Then) {
        let next = state.hand_over();
        let thread = &mut state.threads[number];
        (thread.doing, thread.then) = (Doing::GoOn(next), then);
    }

    /// The step is over.
    fn over(thread: &mut Thread) {
        thread.step += 1;
        thread.doing = Doing::Point;
    }

    /// The thread has done all for others.
    fn settle(thread: &mut Thread) {
        match thread.then {
            Then::Operation | Then::Over => thread.doing = Doing::Park,
            Then::GoesOn => Self::over(thread),
            Then::End => thread.doing = Doing::End,
        }
    }

    fn go(&self, state: &mut State, number: usize) {
        let time = state.threads[number].time;
        match state.threads[number].doing {
            Doing::Point => self.come_to_point(state, number),
            Doing::Operation => self.operate(state, number),
            Doing::Answer => {
                if !self.has(Mistake::MachineIsNotTold) {
                    state.tell_machine();
                }
                match state.early.remove(&number) {
                    Some(came) => {
                        state.threads[number].came = came;
                        state.token.pass(number, time.max(came));
                    }
                    None => state.token.wait(number, owner(number), time, None),
                }
                self.leave(state, number, Then::Over);
            }
            Doing::GoOn(next) => match next {
                Next::Machine => state.threads[number].doing = Doing::Drive,
                next => {
                    if let Next::Thread(next) = next
                        && state.threads[next].doing == Doing::Sleep
                    {
                        state.threads[next].woken |= !self.has(Mistake::NobodyIsWoken);
                    }
                    Self::settle(&mut state.threads[number]);
                }
            },
            Doing::Drive => self.drive(state, number),
            Doing::Merge(to) => self.merge(state, number, to),
            Doing::Park => {
                let looks = !self.has(Mistake::SleepsWithoutALook);
                let thread = &mut state.threads[number];
                match thread.word && looks {
                    true => self.take(thread),
                    false => thread.doing = Doing::Sleep,
                }
            }
            Doing::Sleep => {
                let thread = &mut state.threads[number];
                thread.woken = false;
                match thread.word {
                    true => self.take(thread),
                    false => thread.doing = Doing::Park,
                }
            }
            Doing::End => {}
        }
    }

    /// The thread takes the token that it was given.
    fn take(&self, thread: &mut Thread) {
        (thread.word, thread.away) = (self.has(Mistake::WordStays), false);
        thread.time = thread.time.max(thread.came);
        match thread.then {
            Then::Operation => thread.doing = Doing::Operation,
            _ => Self::over(thread),
        }
    }

    fn come_to_point(&self, state: &mut State, number: usize) {
        let thread = &mut state.threads[number];
        if let Computes(time) = self.scripts[number][thread.step] {
            thread.time += time;
        }
        let time = thread.time;
        thread.doing = Doing::Operation;
        let is_first = state.next.is_none_or(|next| time < next);
        if thread.away || !(is_first || self.has(Mistake::PointIsPassed)) {
            thread.came = time;
            state.token.pass(number, time);
            self.leave(state, number, Then::Operation);
        }
    }

    fn operate(&self, state: &mut State, number: usize) {
        let Thread { step, time, .. } = state.threads[number];
        match self.scripts[number][step] {
            Computes(_) => Self::over(&mut state.threads[number]),
            Lock if state.lock.is_some() => {
                state.token.wait(number, LOCK, time, None);
                self.leave(state, number, Then::Operation);
            }
            Lock => {
                state.lock = Some(number);
                self.log(state, time, number, "lock");
                Self::over(&mut state.threads[number]);
            }
            Unlock => {
                state.lock = None;
                self.log(state, time, number, "unlock");
                if let Some(woken) = state.token.wake(LOCK, time) {
                    state.threads[woken].came = time;
                }
                self.leave(state, number, Then::GoesOn);
            }
            Cross(work) => {
                let event = Event::Arrives(number, work);
                state.machine.schedule(time + LINK, event);
                self.log(state, time, number, "call");
                state.threads[number].doing = Doing::Answer;
            }
            End => {
                self.log(state, time, number, "end");
                state.token.end(number);
                self.leave(state, number, Then::End);
            }
        }
    }

    /// Runs the machine until something comes for an owner, or until a thread is next.
    fn drive(&self, state: &mut State, number: usize) {
        let until = state.next.filter(|_| !self.has(Mistake::MachineRunsOn));
        let mut to = None;
        while let Some((time, owner)) = state.machine.run() {
            self.log(state, time, owner.unwrap_or(usize::MAX), "event");
            to = owner.map(|owner| (owner, time));
            let next = state.machine.next();
            let is_later = |next: u64| until.is_some_and(|until| next >= until);
            if to.is_some() || next.is_none_or(is_later) {
                break;
            }
        }
        state.threads[number].doing = Doing::Merge(to);
    }

    fn merge(&self, state: &mut State, number: usize, to: Option<(usize, u64)>) {
        if let Some((thread, time)) = to {
            if state.token.wake(owner(thread), time).is_some() {
                state.threads[thread].came = time;
            } else if !self.has(Mistake::EarlyIsForgotten) {
                state.early.insert(thread, time);
            }
        }
        state.tell_machine();
        match self.has(Mistake::DriverGoesAway) {
            true => Self::settle(&mut state.threads[number]),
            false => {
                let then = state.threads[number].then;
                self.leave(state, number, then);
            }
        }
    }
}

impl Model for Merged {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let thread = Thread {
            step: 0,
            time: 0,
            doing: Doing::Park,
            then: Then::Operation,
            word: false,
            woken: false,
            away: false,
            came: 0,
        };
        let mut state = State {
            token: Token::new(),
            threads: vec![thread; self.scripts.len()],
            machine: Machine::default(),
            next: None,
            early: BTreeMap::new(),
            lock: None,
            thefts: 0,
            log: Vec::new(),
        };
        for _ in 0..=self.scripts.len() {
            state.token.enter(0);
        }
        state.tell_machine();
        state.hand_over();
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let threads = 0..state.threads.len();
        actions.extend(
            threads
                .filter(|&thread| state.can_go(thread))
                .map(Action::Go),
        );
        let holder = state.token.holder();
        let is_thread = holder.is_some_and(|holder| holder != state.machine_thread());
        if state.thefts < self.thefts && is_thread {
            actions.push(Action::Steal);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Go(number) => self.go(&mut state, number),
            Action::Steal => {
                let thread = state.token.lose()?;
                state.threads[thread].away = true;
                state.thefts += 1;
                // A thread that parks does this, and goes on to park.
                let parks = |thread: &Thread| matches!(thread.doing, Doing::Park | Doing::Sleep);
                let looks = state.threads.iter().position(parks)?;
                let then = state.threads[looks].then;
                state.threads[looks].woken = false;
                self.leave(&mut state, looks, then);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "one thread runs that has not lost the token",
                |_, state: &State| {
                    let runs = |&thread: &usize| state.runs(thread) && !state.token.is_away(thread);
                    (0..state.threads.len()).filter(runs).count() <= 1
                },
            ),
            Property::always(
                "what happens is in the order of time",
                |_, state: &State| state.log.is_sorted_by_key(|&(time, ..)| time),
            ),
            Property::always(
                "the host's schedule does not show",
                |model: &Merged, state: &State| {
                    let order = model.order.as_ref();
                    order.is_none_or(|order| order.starts_with(&state.log))
                },
            ),
            Property::always("no wake-up is lost", |_, state: &State| {
                (0..state.threads.len()).all(|thread| state.is_remembered(thread))
            }),
            Property::always("nobody is left behind", |model: &Merged, state: &State| {
                let mut actions = Vec::new();
                model.actions(state, &mut actions);
                !actions.is_empty() || state.have_ended()
            }),
            Property::sometimes("all end", |_, state: &State| state.have_ended()),
        ]
    }
}

const CROSSES: &[Step] = &[Computes(3), Cross(5), Computes(1), Cross(2), End];
const CROSSES_LATER: &[Step] = &[Computes(4), Cross(4), End];
const LOCKS: &[Step] = &[Lock, Computes(5), Unlock, Computes(4), Lock, Unlock, End];
const CROSSES_WITH_LOCK: &[Step] = &[Computes(1), Lock, Cross(6), Unlock, End];
const COMPUTES: &[Step] = &[Computes(2), Computes(6), Computes(6), End];

fn check(scripts: &[&[Step]], thefts: u32) {
    let model = Merged::new(scripts, thefts, Mistake::None);
    let checker = model.checker().spawn_bfs().join();
    checker.assert_properties();
    println!("{} states", checker.unique_state_count());
}

#[test]
fn threads_and_machine_take_turns() {
    check(&[CROSSES, CROSSES_LATER], 0);
    check(&[CROSSES, COMPUTES], 0);
    check(&[CROSSES, CROSSES_LATER, COMPUTES], 0);
}

#[test]
fn threads_lock_and_cross() {
    check(&[LOCKS, CROSSES_WITH_LOCK], 0);
    check(&[LOCKS, CROSSES_WITH_LOCK, CROSSES], 0);
}

#[test]
fn the_token_is_taken_away() {
    check(&[CROSSES, CROSSES_LATER], 2);
    check(&[LOCKS, CROSSES_WITH_LOCK], 2);
    check(&[CROSSES_WITH_LOCK, COMPUTES, CROSSES_LATER], 1);
}

/// The model can see each of the mistakes: without thefts, or with one.
#[test]
fn mistakes_are_found() {
    use Mistake::*;
    for mistake in [
        MachineIsNotTold,
        SleepsWithoutALook,
        NobodyIsWoken,
        DriverGoesAway,
        MachineRunsOn,
        PointIsPassed,
        EarlyIsForgotten,
        WordStays,
    ] {
        let thefts = u32::from(mistake == EarlyIsForgotten);
        let scripts = [CROSSES, CROSSES_WITH_LOCK, COMPUTES];
        let model = Merged::new(&scripts, thefts, mistake);
        let builder = model.checker().finish_when(HasDiscoveries::AnyFailures);
        let found = builder.spawn_bfs().join().discoveries();
        let wrong: Vec<_> = found.keys().filter(|&&name| name != "all end").collect();
        println!("{mistake:?}: {wrong:?}");
        assert!(!wrong.is_empty(), "{mistake:?}");
    }
}
