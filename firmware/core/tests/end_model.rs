//! A model of how threads end without the kernel hart (`thread_lines.rs`, `silent_ends.rs`): the kernel's
//! own lines, words and `Dispatch`, with harts that take their steps at any time. A step is what one hart
//! does between two accesses that others see. Threads are more than harts, so that ends have to be told.
use flick_kernel_core::dispatch::{Dispatch, GaveWay, Orders};
use flick_kernel_core::lines::Pending;
use flick_kernel_core::silent_ends::SilentEnds;
use flick_kernel_core::thread_lines::{ENDED, ThreadLine, WATCHED};
use flick_kernel_core::threads::{Place, State as ThreadState, Threads, Wait};
use stateright::{Checker, Model, Property};

const THREADS: usize = 3;
const HARTS: usize = 2;
const NOW: u64 = 0;

/// What a hart says in its call line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Exit,
    HasEnded,
    Saved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hart {
    /// It waits for a thread; the kernel hart knows that, or will by a call.
    Waits,
    Runs(Place),
    /// The thread's line says that it has ended, and nobody watches it.
    HasEnded,
    /// It waits for a thread, and the kernel hart has not been told that.
    IsSilent,
    /// Its call line is complete, and its bit is not set yet.
    Calls(Call),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Command {
    runs: Option<Place>,
    saves: bool,
}

/// A join that the kernel hart executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Join {
    None,
    /// It was not ended: the kernel hart watches it next.
    Watches(Place),
    /// It has ended between these steps.
    Unwatches(Place),
    /// Once more.
    Again(Place),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    dispatch: Dispatch<THREADS, HARTS>,
    ends: SilentEnds,
    join: Join,
    /// The kernel hart compares ready threads and the word of ends before it does anything else.
    compares: bool,
    harts: [Hart; HARTS],
    commands: [Command; HARTS],
    calls: [Call; HARTS],
    pending: [u64; 2],
    lines: [u64; THREADS],
    /// A thread of the kernel hart's table waits for the end.
    joiners: [bool; THREADS],
    created: usize,
    joins: [u8; THREADS],
    asks: u8,
    is_broken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// A hart's own next step; its thread ends.
    Hart(usize),
    /// The kernel hart makes the next thread, and starts it if a hart is idle.
    Create,
    Serve(usize),
    /// The next step of what the kernel hart does now, or an end that it takes.
    Kernel,
    /// The kernel hart begins a join.
    Join(Place),
    /// Another hart joins by itself.
    LocalJoin(Place),
    /// The kernel hart asks a hart to save its thread.
    Ask(usize),
}

struct Told<'a>(&'a mut [Command; HARTS], &'a mut bool);

impl Orders<THREADS> for Told<'_> {
    fn run(&mut self, hart: u8, _: &mut Threads<THREADS>, place: Place) {
        let command = &mut self.0[usize::from(hart)];
        *self.1 |= command.runs.is_some();
        command.runs = Some(place);
    }

    fn preempt(&mut self, hart: u8, _: u64) {
        self.0[usize::from(hart)].saves = true;
    }
}

impl State {
    fn on_pending<R>(&mut self, f: impl FnOnce(&Pending, &mut SilentEnds) -> R) -> R {
        let pending = Pending::from_words(self.pending);
        let result = f(&pending, &mut self.ends);
        self.pending = pending.into_words();
        result
    }

    fn on_line<R>(&mut self, place: Place, f: impl FnOnce(&ThreadLine, u64) -> R) -> R {
        let line = ThreadLine::from_state(self.lines[usize::from(place)]);
        let result = f(&line, place.into());
        self.lines[usize::from(place)] = line.state();
        result
    }

    fn joined(&mut self, place: Place) {
        self.joins[usize::from(place)] += 1;
    }

