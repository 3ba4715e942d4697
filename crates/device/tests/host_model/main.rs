//! All orders in which owners, the host's tile, a kernel hart and a user hart can act (`docs/card.md`): no wake-up
//! is lost, and no descriptor is lost or comes twice. A state of the model has the real units and the real
//! tile of the host. The software of both harts is the model's own, after `firmware/kernel/src/host.rs` and
//! `host_hart.rs`.
//!
//! | file | subject |
//! |---|---|
//! | `tiles.rs` | both tiles and the link |
//! | `software.rs` | owners, and what both harts do |
//! | `main.rs` | the model, its properties and scenarios |
mod software;
mod tiles;

use stateright::{Checker, Model, Property};

use software::{Action, State};

/// Rules, each of which a test leaves out to see that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The race rule, by the kernel hart: a thread is away before its descriptor is sent.
    KernelMarksFirst,
    /// The same by the thread's own hart: its endpoint is open before the descriptor is sent.
    HartOpensFirst,
    /// A hart says that it will wait, and learns whether harts are wanted, at once.
    HartLooksAtOnce,
    /// A hart waits for its message's confirmation before it answers.
    HartWaitsForConfirmation,
    /// A hart closes its endpoint before it gives its thread up.
    HartClosesFirst,
}

/// What there is.
#[derive(Clone, Copy, Debug)]
struct Scenario {
    /// How many calls each owner makes.
    calls: &'static [u8],
    /// Slots of the kernel's endpoint.
    slots: u8,
    /// How many confirmations others overtake.
    delays: u8,
    without: Option<Rule>,
}

impl Scenario {
    fn keeps(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}

const NOTHING_WRONG: &str = "each answer is for who waits for it, once";
const ENDS: &str = "each call ends";
/// The race rule.
const AWAY: &str = "an answer of the kernel is followed by a request that finds its thread away";
/// The same where nobody else wants the hart.
const NEVER_BUSY: &str = "each request finds its thread away";

impl Model for Scenario {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.actions(self, actions);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        next.act(self, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::always(NOTHING_WRONG, |_, state: &State| !state.is_wrong),
            Property::always(ENDS, |model: &Self, state: &State| {
                let mut actions = vec![];
                state.actions(model, &mut actions);
                !actions.is_empty() || state.has_ended()
            }),
            Property::always(AWAY, |_, state: &State| !state.broke_race_rule),
            Property::sometimes("all calls were made", |_, state: &State| state.has_ended()),
            Property::sometimes("a hart answers by itself", |_, state: &State| {
                state.has_replied
            }),
        ];
        if self.calls.len() == 1 && self.delays > 0 {
            // A hart whose answer is confirmed late has no room for the next request.
            all.push(Property::sometimes(
                "a request comes too early",
                |_, s: &State| s.was_busy,
            ));
        } else if self.calls.len() == 1 {
            all.push(Property::always(NEVER_BUSY, |_, state: &State| {
                !state.was_busy
            }));
        } else {
            all.push(Property::sometimes(
                "a request comes too early",
                |_, s: &State| s.was_busy,
            ));
            all.push(Property::sometimes(
                "a hart is asked for its thread",
                |_, s: &State| s.was_asked,
            ));
        }
        all
    }
}

const ONE: Scenario = Scenario {
    calls: &[3],
    slots: 2,
    delays: 0,
    without: None,
};
const TWO: Scenario = Scenario {
    calls: &[2, 2],
    ..ONE
};

fn check(scenario: Scenario) -> usize {
    let checker = scenario.checker().spawn_bfs().join();
    checker.assert_properties();
    println!("{} states", checker.unique_state_count());
    checker.unique_state_count()
}

fn finds(scenario: Scenario, rule: Rule, property: &'static str) {
    let without = Some(rule);
    let scenario = Scenario {
        without,
        ..scenario
    };
    let wanted = stateright::HasDiscoveries::AllOf([property].into_iter().collect());
    let checker = scenario.checker().finish_when(wanted).spawn_bfs().join();
    checker.assert_any_discovery(property);
}

#[test]
fn one_owner() {
    assert!(check(ONE) > 40);
    check(Scenario { delays: 2, ..ONE });
}

#[test]
fn two_owners_share_a_hart() {
    assert!(check(TWO) > 10_000);
}

#[test]
fn the_kernel_has_room_for_one() {
    let (calls, slots) = (&[2, 1], 1);
    check(Scenario {
        calls,
        slots,
        ..TWO
    });
}

#[test]
fn confirmations_are_late() {
    let (calls, delays) = (&[2, 1], 1);
    check(Scenario {
        calls,
        delays,
        ..TWO
    });
}

#[test]
fn the_kernel_has_to_mark_a_thread_away_before_it_sends() {
    finds(TWO, Rule::KernelMarksFirst, AWAY);
}

#[test]
fn a_hart_has_to_open_its_endpoint_before_it_sends() {
    finds(ONE, Rule::HartOpensFirst, NEVER_BUSY);
}

#[test]
fn a_hart_has_to_look_at_once() {
    finds(TWO, Rule::HartLooksAtOnce, ENDS);
}

#[test]
fn a_hart_has_to_wait_for_a_confirmation() {
    let delays = 1;
    finds(
        Scenario { delays, ..ONE },
        Rule::HartWaitsForConfirmation,
        ENDS,
    );
}

#[test]
fn a_hart_has_to_close_its_endpoint() {
    finds(TWO, Rule::HartClosesFirst, ENDS);
}
