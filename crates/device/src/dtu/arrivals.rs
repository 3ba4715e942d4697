//! What the unit does with packets that arrive.
use flick_abi::dtu::{Endpoint, Error, FLAG_ANSWER, HEADER_SIZE, Header, NO_HEADER_ENDPOINT};

use super::bank_state::Step;
use super::data_transfer::part_size;
use super::endpoint_table::Held;
use super::heard_commands::Arrival;
use super::packet::{CommandNumber, Credit, Message, Packet, PacketKind, UNIT_BANK};
use super::{Dtu, MOST_PACKET};
use crate::device::Surroundings;

impl Dtu {
    /// A packet arrives from a link, or from the unit itself.
    pub(super) fn arrive(&mut self, packet: Packet, around: &mut dyn Surroundings) {
        let from = packet.from;
        let back = match packet.kind {
            PacketKind::Message(command, message) => self.once(from, command, 0, 1, |unit| {
                let error = unit.deliver(&message, around).err();
                error.unwrap_or(Error::None)
            }),
            PacketKind::Write {
                command,
                part,
                address,
                receiver,
                bytes,
            } => self.once(from, command, part, bytes.len() as u64, |unit| {
                if !unit.has_data_of(receiver) {
                    return Error::Gone;
                }
                let written = around.write_memory(address, &bytes);
                written.map_or(Error::NoMemory, |()| Error::None)
            }),
            PacketKind::Read {
                command,
                part,
                address,
                receiver,
                size,
            } => {
                let mut bytes = vec![0; size.min(MOST_PACKET) as usize];
                let read = match self.has_data_of(receiver) {
                    true => around
                        .read_memory(address, &mut bytes)
                        .map_err(|_| Error::NoMemory),
                    false => Err(Error::Gone),
                };
                Some(match read {
                    Ok(()) => PacketKind::Data {
                        command,
                        part,
                        bytes,
                    },
                    Err(error) => done(command, part, error as u8),
                })
            }
            PacketKind::WriteRegisters {
                command,
                part,
                register,
                bytes,
            } => self.once(from, command, part, bytes.len() as u64, |unit| {
                let written = unit.write_registers(register, &bytes, around);
                written.err().unwrap_or(Error::None)
            }),
            PacketKind::ReadRegisters {
                command,
                part,
                register,
                size,
            } => {
                let mut bytes = vec![0; size.min(MOST_PACKET) as usize];
                Some(match self.read_registers(register, &mut bytes, around) {
                    Ok(()) => PacketKind::Data {
                        command,
                        part,
                        bytes,
                    },
                    Err(error) => done(command, part, error as u8),
                })
            }
            PacketKind::Data {
                command,
                part,
                bytes,
            } => {
                self.take_data(command, part, &bytes, around);
                None
            }
            PacketKind::Done {
                command,
                part,
                error,
            } => {
                let error = Error::from_number(error).unwrap_or(Error::Unreachable);
                match command.bank {
                    UNIT_BANK => {
                        let packet = self.state.returned.confirmed(from, command.number);
                        self.send_credits(from, packet, 0, around);
                    }
                    _ => self.take_done(command, part, error, around),
                }
                None
            }
            PacketKind::Credits(command, credits) => self.once(from, command, 0, 1, |unit| {
                credits.iter().for_each(|&credit| unit.refund(credit));
                Error::None
            }),
        };
        if let Some(kind) = back {
            // The link over which the packet came leads back.
            self.transmit(from, kind, around);
        }
        self.update(around);
    }

    /// The confirmation of a packet, which has its effect when it comes for the first time.
    fn once(
        &mut self,
        from: u16,
        command: CommandNumber,
        part: u64,
        size: u64,
        effect: impl FnOnce(&mut Self) -> Error,
    ) -> Option<PacketKind> {
        let error = match self.state.heard.arrival(from, command, part) {
            Arrival::Late => return None,
            Arrival::Again(error) => error,
            Arrival::New => {
                let error = effect(self) as u8;
                self.state.heard.note(from, command, part, size, error);
                error
            }
        };
        Some(done(command, part, error))
    }

    /// Whether a bank runs the activity.
    pub(super) fn runs(&self, activity: u16) -> bool {
        self.state.banks.iter().any(|bank| bank.current == activity)
    }

    /// Whether the memory has the data of this activity; 0 stands for any.
    fn has_data_of(&self, activity: u16) -> bool {
        activity == 0 || self.runs(activity)
    }

    /// Gives a credit back to its endpoint.
    pub(super) fn refund(&mut self, credit: Credit) {
        if let Some(table) = self.state.endpoints.get_mut(usize::from(credit.endpoint)) {
            table.refund(credit);
        }
    }

