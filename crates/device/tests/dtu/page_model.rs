//! All orders in which a unit can ask a pager for a page, and a root can move the page meanwhile. A state of the
//! model has the real units.
//!
//! Tile 0 reads a page through its unit. Hart 0 of tile 1 is the pager, and the memory is there, too. The root moves
//! the page: the pager answers with the new place from then on, the root takes the page away, and uses the old place
//! for something else as soon as `INVALIDATE` reads as 0.
use flick_abi::dtu::{self, Command, CommandWord, Endpoint, Error, Invalidation, PageAnswer};
use flick_device::Device;
use flick_device::dtu::{Packet, PacketKind};
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::BTreeSet;

use crate::model_state::is_soon;
use crate::network::MEMORY;
use crate::page_state::{
    ASKS, CALM, Fault, IN_PAGE, LOCAL, MANY, PAGE, PAGES, PLACES, Paging, REACHES, SERVES, State,
    VALUES,
};

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Event(usize, u32),
    Arrive(u16),
    Lose(u16),
    Repeat(u16),
    Read,
    Fetch,
    Answer(u8),
    Refuse(u8),
    Move,
    Invalidate,
    Free,
    Abort,
    Resume,
}
const NO_STALE_ACCESS: &str = "nothing reaches a page that was taken away";
const ENDS: &str = "commands and aborts end";

impl Model for Paging {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let is_quiet = state.is_quiet();
        for (tile, around) in state.arounds.iter().enumerate() {
            let events = around.events.iter();
            let events = events.filter(|&(_, &at)| is_soon(at) || is_quiet);
            actions.extend(events.map(|(&token, _)| Action::Event(tile, token)));
        }
        let mut may = |does: bool, action| actions.extend(does.then_some(action));
        for (&to, _) in state.links.iter().filter(|(_, link)| !link.is_empty()) {
            may(true, Action::Arrive(to));
            may(state.lost < self.losses, Action::Lose(to));
            may(state.repeated < self.repeats, Action::Repeat(to));
        }
        let is_enabled = state.is_enabled();
        let may_read = state.reads.is_none() && state.ended.len() < self.reads;
        may(may_read && is_enabled, Action::Read);
        let is_idle = state.read(1, dtu::COMMAND) == 0;
        may(is_idle && state.read(1, dtu::EVENTS) != 0, Action::Fetch);
        for &slot in state.fetched.iter().filter(|_| is_idle) {
            may(true, Action::Answer(slot));
            may(self.refuses, Action::Refuse(slot));
        }
        may(self.moves && !state.moved, Action::Move);
        let invalidates = self.fault != Some(Fault::NotInvalidated);
        may(
            state.moved && !state.invalidated && invalidates,
            Action::Invalidate,
        );
        let may_free = state.invalidated || state.moved && !invalidates;
        may(may_free && !state.freed, Action::Free);
        may(is_enabled && state.aborts < self.aborts, Action::Abort);
        may(
            !is_enabled && state.read(0, dtu::ABORT) == 0,
            Action::Resume,
        );
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action.clone() {
            Action::Event(tile, token) => {
                state.arounds[tile].events.remove(&token);
                state.units[tile].event(token, &mut state.arounds[tile]);
            }
            Action::Arrive(to) | Action::Lose(to) | Action::Repeat(to) => {
                let link = state.links.get_mut(&to).unwrap();
                let packet = link.pop_front().unwrap();
                state.lost += u8::from(matches!(action, Action::Lose(_)));
                if let Action::Repeat(_) = action {
                    state.repeated += 1;
                    link.push_back(packet.clone());
                }
                if !matches!(action, Action::Lose(_)) {
                    let tile = usize::from(to);
                    state.units[tile].packet(packet, &mut state.arounds[tile]);
                }
            }
            Action::Read => {
                state.arounds[0].memory.fill(0);
                for (register, value) in [
                    (dtu::ADDRESS, LOCAL),
                    (dtu::SIZE, self.size),
                    (dtu::OFFSET, PAGE + IN_PAGE),
                ] {
                    state.write(0, register, value);
                }
                state.reads = Some(state.freed);
                let word = CommandWord::new(Command::Read, PAGES);
                state.write(0, dtu::COMMAND, word.bits());
            }
            Action::Fetch => {
                state.is_fetching = true;
                let word = CommandWord::new(Command::Fetch, SERVES);
                state.write(1, dtu::COMMAND, word.bits());
            }
            Action::Answer(slot) => {
                let place = PLACES[usize::from(state.moved)];
                let answer = PageAnswer {
                    memory: REACHES,
                    can_read: true,
                    offset: place - MEMORY,
                    ..PageAnswer::default()
                };
                state.reply(slot, answer);
            }
            Action::Refuse(slot) => {
                let error = 1;
                state.reply(
                    slot,
                    PageAnswer {
                        error,
                        ..PageAnswer::default()
                    },
                );
            }
            Action::Move => state.moved = true,
            Action::Invalidate => {
                state.invalidated = true;
                let page = Some(PAGE);
                let endpoint = PAGES as u8;
                let bits = Invalidation { endpoint, page }.bits();
                state.of_root(|command| PacketKind::WriteRegisters {
                    command,
                    part: 0,
                    register: dtu::INVALIDATE,
                    bytes: bits.to_le_bytes().into(),
                });
            }
            Action::Free if state.may_free() => state.freed = true,
            Action::Free => return None,
            Action::Abort => {
                state.aborts += 1;
                state.write(0, dtu::ABORT, 0);
            }
            Action::Resume => state.write(0, dtu::ENABLE, 1),
        }
        state.transmit(self.fault);
        state.observe();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(NO_STALE_ACCESS, |paging: &Self, state: &State| {
                let is_old = |packet: &Packet| match packet.kind {
                    PacketKind::Read { address, .. } => address < PLACES[1],
                    _ => false,
                };
                // A packet that links repeat may come behind its end, and is answered to nobody.
                let is_reached = state.freed && state.packets().any(is_old);
                !state.got_old && (!is_reached || paging.repeats > 0)
            }),
            Property::always(ENDS, |_, state: &State| {
                let has_ended = state.reads.is_none() && state.read(0, dtu::ABORT) == 0;
                !state.rests() || has_ended
            }),
            Property::always("credits come back", |paging: &Self, state: &State| {
                let words = [0, 1, 2, 3].map(|word| state.read(0, dtu::endpoint_word(ASKS, word)));
                let Some(Endpoint::Send(send)) = Endpoint::from_words(words) else {
                    return false;
                };
                send.credits <= paging.credits && (!state.rests() || send.credits == paging.credits)
            }),
            Property::always(
                "a read has one place's bytes",
                |paging: &Self, state: &State| {
                    let read = &state.arounds[0].memory[..paging.size as usize];
                    let is_whole = VALUES
                        .iter()
                        .any(|value| read.iter().all(|byte| byte == value));
                    let ended = state.reads.is_none().then(|| state.ended.last()).flatten();
                    !matches!(ended, Some((Error::None, _))) || is_whole
                },
            ),
            Property::sometimes("all is read", |paging: &Self, state: &State| {
                let is_read = |&(error, _): &(Error, u8)| error == Error::None;
                state.ended.len() == paging.reads && state.ended.iter().all(is_read)
            }),
        ];
        let mut happens = |does: bool, what, when: fn(&Self, &State) -> bool| {
            if does {
                properties.push(Property::sometimes(what, when));
            }
        };
        happens(self.refuses, "there is no page", |_, state| {
            has_ended(state, Error::NoPage)
        });
        let may_abort = self.aborts > 0 || self.moves;
        happens(may_abort, "a read is aborted", |_, state| {
            has_ended(state, Error::Aborted)
        });
        happens(self.moves, "the moved page is read", |_, state| {
            state.freed && state.ended.contains(&(Error::None, VALUES[1]))
        });
        properties
    }
}

