//! A model of harts that claim others for their threads (`claims.rs`): the kernel's own word, `Claims`,
//! `Dispatch`, `Pending` and `SilentEnds`, with harts that take their steps at any time. A step is what one
//! hart does between two accesses that others see. Harts 0 and 1 are general, and hart 2 is special.
//!
//! Each mistake of [`Mistake`] is one that the kernel could have, and the model finds it.
use flick_kernel_core::claims::{COUNT, ClaimWord, Claims};
use flick_kernel_core::dispatch::{Dispatch, GaveWay, Orders};
use flick_kernel_core::lines::Pending;
use flick_kernel_core::silent_ends::SilentEnds;
use flick_kernel_core::threads::{Place, State as ThreadState, Threads, Wait};
use stateright::{Checker, HasDiscoveries, Model, Property};

const THREADS: usize = 3;
const HARTS: usize = 3;
const NOW: u64 = 0;
/// States that are tried, by the number of threads. Those of one thread are less: all are tried. Of two
/// threads those that come first are.
const MOST_STATES: [(usize, usize); 2] = [(1, 20_000_000), (2, 4_000_000)];
const ALL: u64 = 0b111;
const SPECIAL: u64 = 0b100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mistake {
    None,
    /// The kernel hart serves a call without closing the word.
    ServesOpen,
    /// It changes where a thread may run without closing the word.
    PlacesOpen,
    /// It opens the word while harts are asked to save their threads.
    OpensBesideDemands,
    /// It does not count how often it opens the word.
    DoesNotCount,
    /// A hart does not keep the demand to save a thread that is not there yet.
    DropsDemand,
    /// A hart tells of an end that the kernel hart knows, since it is asked for another thread.
    TellsOldEnd,
    /// A claim does not tell the hart to forget translations.
    ForgetsNothing,
    /// A hart gives its thread before the claim has succeeded.
    GivesEarly,
}

/// What a hart says in its call line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    HasEnded,
    Saved,
    Waits,
    /// The thread needs a special hart, or needs none any more.
    Moves,
    Back,
}

/// A hart as it sees itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hart {
    /// It waits for a command.
    Waits,
    Runs(Place),
    /// It has seen the word, and then where the thread may run.
    Looks(Place, u64),
    Claims(Place, u64, u64),
    /// It has claimed a hart, or its thread goes back to one: it gives it the thread next.
    Gives(Place, usize, bool),
    /// Its thread has ended; the kernel hart has not been told that.
    HasEnded(u8),
    IsSilent(u8),
    /// Its call line is complete, and its bit is not set yet.
    Calls(Call),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Command {
    runs: Option<Place>,
    is_claim: bool,
    goes_on: bool,
    /// The number of the thread that it shall save.
    saves: Option<u8>,
    forgets: bool,
    invalidates: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    dispatch: Dispatch<THREADS, HARTS>,
    claims: Claims,
    ends: SilentEnds,
    /// Harts that forget translations before they run a thread, as the kernel hart knows.
    forget: u64,
    /// Harts that it waits for until they have forgotten a page.
    unanswered: u64,
    harts: [Hart; HARTS],
    /// The thread that each hart had last, and a demand that came before a thread.
    threads: [Option<Place>; HARTS],
    asked: [Option<u8>; HARTS],
    commands: [Command; HARTS],
    calls: [Call; HARTS],
    word: u64,
    pending: [u64; 2],
    /// In the threads' lines.
    allowed: [u64; THREADS],
    /// Harts that have translations which are wrong.
    stale: u64,
    /// How often each thread has ended, modulo 4: a part of its number.
    uses: [u8; THREADS],
    changes: u8,
    asks: u8,
    is_broken: bool,
    /// What the last step was, for properties.
    came_late: bool,
    forgot: bool,
    went_unseen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// A hart's own next step.
    Hart(usize),
    /// Its thread ends, or calls.
    Ends(usize),
    Calls(usize, Call),
    /// Its thread comes to an instruction that special harts have, or says that it needs none any more.
    Looks(usize),
    Open,
    Close,
    Serve(usize),
    /// The kernel hart takes an end.
    TakeEnd,
    Wakes(Place),
    Ask(usize),
    Places(Place, u64),
    /// A page of the process is another one from now on.
    Invalidates,
}

