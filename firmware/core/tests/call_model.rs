//! A model of how user harts call the kernel hart and are answered. Its states are made by the kernel's
//! own `Pending` and `CommandLine`; each step is what one hart does between two accesses that others see.
//! Interrupts may come late, and once more than they were sent.
use flick_kernel_core::lines::{CommandLine, Pending, command};
use stateright::{Checker, Model, Property};

#[path = "replay/call_replay.rs"]
mod call_replay;

const HARTS: usize = 3;
const CALLS: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum User {
    /// It runs its program.
    Runs,
    /// Its line is written, and its bit is not set yet.
    Written,
    /// It has to interrupt the kernel hart.
    MustWake,
    /// It looks for commands.
    Looks,
    /// It found none for some time, and tries to sleep.
    TriesSleep,
    /// It waits for an interrupt.
    Waits,
    /// It has seen one, and clears it.
    Clears,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kernel {
    /// It takes the callers.
    Takes,
    /// It serves these.
    Serves(u64),
    /// It has answered a hart and has to interrupt it; these are left.
    MustInterrupt(u8, u64),
    /// It found nobody, and clears its interrupt.
    Clears,
    /// It tries to sleep.
    TriesSleep,
    /// It waits for an interrupt.
    Sleeps,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    users: [User; HARTS],
    calls: [u8; HARTS],
    answers: [u8; HARTS],
    /// Lines that are written and not read.
    lines: [bool; HARTS],
    commands: [u64; HARTS],
    interrupts: [bool; HARTS],
    pending: u64,
    kernel: Kernel,
    kernel_interrupt: bool,
    /// A line was read that was not complete, or an answer overwritten.
    is_broken: bool,
    /// Interrupts that may still be repeated.
    repeats: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    User(usize),
    Kernel,
    Repeat(usize),
}

struct Calls;

fn on_pending<R>(word: &mut u64, f: impl FnOnce(&Pending) -> R) -> R {
    let pending = Pending::from_words([*word, 0]);
    let result = f(&pending);
    [*word, _] = pending.into_words();
    result
}

fn on_commands<R>(flags: &mut u64, f: impl FnOnce(&CommandLine) -> R) -> R {
    let line = CommandLine::default();
    let _ = line.give(*flags);
    let result = f(&line);
    *flags = line.into_flags();
    result
}

impl State {
    fn user(&mut self, n: usize) -> bool {
        self.users[n] = match self.users[n] {
            User::Runs if self.calls[n] == CALLS => return false,
            User::Runs => {
                self.calls[n] += 1;
                self.is_broken |= self.lines[n];
                self.lines[n] = true;
                User::Written
            }
            User::Written => match on_pending(&mut self.pending, |p| p.call(n)) {
                true => User::MustWake,
                false => User::Looks,
            },
            User::MustWake => {
                self.kernel_interrupt = true;
                User::Looks
            }
            User::Looks => match on_commands(&mut self.commands[n], CommandLine::take) {
                0 => User::TriesSleep,
                _ => {
                    self.answers[n] += 1;
                    User::Runs
                }
            },
            User::TriesSleep => match on_commands(&mut self.commands[n], CommandLine::sleep) {
                true => User::Waits,
                false => User::Looks,
            },
            User::Waits if !self.interrupts[n] => return false,
            User::Waits => User::Clears,
            User::Clears => {
                self.interrupts[n] = false;
                User::Looks
            }
        };
        true
    }

    fn kernel(&mut self) -> bool {
        self.kernel = match self.kernel {
            Kernel::Takes => match on_pending(&mut self.pending, Pending::take) {
                0 => Kernel::Clears,
                callers => Kernel::Serves(callers),
            },
            Kernel::Serves(0) => Kernel::Takes,
            Kernel::Serves(callers) => {
                let n = callers.trailing_zeros() as usize;
                self.is_broken |= !self.lines[n] || self.commands[n] & command::REPLY != 0;
                self.lines[n] = false;
                let rest = callers & (callers - 1);
                match on_commands(&mut self.commands[n], |line| line.give(command::REPLY)) {
                    true => Kernel::MustInterrupt(n as u8, rest),
                    false => Kernel::Serves(rest),
                }
            }
            Kernel::MustInterrupt(n, rest) => {
                self.interrupts[usize::from(n)] = true;
                Kernel::Serves(rest)
            }
            Kernel::Clears => {
                self.kernel_interrupt = false;
                Kernel::TriesSleep
            }
            Kernel::TriesSleep => match on_pending(&mut self.pending, Pending::sleep) {
                true => Kernel::Sleeps,
                false => Kernel::Takes,
            },
            Kernel::Sleeps if !self.kernel_interrupt => return false,
            Kernel::Sleeps => Kernel::Takes,
        };
        true
    }

    fn is_done(&self) -> bool {
        self.answers == [CALLS; HARTS]
    }
}

impl Model for Calls {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            users: [User::Runs; HARTS],
            calls: [0; HARTS],
            answers: [0; HARTS],
            lines: [false; HARTS],
            commands: [0; HARTS],
            interrupts: [false; HARTS],
            pending: 0,
            kernel: Kernel::Takes,
            kernel_interrupt: false,
            is_broken: false,
            repeats: 1,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        let users = (0..HARTS).map(Step::User);
        let repeats = (0..HARTS).filter(|_| state.repeats != 0).map(Step::Repeat);
        actions.extend(users.chain([Step::Kernel]).chain(repeats));
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        let is_possible = match step {
            Step::User(n) => next.user(n),
            Step::Kernel => next.kernel(),
            Step::Repeat(n) => {
                next.repeats -= 1;
                next.interrupts[n] = true;
                true
            }
        };
        is_possible.then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("lines have one writer at a time", |_, s: &State| {
                !s.is_broken
            }),
            Property::always("each call is answered once", |_, s: &State| {
                (0..HARTS).all(|n| s.answers[n] <= s.calls[n])
            }),
            // A state in which nobody can do anything is the end: nobody waits for ever.
            Property::always("no wake-up is lost", |model: &Calls, s: &State| {
                let mut steps = vec![];
                model.actions(s, &mut steps);
                let goes_on = steps.iter().any(|&step| match step {
                    Step::Repeat(_) => false,
                    _ => model.next_state(s, step).is_some(),
                });
                goes_on || s.is_done()
            }),
            Property::sometimes("all calls are answered", |_, s: &State| s.is_done()),
        ]
    }
}

