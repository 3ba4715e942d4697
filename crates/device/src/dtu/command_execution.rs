//! What the unit does for a command of a bank.
use flick_abi::dtu::{
    Command, CommandWord, Endpoint, Error, FLAG_ANSWER, FLAG_CREDIT, HEADER_SIZE, Header,
    NO_ANSWER_ENDPOINT, NO_HEADER_ENDPOINT, Outcome,
};

use super::Dtu;
use super::bank_state::{Running, Step, command_number};
use super::confirmation::Unconfirmed;
use super::data_transfer::DataTransfer;
use super::packet::{CommandNumber, Message, Packet, PacketKind};
use crate::device::{Surroundings, Time};

/// How the execution of a command goes on.
pub(super) enum Next {
    /// It has ended, with a value.
    Ends(u64),
    /// It waits for packets or for time.
    Waits(Step),
}

/// The step after the first, or the error.
pub(super) type Execution = Result<Next, Error>;

impl Dtu {
    /// Software starts a command.
    pub(super) fn start(&mut self, index: usize, bits: u64, around: &mut dyn Surroundings) {
        let is_enabled = self.state.enable >> index & 1 != 0;
        let command_time = self.description.command;
        let bank = &mut self.state.banks[index];
        let word = CommandWord::from_bits(bits);
        if bank.running.is_some() {
            return;
        }
        let is_known = Command::from_number(word.command).is_some();
        let refusal = match (is_enabled, is_known) {
            (false, _) => Error::Aborted,
            (_, false) => Error::NoCommand,
            _ => {
                bank.start(word);
                if command_time == 0 {
                    return self.time_is_over(index, around);
                }
                around.schedule(index as u32, around.now().saturating_add(command_time));
                return;
            }
        };
        bank.result = outcome(refusal, 0);
    }

    /// The time has come for which the bank's command waits.
    pub(super) fn time_is_over(&mut self, index: usize, around: &mut dyn Surroundings) {
        let now = around.now();
        let Some(running) = &self.state.banks[index].running else {
            return;
        };
        match &running.step {
            Step::Starts => self.execute(index, running.clone(), around),
            &Step::Sleeps(until) if now >= until => {
                self.finish(index, Error::None, 0, around);
            }
            Step::Sleeps(_) | Step::Faults { .. } => {}
            Step::Sent(_)
            | Step::Replied(_)
            | Step::Forwarded(_)
            | Step::Asks(_)
            | Step::Transfers(_) => {
                self.send_again(index, around);
            }
        }
    }

    fn execute(&mut self, index: usize, running: Running, around: &mut dyn Surroundings) {
        let next = match running.command() {
            Some(Command::Send) => self.execute_send(index, &running, around),
            Some(Command::Reply) => self.execute_reply(index, &running, around),
            Some(Command::Read | Command::Write) => self.transfer(index, &running, around),
            Some(Command::Fetch) => self.execute_fetch(&running),
            Some(Command::Acknowledge) => self.execute_acknowledge(&running, around),
            Some(Command::Sleep) => Ok(Next::Waits(Step::Sleeps(self.wakes_at(&running, around)))),
            Some(Command::Forward) => self.execute_forward(index, &running, around),
            None => Err(Error::NoCommand),
        };
        self.go_on_with(index, next, around);
        self.update(around);
    }

    /// What follows the execution of a command.
    pub(super) fn go_on_with(
        &mut self,
        index: usize,
        next: Execution,
        around: &mut dyn Surroundings,
    ) {
        match next {
            Ok(Next::Ends(value)) => self.finish(index, Error::None, value, around),
            Err(error) => self.finish(index, error, 0, around),
            Ok(Next::Waits(step)) => {
                if let Some(running) = &mut self.state.banks[index].running {
                    running.step = step;
                }
                self.send_parts(index, around);
            }
        }
    }