struct Told<'a> {
    commands: &'a mut [Command; HARTS],
    forget: &'a mut u64,
    uses: &'a [u8; THREADS],
    is_broken: &'a mut bool,
}

fn number_of(place: Place, uses: &[u8; THREADS]) -> u8 {
    place as u8 | uses[usize::from(place)] << 2
}

impl Orders<THREADS> for Told<'_> {
    fn run(&mut self, hart: u8, _: &mut Threads<THREADS>, place: Place) {
        let command = &mut self.commands[usize::from(hart)];
        *self.is_broken |= command.runs.is_some() || command.goes_on;
        command.runs = Some(place);
        command.is_claim = false;
        command.forgets = *self.forget >> hart & 1 != 0;
        *self.forget &= !(1 << hart);
    }

    fn preempt(&mut self, hart: u8, number: u64) {
        self.commands[usize::from(hart)].saves =
            Some(number_of((number & 0xff) as Place, self.uses));
    }
}

macro_rules! orders {
    ($state:expr) => {
        &mut Told {
            commands: &mut $state.commands,
            forget: &mut $state.forget,
            uses: &$state.uses,
            is_broken: &mut $state.is_broken,
        }
    };
}

impl State {
    fn on_word<R>(&mut self, f: impl FnOnce(&ClaimWord) -> R) -> R {
        let word = ClaimWord::from_word(self.word);
        let result = f(&word);
        self.word = word.into_word();
        result
    }

    fn on_pending<R>(&mut self, f: impl FnOnce(&Pending, &mut SilentEnds) -> R) -> R {
        let pending = Pending::from_words(self.pending);
        let result = f(&pending, &mut self.ends);
        self.pending = pending.into_words();
        result
    }

    fn close(&mut self) {
        let word = ClaimWord::from_word(self.word);
        let (dispatch, allowed) = (&mut self.dispatch, &self.allowed);
        let forgotten = self.claims.close(&word, |moved| {
            dispatch.moved(moved.from, moved.to);
            if let Some(place) = dispatch.running(moved.to) {
                let harts = if moved.is_claim { SPECIAL } else { !SPECIAL };
                let thread = &mut dispatch.threads[place];
                thread.harts = allowed[usize::from(place)] & harts;
                thread.is_away = true;
            }
        });
        self.word = word.into_word();
        self.forget &= !forgotten;
    }

    fn open(&mut self, mistake: Mistake) {
        let word = ClaimWord::from_word(self.word);
        let allowed = self.allowed;
        let of = |place: Place| allowed[usize::from(place)];
        let mut copy = self.dispatch.clone();
        if mistake == Mistake::OpensBesideDemands {
            (0..HARTS as u8).for_each(|n| {
                copy.has_called(n);
            });
        }
        self.claims.open(&word, &copy, self.forget, of);
        self.word = word.into_word();
        // Older words than the last one are alike.
        let count = |word: u64| word >> COUNT;
        let fields = (1 << COUNT) - 1;
        let now = count(self.word);
        let new = if mistake == Mistake::DoesNotCount {
            1
        } else {
            2
        };
        if self.claims.are_open() {
            for hart in &mut self.harts {
                if let Hart::Looks(_, seen) | Hart::Claims(_, seen, _) = hart {
                    let is_last = count(*seen) == 2 && now == 3;
                    let of = if mistake == Mistake::DoesNotCount {
                        1
                    } else {
                        u64::from(is_last)
                    };
                    *seen = *seen & fields | of << COUNT;
                }
            }
            self.word = self.word & fields | new << COUNT;
            self.claims.set_count(new);
        }
    }

    /// A hart takes a command with which a thread runs.
    fn starts(&mut self, n: usize) -> Option<Hart> {
        let command = self.commands[n];
        if command.goes_on {
            self.commands[n].goes_on = false;
            if command.saves.is_some() {
                self.commands[n].saves = None;
                return Some(Hart::Calls(Call::Saved));
            }
            return Some(Hart::Runs(self.threads[n]?));
        }
        let place = command.runs?;
        if command.forgets {
            self.stale &= !(1 << n);
        }
        self.forgot |= command.is_claim && command.forgets;
        let asked = std::mem::take(&mut self.asked[n]);
        let is_late = command.is_claim && asked == Some(self.number(place));
        self.came_late |= is_late;
        (self.commands[n].runs, self.commands[n].forgets) = (None, false);
        self.commands[n].is_claim = false;
        self.threads[n] = Some(place);
        // The interrupt comes before the thread's first instruction.
        if command.saves.is_some() || is_late {
            self.commands[n].saves = None;
            return Some(Hart::Calls(Call::Saved));
        }
        Some(Hart::Runs(place))
    }