    fn hart(&mut self, n: usize) -> Option<()> {
        let command = self.commands[n];
        self.harts[n] = match self.harts[n] {
            Hart::Runs(_) if command.saves => {
                self.commands[n].saves = false;
                Hart::Calls(Call::Saved)
            }
            Hart::Runs(place) => match self.on_line(place, |line, _| line.end()) {
                true => Hart::Calls(Call::Exit),
                false => Hart::HasEnded,
            },
            Hart::HasEnded => match self.on_pending(|pending, _| pending.end(n)) {
                true => Hart::Calls(Call::HasEnded),
                false => Hart::IsSilent,
            },
            Hart::Calls(call) => {
                self.calls[n] = call;
                self.is_broken |= self.pending[0] >> n & 1 != 0;
                let _ = self.on_pending(|pending, _| pending.call(n));
                Hart::Waits
            }
            Hart::Waits | Hart::IsSilent if command.runs.is_some() => {
                // What it was asked meanwhile it does as soon as the thread runs.
                self.commands[n].runs = None;
                Hart::Runs(command.runs?)
            }
            Hart::IsSilent if command.saves => {
                self.commands[n].saves = false;
                Hart::Calls(Call::HasEnded)
            }
            Hart::Waits | Hart::IsSilent => return None,
        };
        Some(())
    }

    /// The hart of a thread that has ended runs another one.
    fn leave(&mut self, n: usize) {
        let orders = &mut Told(&mut self.commands, &mut self.is_broken);
        self.dispatch.leave(n as u8, NOW, orders);
    }

    fn serve(&mut self, n: usize) -> Option<()> {
        if self.pending[0] >> n & 1 == 0 {
            return None;
        }
        self.pending[0] &= !(1 << n);
        self.compares = true;
        let Some(place) = self.dispatch.running(n as u8) else {
            self.is_broken = true;
            return Some(());
        };
        self.dispatch.has_called(n as u8);
        match self.calls[n] {
            Call::Saved => {
                let orders = &mut Told(&mut self.commands, &mut self.is_broken);
                if self.dispatch.give_way(n as u8, NOW, orders) == GaveWay::Stays {
                    orders.run(n as u8, &mut self.dispatch.threads, place);
                }
                return Some(());
            }
            Call::Exit if self.joiners[usize::from(place)] => self.joined(place),
            Call::Exit => self.on_line(place, |line, number| line.settle(number, 0)),
            Call::HasEnded => self.on_pending(|pending, ends| ends.forget(pending, n as u8)),
        }
        self.dispatch.threads[place].state = ThreadState::Ended;
        self.leave(n);
        Some(())
    }

    fn kernel(&mut self) -> Option<()> {
        if self.compares {
            let at_once = self.dispatch.threads.has_ready();
            if at_once != self.ends.are_told() {
                self.on_pending(|pending, ends| ends.take(pending, at_once));
            }
            while at_once && self.take_end() {}
            self.compares = false;
            return Some(());
        }
        self.join = match self.join {
            Join::None => {
                let is_told = self.ends.are_told();
                self.on_pending(|pending, ends| {
                    if !ends.has_some() && !is_told && pending.has_ended() {
                        ends.take(pending, false);
                    }
                });
                return self.take_end().then_some(());
            }
            Join::Watches(place) => {
                match self.on_line(place, |line, _| line.watch()) & (ENDED | WATCHED) {
                    ENDED => Join::Unwatches(place),
                    _ => {
                        self.joiners[usize::from(place)] = true;
                        Join::None
                    }
                }
            }
            Join::Unwatches(place) => {
                self.on_line(place, |line, _| line.unwatch());
                Join::Again(place)
            }
            Join::Again(place) => {
                if self.on_line(place, ThreadLine::join).is_some() {
                    self.joined(place);
                }
                Join::None
            }
        };
        Some(())
    }

    fn take_end(&mut self) -> bool {
        let Some(hart) = self.ends.take_first() else {
            return false;
        };
        if !self.dispatch.is_asked(hart)
            && let Some(place) = self.dispatch.running(hart)
        {
            self.is_broken |= self.lines[usize::from(place)] & !u64::from(u16::MAX) == 0;
            self.dispatch.threads[place].state = ThreadState::Ended;
            self.leave(hart.into());
        }
        true
    }