#[test]
fn calls_are_answered() {
    let checker = Calls.checker().spawn_bfs().join();
    println!("{} states", checker.unique_state_count());
    checker.assert_properties();
}

/// The model finds a fault: a kernel hart that sleeps without telling it.
#[test]
fn a_lost_wake_up_is_found() {
    struct Faulty;

    impl Model for Faulty {
        type State = State;
        type Action = Step;

        fn init_states(&self) -> Vec<State> {
            Calls.init_states()
        }

        fn actions(&self, state: &State, actions: &mut Vec<Step>) {
            Calls.actions(state, actions);
        }

        fn next_state(&self, state: &State, step: Step) -> Option<State> {
            let mut next = Calls.next_state(state, step)?;
            if state.kernel == Kernel::TriesSleep && step == Step::Kernel {
                next.kernel = Kernel::Sleeps;
                next.pending = state.pending;
            }
            Some(next)
        }

        fn properties(&self) -> Vec<Property<Self>> {
            vec![Property::always("goes on", |model: &Faulty, s: &State| {
                let mut steps = vec![];
                model.actions(s, &mut steps);
                let goes_on = steps.iter().any(|&step| {
                    !matches!(step, Step::Repeat(_)) && model.next_state(s, step).is_some()
                });
                goes_on || s.is_done()
            })]
        }
    }

    let checker = Faulty.checker().spawn_bfs().join();
    assert!(checker.discovery("goes on").is_some());
}
