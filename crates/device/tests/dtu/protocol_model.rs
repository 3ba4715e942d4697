//! All orders in which the units of three tiles, their links and their software can act. A state of
//! the model has the real units, so the model cannot differ from them.
//!
//! Tiles 0 and 1 send to activity 20 of tile 2, which has few slots. Hart 0 of tile 2 runs activity
//! 20 or 21, and hart 1 its kernel. A link keeps the order of its packets; all else is in any order.
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, ReceiveEndpoint};
use flick_device::Device;
use flick_device::dtu::PacketKind;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::BTreeSet;

use crate::model_properties::{all_ends, conserved, in_order, is_data, once};
use crate::model_state::{
    BUFFER, Doing, Fault, OTHER, PACKET, REACHES, RECEIVER, RECEIVES, SENDS, Scenario, State,
    TAKES_ANSWERS, TILE,
};
use crate::network::MEMORY;

/// Replies that the receiver tries at most: then it acknowledges.
const MOST_REPLIES: u8 = 3;

const CALM: Scenario = Scenario {
    messages: [2, 1],
    credits: 2,
    slots: 1,
    answers: false,
    switches: 0,
    aborts: 0,
    transfers: 0,
    gives_away: false,
    kernel: true,
    fault: None,
};

const CONSERVED: &str = "credits are conserved";
const ONCE: &str = "a message is delivered once, or its sender has an error";
const IN_ORDER: &str = "messages of a sender arrive in order";
const TO_ITS_OWN: &str = "no activity gets another's message";
const ENDS: &str = "all commands and aborts end";
const NOTHING_BEHIND: &str = "no packet of a transfer comes behind its end";

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Event(usize, u32),
    Arrive(u16, u16),
    Send(usize),
    Transfer(Command),
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
            Self::Arrive(_, to) => to.into(),
            Self::Transfer(_) => 1,
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
        for (tile, around) in state.arounds.iter().enumerate() {
            actions.extend(
                around
                    .events
                    .keys()
                    .map(|&token| Action::Event(tile, token)),
            );
        }
        let links = state
            .links
            .iter()
            .filter(|(_, packets)| !packets.is_empty());
        actions.extend(links.map(|(&(from, to), _)| Action::Arrive(from, to)));
        for sender in [0, 1] {
            let transfers = sender == 1 && self.transfers > 0;
            if state.is_idle(sender) {
                let tried = state.tried[sender].len();
                if !transfers && tried < self.messages[sender].into() {
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
                state.arounds[tile].events.remove(&token);
                state.units[tile].event(token, &mut state.arounds[tile]);
            }
            Action::Arrive(from, to) => {
                let packet = state
                    .links
                    .get_mut(&(from, to))
                    .unwrap()
                    .pop_front()
                    .unwrap();
                let tile = usize::from(to);
                state.units[tile].packet(packet, &mut state.arounds[tile]);
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
            Property::always(NOTHING_BEHIND, |_, state: &State| {
                state.doing[1] == Some(Doing::Transfer) || !state.packets().any(is_data)
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
        happens(self.answers, "an answer is taken", |_, state| {
            state.answers > 1
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
fn check(scenario: Scenario) -> usize {
    let checker = scenario.checker().spawn_bfs().join();
    checker.assert_properties();
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

/// The properties that links with a fault do not have.
fn finds(fault: Fault, scenario: Scenario, properties: &[&'static str]) {
    let fault = Some(fault);
    let scenario = Scenario { fault, ..scenario };
    let wanted: BTreeSet<_> = properties.iter().copied().collect();
    let checker = scenario.checker();
    let checker = checker.finish_when(HasDiscoveries::AllOf(wanted));
    let checker = checker.spawn_bfs().join();
    for property in properties {
        checker.assert_any_discovery(property);
    }
}

#[test]
fn planted_faults_are_found() {
    let two_slots = Scenario { slots: 2, ..CALM };
    let credits = |kind: &PacketKind| matches!(kind, PacketKind::Credit(_));
    finds(Fault::Twice(credits), two_slots.clone(), &[CONSERVED]);
    finds(Fault::Lost(credits), two_slots.clone(), &[CONSERVED]);
    let messages = |kind: &PacketKind| matches!(kind, PacketKind::Message(..));
    finds(
        Fault::Twice(messages),
        two_slots.clone(),
        &[ONCE, IN_ORDER, CONSERVED],
    );
    finds(Fault::Lost(messages), CALM, &[ENDS]);
    let given_away = Scenario {
        gives_away: true,
        switches: 1,
        ..CALM
    };
    finds(Fault::OtherReceiver, given_away, &[TO_ITS_OWN]);
    let writes = |kind: &PacketKind| matches!(kind, PacketKind::Write { .. });
    let transfers = Scenario {
        messages: [0, 0],
        transfers: 2,
        ..CALM
    };
    finds(Fault::Twice(writes), transfers, &[NOTHING_BEHIND]);
}
