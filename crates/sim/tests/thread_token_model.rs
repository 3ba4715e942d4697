//! All orders in which threads, and a watchdog, can come to the token: one thread holds it, nobody
//! sleeps who has been woken, and all come to their ends.
//!
//! A thread's step is what it does under the lock of the order. Between two steps any other thread may
//! come. As in libflick, a thread that gives up the token sleeps on a word of its own, and whoever
//! gets the token by a step has this word set: before it sleeps, or while it does.
use flick_sim::thread_token::{Token, Turn};
use stateright::{Checker, Model, Property};

/// What a thread does, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// A stated point, so much later.
    Point(u64),
    Lock,
    Unlock,
    /// With the lock, waits for the signal, until so much later at most.
    Wait(Option<u64>),
    Signal,
    End,
}

use Step::*;

const LOCK: u8 = 0;
const CONDITION: u8 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    next: usize,
    time: u64,
    /// It sleeps until its word is set.
    sleeps: bool,
    word: bool,
    /// It has waited for the condition, and wants the lock; its deadline has come.
    returns: bool,
    late: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    token: Token<u8>,
    threads: Vec<Thread>,
    /// Who has the program's lock, and whether there was a signal.
    owner: Option<usize>,
    signalled: bool,
    thefts: u32,
    /// One has opened the program's lock that was another's.
    broken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Action {
    Go(usize),
    Wakes(usize),
    Steal,
}

struct Threads {
    scripts: Vec<Vec<Step>>,
    thefts: u32,
}

impl State {
    /// The token goes to who is next: its word is set.
    fn hand_over(&mut self) {
        if let Some(next) = self.token.hand_over() {
            self.threads[next].word = true;
        }
    }

    fn runs(&self, thread: usize) -> bool {
        !self.threads[thread].sleeps && !self.token.has_ended(thread)
    }

    fn have_ended(&self) -> bool {
        (0..self.threads.len()).all(|thread| self.token.has_ended(thread))
    }
}

impl Model for Threads {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let thread = Thread {
            next: 0,
            time: 0,
            sleeps: true,
            word: false,
            returns: false,
            late: false,
        };
        let mut state = State {
            token: Token::new(),
            threads: vec![thread; self.scripts.len()],
            owner: None,
            signalled: false,
            thefts: 0,
            broken: false,
        };
        for _ in &self.scripts {
            state.token.enter(0);
        }
        state.hand_over();
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (number, thread) in state.threads.iter().enumerate() {
            if thread.sleeps && thread.word {
                actions.push(Action::Wakes(number));
            }
            if state.runs(number) {
                actions.push(Action::Go(number));
            }
        }
        if state.thefts < self.thefts && state.token.holder().is_some() {
            actions.push(Action::Steal);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Steal => {
                state.token.lose();
                state.thefts += 1;
            }
            Action::Wakes(number) => {
                let thread = &mut state.threads[number];
                (thread.sleeps, thread.word) = (false, false);
            }
            Action::Go(number) => self.go(&mut state, number),
        }
        state.hand_over();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "one thread runs that has not lost the token",
                |_, state: &State| {
                    let running = (0..state.threads.len())
                        .filter(|&thread| state.runs(thread) && !state.token.is_away(thread));
                    running.count() <= 1
                },
            ),
            Property::always("one thread has the lock", |_, state: &State| !state.broken),
            Property::always("nobody is left behind", |model: &Threads, state: &State| {
                let mut actions = Vec::new();
                model.actions(state, &mut actions);
                !actions.is_empty() || state.have_ended()
            }),
            Property::sometimes("all end", |_, state: &State| state.have_ended()),
        ]
    }
}

impl Threads {
    fn go(&self, state: &mut State, number: usize) {
        let thread = &mut state.threads[number];
        let time = thread.time;
        // Who has lost the token waits for it at the next stated point.
        if state.token.is_away(number) {
            thread.sleeps = true;
            state.token.pass(number, time);
            return;
        }
        let step = self.scripts[number][thread.next];
        if step == Lock || thread.returns {
            if thread.returns && state.token.turn(number) == Turn::TimedOut {
                thread.late = true;
            }
            if state.owner.is_some() {
                thread.sleeps = true;
                state.token.wait(number, LOCK, time, None);
            } else {
                state.owner = Some(number);
                thread.next += usize::from(!thread.returns);
                thread.returns = false;
            }
            return;
        }
        match step {
            Lock => {}
            Point(later) => {
                thread.time += later;
                thread.sleeps = true;
                state.token.pass(number, time + later);
            }
            Unlock => {
                state.broken |= state.owner != Some(number);
                state.owner = None;
                state.token.wake(LOCK, time);
            }
            Wait(limit) => {
                if !state.signalled && !thread.late {
                    (thread.sleeps, thread.returns) = (true, true);
                    state.broken |= state.owner != Some(number);
                    state.owner = None;
                    state.token.wake(LOCK, time);
                    let deadline = limit.map(|limit| time + limit);
                    state.token.wait(number, CONDITION, time, deadline);
                    return;
                }
            }
            Signal => {
                state.signalled = true;
                state.token.wake(CONDITION, time);
            }
            End => state.token.end(number),
        }
        state.threads[number].next += 1;
    }
}

fn check(scripts: &[&[Step]], thefts: u32) {
    let scripts = scripts.iter().map(|script| script.to_vec()).collect();
    let checker = Threads { scripts, thefts }.checker().spawn_bfs().join();
    checker.assert_properties();
    println!("{} states", checker.unique_state_count());
}

const LOCKS: &[Step] = &[Point(3), Lock, Point(5), Unlock, Lock, Unlock, End];
const WAITS: &[Step] = &[Lock, Wait(None), Unlock, End];
const WAITS_A_WHILE: &[Step] = &[Lock, Wait(Some(5)), Unlock, End];
const SIGNALS: &[Step] = &[Point(5), Lock, Signal, Point(1), Unlock, End];

#[test]
fn threads_that_lock() {
    check(&[LOCKS, LOCKS, &[Lock, Point(1), Unlock, End]], 0);
}

#[test]
fn threads_that_lock_and_lose_the_token() {
    check(&[LOCKS, LOCKS], 3);
    check(&[LOCKS, LOCKS, LOCKS], 1);
}

#[test]
fn a_condition_is_waited_for_and_signalled() {
    check(&[WAITS, SIGNALS, LOCKS], 0);
    check(&[WAITS, SIGNALS], 3);
}

#[test]
fn a_deadline_and_a_signal_come_together() {
    check(&[WAITS_A_WHILE, SIGNALS], 3);
    check(&[WAITS_A_WHILE, WAITS_A_WHILE, SIGNALS], 1);
}
