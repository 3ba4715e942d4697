//! A model of threads on harts: the kernel's own `Dispatch`, with harts that answer late. All orders of
//! calls, slices and changes are tried.
use flick_kernel_core::dispatch::{Dispatch, Orders};
use flick_kernel_core::threads::{Place, State as ThreadState, Threads, Wait};
use stateright::{Checker, Model, Property};

#[path = "replay/dispatch_replay.rs"]
mod dispatch_replay;

const THREADS: usize = 3;
const HARTS: usize = 2;
/// Time stands still, and slices have no length, so that states repeat.
const NOW: u64 = 0;

/// A hart as it sees itself: the thread that it runs, whether it shall save it, and whether the thread only
/// waits there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Hart {
    runs: Option<Place>,
    asked: bool,
    parked: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    dispatch: Dispatch<THREADS, HARTS>,
    harts: [Hart; HARTS],
    changes: u8,
    /// The harts that each thread may run on, also while it runs on special ones alone.
    allowed: [u64; THREADS],
    /// A hart was told to run a thread while it had one.
    is_broken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// The thread of a hart calls: it waits, ends, or yields.
    Waits(usize),
    Ends(usize),
    Yields(usize),
    /// The hart saves its thread, as it was asked.
    Saves(usize),
    /// The thread of a hart will wait there, if the kernel hart lets it. What it waits for comes.
    Parks(usize),
    GoesOn(usize),
    /// A thread that waits is woken.
    Wakes(Place),
    EndsSlices,
    /// A thread may run on one hart only.
    Places(Place, u8),
    /// The thread of a hart has an instruction that special harts alone have.
    Moves(usize),
}

struct Told<'a> {
    harts: &'a mut [Hart; HARTS],
    is_broken: &'a mut bool,
}

impl Orders<THREADS> for Told<'_> {
    fn run(&mut self, hart: u8, _: &mut Threads<THREADS>, place: Place) {
        let hart = &mut self.harts[usize::from(hart)];
        *self.is_broken |= hart.runs.is_some();
        *hart = Hart {
            runs: Some(place),
            ..Hart::default()
        };
    }

    fn preempt(&mut self, hart: u8, _: u64) {
        self.harts[usize::from(hart)].asked = true;
    }
}

/// Special harts, as bits.
struct Sharing(u64);

impl State {
    fn step(&mut self, step: Step) -> Option<()> {
        let mut harts = self.harts;
        let orders = &mut Told {
            harts: &mut harts,
            is_broken: &mut self.is_broken,
        };
        let dispatch = &mut self.dispatch;
        match step {
            Step::Waits(n) | Step::Ends(n) => {
                let place = core::mem::take(&mut orders.harts[n]).runs?;
                dispatch.has_called(n as u8);
                dispatch.threads[place].state = ThreadState::Waits(Wait::Sleep);
                dispatch.threads[place].harts = self.allowed[usize::from(place)];
                if matches!(step, Step::Ends(_)) {
                    dispatch.threads.remove(place);
                }
                dispatch.leave(n as u8, NOW, orders);
            }
            Step::Yields(n) | Step::Saves(n) | Step::Moves(n) => {
                let asked = orders.harts[n].asked;
                if matches!(step, Step::Saves(_)) && !asked {
                    return None;
                }
                let place = core::mem::take(&mut orders.harts[n]).runs?;
                dispatch.has_called(n as u8);
                let special = dispatch.threads.special;
                let thread = &mut dispatch.threads[place];
                thread.harts = self.allowed[usize::from(place)];
                if matches!(step, Step::Moves(_)) {
                    // Another call of a thread that was asked, or an instruction that no hart has.
                    let is_there = special >> n & 1 != 0;
                    if asked || is_there || special & thread.harts == 0 {
                        return None;
                    }
                    thread.harts &= special;
                }
                let moves = matches!(step, Step::Moves(_));
                if moves && dispatch.pass_on(n as u8, NOW, orders) {
                } else if dispatch.give_way(n as u8, NOW, orders)
                    == flick_kernel_core::dispatch::GaveWay::Stays
                {
                    orders.run(n as u8, &mut dispatch.threads, place);
                }
            }
            Step::Parks(n) => {
                orders.harts[n].runs.filter(|_| !orders.harts[n].parked)?;
                // As a call that leaves the hart to its thread.
                if dispatch.is_asked(n as u8) {
                    return None;
                }
                orders.harts[n].parked = dispatch.park(n as u8);
            }
            Step::GoesOn(n) => {
                // The kernel hart does not learn of that.
                orders.harts[n].parked.then_some(())?;
                orders.harts[n].parked = false;
            }
            Step::Wakes(place) => {
                if dispatch.threads[place].state != ThreadState::Waits(Wait::Sleep) {
                    return None;
                }
                dispatch.wake(place, NOW, orders);
            }
            Step::EndsSlices => dispatch.end_slices(NOW, orders),
            Step::Places(place, hart) => {
                if self.changes == 0 || dispatch.threads[place].state == ThreadState::Free {
                    return None;
                }
                self.changes -= 1;
                dispatch.threads[place].harts = 1 << hart;
                self.allowed[usize::from(place)] = 1 << hart;
                match dispatch.threads[place].state {
                    ThreadState::Ready => {
                        dispatch.threads.take_ready(place);
                        dispatch.wake(place, NOW, orders);
                    }
                    ThreadState::Running(at) if at != hart => {
                        dispatch.drive_out(at, NOW, orders);
                    }
                    _ => {}
                }
            }
        }
        self.harts = harts;
        Some(())
    }

