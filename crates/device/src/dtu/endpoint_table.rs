//! The endpoints of a unit: their words, and what the unit knows of the messages in their slots.
use flick_abi::dtu::{
    Endpoint, MOST_SLOTS, NO_ACTIVITY, RECEIVE_ENDPOINTS, ReceiveEndpoint, SendEndpoint, SlotRecord,
};
use serde::{Deserialize, Serialize};

use super::packet::{CommandNumber, Credit};

/// A message in a slot. The unit does not believe the header in memory, which software can write.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Held {
    /// The tile that has sent it.
    pub tile: u16,
    /// The activity that has sent it.
    pub activity: u16,
    /// The sender's endpoint that takes an answer.
    pub answer: Option<u16>,
    /// The label that an answer shall carry.
    pub label: u64,
    /// The credit that goes back to the sender.
    pub cost: Option<Credit>,
    /// The `REPLY` that is under way.
    pub replying: Option<CommandNumber>,
}

/// An endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct EndpointState {
    words: [u64; 4],
    /// How often word 0 was written.
    setup: u32,
    /// Messages that were refused because their receiver was suspended, and that the root has not taken.
    gone: u32,
    /// The unread slots, the oldest first.
    pub(super) unread: Vec<u8>,
    /// The messages of which the unit knows the sender, in the order of their slots.
    held: Vec<(u8, Held)>,
}

/// The bits of the first `slots` slots.
fn slot_bits(slots: u8) -> u32 {
    1_u32.checked_shl(slots.into()).unwrap_or(0).wrapping_sub(1)
}

impl EndpointState {
    /// A word as software reads it.
    pub fn word(&self, word: usize) -> u64 {
        self.words[word]
    }

    /// How often it was set up.
    pub fn setup(&self) -> u32 {
        self.setup
    }

    /// A kernel writes a word. `number` is the endpoint's, and `slots` the most that the unit has.
    pub fn write_word(&mut self, word: usize, value: u64, number: u16, slots: u8) {
        self.words[word] = value;
        if word == 0 {
            self.setup = self.setup.wrapping_add(1);
            self.gone = 0;
            self.unread.clear();
            self.held.clear();
            match self.endpoint() {
                Some(Endpoint::Receive(_)) => {
                    self.words[3] = 0;
                    if number >= RECEIVE_ENDPOINTS {
                        self.words[0] &= !15;
                    }
                }
                Some(Endpoint::Pages(_)) => self.words[3] = 0,
                _ => {}
            }
        }
        if let Some(Endpoint::Receive(receive)) = self.endpoint() {
            self.set_slots(receive, slots);
        }
    }

    /// Makes the words of a receive endpoint possible, and the other facts agree with them.
    fn set_slots(&mut self, mut receive: ReceiveEndpoint, slots: u8) {
        receive.slots = receive.slots.min(slots);
        receive.occupied &= slot_bits(receive.slots);
        receive.unread &= receive.occupied;
        self.words = Endpoint::Receive(receive).words();
        // A saved state may have any numbers.
        let is_in = |bits: u32, slot: u8| slot < MOST_SLOTS && bits >> slot & 1 != 0;
        self.held.retain(|&(slot, _)| is_in(receive.occupied, slot));
        self.unread.retain(|&slot| is_in(receive.unread, slot));
        for slot in (0..MOST_SLOTS).filter(|&slot| receive.unread >> slot & 1 != 0) {
            if !self.unread.contains(&slot) {
                self.unread.push(slot);
            }
        }
    }

    /// The endpoint, whoever owns it.
    pub fn endpoint(&self) -> Option<Endpoint> {
        Endpoint::from_words(self.words)
    }

    /// The endpoint, if the activity owns it.
    pub fn of_activity(&self, activity: u16) -> Option<Endpoint> {
        self.endpoint()
            .filter(|endpoint| activity != NO_ACTIVITY && endpoint.activity() == activity)
    }

    /// The receive endpoint of an activity.
    pub fn receive(&self, activity: u16) -> Option<ReceiveEndpoint> {
        match self.of_activity(activity) {
            Some(Endpoint::Receive(receive)) => Some(receive),
            _ => None,
        }
    }

    /// The owner of a receive endpoint with unread messages.
    pub fn unread_owner(&self) -> Option<u16> {
        match self.endpoint() {
            Some(Endpoint::Receive(receive)) if receive.unread != 0 => Some(receive.activity),
            _ => None,
        }
    }

    /// Changes the words, and nothing else.
    pub fn set(&mut self, endpoint: Endpoint) {
        self.words = endpoint.words();
    }

    /// Takes a credit of the send endpoint, which has one.
    pub fn spend(&mut self, mut send: SendEndpoint, number: u16) -> Credit {
        send.credits -= 1;
        self.set(Endpoint::Send(send));
        Credit {
            endpoint: number,
            setup: self.setup,
        }
    }

    /// A credit comes back.
    pub fn refund(&mut self, credit: Credit) {
        if let Some(Endpoint::Send(mut send)) = self.endpoint()
            && credit.setup == self.setup
            && send.credits < send.most_credits
        {
            send.credits += 1;
            self.set(Endpoint::Send(send));
        }
    }

    /// A message of the send endpoint was refused because its receiver was suspended.
    pub fn note_gone(&mut self, credit: Credit) {
        if credit.setup == self.setup {
            self.gone = self.gone.saturating_add(1);
        }
    }

