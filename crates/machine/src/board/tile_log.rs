//! What tiles do, for traces: states of their devices, and messages between their units.
use std::collections::HashMap;

use flick_abi::accelerator::{NOTICE_WORDS, Notice, ROOT, Status};
use flick_abi::dtu::{FLAG_ANSWER, Header};
use flick_abi::file_protocol::{Operation, REQUEST_SIZE, Request};
use flick_device::Time;
use flick_device::dtu::{Message, Packet, PacketKind};

use super::{Board, Wiring};

/// What has happened to a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TileEvent {
    pub tile: usize,
    pub time: Time,
    pub what: TileChange,
}

/// See [`TileEvent`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TileChange {
    /// It is in the state of this name.
    State(&'static str),
    /// A message of this name has come from another tile, which had sent it at this time.
    Message(String, usize, Time),
}

/// Events since the last look, and when the messages that are under way were sent, by their tokens.
#[derive(Debug, Default)]
pub(super) struct TileLog {
    events: Vec<TileEvent>,
    sent: HashMap<u32, Time>,
}

impl Wiring {
    /// Keeps what tiles do from now on.
    pub(crate) fn log_tiles(&self) {
        self.log.replace(Some(TileLog::default()));
    }

    /// What tiles have done since the last call, in order.
    pub(crate) fn take_tile_events(&self) -> Vec<TileEvent> {
        let mut log = self.log.borrow_mut();
        log.as_mut()
            .map_or(vec![], |log| std::mem::take(&mut log.events))
    }

    /// Nothing of what was before is of interest.
    pub(crate) fn forget_tile_events(&self) {
        if let Some(log) = &mut *self.log.borrow_mut() {
            *log = TileLog::default();
        }
    }

    /// [`flick_device::Surroundings::enter_state`].
    pub(super) fn enter_state(&self, tile: usize, name: &'static str) {
        if let Some(log) = &mut *self.log.borrow_mut() {
            log.events.push(TileEvent {
                tile,
                time: self.now.get(),
                what: TileChange::State(name),
            });
        }
    }

    /// A message has got a token.
    pub(super) fn message_leaves(&self, token: u32) {
        if let Some(log) = &mut *self.log.borrow_mut() {
            log.sent.insert(token, self.now.get());
        }
    }

    /// The packet with a token is at its receiver.
    pub(super) fn message_arrives(&self, token: u32, packet: &Packet, boards: &[Board]) {
        let Some(log) = &mut *self.log.borrow_mut() else {
            return;
        };
        let sent = log.sent.remove(&token);
        if let (Some(sent), PacketKind::Message(_, message)) = (sent, &packet.kind) {
            let (from, tile) = (usize::from(packet.from), usize::from(packet.to));
            let is_accelerator =
                |tile: usize| boards.get(tile).is_some_and(|board| board.work().is_some());
            let knows_files = [from, tile].map(is_accelerator);
            log.events.push(TileEvent {
                tile,
                time: self.now.get(),
                what: TileChange::Message(name_of(message, knows_files), from, sent),
            });
        }
    }
}

/// The name of a message. `is_accelerator`: who has sent it, and who gets it. An accelerator sends requests of the
/// file protocol, and their numbers are the labels of the answers.
fn name_of(message: &Message, is_accelerator: [bool; 2]) -> String {
    let header = Header::from_bytes(&message.header);
    let is_answer = header.flags & FLAG_ANSWER != 0;
    if let (false, [true, _], Some(notice)) =
        (is_answer, is_accelerator, notice_of(header, message))
    {
        return name_of_notice(notice).into();
    }
    let request = message.payload.first_chunk::<REQUEST_SIZE>();
    let operation = match (is_answer, is_accelerator) {
        (true, [_, true]) => Operation::from_number(header.label),
        (false, [true, _]) => request.and_then(Request::from_bytes).map(|r| r.operation),
        _ => None,
    };
    match (is_answer, operation) {
        (true, Some(operation)) => format!("answer to {}", operation.name()),
        (true, None) => "answer".into(),
        (false, Some(operation)) => operation.name().into(),
        (false, None) => "message".into(),
    }
}

/// What a module tells the root.
fn notice_of(header: Header, message: &Message) -> Option<Notice> {
    let bytes = message.payload.first_chunk::<{ 8 * NOTICE_WORDS }>()?;
    let (words, _) = bytes.as_chunks::<8>();
    let words = std::array::from_fn(|n| u64::from_le_bytes(words[n]));
    Notice::from_words(words).filter(|_| u16::from(header.endpoint) == ROOT)
}

fn name_of_notice(notice: Notice) -> &'static str {
    match notice {
        Notice::Status {
            status: Status::Stopped,
            ..
        } => "has stopped",
        Notice::Status {
            status: Status::Ended,
            ..
        } => "has ended",
        Notice::Status { .. } => "has failed",
        Notice::Message { .. } => "forward a request",
        Notice::Answer { .. } => "forward an answer",
        Notice::Data { .. } => "forward data",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_accelerators_have_names() {
        let message = |flags, label, payload: &[u8]| Message {
            endpoint: 0,
            receiver: 0,
            header: Header {
                flags,
                label,
                ..Header::default()
            }
            .bytes(),
            payload: payload.to_vec(),
            cost: None,
            refund: None,
        };
        let asks = message(0, 0, &Request::new(Operation::NextIn).bytes());
        assert_eq!(name_of(&asks, [true, false]), "NEXT_IN");
        assert_eq!(name_of(&asks, [false, true]), "message");
        let answer = message(FLAG_ANSWER, Operation::Commit as u64, &[]);
        assert_eq!(name_of(&answer, [false, true]), "answer to COMMIT");
        assert_eq!(name_of(&answer, [true, false]), "answer");
        assert_eq!(name_of(&message(0, 0, &[1]), [true, true]), "message");
        let answer = Notice::Answer {
            slot: 1,
            words: [0; 3],
        };
        let words = answer.words().map(u64::to_le_bytes);
        let notice = message(0, 0, words.as_flattened());
        assert_eq!(name_of(&notice, [true, false]), "forward an answer");
    }
}