    /// A thread that is ready while a hart is idle that it may run on.
    fn is_idle_beside_work(&self) -> bool {
        (0..THREADS as Place).any(|place| {
            let thread = &self.dispatch.threads[place];
            let may = |n: usize| thread.harts >> n & 1 != 0 && self.harts[n].runs.is_none();
            thread.state == ThreadState::Ready && (0..HARTS).any(may)
        })
    }
}

impl State {
    /// A thread is ready that needs special harts, and these run threads that can leave and are not more
    /// urgent, and no hart for it is asked to save its own.
    fn is_guest_beside_need(&self) -> bool {
        let threads = &self.dispatch.threads;
        (0..THREADS as Place).any(|place| {
            let thread = &threads[place];
            let harts = (0..HARTS).filter(|&n| thread.harts >> n & 1 != 0);
            let is_guest = |runs: Place| {
                !threads.is_special(runs) && threads[runs].priority >= thread.priority
            };
            let mut needed = harts.map(|n| self.harts[n]);
            thread.state == ThreadState::Ready
                && threads.is_special(place)
                && needed.clone().any(|hart| hart.runs.is_some_and(is_guest))
                && !needed.any(|hart| hart.asked)
        })
    }

    /// A thread is ready beside a hart whose thread only waits, and no hart for it is asked to save its own.
    fn is_parked_beside_work(&self) -> bool {
        (0..THREADS as Place).any(|place| {
            let thread = &self.dispatch.threads[place];
            let mut may = (0..HARTS).filter(|&n| thread.harts >> n & 1 != 0);
            let is_ready = thread.state == ThreadState::Ready;
            is_ready
                && may.clone().any(|n| self.harts[n].parked)
                && !may.any(|n| self.harts[n].asked)
        })
    }
}

impl Model for Sharing {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let mut dispatch = Dispatch::<THREADS, HARTS>::new();
        dispatch.begin(0b11, 0);
        dispatch.threads.special = self.0;
        for n in 0..THREADS {
            let priority = if n == 0 { 3 } else { 4 };
            dispatch.threads.create(0, priority, 0b11).unwrap();
        }
        vec![State {
            dispatch,
            harts: [Hart::default(); HARTS],
            changes: 2,
            allowed: [0b11; THREADS],
            is_broken: false,
        }]
    }

    fn actions(&self, _: &State, actions: &mut Vec<Step>) {
        for n in 0..HARTS {
            actions.extend([
                Step::Waits(n),
                Step::Ends(n),
                Step::Yields(n),
                Step::Saves(n),
                Step::Parks(n),
                Step::GoesOn(n),
                Step::Moves(n),
            ]);
        }
        for place in 0..THREADS as Place {
            actions.push(Step::Wakes(place));
            actions.extend((0..HARTS as u8).map(|hart| Step::Places(place, hart)));
        }
        actions.push(Step::EndsSlices);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        next.step(step)?;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a hart has one thread", |_, s: &State| !s.is_broken),
            Property::always("a thread runs once", |_, s: &State| {
                let [a, b] = s.harts;
                a.runs.is_none() || a.runs != b.runs
            }),
            Property::always("harts and tables agree", |_, s: &State| {
                (0..HARTS).all(|n| {
                    let runs = s.harts[n].runs;
                    let state = runs.map(|place| s.dispatch.threads[place].state);
                    s.dispatch.running(n as u8) == runs
                        && state.is_none_or(|state| state == ThreadState::Running(n as u8))
                })
            }),
            Property::always("no hart is idle beside work", |_, s: &State| {
                !s.is_idle_beside_work()
            }),
            Property::always(
                "no thread only waits on a hart beside work",
                |_, s: &State| !s.is_parked_beside_work(),
            ),
            Property::always("no guest is beside need", |_, s: &State| {
                !s.is_guest_beside_need()
            }),
            Property::sometimes("a thread waits on its hart", |_, s: &State| {
                s.harts.iter().any(|hart| hart.parked)
            }),
            Property::always(
                "a thread that may not stay is asked to leave",
                |_, s: &State| {
                    (0..HARTS).all(|n| {
                        let Hart { runs, asked, .. } = s.harts[n];
                        let may = |place: Place| s.dispatch.threads[place].harts >> n & 1 != 0;
                        asked || runs.is_none_or(may)
                    })
                },
            ),
            Property::sometimes("all threads end", |_, s: &State| {
                s.dispatch.threads.count() == 0
            }),
        ]
    }
}

#[test]
fn threads_share_harts() {
    for special in [0, 0b10] {
        let checker = Sharing(special).checker().spawn_bfs().join();
        println!("{} states", checker.unique_state_count());
        checker.assert_properties();
    }
}