    /// How often the endpoint was set up, and how many such messages there are.
    pub fn gone_word(&self) -> u64 {
        u64::from(self.setup) | u64::from(self.gone) << 32
    }

    /// The root takes such a message, to send it later. False: there is none.
    pub fn take_gone(&mut self) -> bool {
        let left = self.gone.checked_sub(1);
        self.gone = left.unwrap_or(0);
        left.is_some()
    }

    /// What is known of the message in a slot.
    pub fn known(&self, slot: u8) -> Option<&Held> {
        let mut all = self.held.iter();
        all.find(|(other, _)| *other == slot).map(|(_, held)| held)
    }

    /// The root says what is known of the message in a slot. False: there is no message, or its answer is under
    /// way.
    pub fn set_known(&mut self, slot: u8, record: Option<SlotRecord>) -> bool {
        let occupied = match self.endpoint() {
            Some(Endpoint::Receive(receive)) => receive.occupied,
            _ => 0,
        };
        let is_answered = self.known(slot).is_some_and(|held| held.replying.is_some());
        if slot >= MOST_SLOTS || occupied >> slot & 1 == 0 || is_answered {
            return false;
        }
        self.held.retain(|&(other, _)| other != slot);
        if let Some(record) = record {
            self.hold(slot, Held::of_record(record));
        }
        true
    }

    fn hold(&mut self, slot: u8, held: Held) {
        let at = self.held.partition_point(|&(other, _)| other < slot);
        self.held.insert(at, (slot, held));
    }

    /// A slot has a new message.
    pub fn occupy(&mut self, mut receive: ReceiveEndpoint, slot: u8, held: Held) {
        receive.occupied |= 1 << slot;
        receive.unread |= 1 << slot;
        self.set(Endpoint::Receive(receive));
        self.unread.push(slot);
        self.hold(slot, held);
    }

    fn in_slot(&mut self, slot: u8) -> Option<&mut Held> {
        let mut all = self.held.iter_mut();
        all.find(|(other, _)| *other == slot).map(|(_, held)| held)
    }

    /// Marks the oldest unread message read.
    pub fn fetch(&mut self, mut receive: ReceiveEndpoint) -> Option<u8> {
        if self.unread.is_empty() {
            return None;
        }
        let slot = self.unread.remove(0);
        receive.unread &= !(1 << slot);
        self.set(Endpoint::Receive(receive));
        Some(slot)
    }

    /// The message in a slot, unless a `REPLY` is under way.
    pub fn held(&mut self, slot: u8) -> Option<&mut Held> {
        self.in_slot(slot).filter(|held| held.replying.is_none())
    }

    /// Frees a slot. `Err` if it has no message, or a `REPLY` is under way.
    pub fn free(
        &mut self,
        mut receive: ReceiveEndpoint,
        slot: u8,
    ) -> Result<Option<Held>, NoMessage> {
        let busy = self
            .in_slot(slot)
            .is_some_and(|held| held.replying.is_some());
        if busy || slot >= receive.slots || receive.occupied >> slot & 1 == 0 {
            return Err(NoMessage);
        }
        receive.occupied &= !(1 << slot);
        receive.unread &= !(1 << slot);
        self.set(Endpoint::Receive(receive));
        self.unread.retain(|&unread| unread != slot);
        let at = self.held.iter().position(|&(other, _)| other == slot);
        Ok(at.map(|at| self.held.remove(at).1))
    }

    /// A `REPLY` has ended. Frees the slot if the answer has arrived.
    pub fn end_reply(&mut self, slot: u8, command: CommandNumber, arrived: bool) {
        let Some(held) = self.in_slot(slot) else {
            return;
        };
        if held.replying == Some(command) {
            held.replying = None;
            if let (true, Some(Endpoint::Receive(receive))) = (arrived, self.endpoint()) {
                // The slot has a message, and no other reply to it.
                let _ = self.free(receive, slot);
            }
        }
    }

    /// The `REPLY`s that are under way, and the slots of their messages.
    pub fn replies(&self) -> impl Iterator<Item = (u8, CommandNumber)> {
        let held = self.held.iter();
        held.filter_map(|&(slot, ref held)| Some((slot, held.replying?)))
    }

    /// The credits that the messages in its slots have cost, and the tiles that have spent them.
    pub fn costs(&self) -> impl Iterator<Item = (u16, Credit)> {
        let held = self.held.iter();
        held.filter_map(|(_, held)| Some((held.tile, held.cost?)))
    }

    /// Whether a state can be that of the endpoint with this number.
    pub fn is_possible(&self, number: u16, slots: u8) -> bool {
        let mut again = self.clone();
        match self.endpoint() {
            Some(Endpoint::Receive(receive)) => {
                again.set_slots(receive, slots);
                let mut sorted = self.unread.clone();
                sorted.sort_unstable();
                sorted.dedup();
                let is_sorted = self.held.is_sorted_by(|a, b| a.0 < b.0);
                again == *self
                    && is_sorted
                    && sorted.len() == self.unread.len()
                    && number < RECEIVE_ENDPOINTS
            }
            _ => self.unread.is_empty() && self.held.is_empty(),
        }
    }
}

/// The slot has no message.
pub(super) struct NoMessage;
