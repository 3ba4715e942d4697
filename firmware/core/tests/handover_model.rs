//! A model of calls that go from thread to thread without the kernel hart (`handovers.rs`): the kernel's own word,
//! `Handovers` and `Dispatch`, with two harts that take their steps at any time. A step is what one hart does between
//! two accesses that others see. Threads 0 and 1 call, and thread 2 is the receiver.
//!
//! Each mistake of [`Mistake`] is one that the kernel could have, and the model finds it. A random run goes far beyond
//! the states that the model tries with two demands to save threads.
use flick_kernel_core::dispatch::{Dispatch, GaveWay, Orders};
use flick_kernel_core::handovers::{COUNT, Change, FIELDS, Field, HandoverWord, Handovers};
use flick_kernel_core::threads::{Place, State as ThreadState, Threads, Wait};
use stateright::{Checker, HasDiscoveries, Model, Property};

const THREADS: usize = 3;
const HARTS: usize = 2;
const RECEIVER: Place = 2;
const NOW: u64 = 0;
const MOST_STATES: usize = 3_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mistake {
    None,
    /// The kernel hart serves a call without closing the word.
    ServesOpen,
    /// It uses what it finds in the word before harts have done what they do by it.
    DoesNotWait,
    /// It does not see a second call of the same hart.
    MissesCalls,
    /// It opens a field as ready while a call waits for the receiver.
    ForgetsWaiting,
    /// It takes a receiver for lent that has answered, and has another call.
    KeepsLent,
    /// A hart gives a caller its answer before its step has succeeded.
    TellsEarly,
}

/// What a hart asks the kernel hart for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Calls,
    AnswersAndWaits,
    Waits,
    Saved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hart {
    /// It waits for a command.
    Waits,
    Runs(Place),
    /// Its thread calls or answers, and the hart has seen the word.
    Looks(Place, u64),
    /// The receiver has the hart of this caller, and gets the message next.
    Copies(Place),
    /// The receiver has answered a caller on another hart, which gets its command next.
    Tells(Place),
    Asks(Call),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Command {
    runs: Option<Place>,
    goes_on: bool,
    saves: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    dispatch: Dispatch<THREADS, HARTS>,
    handovers: Handovers,
    word: u64,
    /// The word is closed, and what it said is not known yet.
    unsettled: Option<u64>,
    harts: [Hart; HARTS],
    threads: [Option<Place>; HARTS],
    commands: [Command; HARTS],
    asks: [Option<Call>; HARTS],
    /// The caller of a receiver that has its hart, as the hart knows.
    lent: [Place; HARTS],
    calls: u64,
    /// Of each caller: its request, and the one that it has the answer of.
    requests: [u8; 2],
    answers: [u8; 2],
    /// The message that the receiver has: caller and request.
    message: Option<(Place, u8)>,
    /// What the kernel hart knows: the call without an answer, calls that wait, and the hart that is lent.
    open: Option<(Place, u8)>,
    waiting: [bool; 2],
    is_lent: Option<u8>,
    /// The call without an answer was handed over.
    is_direct: bool,
    demands: u8,
    is_broken: bool,
    /// What has happened, for properties.
    handed_over: bool,
    told: bool,
    called_twice: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Hart(usize),
    /// Its thread calls, or answers.
    Looks(usize),
    Open,
    Close,
    Settle,
    Serve(usize),
    Demand(usize),
}

struct Told<'a>(&'a mut [Command; HARTS], &'a mut bool);

impl Orders<THREADS> for Told<'_> {
    fn run(&mut self, hart: u8, _: &mut Threads<THREADS>, place: Place) {
        let command = &mut self.0[usize::from(hart)];
        *self.1 |= command.runs.is_some() || command.goes_on;
        command.runs = Some(place);
    }

    fn preempt(&mut self, hart: u8, _: u64) {
        self.0[usize::from(hart)].saves = true;
    }
}

macro_rules! orders {
    ($state:expr) => {
        &mut Told(&mut $state.commands, &mut $state.is_broken)
    };
}

