//! All orders in which the units of three tiles, their links and their software can act. A state of
//! the model has the real units, so the model cannot differ from them.
//!
//! Tiles 0 and 1 send to activity 20 of tile 2, which has few slots. Hart 0 of tile 2 runs activity
//! 20 or 21, and hart 1 its kernel. A link keeps the order of its packets; all else is in any order.
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, ReceiveEndpoint};
use flick_device::Device;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::BTreeSet;

use crate::model_properties::{all_ends, conserved, in_order, is_data, nothing_behind, once};
use crate::model_state::{
    BUFFER, Doing, Fault, OTHER, PACKET, REACHES, RECEIVER, RECEIVES, SENDS, Scenario, State,
    TAKES_ANSWERS, TILE, is_soon,
};
use crate::network::MEMORY;

/// Replies that the receiver tries at most: then it acknowledges.
const MOST_REPLIES: u8 = 3;
/// How often the root tries to deliver a message at most.
const MOST_FORWARDS: u8 = 2;

pub const CALM: Scenario = Scenario {
    messages: [2, 1],
    credits: 2,
    slots: 1,
    answers: false,
    switches: 0,
    aborts: 0,
    transfers: 0,
    gives_away: false,
    kernel: true,
    forwards: false,
    losses: 0,
    repeats: 0,
    delays: 0,
    early: 0,
    fault: None,
};

pub const CONSERVED: &str = "credits are conserved";
pub const ONCE: &str = "a message is delivered once, or its sender has an error";
pub const IN_ORDER: &str = "messages of a sender arrive in order";
pub const TO_ITS_OWN: &str = "no activity gets another's message";
pub const ENDS: &str = "all commands and aborts end";
pub const NOTHING_BEHIND: &str = "no packet of a transfer comes behind its end";

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Event(usize, u32),
    Arrive(u16, u16),
    /// The next packet of a link is lost.
    Lose(u16, u16),
    /// It arrives, and will do so once more.
    Repeat(u16, u16),
    /// Others overtake it.
    Delay(u16, u16),
    Send(usize),
    Transfer(Command),
    /// The root takes a message that could not be delivered, if it has not, and tries to deliver it.
    Forward(u8),
    Fetch(usize),
    Reply(u8),
    Acknowledge(usize, u8),
    Abort(usize),
    /// The kernel goes on behind an abort.
    Resume(usize),
    GiveAway,
}

impl Action {
    /// The tile that acts.
    fn tile(&self) -> usize {
        match *self {
            Self::Event(tile, _) | Self::Send(tile) | Self::Fetch(tile) => tile,
            Self::Acknowledge(tile, _) | Self::Abort(tile) | Self::Resume(tile) => tile,
            Self::Arrive(_, to) | Self::Repeat(_, to) => to.into(),
            Self::Lose(from, _) | Self::Delay(from, _) => from.into(),
            Self::Transfer(_) | Self::Forward(_) => 1,
            Self::Reply(_) | Self::GiveAway => TILE,
        }
    }
}