    /// The command of a bank ends.
    pub(super) fn finish(
        &mut self,
        index: usize,
        error: Error,
        value: u64,
        around: &mut dyn Surroundings,
    ) {
        let bank = &mut self.state.banks[index];
        bank.running = None;
        bank.result = outcome(error, value);
        around.schedule(index as u32, Time::MAX);
    }

    /// A kernel aborts the command of a bank: its first part. The second is that packets under way
    /// come back.
    pub(super) fn abort(&mut self, index: usize, around: &mut dyn Surroundings) {
        self.state.enable &= !(1 << index);
        let Some(running) = &mut self.state.banks[index].running else {
            return;
        };
        running.is_aborted = true;
        let can_be_made_again = matches!(
            running.command(),
            Some(Command::Read | Command::Write | Command::Sleep)
        );
        match &mut running.step {
            Step::Transfers(transfer) => transfer.abort(running.size),
            Step::Starts | Step::Sleeps(_) | Step::Faults { .. } if can_be_made_again => {
                self.finish(index, Error::Aborted, 0, around);
            }
            _ => {}
        }
    }

    /// The header and payload of a message.
    fn message(
        &self,
        header: Header,
        most: u64,
        running: &Running,
        around: &mut dyn Surroundings,
    ) -> Result<(Header, Vec<u8>), Error> {
        let most = most.min(self.description.message.into());
        let whole = running.size.saturating_add(HEADER_SIZE as u64);
        if whole > most {
            return Err(Error::OutOfBounds);
        }
        let mut payload = vec![0; running.size as usize];
        read_local(running, 0, &mut payload, around)?;
        let header = Header {
            tile: self.description.tile as u8,
            size: running.size as u16,
            activity: running.activity,
            ..header
        };
        Ok((header, payload))
    }

    fn execute_send(
        &mut self,
        index: usize,
        running: &Running,
        around: &mut dyn Surroundings,
    ) -> Execution {
        let word = running.word();
        let Some(Endpoint::Send(send)) = self.endpoint_of(word.endpoint, running.activity) else {
            return Err(Error::NoEndpoint);
        };
        let answer = match word.answer {
            NO_ANSWER_ENDPOINT => NO_HEADER_ENDPOINT,
            answer => match self.endpoint_of(answer, running.activity) {
                Some(Endpoint::Receive(_)) => answer as u8,
                _ => return Err(Error::NoEndpoint),
            },
        };
        if send.credits == 0 {
            return Err(Error::NoCredits);
        }
        let header = Header {
            endpoint: word.endpoint as u8,
            answer_endpoint: answer,
            answer_label: running.label,
            label: send.label,
            ..Header::default()
        };
        let (header, payload) = self.message(header, send.message_size(), running, around)?;
        let number = command_number(index, self.state.banks[index].number);
        let table = &mut self.state.endpoints[usize::from(word.endpoint)];
        let credit = table.spend(send, word.endpoint);
        let message = Message {
            endpoint: send.endpoint,
            receiver: send.receiver,
            header: header.bytes(),
            payload,
            cost: Some(credit),
            refund: None,
        };
        let sent = self.send_message(send.tile, number, message, around);
        if sent.is_err() {
            self.refund(credit);
        }
        Ok(Next::Waits(Step::Sent(sent?)))
    }

    fn execute_reply(
        &mut self,
        index: usize,
        running: &Running,
        around: &mut dyn Surroundings,
    ) -> Execution {
        let word = running.word();
        let number = command_number(index, self.state.banks[index].number);
        let Some(Endpoint::Receive(_)) = self.endpoint_of(word.endpoint, running.activity) else {
            return Err(Error::NoEndpoint);
        };
        let table = &mut self.state.endpoints[usize::from(word.endpoint)];
        let held = table.held(word.slot).ok_or(Error::NoAnswer)?.clone();
        let answer = held.answer.ok_or(Error::NoAnswer)?;
        let credit_flag = if held.cost.is_some() { FLAG_CREDIT } else { 0 };
        let header = Header {
            flags: FLAG_ANSWER | credit_flag,
            endpoint: word.endpoint as u8,
            answer_endpoint: NO_HEADER_ENDPOINT,
            label: held.label,
            ..Header::default()
        };
        let (header, payload) = self.message(header, u64::MAX, running, around)?;
        let message = Message {
            endpoint: answer,
            receiver: held.activity,
            header: header.bytes(),
            payload,
            cost: None,
            refund: held.cost,
        };
        let sent = self.send_message(held.tile, number, message, around)?;
        let table = &mut self.state.endpoints[usize::from(word.endpoint)];
        if let Some(held) = table.held(word.slot) {
            held.replying = Some(number);
        }
        Ok(Next::Waits(Step::Replied(sent)))
    }

