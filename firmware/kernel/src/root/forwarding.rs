//! Messages and data for activities that do not run (M3x, section 4.3): the kernel leaves them in the activity's image,
//! so that nobody waits for its turn but who needs its answer.
use flick_abi::accelerator::{self, CONTROL, Control, Notice, REQUESTS};
use flick_abi::card::Error;
use flick_abi::dtu::{
    self, ACCELERATOR_REGISTERS, Command, Endpoint, FLAG_ANSWER, Header, MemoryEndpoint,
    NO_HEADER_ENDPOINT, SlotRecord,
};

use super::activities::{Phase, of_units};
use super::activity_image::{Left, NotLeft};
use super::remote::NoAnswer;
use crate::dtu::Unit;
use crate::kernel::Kernel;

/// What a message to an activity came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The activity has it.
    Done,
    /// The sender makes its command again: the activity runs, or has no slot.
    Again,
    /// There is no such activity any more.
    Gone,
    /// The message has more words than the activity takes.
    TooLong,
}

impl Outcome {
    /// What a call of a program returns.
    pub fn for_caller(self) -> Result<(), Error> {
        match self {
            Self::Done => Ok(()),
            Self::Again => Err(Error::Again),
            Self::Gone => Err(Error::Dead),
            Self::TooLong => Err(Error::Invalid),
        }
    }
}

/// Who sends a request.
pub struct Requester {
    pub tile: u16,
    pub endpoint: u16,
    pub activity: u16,
    /// The endpoint that takes the answer, and its label.
    pub answer: u16,
    pub answer_label: u64,
    pub label: u64,
}

impl Kernel {
    /// Does what the module of an activity cannot, since the other activity does not run.
    pub fn forward(&mut self, unit: Unit, activity: u16, notice: Notice) {
        let outcome = match notice {
            Notice::Message {
                endpoint,
                label,
                words,
            } => self.forward_message(unit, activity, endpoint, (label, words)),
            Notice::Answer { slot, words } => self.forward_answer(unit, activity, slot, words),
            Notice::Data { .. } => self.forward_data(unit, activity, notice),
            Notice::Status { .. } => return,
        };
        let control = match outcome {
            Outcome::Done => return,
            Outcome::Again => Control::Again,
            Outcome::Gone | Outcome::TooLong => Control::Refused,
        };
        let tile = self.tile_of(activity);
        let register = ACCELERATOR_REGISTERS + CONTROL;
        // A tile that does not answer is found when its turn ends.
        let _: Result<(), NoAnswer> = unit.write_registers(tile, register, &[control as u64]);
    }

    /// Leaves a message for an activity, if it does not run.
    pub fn leave_message(&mut self, activity: u16, endpoint: u16, message: &Left<'_>) -> Outcome {
        let is_there = self.root.activities.is_used(activity);
        if !is_there || matches!(self.root.activities[activity].phase, Phase::Over(..)) {
            return Outcome::Gone;
        }
        if self.is_current(activity) {
            return Outcome::Again;
        }
        let of = &mut self.root.activities[activity];
        match of.image.leave(endpoint, message) {
            Ok(()) => {}
            Err(NotLeft::NoSlot) => return Outcome::Again,
            Err(NotLeft::TooLong) => return Outcome::TooLong,
        }
        self.root.forwarded += 1;
        if let Phase::Waits(waits) = of.phase
            && waits >> endpoint & 1 != 0
        {
            match of.group {
                None => self.make_ready(activity),
                Some(group) => self.consider_group(group),
            }
        }
        Outcome::Done
    }

    fn forward_message(
        &mut self,
        unit: Unit,
        activity: u16,
        endpoint: u16,
        (label, words): (u64, [u64; 3]),
    ) -> Outcome {
        let tile = self.tile_of(activity);
        let image = &mut self.root.activities[activity].image;
        // The message was refused, so that its credit is not back.
        let Some(Endpoint::Send(mut send)) = image.fill_credits(endpoint) else {
            return Outcome::Gone;
        };
        send.tile = self.tile_now(send.receiver, send.tile);
        let full = Some(Endpoint::Send(send));
        if self.put_endpoint(activity, endpoint, full).is_err() {
            return Outcome::Gone;
        }
        let Some(receiver) = of_units(send.receiver) else {
            return Outcome::Gone;
        };
        let from = Requester {
            tile,
            endpoint,
            activity: send.activity,
            answer: accelerator::ANSWERS,
            answer_label: label,
            label: send.label,
        };
        let left = self.leave_request((receiver, send.endpoint), &from, &words);
        if left == Outcome::Done && self.tile_of(receiver) == tile {
            // Its answer cannot come before the receiver has the tile.
            self.root.activities[activity].lets_answer = true;
            self.tell_to_yield(unit, self.root.activities[activity].place);
        }
        left
    }