impl Model for Scenario {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        // Without packets under way a unit sends again what was lost. It may do so before.
        let goes_on = state.is_quiet() || state.early < self.early;
        for (tile, around) in state.arounds.iter().enumerate() {
            let events = around
                .events
                .iter()
                .filter(|&(_, &at)| is_soon(at) || goes_on);
            actions.extend(events.map(|(&token, _)| Action::Event(tile, token)));
        }
        let links = state
            .links
            .iter()
            .filter(|(_, packets)| !packets.is_empty());
        for (&(from, to), packets) in links {
            let mut may = |happens: bool, action| actions.extend(happens.then_some(action));
            may(true, Action::Arrive(from, to));
            may(state.lost < self.losses, Action::Lose(from, to));
            may(state.repeated < self.repeats, Action::Repeat(from, to));
            let has_others = packets.len() > 1;
            may(
                has_others && state.delayed < self.delays,
                Action::Delay(from, to),
            );
        }
        for sender in [0, 1] {
            let transfers = sender == 1 && self.transfers > 0;
            if state.is_idle(sender) {
                let tried = state.tried[sender].len();
                // The software of the sender waits while the root has its message.
                let has_refused = state.refused().any(|payload| !state.is_delivered(payload));
                let waits = self.forwards && (sender == 1 || has_refused);
                if !transfers && !waits && tried < self.messages[sender].into() {
                    actions.push(Action::Send(sender));
                }
                match state.transferred.len() {
                    _ if !transfers => {}
                    0 => actions.push(Action::Transfer(Command::Read)),
                    1 => actions.push(Action::Transfer(Command::Write)),
                    _ => {}
                }
                if state.read(sender, dtu::EVENTS) != 0 {
                    actions.push(Action::Fetch(sender));
                }
                let slots = state.fetched[sender].iter();
                actions.extend(slots.map(|&slot| Action::Acknowledge(sender, slot)));
            }
            if sender == 1 && self.forwards && state.is_idle(1) && state.forwards < MOST_FORWARDS {
                let refused = state
                    .refused()
                    .filter(|&payload| !state.is_delivered(payload));
                actions.extend(refused.map(Action::Forward));
                // The sender asks twice for one message, and not for one in place of another.
                if state.refused().all(|payload| state.is_delivered(payload)) {
                    actions.extend(state.refused().map(Action::Forward));
                }
            }
            if state.is_enabled(sender) && state.aborts[sender] < self.aborts {
                actions.push(Action::Abort(sender));
            }
        }
        let activity = state.current(TILE);
        // The other activity tries, too.
        let may_fetch = activity == OTHER || state.receives().unread != 0;
        let has_room = state.received.len() < 8 && state.fetched[TILE].len() < 4;
        if state.is_idle(TILE) && state.is_enabled(TILE) && may_fetch && has_room {
            actions.push(Action::Fetch(TILE));
        }
        if state.is_idle(TILE) && state.is_enabled(TILE) && activity == RECEIVER {
            for &slot in &state.fetched[TILE] {
                if self.answers && state.replies < MOST_REPLIES {
                    actions.push(Action::Reply(slot));
                } else {
                    actions.push(Action::Acknowledge(TILE, slot));
                }
            }
        }
        if state.is_enabled(TILE) && state.switches < self.switches {
            actions.push(Action::Abort(TILE));
        }
        for tile in 0..3 {
            if !state.is_enabled(tile) && state.read(tile, dtu::ABORT) == 0 {
                actions.push(Action::Resume(tile));
            }
        }
        if self.gives_away && !state.gave_away {
            actions.push(Action::GiveAway);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action.clone() {
            Action::Event(tile, token) => {
                let is_early = !state.is_quiet();
                let at = state.arounds[tile].events.remove(&token);
                state.early += u8::from(is_early && !at.is_some_and(is_soon));
                state.units[tile].event(token, &mut state.arounds[tile]);
            }
            Action::Arrive(from, to)
            | Action::Repeat(from, to)
            | Action::Lose(from, to)
            | Action::Delay(from, to) => {
                let link = state.links.get_mut(&(from, to)).unwrap();
                let packet = link.pop_front().unwrap();
                let comes_later = matches!(action, Action::Repeat(..) | Action::Delay(..));
                if comes_later {
                    link.push_back(packet.clone());
                }
                if matches!(action, Action::Arrive(..) | Action::Repeat(..)) {
                    let tile = usize::from(to);
                    state.units[tile].packet(packet, &mut state.arounds[tile]);
                }
                state.lost += u8::from(matches!(action, Action::Lose(..)));
                state.repeated += u8::from(matches!(action, Action::Repeat(..)));
                state.delayed += u8::from(matches!(action, Action::Delay(..)));
            }
            Action::Send(sender) => {
                let payload = (sender * 16 + state.tried[sender].len()) as u8;
                state.tried[sender].push((payload, None));
                state.prepare(sender, payload);
                let mut word = CommandWord::new(Command::Send, SENDS);
                if self.answers {
                    word = word.with_answer(TAKES_ANSWERS);
                }
                state.start(sender, Doing::Send(payload), word);
            }
            Action::Transfer(command) => {
                state.write(1, dtu::ADDRESS, MEMORY);
                state.write(1, dtu::SIZE, self.transfers * u64::from(PACKET));
                state.start(1, Doing::Transfer, CommandWord::new(command, REACHES));
            }
            Action::Forward(payload) => {
                let has_it = state.forwarded.iter().any(|&(other, _)| other == payload);
                let is_new = !has_it || state.is_delivered(payload);
                let is_careless = matches!(self.fault, Some(Fault::Untaken));
                if is_new && !is_careless && state.take_gone() != Error::None {
                    // The sender's unit has refused no such message.
                    return None;
                }
                state.forwarded.retain(|&(other, _)| other != payload);
                state.forwarded.push((payload, None));
                state.forwards += 1;
                state.prepare_forward(payload, self.answers);
                let word = CommandWord::new(Command::Forward, SENDS);
                state.start(1, Doing::Forward(payload), word);
            }
            Action::Fetch(tile) => {
                let endpoint = if tile == TILE {
                    RECEIVES
                } else {
                    TAKES_ANSWERS
                };
                let doing = Doing::Fetch(state.current(tile));
                // An activity that gets nothing makes no new state.
                let got = state.received.len();
                state.start(tile, doing, CommandWord::new(Command::Fetch, endpoint));
                if state.current(tile) == OTHER {
                    state.arounds[tile].events.clear();
                    state.units[tile].event(0, &mut state.arounds[tile]);
                    state.read_registers(tile);
                    state.observe(tile);
                    if state.received.len() == got {
                        return None;
                    }
                }
            }
            Action::Reply(slot) => {
                state.replies += 1;
                state.prepare(TILE, 0x80);
                let word = CommandWord::new(Command::Reply, RECEIVES).with_slot(slot);
                state.start(TILE, Doing::Free(slot), word);
            }
            Action::Acknowledge(tile, slot) => {
                let endpoint = if tile == TILE {
                    RECEIVES
                } else {
                    TAKES_ANSWERS
                };
                let word = CommandWord::new(Command::Acknowledge, endpoint).with_slot(slot);
                state.start(tile, Doing::Free(slot), word);
            }
            Action::Abort(tile) => {
                state.aborts[tile] += 1;
                state.write(tile, dtu::ABORT, 0);
            }
            Action::Resume(tile) => {
                if tile == TILE {
                    state.switches += 1;
                    let next = if state.current(TILE) == RECEIVER {
                        OTHER
                    } else {
                        RECEIVER
                    };
                    state.write(TILE, dtu::current(0), next.into());
                }
                state.write(tile, dtu::ENABLE, 0b11);
            }
            Action::GiveAway => {
                state.gave_away = true;
                let receive = ReceiveEndpoint::new(OTHER, BUFFER, 5, self.slots);
                state.set_up(TILE, RECEIVES, Endpoint::Receive(receive));
                state.fetched[TILE].clear();
            }
        }
        let tile = action.tile();
        state.transmit(tile, self.fault);
        state.read_registers(tile);
        state.observe(tile);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(ONCE, once),
            Property::always(IN_ORDER, in_order),
            Property::always(TO_ITS_OWN, |_, state: &State| {
                state
                    .received
                    .iter()
                    .all(|&(_, activity)| activity == RECEIVER)
            }),
            Property::always(ENDS, all_ends),
            Property::always(NOTHING_BEHIND, |model: &Self, state: &State| {
                let may_come = state.doing[1] == Some(Doing::Transfer) || !model.is_calm();
                nothing_behind(model, state) && (may_come || !state.packets().any(is_data))
            }),
            Property::sometimes("all messages were tried", |model: &Self, state: &State| {
                let transfers = if model.transfers > 0 { 2 } else { 0 };
                let mut tried = state.tried.iter().map(Vec::len).zip(model.messages);
                state.transferred.len() == transfers
                    && tried.all(|(tried, messages)| tried == usize::from(messages))
                    && state.doing.iter().all(Option::is_none)
            }),
        ];
        let mut happens = |does: bool, what, when: fn(&Self, &State) -> bool| {
            if does {
                properties.push(Property::sometimes(what, when));
            }
        };
        happens(self.slots == 1, "a receiver is full", |_, state| {
            has_tried(state, Error::NoSpace)
        });
        happens(
            self.credits < u16::from(self.messages[0]),
            "credits are spent",
            |_, state| has_tried(state, Error::NoCredits),
        );
        happens(
            !self.kernel || self.gives_away,
            "a receiver is gone",
            |_, state| has_tried(state, Error::Gone),
        );
        happens(
            self.kernel && self.switches > 0,
            "a message waits",
            |_, state| state.read(TILE, dtu::WAITING) != 0,
        );
        happens(self.transfers > 2, "a transfer is aborted", |_, state| {
            state.transferred.contains(&Error::Aborted)
        });
        happens(
            self.transfers > 2,
            "a transfer is not aborted",
            |_, state| state.transferred.contains(&Error::None),
        );
        happens(
            self.aborts > 0 && self.transfers == 0,
            "a command finds its bank aborted",
            |_, state| has_tried(state, Error::Aborted),
        );
        let is_dead = matches!(self.fault, Some(Fault::Lost(_)));
        happens(is_dead, "a message is not confirmed", |_, state| {
            has_tried(state, Error::NoConfirmation)
        });
        happens(
            self.answers && !self.forwards,
            "an answer is taken",
            |_, state| state.answers > 1,
        );
        happens(
            self.forwards,
            "a forwarded message is received",
            |_, state| {
                let mut received = state.received.iter();
                received
                    .any(|&(payload, _)| state.forwarded.contains(&(payload, Some(Error::None))))
            },
        );
        happens(self.forwards, "the root comes too early", |_, state| {
            state
                .forwarded
                .iter()
                .any(|&(_, error)| error == Some(Error::Gone))
        });
        if !self.gives_away {
            properties.push(Property::always(CONSERVED, conserved));
        }
        properties
    }
}

