//! Properties that each state of the model of the protocol has.
use flick_abi::dtu::{self, Endpoint, Error};
use flick_device::dtu::{Packet, PacketKind};

use crate::model_state::{SENDS, Scenario, State};

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
        match error {
            None => count <= 1,
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

/// Where no packet is under way and no event is to come, no command runs.
pub fn all_ends(_: &Scenario, state: &State) -> bool {
    let rests = state.packets().next().is_none()
        && state.arounds.iter().all(|around| around.events.is_empty());
    !rests
        || (0..3)
            .all(|tile| state.read(tile, dtu::ABORT) == 0 && state.read(tile, dtu::COMMAND) == 0)
}

pub fn is_data(packet: &Packet) -> bool {
    use PacketKind::{Data, Read, Write};
    matches!(packet.kind, Read { .. } | Write { .. } | Data { .. })
}

/// The credits of an endpoint, its messages under way and those that wait for an answer.
pub fn conserved(model: &Scenario, state: &State) -> bool {
    let receive = state.receives();
    [0_u16, 1].into_iter().all(|sender| {
        let Some(Endpoint::Send(send)) = state.endpoint(sender.into(), SENDS) else {
            return false;
        };
        let gone = state.tried[usize::from(sender)].iter();
        let mut count = gone
            .filter(|(_, error)| *error == Some(Error::Gone))
            .count();
        let mut answered = 0;
        for packet in state.packets() {
            let to_sender = packet.to == sender;
            count += usize::from(match &packet.kind {
                PacketKind::Message(_, message) => message.cost.is_some() && packet.from == sender,
                PacketKind::Done { error: 0, .. } => {
                    // The answer has brought the credit, and the slot is still to be freed.
                    answered += usize::from(packet.from == sender);
                    false
                }
                PacketKind::Done { error, .. } => to_sender && *error != 0,
                PacketKind::Credit(_) => to_sender,
                _ => false,
            });
        }
        let occupied = (0..receive.slots).filter(|slot| receive.occupied >> slot & 1 != 0);
        count += occupied
            .filter(|&slot| u16::from(state.message(slot).0) == sender)
            .count();
        usize::from(send.credits) + count == usize::from(model.credits) + answered
    })
}
