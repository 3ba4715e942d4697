//! The interleavings of threads that hand the token on, as loom enumerates them: nobody uses the machine beside
//! another one, nobody sleeps for ever, and a loan ends once. Without a rule of the protocol loom finds a run
//! that breaks that.
#![cfg(loom)]
use flick_sync::{Found, Rule, Token, Waited};
use loom::cell::{Cell, UnsafeCell};
use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use loom::sync::{Condvar, Mutex};
use loom::thread;
// Not loom's: that panics once more when a model with a mistake ends.
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

const SLOTS: usize = 3;
/// In how many runs another thread has driven up to the answer of one that was in the list and did not sleep yet.
static ANSWERED_AWAKE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// A word on which a thread sleeps, as a futex.
struct Bed {
    lock: Mutex<()>,
    changed: Condvar,
}

/// The machine: it answers each request.
struct World {
    token: Token<SLOTS>,
    /// Owners that are inside. Who has the token uses it.
    inside: UnsafeCell<Vec<u32>>,
    /// What each wants: its own, until it is in the list.
    requests: [UnsafeCell<u32>; SLOTS],
    beds: [Bed; SLOTS],
    /// How often a loan has ended.
    ends: AtomicUsize,
}

/// Mistakes of who uses the token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// It tries to take the token before it is in the list.
    TakesFirst,
    /// It sleeps without a look at its word.
    SleepsBlindly,
}

impl World {
    fn new(token: Token<SLOTS>) -> Arc<Self> {
        Arc::new(Self {
            token,
            inside: UnsafeCell::new(vec![]),
            requests: std::array::from_fn(|_| UnsafeCell::new(0)),
            beds: std::array::from_fn(|_| Bed {
                lock: Mutex::new(()),
                changed: Condvar::new(),
            }),
            ends: AtomicUsize::new(0),
        })
    }

    /// Sleeps while the word is 0.
    fn sleep(&self, slot: u32, word: &AtomicU32, mistake: Mistake) -> bool {
        let bed = &self.beds[slot as usize];
        let guard = bed.lock.lock().unwrap();
        if mistake == Mistake::SleepsBlindly || word.load(SeqCst) == 0 {
            drop(bed.changed.wait(guard).unwrap());
        }
        true
    }

    fn drive(&self, me: Option<u32>) -> bool {
        let woken = Cell::new(0);
        let find = || {
            self.inside.with_mut(|inside| {
                // SAFETY: loom finds a second user.
                let inside = unsafe { &mut *inside };
                self.token.enter_all(|slot| {
                    // SAFETY: as above.
                    self.requests[slot as usize]
                        .with(|request| unsafe { assert_eq!(*request, slot) });
                    inside.push(slot);
                    true
                });
                if inside.is_empty() {
                    return Found::Nothing;
                }
                woken.set(inside[0]);
                Found::Turn(inside.remove(0))
            })
        };
        self.token.drive(me, find, |_| {
            let bed = &self.beds[woken.get() as usize];
            let _guard = bed.lock.lock().unwrap();
            bed.changed.notify_one();
        })
    }

    /// A request, up to where its thread has its answer, and the token.
    fn cross(&self, slot: u32, mistake: Mistake) {
        // SAFETY: as above.
        self.requests[slot as usize].with_mut(|request| unsafe { *request = slot });
        let is_taken = match mistake {
            Mistake::TakesFirst => {
                let is_taken = self.token.take();
                self.token.want(slot);
                is_taken
            }
            _ => {
                self.token.want(slot);
                self.token.take()
            }
        };
        if !(is_taken && self.drive(Some(slot))) {
            let mut has_slept = false;
            let waited = self.token.wait(slot, |word| {
                has_slept = true;
                self.sleep(slot, word, mistake)
            });
            assert_eq!(waited, Waited::Turn);
            ANSWERED_AWAKE.fetch_add(usize::from(!has_slept), Relaxed);
        }
    }

    fn cross_and_leave(&self, slot: u32, mistake: Mistake) {
        self.cross(slot, mistake);
        self.drive(None);
    }

    /// The same for a thread that ends loans of others, and sees time pass.
    fn cross_impatiently(&self, slot: u32) {
        // SAFETY: as above.
        self.requests[slot as usize].with_mut(|request| unsafe { *request = slot });
        self.token.want(slot);
        let mut has_turn = self.token.take() && self.drive(Some(slot));
        while !has_turn {
            let waited = self.token.wait(slot, |_| {
                thread::yield_now();
                false
            });
            has_turn = match waited {
                Waited::Turn => true,
                Waited::TookBack(_) => {
                    self.ends.fetch_add(1, SeqCst);
                    self.drive(Some(slot))
                }
            };
        }
        self.drive(None);
    }

    fn assert_all_is_free(&self) {
        assert!(!self.token.is_wanted() && self.token.take());
    }
}

fn check(most_preemptions: usize, run: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(most_preemptions);
    model.check(run);
}

fn owners_cross(rule: Option<Rule>, mistake: Mistake) {
    check(2, move || {
        let world = World::new(rule.map_or_else(Token::new, Token::without));
        let others = [1, 2].map(|slot| {
            let world = world.clone();
            thread::spawn(move || world.cross_and_leave(slot, mistake))
        });
        world.cross_and_leave(0, mistake);
        for other in others {
            other.join().unwrap();
        }
        world.assert_all_is_free();
    });
}