fn has_ended(state: &State, error: Error) -> bool {
    state.ended.iter().any(|&(other, _)| other == error)
}

fn check(paging: Paging) -> usize {
    let checker = paging.checker().spawn_bfs().join();
    checker.assert_properties();
    println!("{} states", checker.unique_state_count());
    checker.unique_state_count()
}

#[test]
fn a_page_is_read() {
    check(CALM);
    check(Paging {
        refuses: true,
        aborts: 1,
        ..CALM
    });
}

#[test]
fn a_page_is_moved() {
    let paging = Paging {
        moves: true,
        credits: 2,
        reads: 3,
        ..CALM
    };
    assert!(check(paging.clone()) > 500);
    check(Paging {
        credits: 1,
        ..paging.clone()
    });
    check(Paging {
        aborts: 1,
        reads: 2,
        ..paging.clone()
    });
    // The page is taken away while more packets are to be sent.
    check(Paging {
        size: MANY,
        reads: 2,
        ..paging
    });
}

#[test]
fn links_lose_and_repeat() {
    check(Paging { losses: 1, ..CALM });
    check(Paging { repeats: 1, ..CALM });
}

#[test]
fn faults_are_found() {
    for fault in [Fault::NotInvalidated, Fault::Relabelled] {
        let paging = Paging {
            moves: true,
            credits: 2,
            reads: 3,
            fault: Some(fault),
            ..CALM
        };
        let wanted = HasDiscoveries::AllOf(BTreeSet::from([NO_STALE_ACCESS]));
        let checker = paging.checker().finish_when(wanted).spawn_bfs().join();
        checker.assert_any_discovery(NO_STALE_ACCESS);
    }
}