    /// Leaves a request for an activity, at an endpoint.
    pub fn leave_request(
        &mut self,
        (receiver, endpoint): (u16, u16),
        from: &Requester,
        words: &[u64],
    ) -> Outcome {
        let header = Header {
            flags: 0,
            tile: from.tile as u8,
            endpoint: from.endpoint as u8,
            answer_endpoint: from.answer as u8,
            size: 0,
            activity: from.activity,
            answer_label: from.answer_label,
            label: from.label,
        };
        let record = SlotRecord {
            tile: from.tile,
            activity: from.activity,
            answer: Some(from.answer),
            label: from.answer_label,
            credit: None,
        };
        let message = Left {
            header,
            words,
            record,
        };
        self.leave_message(receiver, endpoint, &message)
    }

    fn forward_answer(&mut self, unit: Unit, activity: u16, slot: u8, words: [u64; 3]) -> Outcome {
        let tile = self.tile_of(activity);
        if slot >= accelerator::REQUESTS_SLOTS {
            return Outcome::Gone;
        }
        let at = dtu::slot_record(REQUESTS, slot);
        let mut record = [0; 4];
        if unit.read_registers(tile, at, &mut record).is_err() {
            return Outcome::Gone;
        }
        let Some(asked) = SlotRecord::from_words(record) else {
            return Outcome::Done;
        };
        let header = Header {
            tile: tile as u8,
            endpoint: REQUESTS as u8,
            ..Header::from_bytes(&[0; dtu::HEADER_SIZE])
        };
        let left = self.leave_answer(&asked, header, &words);
        if left == Outcome::Again {
            return match self.mend_record(unit, (tile, at), &asked) {
                Ok(()) => Outcome::Again,
                Err(NoAnswer) => Outcome::Gone,
            };
        }
        // The unit gives no credit for it: its sender's endpoint has all of them when it runs again.
        let _: Result<(), NoAnswer> = unit.write_registers(tile, at, &SlotRecord::NONE);
        // Whoever is gone needs no answer.
        Outcome::Done
    }

    /// Leaves an answer to who does not run. The header says who answers.
    pub fn leave_answer(&mut self, asked: &SlotRecord, by: Header, words: &[u64]) -> Outcome {
        let (Some(endpoint), Some(receiver)) = (asked.answer, of_units(asked.activity)) else {
            return Outcome::Gone;
        };
        let header = Header {
            flags: FLAG_ANSWER,
            answer_endpoint: NO_HEADER_ENDPOINT,
            label: asked.label,
            ..by
        };
        let record = SlotRecord {
            tile: by.tile.into(),
            activity: by.activity,
            answer: None,
            label: 0,
            credit: None,
        };
        let message = Left {
            header,
            words,
            record,
        };
        self.leave_message(receiver, endpoint, &message)
    }

    fn forward_data(&mut self, unit: Unit, activity: u16, notice: Notice) -> Outcome {
        let Notice::Data {
            endpoint,
            is_write,
            offset,
            address,
            size,
        } = notice
        else {
            return Outcome::Gone;
        };
        let image = &mut self.root.activities[activity].image;
        let Some(Endpoint::Memory(memory)) = image.endpoint(endpoint) else {
            return Outcome::Gone;
        };
        let allowed = if is_write {
            memory.can_write
        } else {
            memory.can_read
        };
        let is_within = offset
            .checked_add(size)
            .is_some_and(|end| end <= memory.size);
        let receiver =
            of_units(memory.receiver).filter(|&other| self.root.activities.is_used(other));
        let own = self.facts_of(activity);
        let own_offset = address.checked_sub(own.base);
        let is_own = own_offset
            .and_then(|offset| offset.checked_add(size))
            .is_some_and(|end| end <= own.size);
        let (Some(receiver), true) = (receiver, allowed && is_within && is_own) else {
            return Outcome::Gone;
        };
        if self.is_current(receiver) {
            let now = MemoryEndpoint {
                tile: self.tile_of(receiver),
                ..memory
            };
            let now = Some(Endpoint::Memory(now));
            return match self.put_endpoint(activity, endpoint, now) {
                Ok(()) => Outcome::Again,
                Err(NoAnswer) => Outcome::Gone,
            };
        }
        let there = self.facts_of(receiver);
        let of = &mut self.root.activities[receiver];
        let at = of.image.memory((memory.address - there.base) + offset);
        let command = if is_write {
            Command::Read
        } else {
            Command::Write
        };
        match unit.move_memory(command, (own.tile, address), at, size) {
            Ok(()) => {
                self.root.forwarded += 1;
                Outcome::Done
            }
            Err(NoAnswer) => Outcome::Gone,
        }
    }
}
