//! Messages of programs that do not wait for their answers: a sender has an endpoint of this tile's unit then, and its
//! answers come to a gate.
use flick_abi::card::Error;

use super::activities::of_units;
use super::forwarding::{Outcome, Requester};
use super::gates::Gate;
use super::known_rights::{self, Kind};
use super::{Object, Sender, hart_calls};
use crate::dtu::Unit;
use crate::hart_unit::note;
use crate::kernel::{Answer, Caller, Done, Kernel, value};

/// What [`crate::tiles::Tiles::ports`] has for endpoints of senders.
const OF_SENDERS: u16 = u16::MAX - 1;

impl Kernel {
    /// The caller's hart could not send a message.
    pub fn send_message(&mut self, caller: Caller, arguments: [u64; 6], why: u64) -> Answer {
        let [number, message, size, answers, label, _] = arguments;
        let (place, object) = self.capability(caller, number)?;
        let Object::Sender(mut sender) = object else {
            return Err(Error::Invalid);
        };
        let (_, gate) = self.own_gate(caller, answers)?;
        sender = self.sender_now(sender);
        let unit = self.tiles.unit.filter(Unit::has_harts);
        let unit = unit.ok_or(Error::NoCall)?;
        if sender.own == 0 || sender.answers != answers {
            if sender.own == 0 {
                sender.own = self.free_endpoint(unit)?;
            } else if self.own_gate(caller, sender.answers).is_ok() {
                return Err(Error::Busy);
            }
            sender.answers = answers;
            sender.set_up(unit, &gate);
            self.tiles.ports[usize::from(sender.own)] = OF_SENDERS;
            self.root.capabilities.set(place, Object::Sender(sender));
        }
        #[cfg(feature = "host")]
        if self.is_of_host(caller) {
            return self.send_for_host(caller, (&sender, &gate), (message, size), label);
        }
        if why & 0xff == note::GONE {
            // The message was refused, so that its credit is not back.
            sender.set_up(unit, &gate);
            self.root.capabilities.set(place, Object::Sender(sender));
            return self.leave_sent(caller, (&sender, &gate), (message, size), label);
        }
        let right = hart_calls::SenderEndpoint {
            endpoint: sender.own as u8,
            answers: gate.endpoint as u8,
            activity: gate.activity,
            gate: answers,
        };
        known_rights::add(Kind::Sender, caller.process, number, right.words());
        self.load_again(caller, (message, size), why)
    }

    /// The receiver has no turn: the message is left for it.
    pub fn leave_sent(
        &mut self,
        caller: Caller,
        (sender, gate): (&Sender, &Gate),
        message: (u64, u64),
        label: u64,
    ) -> Answer {
        let activity = of_units(sender.receiver).ok_or(Error::Dead)?;
        let (at, size) = message;
        let mut words = [0; hart_calls::LONGEST as usize / 8];
        let words = words.get_mut(..size as usize / 8).ok_or(Error::Invalid)?;
        self.load_words(caller, at, words)?;
        let from = Requester {
            tile: self.map.tile.0 as u16,
            endpoint: sender.own,
            activity: gate.activity,
            answer: gate.endpoint,
            answer_label: label,
            label: sender.label,
        };
        let left = self.leave_request((activity, sender.endpoint), &from, words);
        if left == Outcome::Again && self.is_current(activity) {
            // It has its turn meanwhile, perhaps on another tile.
            return Ok(Done::Again);
        }
        left.for_caller()?;
        value(0)
    }

    /// A sender was revoked.
    pub fn remove_sender(&mut self, sender: Sender) {
        if sender.own != 0
            && let Some(unit) = self.tiles.unit
        {
            unit.clear_endpoint(sender.own);
            self.tiles.ports[usize::from(sender.own)] = u16::MAX;
        }
    }
}

impl Sender {
    /// Its endpoint has all credits.
    pub fn set_up(&self, unit: Unit, gate: &Gate) {
        let to = (self.tile, self.endpoint, self.receiver);
        unit.set_message_endpoint(self.own, gate.activity, to, (self.label, self.credits));
    }
}