impl State {
    fn new(demands: u8) -> Self {
        let mut dispatch = Dispatch::<THREADS, HARTS>::new();
        dispatch.begin(0b11, 0);
        for _ in 0..THREADS {
            dispatch.threads.create(0, 4, 0b11).unwrap();
        }
        let mut new = Self {
            dispatch,
            handovers: Handovers::new(),
            word: 0,
            unsettled: None,
            harts: [Hart::Waits; HARTS],
            threads: [None; HARTS],
            commands: [Command::default(); HARTS],
            asks: [None; HARTS],
            lent: [0; HARTS],
            calls: 0,
            requests: [0; 2],
            answers: [0; 2],
            message: None,
            open: None,
            waiting: [false; 2],
            is_lent: None,
            is_direct: false,
            demands,
            is_broken: false,
            handed_over: false,
            told: false,
            called_twice: false,
        };
        for place in 0..2 {
            new.dispatch.wake(place, NOW, orders!(new));
        }
        new
    }

    fn on_word<R>(&mut self, f: impl FnOnce(&HandoverWord) -> R) -> R {
        let word = HandoverWord::from_word(self.word);
        let result = f(&word);
        self.word = word.into_word();
        result
    }

    fn receiver_waits(&self) -> bool {
        self.dispatch.threads[RECEIVER].state == ThreadState::Waits(Wait::Sleep)
    }

    fn first_field(&self, mistake: Mistake) -> Field {
        let threads = &self.dispatch.threads;
        let may_lend = !threads.has_ready() && !self.dispatch.is_any_asked();
        let has_calls = self.waiting.contains(&true) && mistake != Mistake::ForgetsWaiting;
        if let Some(hart) = self.is_lent {
            let may = may_lend && !has_calls;
            return if may {
                Field::Lent(hart)
            } else {
                Field::Closed
            };
        }
        if self.receiver_waits() {
            return if may_lend && !has_calls {
                Field::Ready
            } else {
                Field::Closed
            };
        }
        let Some((caller, _)) = self.open else {
            return Field::Closed;
        };
        let runs = matches!(threads[RECEIVER].state, ThreadState::Running(_));
        let hart = threads[caller].last_hart;
        match runs && self.dispatch.idle() >> hart & 1 != 0 {
            true => Field::Asked,
            false => Field::Closed,
        }
    }

    fn open(&mut self, mistake: Mistake) -> Option<()> {
        // Is it still on the hart of its caller?
        if let Some(hart) = self.is_lent
            && mistake != Mistake::KeepsLent
            && (self.dispatch.running(hart) != Some(RECEIVER) || !self.is_direct)
        {
            self.is_lent = None;
        }
        let fields = core::array::from_fn::<_, FIELDS, _>(|n| match n {
            0 => self.first_field(mistake),
            _ => Field::Closed,
        });
        let mut handovers = self.handovers;
        self.on_word(|word| handovers.open(word, fields, [0; FIELDS]));
        self.handovers = handovers;
        if !handovers.are_open() {
            return None;
        }
        // Older words than the last one are alike.
        let (fields, new) = ((1 << COUNT) - 1, 2 << COUNT);
        for hart in &mut self.harts {
            if let Hart::Looks(_, seen) = hart {
                *seen = *seen & fields | u64::from(*seen >> COUNT == 2) << COUNT;
            }
        }
        self.word = self.word & fields | new;
        self.handovers.set_count(2);
        Some(())
    }

    fn is_in_use(&self, hart: usize) -> bool {
        matches!(
            self.harts[hart],
            Hart::Looks(..) | Hart::Copies(_) | Hart::Tells(_)
        )
    }

    fn settle(&mut self, now: u64, mistake: Mistake) -> Option<()> {
        if mistake != Mistake::DoesNotWait {
            let field = flick_kernel_core::handovers::field(now, 0);
            let runs = self.dispatch.running(0) == Some(RECEIVER);
            let waits_for = match field {
                Field::Lent(hart) => Some(usize::from(hart)),
                Field::Told => Some(if runs { 0 } else { 1 }),
                _ => None,
            };
            if waits_for.is_some_and(|hart| self.is_in_use(hart)) {
                return None;
            }
        }
        self.unsettled = None;
        let (mut handovers, mut changes) = (self.handovers, vec![]);
        let calls = match mistake {
            Mistake::MissesCalls => 0,
            _ => self.calls,
        };
        handovers.settle(now, |_, _| calls, |change| changes.push(change));
        if let Field::Lent(_) = flick_kernel_core::handovers::field(now, 0) {
            // All calls are known.
            handovers.set_calls(0, 0);
            self.calls = 0;
        }
        self.handovers = handovers;
        self.called_twice |= changes.len() == 2;
        for change in changes {
            match change {
                Change::Called(_, hart) => {
                    let caller = self.dispatch.running(hart)?;
                    self.open = Some((caller, self.requests[usize::from(caller)]));
                    self.dispatch.threads[caller].state = ThreadState::Waits(Wait::Sleep);
                    self.dispatch.handed_over(hart, RECEIVER);
                    (self.is_lent, self.is_direct) = (Some(hart), true);
                    self.handed_over = true;
                }
                Change::Answered(_, hart) => {
                    let (caller, _) = self.open.take()?;
                    self.dispatch.handed_over(hart, caller);
                    self.dispatch.threads[RECEIVER].state = ThreadState::Waits(Wait::Sleep);
                    self.is_lent = None;
                }
                Change::Told(_) => {
                    let (caller, _) = self.open.take()?;
                    let hart = self.dispatch.threads[caller].last_hart;
                    self.dispatch.has_begun(hart, caller, NOW);
                    self.told = true;
                }
            }
        }
        Some(())
    }