    fn hart(&mut self, n: usize, mistake: Mistake) -> Option<()> {
        let command = self.commands[n];
        let waits = matches!(self.harts[n], Hart::Waits | Hart::IsSilent(_));
        if command.invalidates && (waits || matches!(self.harts[n], Hart::Runs(_))) {
            self.commands[n].invalidates = false;
            self.stale &= !(1 << n);
            self.unanswered &= !(1 << n);
            return Some(());
        }
        self.harts[n] = match self.harts[n] {
            Hart::Runs(_) if command.saves.is_some() => {
                self.commands[n].saves = None;
                Hart::Calls(Call::Saved)
            }
            Hart::Runs(_) => return None,
            Hart::Looks(place, seen) => Hart::Claims(place, seen, self.allowed[usize::from(place)]),
            Hart::Claims(place, seen, allowed) => self.claims(n, place, seen, allowed, mistake),
            Hart::Gives(place, to, forgets) => {
                self.give(place, to, forgets);
                Hart::Waits
            }
            Hart::HasEnded(number) => match self.on_pending(|pending, _| pending.end(n)) {
                true => Hart::Calls(Call::HasEnded),
                false => Hart::IsSilent(number),
            },
            Hart::Calls(call) => {
                self.calls[n] = call;
                self.is_broken |= self.pending[0] >> n & 1 != 0;
                let _ = self.on_pending(|pending, _| pending.call(n));
                Hart::Waits
            }
            Hart::Waits | Hart::IsSilent(_) if command.runs.is_some() || command.goes_on => {
                self.starts(n)?
            }
            waits @ (Hart::Waits | Hart::IsSilent(_)) if command.saves.is_some() => {
                self.commands[n].saves = None;
                let is_told = matches!(waits, Hart::IsSilent(number)
                    if mistake == Mistake::TellsOldEnd || command.saves == Some(number));
                self.asked[n] = command.saves.filter(|_| mistake != Mistake::DropsDemand);
                if is_told {
                    Hart::Calls(Call::HasEnded)
                } else {
                    waits
                }
            }
            Hart::Waits | Hart::IsSilent(_) => return None,
        };
        Some(())
    }

    fn claims(&mut self, n: usize, place: Place, seen: u64, allowed: u64, of: Mistake) -> Hart {
        if SPECIAL >> n & 1 != 0 {
            return match self.on_word(|word| word.give_back(seen, 0)) {
                Some(home) => Hart::Gives(place, home.into(), false),
                None => Hart::Calls(Call::Back),
            };
        }
        let fits = |_| allowed & SPECIAL != 0;
        if of == Mistake::GivesEarly && seen & 0xff >= 0xfe && fits(0) {
            self.give(place, 2, false);
        }
        match self.on_word(|word| word.claim(seen, n as u8, fits)) {
            Some(_) if of == Mistake::GivesEarly => Hart::Waits,
            Some(claimed) => {
                self.went_unseen |= self.dispatch.running(n as u8) != Some(place);
                Hart::Gives(place, 2, claimed.forgets && of != Mistake::ForgetsNothing)
            }
            None => Hart::Calls(Call::Moves),
        }
    }

    fn give(&mut self, place: Place, to: usize, forgets: bool) {
        let command = &mut self.commands[to];
        self.is_broken |= command.runs.is_some() || command.goes_on;
        command.runs = Some(place);
        command.is_claim = true;
        command.forgets |= forgets;
    }

    /// What the kernel hart does behind each call.
    fn compare(&mut self) {
        let at_once = self.dispatch.threads.has_ready();
        if at_once != self.ends.are_told() {
            self.on_pending(|pending, ends| ends.take(pending, at_once));
        }
        while at_once && self.take_end() {}
    }

