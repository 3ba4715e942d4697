//! What a unit does when a confirmation does not come: it sends again what is under way, and in the end
//! the command ends with an error.
use flick_abi::dtu::Error;
use serde::{Deserialize, Serialize};

use super::bank_state::{Step, command_number};
use super::command_execution::part_packet;
use super::data_transfer::part_size;
use super::packet::{Credit, Message, PacketKind};
use super::{Dtu, RETURNS};
use crate::device::{Surroundings, Time};

/// How often a packet is sent at most.
pub(super) const MOST_SENT: u8 = 5;

/// A message under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Unconfirmed {
    /// The receiver's tile.
    pub tile: u16,
    /// The message.
    pub message: Message,
}

impl Dtu {
    /// When a packet that was sent again so often, now for the last time, is sent once more.
    pub(super) fn due(&self, repeats: u8, around: &mut dyn Surroundings) -> Time {
        let cycles = u128::from(self.state.timeout.max(1)) << repeats;
        self.in_cycles(cycles, around)
    }

    /// What is under way of a bank's command was not confirmed in time.
    pub(super) fn send_again(&mut self, index: usize, around: &mut dyn Surroundings) {
        let packet = self.description.packet;
        let number = command_number(index, self.state.banks[index].number);
        let Some(mut running) = self.state.banks[index].running.take() else {
            return;
        };
        let word = running.word();
        let is_reply = matches!(running.step, Step::Replied(_));
        let is_question = matches!(running.step, Step::Asks(_));
        running.repeats += 1;
        let is_over = running.repeats >= MOST_SENT;
        match running.step.clone() {
            _ if is_over => {}
            Step::Starts | Step::Sleeps(_) | Step::Faults { .. } => {}
            Step::Sent(sent) | Step::Replied(sent) | Step::Forwarded(sent) | Step::Asks(sent) => {
                let kind = PacketKind::Message(number, sent.message);
                self.transmit(sent.tile, kind, around);
            }
            Step::Transfers(mut transfer) => {
                for part in transfer.under_way().to_vec() {
                    let remote = transfer.remote.wrapping_add(part);
                    let size = part_size(part, running.size, packet);
                    match part_packet(&running, number, part, remote, size, around) {
                        Ok(kind) => {
                            self.transmit(transfer.tile, kind, around);
                        }
                        Err(error) => {
                            transfer.fail(error);
                            transfer.answered(part);
                        }
                    }
                }
                running.step = Step::Transfers(transfer);
            }
        }
        self.state.banks[index].running = Some(running);
        if !is_over {
            return self.send_parts(index, around);
        }
        if is_reply && let Some(table) = self.state.endpoints.get_mut(usize::from(word.endpoint)) {
            // The answer may have arrived, and must not come once more.
            table.end_reply(word.slot, number, true);
            self.look_at(word.endpoint);
        }
        match is_question {
            true => self.has_asked(index, Error::NoConfirmation, around),
            false => self.finish(index, Error::NoConfirmation, 0, around),
        }
    }

    /// Gives a credit back to the unit of a tile.
    pub(super) fn give_back(&mut self, tile: u16, credit: Credit, around: &mut dyn Surroundings) {
        let packet = self.state.returned.give(tile, credit);
        self.send_credits(tile, packet, 0, around);
    }

    /// Sends credits to a tile, again or for the first time.
    pub(super) fn send_credits(
        &mut self,
        tile: u16,
        packet: Option<PacketKind>,
        repeats: u8,
        around: &mut dyn Surroundings,
    ) {
        if let Some(packet) = packet {
            // The link over which the message came leads back.
            self.transmit(tile, packet, around);
            let due = self.due(repeats, around);
            self.state.returned.set_due(tile, due);
        }
        around.schedule(RETURNS, self.state.returned.next_due());
    }

    /// The time has come at which credits are sent again.
    pub(super) fn send_credits_again(&mut self, around: &mut dyn Surroundings) {
        while let Some((tile, packet, repeats)) = self.state.returned.due(around.now()) {
            self.send_credits(tile, Some(packet), repeats, around);
        }
        around.schedule(RETURNS, self.state.returned.next_due());
    }
}