    /// Sends a message for the first time.
    pub(super) fn send_message(
        &mut self,
        tile: u16,
        number: CommandNumber,
        message: Message,
        around: &mut dyn Surroundings,
    ) -> Result<Unconfirmed, Error> {
        let kind = PacketKind::Message(number, message.clone());
        match self.transmit(tile, kind, around) {
            true => Ok(Unconfirmed { tile, message }),
            false => Err(Error::Unreachable),
        }
    }

    fn execute_fetch(&mut self, running: &Running) -> Execution {
        let number = running.word().endpoint;
        let Some(Endpoint::Receive(receive)) = self.endpoint_of(number, running.activity) else {
            return Err(Error::NoEndpoint);
        };
        let slot = self.state.endpoints[usize::from(number)].fetch(receive);
        self.look_at(number);
        Ok(Next::Ends(
            slot.map_or(0, |slot| receive.slot_address(slot)),
        ))
    }

    fn execute_acknowledge(
        &mut self,
        running: &Running,
        around: &mut dyn Surroundings,
    ) -> Execution {
        let word = running.word();
        let Some(Endpoint::Receive(receive)) = self.endpoint_of(word.endpoint, running.activity)
        else {
            return Err(Error::NoEndpoint);
        };
        let table = &mut self.state.endpoints[usize::from(word.endpoint)];
        let held = table
            .free(receive, word.slot)
            .map_err(|_| Error::NoAnswer)?;
        self.look_at(word.endpoint);
        if let Some(held) = held
            && let Some(credit) = held.cost
        {
            self.give_back(held.tile, credit, around);
        }
        Ok(Next::Ends(0))
    }

    fn wakes_at(&self, running: &Running, around: &mut dyn Surroundings) -> Time {
        match running.size {
            0 => Time::MAX,
            size => self.in_cycles(size.into(), around),
        }
    }

    /// The time after so many cycles.
    pub(super) fn in_cycles(&self, cycles: u128, around: &mut dyn Surroundings) -> Time {
        let femtoseconds = cycles * u128::from(self.description.cycle);
        let until = u128::from(around.now()) + femtoseconds / 1000;
        Time::try_from(until).unwrap_or(Time::MAX)
    }

    /// The memory or the registers of a `READ` or `WRITE`, if the endpoint allows it.
    fn transfer(
        &mut self,
        index: usize,
        running: &Running,
        around: &mut dyn Surroundings,
    ) -> Execution {
        let endpoint = self.endpoint_of(running.word().endpoint, running.activity);
        let memory = match endpoint {
            Some(Endpoint::Memory(memory)) => memory,
            Some(Endpoint::Registers(registers)) => {
                return self.registers_transfer(running, registers);
            }
            Some(Endpoint::Pages(_)) => return self.execute_by_pages(index, running, around),
            _ => return Err(Error::NoEndpoint),
        };
        let allows = match running.command() {
            Some(Command::Read) => memory.can_read,
            _ => memory.can_write,
        };
        if !allows {
            return Err(Error::NoRight);
        }
        let end = running.offset.checked_add(running.size);
        if end.is_none_or(|end| end > memory.size) {
            return Err(Error::OutOfBounds);
        }
        let Some(last) = running.size.checked_sub(1) else {
            return Ok(Next::Ends(0));
        };
        let remote = memory.address.checked_add(running.offset);
        match remote.filter(|remote| running.in_window && remote.checked_add(last).is_some()) {
            None => Err(Error::NoMemory),
            Some(remote) => Ok(Next::Waits(Step::Transfers(DataTransfer::new(
                memory.tile,
                remote,
                memory.receiver,
            )))),
        }
    }