    /// Writes a message into a slot, and marks it.
    fn deliver(&mut self, message: &Message, around: &mut dyn Surroundings) -> Result<(), Error> {
        if self.description.kernel.is_none() && !self.runs(message.receiver) {
            return Err(Error::Gone);
        }
        let table = self.state.endpoints.get_mut(usize::from(message.endpoint));
        let table = table.ok_or(Error::Gone)?;
        if message.header[0] & FLAG_ANSWER != 0
            && let Some(Endpoint::Pages(pages)) = table.of_activity(message.receiver)
        {
            self.take_page_answer(message.endpoint, pages, message, around);
            message
                .refund
                .into_iter()
                .for_each(|credit| self.refund(credit));
            return Ok(());
        }
        let receive = table.receive(message.receiver).ok_or(Error::Gone)?;
        let size = HEADER_SIZE + message.payload.len();
        if size as u64 > receive.slot_size() {
            return Err(Error::OutOfBounds);
        }
        let slot = receive.occupied.trailing_ones() as u8;
        if slot >= receive.slots {
            return Err(Error::NoSpace);
        }
        let at = receive.slot_address(slot);
        around
            .write_memory(at, &message.header)
            .and_then(|()| {
                around.write_memory(at.wrapping_add(HEADER_SIZE as u64), &message.payload)
            })
            .map_err(|_| Error::NoMemory)?;
        let header = Header::from_bytes(&message.header);
        let held = Held {
            // Of a forwarded message, the tile of its own sender.
            tile: header.tile.into(),
            activity: header.activity,
            answer: match header.answer_endpoint {
                NO_HEADER_ENDPOINT => None,
                answer => Some(answer.into()),
            },
            label: header.answer_label,
            cost: message.cost,
            replying: None,
        };
        table.occupy(receive, slot, held);
        around.message_stored();
        self.look_at(message.endpoint);
        if let Some(credit) = message.refund {
            self.refund(credit);
        }
        Ok(())
    }

    /// A message, or a part of a transfer, has ended.
    fn take_done(
        &mut self,
        command: CommandNumber,
        part: u64,
        error: Error,
        around: &mut dyn Surroundings,
    ) {
        let index = usize::from(command.bank);
        let Some(running) = self
            .state
            .banks
            .get_mut(index)
            .and_then(|bank| bank.running(command.number))
        else {
            return;
        };
        let word = running.word();
        let is_question = matches!(running.step, Step::Asks(_));
        match &mut running.step {
            Step::Sent(sent) | Step::Asks(sent) => {
                let cost = sent.message.cost;
                match (cost, error) {
                    (_, Error::None) | (None, _) => {}
                    (Some(credit), Error::Gone) => self.note_gone(credit),
                    (Some(credit), _) => self.refund(credit),
                }
                match is_question {
                    true => self.has_asked(index, error, around),
                    false => self.finish(index, error, 0, around),
                }
            }
            Step::Replied(_) => {
                if let Some(table) = self.state.endpoints.get_mut(usize::from(word.endpoint)) {
                    table.end_reply(word.slot, command, error == Error::None);
                }
                self.look_at(word.endpoint);
                self.finish(index, error, 0, around);
            }
            Step::Forwarded(_) => self.finish(index, error, 0, around),
            Step::Transfers(transfer) if transfer.awaits(part) => {
                transfer.answered(part);
                if error != Error::None {
                    transfer.fail(error);
                }
                running.repeats = 0;
                self.send_parts(index, around);
            }
            _ => {}
        }
    }

    /// Bytes that a `READ` has asked for arrive.
    fn take_data(
        &mut self,
        command: CommandNumber,
        part: u64,
        bytes: &[u8],
        around: &mut dyn Surroundings,
    ) {
        let packet = self.description.packet;
        let bank = self.state.banks.get_mut(usize::from(command.bank));
        let Some(running) = bank.and_then(|bank| bank.running(command.number)) else {
            return;
        };
        let Step::Transfers(transfer) = &running.step else {
            return;
        };
        let size = part_size(part, running.size, packet);
        if !transfer.awaits(part) || bytes.len() != size as usize {
            return;
        }
        let address = running.address.wrapping_add(part);
        let written = around.write_memory(address, bytes);
        let error = written.map_or(Error::NoMemory, |()| Error::None);
        self.take_done(command, part, error, around);
    }
}

/// The confirmation of a part of a command.
fn done(command: CommandNumber, part: u64, error: u8) -> PacketKind {
    PacketKind::Done {
        command,
        part,
        error,
    }
}