#[test]
fn each_owner_gets_its_answer() {
    owners_cross(None, Mistake::None);
    // The race rule: its request is in the list before it sleeps, so that the answer may come between.
    assert_ne!(ANSWERED_AWAKE.load(Relaxed), 0);
}

#[test]
fn an_owner_crosses_again() {
    check(3, || {
        let world = World::new(Token::new());
        let other = {
            let world = world.clone();
            thread::spawn(move || {
                world.cross_and_leave(1, Mistake::None);
                world.cross_and_leave(1, Mistake::None);
            })
        };
        world.cross_and_leave(0, Mistake::None);
        world.cross_and_leave(0, Mistake::None);
        other.join().unwrap();
        world.assert_all_is_free();
    });
}

#[test]
#[should_panic = "deadlock"]
fn who_frees_the_token_has_to_look_at_the_list_again() {
    owners_cross(Some(Rule::LooksAgain), Mistake::None);
}

#[test]
#[should_panic = "deadlock"]
fn an_owner_has_to_be_in_the_list_before_it_tries_to_take_the_token() {
    owners_cross(None, Mistake::TakesFirst);
}

#[test]
#[should_panic = "deadlock"]
fn an_owner_has_to_look_at_its_word_before_it_sleeps() {
    owners_cross(None, Mistake::SleepsBlindly);
}

/// A thread keeps the token for a loan, and comes back, perhaps. Two others wait.
fn a_loan_ends(rule: Option<Rule>, comes_back: bool, others: u32) {
    check(if others > 1 { 1 } else { 3 }, move || {
        const LOAN: u64 = 7;
        let world = World::new(rule.map_or_else(Token::new, Token::without));
        assert!(world.token.take());
        world.token.lend(LOAN);
        let others = (1..=others).map(|slot| {
            let world = world.clone();
            thread::spawn(move || world.cross_impatiently(slot))
        });
        let others: Vec<_> = others.collect();
        // The code executes for a while.
        for _ in 0..2 {
            thread::yield_now();
        }
        if comes_back && world.token.take_back(LOAN) {
            world.ends.fetch_add(1, SeqCst);
            world.drive(None);
        }
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(world.ends.load(SeqCst), 1);
        world.assert_all_is_free();
    });
}

#[test]
fn a_loan_ends_once() {
    a_loan_ends(None, true, 1);
    a_loan_ends(None, true, 2);
}

#[test]
fn a_loan_of_a_thread_that_stays_away_is_ended() {
    a_loan_ends(None, false, 1);
    a_loan_ends(None, false, 2);
}

#[test]
#[should_panic]
fn a_loan_has_to_be_ended_by_one_thread() {
    a_loan_ends(Some(Rule::EndsOnce), true, 1);
}

/// Who has the token for itself alone finds nobody beside it, and those who have come meanwhile get their turn.
fn a_thread_is_alone(drives: bool) {
    check(3, move || {
        let world = World::new(Token::new());
        let other = {
            let world = world.clone();
            thread::spawn(move || world.cross_and_leave(1, Mistake::None))
        };
        let pause = || {
            thread::yield_now();
            true
        };
        assert_eq!(world.token.take_alone(pause), None);
        // SAFETY: loom finds a second user.
        world
            .inside
            .with_mut(|inside| unsafe { (*inside).shrink_to_fit() });
        if drives {
            world.drive(None);
        } else {
            world.token.drive(None, || Found::Nothing, |_| {});
        }
        other.join().unwrap();
        world.assert_all_is_free();
    });
}

#[test]
fn a_thread_has_the_token_for_itself() {
    a_thread_is_alone(true);
}

/// A `fork` by who has the token, while another thread waits to have it alone. The child lacks that thread.
fn a_child_begins(rule: Option<Rule>) {
    check(1, move || {
        let token: Token<SLOTS> = rule.map_or_else(Token::new, Token::without);
        assert!(token.take());
        let pause = || {
            // The state is the child's from here on.
            token.forget_others();
            token.drive(None, || Found::Nothing, |_| {});
            token.want(0);
            assert!(token.take());
            let find = || {
                token.enter_all(|_| true);
                Found::Turn(0)
            };
            assert!(token.drive(Some(0), find, |_| {}), "the child has no turn");
            token.drive(None, || Found::Nothing, |_| {});
            true
        };
        token.take_alone(pause);
    });
}

#[test]
fn a_child_has_its_turns() {
    a_child_begins(None);
}

#[test]
#[should_panic = "the child has no turn"]
fn a_child_has_to_forget_who_waited() {
    a_child_begins(Some(Rule::Forgets));
}

/// Requests that are refused stay in the list, and nobody is lost.
#[test]
fn who_is_refused_stays_in_the_list() {
    check(3, || {
        let token = Arc::new(Token::<SLOTS>::new());
        let other = {
            let token = token.clone();
            thread::spawn(move || token.want(1))
        };
        token.want(0);
        token.want(2);
        assert!(token.take());
        let mut entered = vec![];
        // The machine has room for one each time.
        while entered.len() < SLOTS {
            let mut has_room = true;
            token.enter_all(|slot| {
                let enters = std::mem::replace(&mut has_room, false);
                entered.extend(enters.then_some(slot));
                enters
            });
            thread::yield_now();
        }
        other.join().unwrap();
        entered.sort_unstable();
        assert_eq!(entered, [0, 1, 2]);
        assert!(!token.is_wanted());
    });
}