    fn take_end(&mut self) -> bool {
        let Some(hart) = self.ends.take_first() else {
            return false;
        };
        if !self.dispatch.is_asked(hart)
            && let Some(place) = self.dispatch.running(hart)
        {
            self.end(place, hart);
        }
        true
    }

    /// A thread has ended, and begins again: so states repeat.
    fn end(&mut self, place: Place, hart: u8) {
        let waits = matches!(
            self.harts[usize::from(hart)],
            Hart::Waits | Hart::IsSilent(_)
        );
        self.is_broken |= !waits;
        let uses = &mut self.uses[usize::from(place)];
        *uses = (*uses + 1) % 4;
        self.leave(place, hart);
    }

    fn leave(&mut self, place: Place, hart: u8) {
        let thread = &mut self.dispatch.threads[place];
        thread.state = ThreadState::Waits(Wait::Sleep);
        (thread.harts, thread.is_away) = (self.allowed[usize::from(place)], false);
        self.dispatch.leave(hart, NOW, orders!(self));
    }

    fn serve(&mut self, n: usize) -> Option<()> {
        if self.pending[0] >> n & 1 == 0 {
            return None;
        }
        self.pending[0] &= !(1 << n);
        let hart = n as u8;
        let Some(place) = self.dispatch.running(hart) else {
            self.is_broken = true;
            return Some(());
        };
        let was_asked = self.dispatch.has_called(hart);
        let allowed = self.allowed[usize::from(place)];
        let call = self.calls[n];
        match call {
            Call::HasEnded => {
                self.on_pending(|pending, ends| ends.forget(pending, hart));
                self.end(place, hart);
            }
            Call::Waits => self.leave(place, hart),
            Call::Saved | Call::Moves | Call::Back => {
                let special = match call {
                    Call::Moves => SPECIAL,
                    Call::Back => !SPECIAL,
                    _ => ALL,
                };
                let is_away = call != Call::Saved && !was_asked && allowed & special != 0;
                let thread = &mut self.dispatch.threads[place];
                thread.harts = if is_away { allowed & special } else { allowed };
                thread.is_away = is_away;
                let may_stay = thread.harts >> hart & 1 != 0;
                let left = if was_asked || !may_stay {
                    !was_asked && self.dispatch.pass_on(hart, NOW, orders!(self))
                        || self.dispatch.give_way(hart, NOW, orders!(self)) == GaveWay::Left
                } else {
                    false
                };
                self.commands[n].goes_on |= !left;
            }
        }
        self.compare();
        Some(())
    }

    fn step(&mut self, step: Step, mistake: Mistake) -> Option<()> {
        (self.came_late, self.forgot, self.went_unseen) = (false, false, false);
        let is_open = self.claims.are_open();
        // The kernel hart ends one thing before the next.
        let is_free = self.unanswered == 0;
        match step {
            Step::Hart(n) => return self.hart(n, mistake),
            Step::Ends(n) | Step::Calls(n, _) | Step::Looks(n) => {
                let Hart::Runs(place) = self.harts[n] else {
                    return None;
                };
                self.harts[n] = match step {
                    Step::Ends(_) => Hart::HasEnded(self.number(place)),
                    Step::Looks(_) => Hart::Looks(place, self.on_word(ClaimWord::look)),
                    Step::Calls(_, call) => Hart::Calls(call),
                    _ => return None,
                };
            }
            _ if !is_free => return None,
            Step::Serve(n) if mistake == Mistake::ServesOpen => return self.serve(n),
            Step::Places(place, harts) if mistake == Mistake::PlacesOpen => {
                return self.place(place, harts);
            }
            Step::Close if is_open => self.close(),
            Step::Open if !is_open => {
                self.open(mistake);
                self.claims.are_open().then_some(())?;
            }
            // All else, while the word is closed.
            _ if is_open => return None,
            Step::Serve(n) => return self.serve(n),
            Step::TakeEnd => {
                let is_told = self.ends.are_told();
                self.on_pending(|pending, ends| {
                    if !ends.has_some() && !is_told && pending.has_ended() {
                        ends.take(pending, false);
                    }
                });
                self.take_end().then_some(())?;
                self.compare();
            }
            Step::Wakes(place) => {
                if self.dispatch.threads[place].state != ThreadState::Waits(Wait::Sleep) {
                    return None;
                }
                self.dispatch.wake(place, NOW, orders!(self));
                self.compare();
            }
            Step::Ask(n) => {
                if self.asks == 0 || self.dispatch.running(n as u8).is_none() {
                    return None;
                }
                self.asks -= 1;
                self.dispatch.drive_out(n as u8, NOW, orders!(self));
            }
            Step::Places(place, harts) => return self.place(place, harts),
            Step::Invalidates => {
                if self.changes == 0 {
                    return None;
                }
                self.changes -= 1;
                let running = self.dispatch.running_process(0);
                self.stale = ALL;
                self.unanswered = running;
                self.forget |= !running & ALL;
                for (n, command) in self.commands.iter_mut().enumerate() {
                    command.invalidates |= running >> n & 1 != 0;
                }
            }
            Step::Open | Step::Close => return None,
        }
        Some(())
    }