    /// Sends the packets of a transfer that can be sent, and ends the command if all were answered.
    /// It sets the time at which a sleeping bank wakes, or at which packets are sent again.
    pub(super) fn send_parts(&mut self, index: usize, around: &mut dyn Surroundings) {
        let packet = self.description.packet;
        let number = command_number(index, self.state.banks[index].number);
        let Some(mut running) = self.state.banks[index].running.take() else {
            return;
        };
        let until = match running.step {
            Step::Sleeps(until) => until,
            Step::Faults { .. } => Time::MAX,
            _ => self.due(running.repeats, around),
        };
        around.schedule(index as u32, until);
        let mut ended = None;
        if let Step::Transfers(mut transfer) = running.step.clone() {
            while let Some((part, size)) = transfer.next(running.size, packet) {
                let remote = transfer.remote.wrapping_add(part);
                match part_packet(&running, number, part, remote, size, around) {
                    Err(error) => transfer.fail(error),
                    Ok(kind) => match self.transmit(transfer.tile, kind, around) {
                        true => transfer.send(size),
                        false => transfer.fail(Error::Unreachable),
                    },
                }
            }
            ended = transfer.ended(running.size);
            running.step = Step::Transfers(transfer);
        }
        self.state.banks[index].running = Some(running);
        if let Some(error) = ended {
            self.finish(index, error, 0, around);
        }
    }

    /// Sends a packet to a tile, which may be the own one. False: no link leads there.
    pub(super) fn transmit(
        &mut self,
        to: u16,
        kind: PacketKind,
        around: &mut dyn Surroundings,
    ) -> bool {
        let from = self.description.tile;
        let packet = Packet { from, to, kind };
        if to != from {
            return around.send(packet);
        }
        if self.state.looped.is_empty() {
            self.schedule_looped(around);
        }
        self.state.looped.push_back(packet);
        true
    }
}

/// The packet for a part of a transfer, at `address` of the other tile.
pub(super) fn part_packet(
    running: &Running,
    command: CommandNumber,
    part: u64,
    address: u64,
    size: u32,
    around: &mut dyn Surroundings,
) -> Result<PacketKind, Error> {
    let (is_of_registers, receiver) = match &running.step {
        Step::Transfers(transfer) => (transfer.is_of_registers, transfer.receiver),
        _ => (false, 0),
    };
    let register = address;
    if running.command() == Some(Command::Read) {
        return Ok(match is_of_registers {
            true => PacketKind::ReadRegisters {
                command,
                part,
                register,
                size,
            },
            false => PacketKind::Read {
                command,
                part,
                address,
                receiver,
                size,
            },
        });
    }
    let mut bytes = vec![0; size as usize];
    read_local(running, part, &mut bytes, around)?;
    Ok(match is_of_registers {
        true => PacketKind::WriteRegisters {
            command,
            part,
            register,
            bytes,
        },
        false => PacketKind::Write {
            command,
            part,
            address,
            receiver,
            bytes,
        },
    })
}

/// Reads a part of the command's range in the own tile.
pub(super) fn read_local(
    running: &Running,
    part: u64,
    bytes: &mut [u8],
    around: &mut dyn Surroundings,
) -> Result<(), Error> {
    if bytes.is_empty() {
        return Ok(());
    }
    let address = running.address.checked_add(part);
    let address = address
        .filter(|_| running.in_window)
        .ok_or(Error::NoMemory)?;
    around
        .read_memory(address, bytes)
        .map_err(|_| Error::NoMemory)
}

/// The bits of `RESULT`.
fn outcome(error: Error, value: u64) -> u64 {
    let error = error as u8;
    Outcome { error, value }.bits()
}