    fn step(&mut self, step: Step) -> Option<()> {
        let is_between = self.compares || self.join != Join::None;
        match step {
            Step::Hart(n) => return self.hart(n),
            Step::LocalJoin(place) => {
                self.on_line(place, ThreadLine::join)?;
                self.joined(place);
            }
            Step::Kernel => return self.kernel(),
            // The kernel hart ends one thing before the next.
            _ if is_between => return None,
            Step::Serve(n) => return self.serve(n),
            Step::Create => {
                if self.created == THREADS {
                    return None;
                }
                self.created += 1;
                let place = self.dispatch.threads.create(0, 4, 0b11)?;
                let watched = if place == 0 { WATCHED } else { 0 };
                self.on_line(place, |line, number| line.begin(number, 0, watched, 0));
                let orders = &mut Told(&mut self.commands, &mut self.is_broken);
                self.dispatch.wake(place, NOW, orders);
                self.compares = true;
            }
            Step::Join(place) => {
                let is_there = usize::from(place) < self.created;
                let n = usize::from(place);
                if !is_there || self.joiners[n] || self.joins[n] != 0 {
                    return None;
                }
                match self.on_line(place, ThreadLine::join) {
                    Some(_) => self.joined(place),
                    None => self.join = Join::Watches(place),
                }
            }
            Step::Ask(n) => {
                if self.asks == 0 || self.dispatch.running(n as u8).is_none() {
                    return None;
                }
                self.asks -= 1;
                let orders = &mut Told(&mut self.commands, &mut self.is_broken);
                self.dispatch.drive_out(n as u8, NOW, orders);
            }
        }
        Some(())
    }

    fn is_done(&self) -> bool {
        let threads = &self.dispatch.threads;
        let has_ended = |place| matches!(threads[place].state, ThreadState::Ended);
        self.created == THREADS
            && (0..THREADS as Place).all(has_ended)
            && (0..THREADS).all(|n| self.joins[n] == 1)
    }
}

struct Ends;

impl Model for Ends {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let mut dispatch = Dispatch::<THREADS, HARTS>::new();
        while dispatch.threads.add_place() {}
        dispatch.begin(0b11, 0);
        vec![State {
            dispatch,
            ends: SilentEnds::new(),
            join: Join::None,
            compares: false,
            harts: [Hart::Waits; HARTS],
            commands: [Command::default(); HARTS],
            calls: [Call::Saved; HARTS],
            pending: [0; 2],
            lines: [0; THREADS],
            joiners: [false; THREADS],
            created: 0,
            joins: [0; THREADS],
            asks: 2,
            is_broken: false,
        }]
    }

    fn actions(&self, _: &State, actions: &mut Vec<Step>) {
        for n in 0..HARTS {
            actions.extend([Step::Hart(n), Step::Serve(n), Step::Ask(n)]);
        }
        for place in 0..THREADS as Place {
            actions.extend([Step::Join(place), Step::LocalJoin(place)]);
        }
        actions.extend([Step::Create, Step::Kernel]);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        next.step(step)?;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("calls and commands are whole", |_, s: &State| !s.is_broken),
            Property::always("a thread runs once", |_, s: &State| {
                let [a, b] = s.harts;
                !matches!(a, Hart::Runs(_)) || a != b
            }),
            Property::always("a thread that has ended does not run", |_, s: &State| {
                s.harts.iter().all(|hart| match *hart {
                    Hart::Runs(place) => {
                        let state = s.dispatch.threads[place].state;
                        s.lines[usize::from(place)] & ENDED == 0
                            && !matches!(
                                state,
                                ThreadState::Ended | ThreadState::Waits(Wait::Sleep)
                            )
                    }
                    _ => true,
                })
            }),
            Property::always("a thread is joined once", |_, s: &State| {
                s.joins.iter().all(|&joins| joins <= 1)
            }),
            // A state in which nobody can do anything is the end: all threads have run, ended, and were
            // joined, and the kernel hart knows it.
            Property::always("nobody waits for ever", |model: &Ends, s: &State| {
                let mut steps = vec![];
                model.actions(s, &mut steps);
                // A further request to save a thread would hide that something is stuck.
                let goes_on = steps.iter().any(|&step| {
                    !matches!(step, Step::Ask(_)) && model.next_state(s, step).is_some()
                });
                goes_on || s.is_done()
            }),
            Property::sometimes("all threads are joined", |_, s: &State| s.is_done()),
            Property::sometimes(
                "a thread is joined before its end is known",
                |_, s: &State| {
                    (0..THREADS).any(|n| {
                        let state = s.dispatch.threads[n as Place].state;
                        s.joins[n] == 1 && matches!(state, ThreadState::Running(_))
                    })
                },
            ),
        ]
    }
}

#[test]
fn threads_end_and_are_joined() {
    let checker = Ends.checker().spawn_bfs().join();
    println!("{} states", checker.unique_state_count());
    checker.assert_properties();
}