    fn place(&mut self, place: Place, harts: u64) -> Option<()> {
        if self.changes == 0 {
            return None;
        }
        self.changes -= 1;
        self.allowed[usize::from(place)] = harts;
        let thread = &mut self.dispatch.threads[place];
        (thread.harts, thread.is_away) = (harts, false);
        match thread.state {
            ThreadState::Ready => {
                self.dispatch.threads.take_ready(place);
                self.dispatch.wake(place, NOW, orders!(self));
            }
            ThreadState::Running(at) if harts >> at & 1 == 0 => {
                self.dispatch.drive_out(at, NOW, orders!(self));
            }
            _ => {}
        }
        Some(())
    }

    fn number(&self, place: Place) -> u8 {
        number_of(place, &self.uses)
    }

    /// The thread that a hart has, also while it calls or gives it away.
    fn thread_of(&self, n: usize) -> Option<Place> {
        match self.harts[n] {
            Hart::Runs(place)
            | Hart::Looks(place, _)
            | Hart::Claims(place, ..)
            | Hart::Gives(place, ..) => Some(place),
            _ => None,
        }
    }

    /// Does somebody give the hart a thread, or has?
    fn gets_thread(&self, n: usize) -> bool {
        let gives = |hart: &Hart| matches!(*hart, Hart::Gives(_, to, _) if to == n);
        self.commands[n].runs.is_some() || self.harts.iter().any(gives)
    }

    fn is_demand_lost(&self, n: usize) -> bool {
        let hart = self.harts[n];
        let waits = matches!(hart, Hart::Waits | Hart::IsSilent(_));
        let calls = self.pending[0] >> n & 1 != 0 || !waits;
        let is_kept = self.commands[n].saves.is_some();
        let is_kept = is_kept || self.asked[n].is_some() && self.gets_thread(n);
        self.dispatch.is_asked(n as u8) && !calls && !is_kept
    }
}

struct Moving(Mistake, usize);

