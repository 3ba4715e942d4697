//! Properties that each state of the model of the protocol has.
use flick_abi::dtu::{self, Endpoint, Error};
use flick_device::dtu::{Packet, PacketKind, UNIT_BANK};

use crate::model_state::{SENDS, STORED, Scenario, State, TILE};

/// A message whose `SEND` has ended without an error was received, or is unread: one of them, and
/// once. A message with an error is neither.
pub fn once(model: &Scenario, state: &State) -> bool {
    let receive = state.receives();
    let unread = (0..receive.slots).filter(|slot| receive.unread >> slot & 1 != 0);
    let unread: Vec<u8> = unread.map(|slot| state.message(slot).1).collect();
    state.tried.iter().flatten().all(|&(payload, error)| {
        let received = state
            .received
            .iter()
            .filter(|&&(other, _)| other == payload);
        let waiting = unread.iter().filter(|&&other| other == payload);
        // A fetch takes the mark, and ends later.
        let count = received.count() + waiting.count();
        match state.final_error(payload, error) {
            None | Some(Error::NoConfirmation) => count <= 1,
            Some(Error::None) => count == 1 || model.gives_away && count == 0,
            Some(_) => count == 0,
        }
    })
}

pub fn in_order(_: &Scenario, state: &State) -> bool {
    [0, 1].into_iter().all(|sender| {
        let received = state.received.iter().map(|&(payload, _)| payload);
        received
            .filter(|payload| payload / 16 == sender)
            .is_sorted_by(|a, b| a < b)
    })
}

/// No packet is under way, and no event is to come.
fn rests(state: &State) -> bool {
    let mut arounds = state.arounds.iter();
    state.packets().next().is_none() && arounds.all(|around| around.events.is_empty())
}

/// Where all rests, no command runs.
pub fn all_ends(_: &Scenario, state: &State) -> bool {
    !rests(state)
        || (0..3)
            .all(|tile| state.read(tile, dtu::ABORT) == 0 && state.read(tile, dtu::COMMAND) == 0)
}

pub fn is_data(packet: &Packet) -> bool {
    use PacketKind::{Data, Read, Write};
    matches!(packet.kind, Read { .. } | Write { .. } | Data { .. })
}

/// Where a write has ended, its packets change no memory any more.
pub fn nothing_behind(model: &Scenario, state: &State) -> bool {
    let ended = state.transferred.len() == 2 && state.transferred[1] == Error::None;
    model.transfers == 0 || !ended || state.arounds[TILE].memory[0] == STORED
}

/// The credits of an endpoint, its messages under way and those that wait for an answer.
pub fn conserved(model: &Scenario, state: &State) -> bool {
    [0_u16, 1].into_iter().all(|sender| match model.is_calm() {
        true => are_all(model, state, sender),
        false => are_recovered(model, state, sender),
    })
}

fn count(state: &State, sender: u16, error: Error) -> usize {
    let tried = state.tried[usize::from(sender)].iter();
    let known = tried.map(|&(payload, error)| state.final_error(payload, error));
    known.filter(|&other| other == Some(error)).count()
}

/// The credits that an endpoint has, and those of messages in slots.
fn safe(state: &State, sender: u16) -> usize {
    let Some(Endpoint::Send(send)) = state.endpoint(sender.into(), SENDS) else {
        panic!("the sender has lost its endpoint");
    };
    let receive = state.receives();
    let occupied = (0..receive.slots).filter(|slot| receive.occupied >> slot & 1 != 0);
    let held = occupied.filter(|&slot| u16::from(state.message(slot).0) == sender);
    usize::from(send.credits) + held.count()
}

/// With links that lose and repeat nothing.
fn are_all(model: &Scenario, state: &State, sender: u16) -> bool {
    let mut count = safe(state, sender) + count(state, sender, Error::Gone);
    let mut answered = 0;
    let (mut returned, waiting) = {
        let (under_way, waiting) = state.units[TILE].credits_to(sender);
        (under_way.len(), waiting.len())
    };
    for packet in state.packets() {
        let to_sender = packet.to == sender;
        count += usize::from(match &packet.kind {
            PacketKind::Message(_, message) => {
                message.cost.is_some() && u16::from(message.header[1]) == sender
            }
            PacketKind::Done { command, .. } if command.bank == UNIT_BANK => {
                if packet.from == sender {
                    returned = 0;
                }
                false
            }
            PacketKind::Done { error: 0, .. } => {
                // The answer has brought the credit, and the slot is still to be freed.
                answered += usize::from(packet.from == sender);
                false
            }
            // The root still has the credit of the first sender's message.
            PacketKind::Done { error, .. } if model.forwards && packet.to == 1 => {
                sender == 0 && *error != 0
            }
            PacketKind::Done { error, .. } => to_sender && *error != 0,
            _ => false,
        });
    }
    let is_back = !rests(state) || returned == 0;
    is_back && count + returned + waiting == usize::from(model.credits) + answered
}

/// With other links: none is there twice, and all are known when all rests.
fn are_recovered(model: &Scenario, state: &State, sender: u16) -> bool {
    let all = usize::from(model.credits);
    let (under_way, waiting) = state.units[TILE].credits_to(sender);
    let known = safe(state, sender) + count(state, sender, Error::Gone) + waiting.len();
    let unknown = count(state, sender, Error::NoConfirmation) + under_way.len();
    match rests(state) {
        true => known <= all && all <= known + unknown,
        // The answer has brought the credit, and the slot is still to be freed.
        false if model.answers => true,
        false => safe(state, sender) <= all,
    }
}