    fn give(&mut self, hart: usize, place: Place) {
        self.is_broken |= self.commands[hart].runs.is_some() || self.harts[hart] != Hart::Waits;
        self.commands[hart].runs = Some(place);
    }

    /// A caller goes on behind its call.
    fn check_answer(&mut self, place: Place) {
        if let Some(request) = self.requests.get(usize::from(place)) {
            self.is_broken |= *request != self.answers[usize::from(place)];
        }
    }

    fn hart(&mut self, n: usize, mistake: Mistake) -> Option<()> {
        let command = self.commands[n];
        self.harts[n] = match self.harts[n] {
            Hart::Waits => {
                let place = match (command.runs, command.goes_on) {
                    (Some(place), _) => place,
                    (None, true) => self.threads[n]?,
                    _ => return None,
                };
                self.commands[n] = Command::default();
                self.threads[n] = Some(place);
                match command.saves {
                    true => Hart::Asks(Call::Saved),
                    false => {
                        self.check_answer(place);
                        Hart::Runs(place)
                    }
                }
            }
            Hart::Runs(_) if command.saves => {
                self.commands[n].saves = false;
                Hart::Asks(Call::Saved)
            }
            Hart::Runs(_) => return None,
            Hart::Looks(RECEIVER, seen) => self.answers(n, seen, mistake)?,
            Hart::Looks(caller, seen) => match self.on_word(|word| word.call(seen, 0, n as u8)) {
                true => Hart::Copies(caller),
                false => Hart::Asks(Call::Calls),
            },
            Hart::Copies(caller) => {
                // Some are not known: that is all that matters.
                self.calls = 1;
                self.is_broken |= self.message.is_some();
                self.message = Some((caller, self.requests[usize::from(caller)]));
                self.lent[n] = caller;
                self.threads[n] = Some(RECEIVER);
                Hart::Runs(RECEIVER)
            }
            Hart::Tells(caller) => {
                let (_, request) = self.message.take()?;
                self.answers[usize::from(caller)] = request;
                self.give(1 - n, caller);
                Hart::Asks(Call::Waits)
            }
            Hart::Asks(call) => {
                self.is_broken |= self.asks[n].is_some();
                self.asks[n] = Some(call);
                Hart::Waits
            }
        };
        Some(())
    }

    fn answers(&mut self, n: usize, seen: u64, mistake: Mistake) -> Option<Hart> {
        let (caller, request) = self.message?;
        let field = flick_kernel_core::handovers::field(seen, 0);
        if field == Field::Lent(n as u8) && self.unsettled.is_none() && self.handovers.are_open() {
            // The answer is written first: nobody else looks at it before the step.
            self.answers[usize::from(self.lent[n])] = request;
        }
        if self.on_word(|word| word.give_back(seen, 0, n as u8)) {
            self.message = None;
            let caller = self.lent[n];
            self.threads[n] = Some(caller);
            self.check_answer(caller);
            return Some(Hart::Runs(caller));
        }
        if mistake == Mistake::TellsEarly && field == Field::Asked {
            self.answers[usize::from(caller)] = request;
            self.give(1 - n, caller);
        }
        match self.on_word(|word| word.tell(seen, 0)) {
            true if mistake == Mistake::TellsEarly => {
                self.message = None;
                Some(Hart::Asks(Call::Waits))
            }
            true => Some(Hart::Tells(caller)),
            false => Some(Hart::Asks(Call::AnswersAndWaits)),
        }
    }

