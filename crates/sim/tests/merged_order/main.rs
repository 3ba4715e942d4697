//! All ways in which host threads and the machine of a card can take turns in virtual time: the token, with
//! hand-overs and sleeping as libflick has them (`accounts/timed/order/`), a machine that whoever finds it
//! next drives, and a watchdog.
//!
//! A step is what a thread does under the lock of the order, or between two of these; any other thread may
//! come in between. A thread that parks looks at its word, and then sleeps until it is woken: nothing ends
//! that after a while, as libflick's look at the watchdog does. Each way is a schedule of the host. Without
//! thefts all of them lead to the same order of events, by their times.
mod host_and_machine;
mod thread_steps;

use std::collections::BTreeMap;

use flick_sim::thread_token::Token;
use host_and_machine::Step::{self, *};
use host_and_machine::{Action, Doing, Logged, Machine, Mistake, State, Then, Thread};
use stateright::{Checker, HasDiscoveries, Model, Property};

struct Merged {
    scripts: Vec<Vec<Step>>,
    thefts: u32,
    mistake: Mistake,
    /// The order of one schedule, if nothing is stolen.
    order: Option<Vec<Logged>>,
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