fn has_tried(state: &State, error: Error) -> bool {
    state
        .tried
        .iter()
        .flatten()
        .any(|&(_, other)| other == Some(error))
}

/// Checks all states of a scenario. Returns how many there are.
pub fn check(scenario: Scenario) -> usize {
    let checker = scenario.checker().spawn_bfs().join();
    checker.assert_properties();
    println!("{} states", checker.unique_state_count());
    checker.unique_state_count()
}

#[test]
fn messages_with_few_slots() {
    assert!(check(CALM) > 500);
    // Two messages of a sender wait at a time: the older must be fetched first.
    let slots = 2;
    check(Scenario { slots, ..CALM });
    let credits = 1;
    check(Scenario {
        credits,
        slots,
        ..CALM
    });
}

#[test]
fn answers() {
    let answers = true;
    assert!(check(Scenario { answers, ..CALM }) > 1_000);
}

#[test]
fn switches_of_the_receiver() {
    let switches = 2;
    check(Scenario { switches, ..CALM });
    let kernel = false;
    check(Scenario {
        switches,
        kernel,
        ..CALM
    });
    let (answers, messages) = (true, [1, 1]);
    check(Scenario {
        answers,
        switches,
        messages,
        slots: 2,
        ..CALM
    });
}

#[test]
fn messages_that_the_root_forwards() {
    let scenario = Scenario {
        messages: [3, 0],
        switches: 3,
        kernel: false,
        forwards: true,
        slots: 2,
        ..CALM
    };
    assert!(check(scenario.clone()) > 1_000);
    check(Scenario {
        answers: true,
        messages: [1, 0],
        ..scenario.clone()
    });
    // A root that forwards what it has not taken from the sender's unit makes one message two.
    let finds = Scenario {
        fault: Some(Fault::Untaken),
        ..scenario
    };
    let checker = finds.checker();
    let wanted = HasDiscoveries::AllOf(BTreeSet::from([ONCE]));
    let checker = checker.finish_when(wanted).spawn_bfs().join();
    checker.assert_any_discovery(ONCE);
}

#[test]
fn aborts_of_the_senders() {
    check(Scenario { aborts: 1, ..CALM });
}

#[test]
fn aborts_of_transfers() {
    // More packets than the unit has under way at a time.
    let (aborts, slots, messages) = (1, 2, [0, 0]);
    check(Scenario {
        aborts,
        messages,
        slots,
        transfers: 34,
        ..CALM
    });
}

#[test]
fn an_endpoint_that_is_given_away() {
    let (gives_away, switches) = (true, 1);
    check(Scenario {
        gives_away,
        switches,
        ..CALM
    });
}