    fn take_message(&mut self, caller: Place) {
        let message = Some((caller, self.requests[usize::from(caller)]));
        self.is_broken |= self.message.is_some();
        (self.message, self.open, self.is_direct) = (message, message, false);
    }

    fn serve(&mut self, n: usize) -> Option<()> {
        let call = self.asks[n].take()?;
        let hart = n as u8;
        let Some(place) = self.dispatch.running(hart) else {
            self.is_broken = true;
            return Some(());
        };
        self.is_broken |= self.threads[n] != Some(place);
        let was_asked = self.dispatch.has_called(hart);
        match call {
            Call::Saved => {
                let gave = self.dispatch.give_way(hart, NOW, orders!(self));
                self.commands[n].goes_on = gave == GaveWay::Stays;
            }
            Call::Calls => {
                self.dispatch.threads[place].state = ThreadState::Waits(Wait::Sleep);
                let is_free = self.receiver_waits();
                if is_free {
                    self.take_message(place);
                    self.dispatch.wake(RECEIVER, NOW, orders!(self));
                } else {
                    self.waiting[usize::from(place)] = true;
                }
                self.dispatch.leave(hart, NOW, orders!(self));
            }
            Call::AnswersAndWaits | Call::Waits => {
                if call == Call::AnswersAndWaits {
                    let (caller, request) = self.message.take()?;
                    self.is_broken |= self.open.take() != Some((caller, request));
                    self.is_direct = false;
                    self.answers[usize::from(caller)] = request;
                    self.dispatch.wake(caller, NOW, orders!(self));
                }
                let next = (0..2).find(|&caller| self.waiting[usize::from(caller)]);
                match next {
                    Some(caller) => {
                        self.waiting[usize::from(caller)] = false;
                        self.take_message(caller);
                        let gives_way = was_asked
                            && self.dispatch.give_way(hart, NOW, orders!(self)) == GaveWay::Left;
                        self.commands[n].goes_on = !gives_way;
                    }
                    None => {
                        self.dispatch.threads[RECEIVER].state = ThreadState::Waits(Wait::Sleep);
                        self.dispatch.leave(hart, NOW, orders!(self));
                    }
                }
            }
        }
        Some(())
    }

    fn step(&mut self, step: Step, mistake: Mistake) -> Option<()> {
        let is_open = self.handovers.are_open();
        match step {
            Step::Hart(n) => self.hart(n, mistake),
            Step::Looks(n) => {
                let Hart::Runs(place) = self.harts[n] else {
                    return None;
                };
                match self.requests.get_mut(usize::from(place)) {
                    Some(request) => *request = (*request + 1) % 3,
                    None => drop(self.message?),
                }
                self.harts[n] = Hart::Looks(place, self.word);
                Some(())
            }
            Step::Serve(n) if mistake == Mistake::ServesOpen => self.serve(n),
            Step::Close if is_open => {
                let mut handovers = self.handovers;
                self.unsettled = self.on_word(|word| handovers.close(word));
                self.handovers = handovers;
                Some(())
            }
            Step::Settle => self.settle(self.unsettled?, mistake),
            _ if is_open || self.unsettled.is_some() => None,
            Step::Open => self.open(mistake),
            Step::Serve(n) => self.serve(n),
            Step::Demand(n) => {
                self.demands = self.demands.checked_sub(1)?;
                self.dispatch.running(n as u8)?;
                self.dispatch.drive_out(n as u8, NOW, orders!(self));
                Some(())
            }
            Step::Close => None,
        }
    }

    /// The thread that a hart has, or will have by its own next step.
    fn thread_of(&self, n: usize) -> Option<Place> {
        match self.harts[n] {
            Hart::Runs(place) | Hart::Looks(place, _) => Some(place),
            Hart::Copies(_) | Hart::Tells(_) => Some(RECEIVER),
            _ => None,
        }
    }

    fn runs_once(&self) -> bool {
        let given = self.commands.iter().filter_map(|command| command.runs);
        let all: Vec<_> = (0..HARTS)
            .filter_map(|n| self.thread_of(n))
            .chain(given)
            .collect();
        (1..all.len()).all(|n| !all[..n].contains(&all[n]))
    }

    fn is_settled(&self) -> bool {
        !self.handovers.are_open() && self.unsettled.is_none()
    }