impl Model for Moving {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let mut dispatch = Dispatch::<THREADS, HARTS>::new();
        dispatch.begin(ALL, 0);
        dispatch.threads.special = SPECIAL;
        for _ in 0..self.1 {
            dispatch.threads.create(0, 4, ALL).unwrap();
        }
        let mut claims = Claims::new();
        assert_eq!(claims.begin(SPECIAL).collect::<Vec<_>>(), [(0, 2)]);
        claims.set_count(2);
        let new = State {
            dispatch,
            claims,
            ends: SilentEnds::new(),
            forget: 0,
            unanswered: 0,
            harts: [Hart::Waits; HARTS],
            threads: [None; HARTS],
            asked: [None; HARTS],
            commands: [Command::default(); HARTS],
            calls: [Call::Saved; HARTS],
            word: 0,
            pending: [0; 2],
            allowed: [ALL; THREADS],
            stale: 0,
            uses: [0; THREADS],
            changes: 1,
            asks: 1,
            is_broken: false,
            came_late: false,
            forgot: false,
            went_unseen: false,
        };
        // The kernel hart knows of an end on the special hart.
        let mut used = new.clone();
        used.harts[2] = Hart::IsSilent(number_of(1, &used.uses));
        used.uses[1] = 1;
        vec![new, used]
    }

    fn actions(&self, _: &State, actions: &mut Vec<Step>) {
        for n in 0..HARTS {
            actions.extend([Step::Hart(n), Step::Ends(n), Step::Looks(n)]);
            actions.extend([Step::Calls(n, Call::Waits), Step::Serve(n), Step::Ask(n)]);
        }
        for place in 0..self.1 as Place {
            actions.extend([Step::Wakes(place), Step::Places(place, 0b011)]);
        }
        actions.extend([Step::Open, Step::Close, Step::TakeEnd, Step::Invalidates]);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        next.step(step, self.0)?;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("calls and commands are whole", |_, s: &State| !s.is_broken),
            Property::always("a thread runs once", |_, s: &State| {
                let given = s.commands.iter().filter_map(|command| command.runs);
                let all: Vec<_> = (0..HARTS)
                    .filter_map(|n| s.thread_of(n))
                    .chain(given)
                    .collect();
                (1..all.len()).all(|n| !all[..n].contains(&all[n]))
            }),
            Property::always(
                "harts and tables agree while it is closed",
                |_, s: &State| {
                    s.claims.are_open()
                        || (0..HARTS).all(|n| match s.harts[n] {
                            Hart::Gives(place, to, _) => {
                                s.dispatch.running(to as u8) == Some(place)
                            }
                            _ => s.thread_of(n).is_none_or(|place| {
                                let state = s.dispatch.threads[place].state;
                                s.dispatch.running(n as u8) == Some(place)
                                    && state == ThreadState::Running(n as u8)
                            }),
                        })
                },
            ),
            Property::always("no thread meets old translations", |_, s: &State| {
                let runs = |n: usize| matches!(s.harts[n], Hart::Runs(_));
                (0..HARTS).all(|n| !runs(n) || (s.stale & !s.unanswered) >> n & 1 == 0)
            }),
            Property::always("a thread that may not stay is asked", |_, s: &State| {
                (0..HARTS).all(|n| {
                    let may = |place: Place| s.allowed[usize::from(place)] >> n & 1 != 0;
                    let runs = matches!(s.harts[n], Hart::Runs(_)) && s.commands[n].saves.is_none();
                    !runs || s.thread_of(n).is_none_or(may)
                })
            }),
            Property::always("no demand is lost", |_, s: &State| {
                !(0..HARTS).any(|n| s.is_demand_lost(n))
            }),
            Property::always(
                "no thread waits for a hart while it is open",
                |_, s: &State| !s.claims.are_open() || !s.dispatch.threads.has_ready(),
            ),
            Property::sometimes("a demand comes before the thread", |_, s: &State| {
                s.came_late
            }),
            Property::sometimes("a claim forgets translations", |_, s: &State| s.forgot),
            Property::sometimes("a thread moves twice unseen", |_, s: &State| s.went_unseen),
            Property::sometimes("a thread ends where it has gone unseen", |_, s: &State| {
                s.claims.are_open()
                    && matches!(s.harts[2], Hart::IsSilent(_))
                    && s.dispatch.running(2).is_none()
            }),
        ]
    }
}

#[test]
fn threads_move_by_themselves() {
    for (threads, most) in MOST_STATES {
        let checker = Moving(Mistake::None, threads).checker().threads(2);
        let checker = checker.target_state_count(most).spawn_bfs().join();
        println!("{} states", checker.unique_state_count());
        checker.assert_properties();
    }
}

#[test]
fn mistakes_are_found() {
    let all = [
        (Mistake::ServesOpen, 1),
        (Mistake::PlacesOpen, 1),
        (Mistake::OpensBesideDemands, 1),
        (Mistake::DoesNotCount, 1),
        (Mistake::DropsDemand, 1),
        (Mistake::TellsOldEnd, 1),
        (Mistake::ForgetsNothing, 1),
        (Mistake::GivesEarly, 1),
    ];
    for (mistake, threads) in all {
        let checker = Moving(mistake, threads).checker();
        let checker = checker.finish_when(HasDiscoveries::AnyFailures);
        let checker = checker.spawn_bfs().join();
        let always = Moving(mistake, threads).properties().into_iter();
        let always =
            always.filter(|property| property.expectation == stateright::Expectation::Always);
        let found: Vec<_> = always
            .filter(|property| checker.discovery(property.name).is_some())
            .map(|property| property.name)
            .collect();
        println!("{mistake:?}: {found:?}");
        assert!(!found.is_empty(), "{mistake:?} is not found");
    }
}
