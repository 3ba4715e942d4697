//! A model of consents to writes: the kernel's own table, with two harts that write, and a receiver that
//! consents, and takes consents back. All orders of their atomic steps are tried.
use flick_abi::card::PAGE;
use flick_kernel_core::frames::Frames;
use stateright::{Checker, Model, Property};

/// What the table needs of the kernel: the host's caches are coherent.
mod cache {
    pub const LINE: u64 = 64;
    pub fn refresh(_: u64, _: u64) {}
    pub fn clean() {}
}

#[path = "../../kernel/src/consents.rs"]
#[allow(dead_code, missing_docs)]
mod consents;

use consents::{Allowed, Consents, Ended};

const TILE: u64 = 3;
const PORT: u64 = 5;
const PROCESS: u64 = 7;
const WRITERS: usize = 2;
/// Words of the table.
const WORDS: usize = PAGE as usize / 8;
/// Those that the model uses: the first keys, and what the first consents allow, behind 64 keys.
const KEPT: [usize; 6] = [0, 1, 64, 65, 68, 69];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Receiver {
    /// It has consented so often, and no write can come.
    Idle,
    /// The last consent may be used.
    Allowed,
    /// The last consent was in use when it was taken back.
    Closing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Writer {
    Starts,
    /// The place, the key, and what the place allowed then.
    Found(usize, u64, u64),
    /// It writes where this consent allows.
    Writes(usize, u64, u64),
    /// The receiver will learn of the end.
    Tells,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    words: [u64; KEPT.len()],
    receiver: Receiver,
    /// The number of the last consent.
    consent: u64,
    writers: [Writer; WRITERS],
    /// A note has come that the receiver does not expect.
    is_surprised: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Consent,
    TakeBack,
    Find(usize),
    Begin(usize),
    End(usize),
    Again(usize),
    Tell(usize),
}

struct Portals {
    /// How many consents there are.
    last: u64,
    /// A fault on purpose: writers use what they have read before they have begun.
    reads_early: bool,
}

/// The table in memory, and a way to its words.
fn table() -> (Consents, &'static mut [u64; WORDS]) {
    #[repr(align(4096))]
    struct Page([u64; WORDS]);
    let page = Box::leak(Box::new(Page([0; WORDS])));
    let base = page.0.as_mut_ptr();
    let counts = Box::leak(vec![0; 1].into_boxed_slice());
    let consents = Consents::create(&mut Frames::with_counts(base.addr() as u64, counts));
    // SAFETY: the page is never freed, and each step uses the table or its words.
    (consents, unsafe { &mut *base.cast() })
}

thread_local! {
    static TABLE: std::cell::RefCell<(Consents, &'static mut [u64; WORDS])> =
        std::cell::RefCell::new(table());
}

impl State {
    fn with_table<T>(&mut self, f: impl FnOnce(&Consents) -> T) -> T {
        TABLE.with_borrow_mut(|(consents, words)| {
            words.fill(0);
            for (place, word) in KEPT.into_iter().zip(self.words) {
                words[place] = word;
            }
            let result = f(consents);
            for (place, word) in KEPT.into_iter().zip(&mut self.words) {
                *word = words[place];
            }
            result
        })
    }

    fn step(&mut self, step: Step, model: &Portals) -> Option<()> {
        match (step, self.receiver) {
            (Step::Consent, Receiver::Idle) if self.consent < model.last => {
                self.consent += 1;
                let allowed = Allowed::new(self.consent, 0, 100);
                let added = self.with_table(|table| table.add(TILE, PORT, PROCESS, allowed));
                assert!(added);
                self.receiver = Receiver::Allowed;
            }
            (Step::TakeBack, Receiver::Allowed) => {
                self.receiver = match self.with_table(|table| table.take_back(TILE, PORT)) {
                    true => Receiver::Idle,
                    false => Receiver::Closing,
                };
            }
            (Step::Consent | Step::TakeBack, _) => return None,
            (Step::Find(n), _) => {
                let Writer::Starts = self.writers[n] else {
                    return None;
                };
                let (place, key) = self.with_table(|table| table.find(TILE, PORT, PROCESS))?;
                let early = self.with_table(|table| table.allowed(place))?.list;
                self.writers[n] = Writer::Found(place, key, early);
            }
            (Step::Begin(n), _) => {
                let Writer::Found(place, key, early) = self.writers[n] else {
                    return None;
                };
                let begun = self.with_table(|table| table.begin(place, key));
                self.writers[n] = match begun {
                    Some(_) if model.reads_early => Writer::Writes(place, key, early),
                    Some(allowed) => Writer::Writes(place, key, allowed.list),
                    None => Writer::Starts,
                };
            }
            (Step::End(n), _) => {
                let Writer::Writes(place, ..) = self.writers[n] else {
                    return None;
                };
                self.with_table(|table| table.end(place));
                self.writers[n] = Writer::Tells;
            }
            (Step::Again(n), _) => {
                let Writer::Writes(place, key, _) = self.writers[n] else {
                    return None;
                };
                self.writers[n] = match self.with_table(|table| table.again(place, key)) {
                    Ended::Good => Writer::Starts,
                    Ended::TakenBack => Writer::Tells,
                };
            }
            (Step::Tell(n), receiver) => {
                let Writer::Tells = self.writers[n] else {
                    return None;
                };
                self.is_surprised |= receiver == Receiver::Idle;
                self.receiver = Receiver::Idle;
                self.writers[n] = Writer::Starts;
            }
        }
        Some(())
    }

    fn writes(&self) -> impl Iterator<Item = u64> + use<'_> {
        self.writers.iter().filter_map(|writer| match writer {
            Writer::Writes(_, _, consent) => Some(*consent),
            _ => None,
        })
    }
}

impl Model for Portals {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            words: [0; KEPT.len()],
            receiver: Receiver::Idle,
            consent: 0,
            writers: [Writer::Starts; WRITERS],
            is_surprised: false,
        }]
    }

    fn actions(&self, _: &State, actions: &mut Vec<Step>) {
        actions.extend([Step::Consent, Step::TakeBack]);
        for n in 0..WRITERS {
            actions.extend([
                Step::Find(n),
                Step::Begin(n),
                Step::End(n),
                Step::Again(n),
                Step::Tell(n),
            ]);
        }
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        next.step(step, self)?;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one write uses a consent", |_, s: &State| {
                s.writes().count() <= 1
            }),
            Property::always(
                "a write goes where the last consent allows",
                |_, s: &State| s.writes().all(|consent| consent == s.consent),
            ),
            Property::always("no write beside a receiver that is idle", |_, s: &State| {
                s.receiver != Receiver::Idle || s.writes().count() == 0
            }),
            Property::always("each note is expected", |_, s: &State| !s.is_surprised),
            Property::always(
                "a receiver that waits for an end hears of it",
                |_, s: &State| {
                    let ends =
                        |writer: &Writer| matches!(writer, Writer::Writes(..) | Writer::Tells);
                    s.receiver != Receiver::Closing || s.writers.iter().any(ends)
                },
            ),
            Property::sometimes(
                "a consent is taken back while it is used",
                |_, s: &State| s.receiver == Receiver::Closing,
            ),
        ]
    }
}

fn check(reads_early: bool) -> impl Checker<Portals> {
    let portals = Portals {
        last: 3,
        reads_early,
    };
    portals.checker().spawn_bfs().join()
}

#[test]
fn consents_are_for_one_write() {
    check(false).assert_properties();
}

#[test]
fn what_was_read_early_is_found() {
    let found = check(true).discovery("a write goes where the last consent allows");
    assert!(found.is_some());
}