    fn tables_agree(&self) -> bool {
        (0..HARTS).all(|n| {
            self.thread_of(n)
                .is_none_or(|place| self.dispatch.running(n as u8) == Some(place))
        })
    }

    /// Whoever waits has a call that somebody knows of, and no call waits for a receiver that waits, too.
    fn nobody_is_lost(&self) -> bool {
        let is_missed = self.receiver_waits() && self.waiting.contains(&true);
        !is_missed
            && (0..2).all(|caller| {
                let waits = self.dispatch.threads[caller].state == ThreadState::Waits(Wait::Sleep);
                let request = self.requests[usize::from(caller)];
                !waits || self.waiting[usize::from(caller)] || self.open == Some((caller, request))
            })
    }
}

fn all_steps() -> impl Iterator<Item = Step> {
    let of_harts = |n| {
        [
            Step::Hart(n),
            Step::Looks(n),
            Step::Serve(n),
            Step::Demand(n),
        ]
    };
    (0..HARTS)
        .flat_map(of_harts)
        .chain([Step::Open, Step::Close, Step::Settle])
}

struct Calling(Mistake);

impl Model for Calling {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(2)]
    }

    fn actions(&self, _: &State, actions: &mut Vec<Step>) {
        actions.extend(all_steps());
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        next.step(step, self.0)?;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("calls, commands and answers are whole", |_, s: &State| {
                !s.is_broken
            }),
            Property::always("a thread runs once", |_, s: &State| s.runs_once()),
            Property::always(
                "harts and tables agree while it is closed",
                |_, s: &State| !s.is_settled() || s.tables_agree(),
            ),
            Property::always("who waits is known", |_, s: &State| {
                !s.is_settled() || s.nobody_is_lost()
            }),
            Property::always("no thread waits for a hart that is lent", |_, s: &State| {
                let word = s.word;
                let lends = |n| {
                    matches!(
                        flick_kernel_core::handovers::field(word, n),
                        Field::Ready | Field::Lent(_)
                    )
                };
                !lends(0) || !s.dispatch.threads.has_ready()
            }),
            Property::sometimes("a call is handed over", |_, s: &State| s.handed_over),
            Property::sometimes("a caller is told", |_, s: &State| s.told),
            Property::sometimes("a hart calls again unseen", |_, s: &State| s.called_twice),
        ]
    }
}

#[test]
fn calls_are_handed_over() {
    let checker = Calling(Mistake::None).checker().threads(2);
    let checker = checker.target_state_count(MOST_STATES).spawn_bfs().join();
    println!("{} states", checker.unique_state_count());
    checker.assert_properties();
}

#[test]
fn mistakes_are_found() {
    let all = [
        Mistake::ServesOpen,
        Mistake::DoesNotWait,
        Mistake::MissesCalls,
        Mistake::ForgetsWaiting,
        Mistake::KeepsLent,
        Mistake::TellsEarly,
    ];
    for mistake in all {
        let checker = Calling(mistake).checker();
        let checker = checker.finish_when(HasDiscoveries::AnyFailures);
        let checker = checker.target_state_count(MOST_STATES).spawn_bfs().join();
        let found = Calling(mistake).properties().into_iter().any(|property| {
            property.expectation == stateright::Expectation::Always
                && checker.discovery(property.name).is_some()
        });
        assert!(found, "{mistake:?} is not found");
    }
}

/// Steps in any order, of which many are tried, with demands without an end.
#[test]
fn random_steps_keep_the_rules() {
    let steps: Vec<_> = all_steps().collect();
    let mut seen = [0; 4];
    for seed in 1..=20_u64 {
        let (mut state, mut random) = (State::new(0), seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut taken = 0;
        for _ in 0..50_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let step = steps[(random >> 20) as usize % steps.len()];
            state.demands = u8::from(random & 15 == 0);
            let before = state.clone();
            match state.step(step, Mistake::None) {
                Some(()) => taken += 1,
                None => state = before.clone(),
            }
            let is_good = !state.is_broken
                && state.runs_once()
                && (!state.is_settled() || state.tables_agree() && state.nobody_is_lost());
            assert!(is_good, "seed {seed}, {step:?}: {before:?}");
        }
        for (count, happened) in seen.iter_mut().zip([
            taken > 5_000,
            state.handed_over,
            state.told,
            state.called_twice,
        ]) {
            *count += u32::from(happened);
        }
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}
