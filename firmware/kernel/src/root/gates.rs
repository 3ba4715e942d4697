//! Gates: receive endpoints of this tile's unit, whose messages programs take and answer.
use flick_abi::card::{Error, MAILBOX_BYTES, PAGE};
use flick_abi::dtu::{Error as UnitError, HEADER_SIZE, Header, NO_HEADER_ENDPOINT, SlotRecord};
use flick_kernel_core::threads::{List, Place, Wait};

use super::forwarding::Outcome;
use super::{Object, Root, Sender};
use crate::cache;
use crate::dtu::{KERNEL, LOG2_REQUEST, Message, PAYLOAD, Payload, Unit};
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};

/// Gates of the tile.
const GATES: usize = 32;
/// Messages of a gate that were not answered.
pub const SLOTS: u64 = PAGE >> LOG2_REQUEST;

/// A gate of a process.
#[derive(Clone, Copy, Debug)]
struct Gate {
    /// 0: there is none.
    endpoint: u16,
    frame: u64,
    /// Threads that wait for messages.
    readers: List,
    /// The next message is that of a call of this tile, if the unit has one, too.
    is_turn_of_calls: bool,
}

/// All of them.
#[derive(Debug)]
pub struct Gates {
    all: [Gate; GATES],
    /// Endpoints of those whose messages somebody waits for. The unit interrupts for them.
    waited: u64,
}

impl Gates {
    /// None.
    pub const fn new() -> Self {
        const NONE: Gate = Gate {
            endpoint: 0,
            frame: 0,
            readers: List::EMPTY,
            is_turn_of_calls: false,
        };
        Self {
            all: [NONE; GATES],
            waited: 0,
        }
    }
}

impl Root {
    /// The list of threads that wait for a gate's messages.
    pub fn readers(&mut self, gate: u8) -> &mut List {
        &mut self.gates.all[usize::from(gate)].readers
    }

    /// The gate that has an endpoint.
    pub fn gate_at(&self, endpoint: u16) -> Option<u8> {
        let mut all = self.gates.all.iter();
        let place = all.position(|gate| endpoint != 0 && gate.endpoint == endpoint)?;
        Some(place as u8)
    }

    /// Where its messages come.
    pub fn endpoint_of(&self, gate: u8) -> u16 {
        self.gates.all[usize::from(gate)].endpoint
    }
}

impl Kernel {
    /// A gate for the caller's process.
    pub fn create_gate(&mut self, caller: Caller) -> Answer {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let place = self
            .root
            .gates
            .all
            .iter()
            .position(|gate| gate.endpoint == 0);
        let place = place.ok_or(Error::NoMemory)?;
        let mut endpoints = unit.mailboxes();
        let endpoint = endpoints.find(|&n| self.tiles.ports[usize::from(n)] == u16::MAX);
        let endpoint = endpoint.ok_or(Error::NoMemory)?;
        let frame = self.frames.allocate().ok_or(Error::NoMemory)?;
        let granted = self.grant(caller.process, Object::Gate(place as u8), None);
        if granted.is_err() {
            self.frames.free(frame);
            return granted;
        }
        // No mailbox takes it.
        self.tiles.ports[usize::from(endpoint)] = u16::MAX - 1;
        self.root.gates.all[place] = Gate {
            endpoint,
            frame,
            readers: List::EMPTY,
            is_turn_of_calls: false,
        };
        unit.set_receiver(endpoint, KERNEL, frame, (LOG2_REQUEST, SLOTS as u8));
        granted
    }

    /// A gate was revoked. No capability to send to it is left.
    pub fn remove_gate(&mut self, gate: u8) {
        let place = usize::from(gate);
        while let Some(reader) = self.first_at_gate(gate) {
            self.end_wait(reader, Err(Error::NotFound));
        }
        let Gate {
            endpoint, frame, ..
        } = self.root.gates.all[place];
        let Some(unit) = self.tiles.unit else {
            return;
        };
        unit.clear_endpoint(endpoint);
        self.tiles.ports[usize::from(endpoint)] = u16::MAX;
        self.root.gates.all[place].endpoint = 0;
        self.frames.free(frame);
        self.listen_to_gate(endpoint, false);
        // Nobody will answer them.
        self.end_calls_to((self.map.tile.0 as u16, endpoint));
    }

    /// The server of a gate looks whether there is something for it.
    pub fn wake_server(&mut self, gate: u8) {
        while let Some(reader) = self.first_at_gate(gate) {
            self.restart(reader);
        }
        self.is_waited(gate);
    }

    /// The unit interrupts for a gate, if a thread waits for its messages.
    pub fn is_waited(&mut self, gate: u8) {
        let is_waited = self.first_at_gate(gate).is_some();
        self.listen_to_gate(self.root.endpoint_of(gate), is_waited);
    }

    pub fn first_at_gate(&mut self, gate: u8) -> Option<Place> {
        let readers = self.root.gates.all[usize::from(gate)].readers;
        self.dispatch.threads.in_list(&readers).next()
    }

    /// Somebody waits for messages of an endpoint, or nobody does any more.
    fn listen_to_gate(&mut self, endpoint: u16, is_waited: bool) {
        let bit = 1 << endpoint;
        let waited = self.root.gates.waited & !bit | u64::from(is_waited) << endpoint;
        if let Some(unit) = self.tiles.unit
            && waited != self.root.gates.waited
        {
            self.root.gates.waited = waited;
            unit.listen(waited);
        }
    }

    /// A capability to send to a gate.
    pub fn derive_sender(
        &mut self,
        caller: Caller,
        number: u64,
        label: u64,
        credits: u64,
    ) -> Answer {
        let (place, object) = self.capability(caller, number)?;
        if !(1..=SLOTS).contains(&credits) {
            return Err(Error::Invalid);
        }
        let (tile, endpoint, receiver) = match object {
            Object::Gate(gate) => {
                let endpoint = self.root.gates.all[usize::from(gate)].endpoint;
                (self.map.tile.0 as u16, endpoint, KERNEL)
            }
            Object::ActivityGate(activity) => self.gate_of(activity),
            _ => return Err(Error::Invalid),
        };
        let sender = Sender {
            tile,
            endpoint,
            receiver,
            credits: credits as u16,
            label,
        };
        self.grant(caller.process, Object::Sender(sender), Some(place))
    }

    fn own_gate(&self, caller: Caller, number: u64) -> Result<(u8, Gate), Error> {
        match self.capability(caller, number)?.1 {
            Object::Gate(gate) => Ok((gate, self.root.gates.all[usize::from(gate)])),
            _ => Err(Error::Invalid),
        }
    }

    /// The caller takes a message.
    pub fn receive(&mut self, caller: Caller, number: u64, buffer: u64, until: u64) -> Answer {
        let (place, gate) = self.own_gate(caller, number)?;
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let has_unread = unit.has_unread(gate.endpoint);
        let call = self.root.next_call(gate.endpoint);
        let is_empty = !has_unread && call.is_none();
        if let Some(end) = self.root.services.next_end(place, is_empty) {
            return self.tell_end(caller, buffer, end);
        }
        let call = call.filter(|_| !has_unread || gate.is_turn_of_calls);
        self.root.gates.all[usize::from(place)].is_turn_of_calls = call.is_none();
        if let Some(call) = call {
            let (slot, label) = self.take_call(caller, call, buffer)?;
            return Ok(Done::Values(slot, label));
        }
        if is_empty {
            if is_past(until) {
                return Err(Error::TimedOut);
            }
            let list = &mut self.root.gates.all[usize::from(place)].readers;
            self.dispatch.threads.append(list, caller.thread);
            self.listen_to_gate(gate.endpoint, true);
            // It may have come meanwhile: the unit interrupts at once then.
            return self.wait(caller.thread, Wait::Gate(place), until);
        }
        // A buffer that cannot be stored to is refused before a message is taken.
        self.store_words(caller, buffer, &Payload::default())?;
        let message: Option<Message> = unit.fetch_from(gate.endpoint, (gate.frame, LOG2_REQUEST));
        let Some(message) = message else {
            return Ok(Done::Again);
        };
        // It may have been sent by what was revoked, to a gate that had this endpoint before.
        if self.root.lost.has(message.header.tile.into()) {
            unit.acknowledge(gate.endpoint, message.slot);
            return Ok(Done::Again);
        }
        self.store_words(caller, buffer, &message.payload)?;
        let size = u64::from(message.header.size).min(MAILBOX_BYTES as u64);
        Ok(Done::Values(
            u64::from(message.slot) | size << 8,
            message.header.label,
        ))
    }

    /// The words of a message of the caller.
    pub fn load_message(
        &mut self,
        caller: Caller,
        (message, size): (u64, u64),
    ) -> Result<(Payload, usize), Error> {
        let mut payload = Payload::default();
        if size > PAYLOAD as u64 || !size.is_multiple_of(8) {
            return Err(Error::Invalid);
        }
        let words = size as usize / 8;
        self.load_words(caller, message, &mut payload[..words])?;
        Ok((payload, words))
    }

    /// The caller answers a message.
    pub fn answer_message(
        &mut self,
        caller: Caller,
        number: u64,
        slot: u64,
        message: (u64, u64),
    ) -> Answer {
        let (_, gate) = self.own_gate(caller, number)?;
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let (payload, words) = self.load_message(caller, message)?;
        if slot >= SLOTS {
            return self.answer_call(gate.endpoint, slot, &payload[..words]);
        }
        let mut answered = unit.answer_at(gate.endpoint, slot as u8, &payload[..words]);
        if answered == Err(UnitError::Gone) {
            match self.leave_gate_answer(&gate, slot as u8, &payload[..words]) {
                Outcome::Done => {
                    unit.acknowledge(gate.endpoint, slot as u8);
                    return value(0);
                }
                Outcome::Gone => {}
                // It got its turn meanwhile.
                Outcome::Again => {
                    answered = unit.answer_at(gate.endpoint, slot as u8, &payload[..words]);
                }
            }
        }
        match answered {
            Ok(()) => value(0),
            // The slot has no message.
            Err(UnitError::NoAnswer) => Err(Error::Invalid),
            Err(UnitError::NoSpace) => Err(Error::Again),
            Err(_) => {
                unit.acknowledge(gate.endpoint, slot as u8);
                Err(Error::Dead)
            }
        }
    }

    /// The sender has no turn: the answer is left for it.
    fn leave_gate_answer(&mut self, gate: &Gate, slot: u8, words: &[u64]) -> Outcome {
        let at = gate.frame + (u64::from(slot) << LOG2_REQUEST);
        cache::refresh(at, HEADER_SIZE as u64);
        // SAFETY: the slot is in the gate's frame, where the unit alone writes, and has a message.
        let header = unsafe { (at as *const [u8; HEADER_SIZE]).read_volatile() };
        let request = Header::from_bytes(&header);
        let mut three = [0; 3];
        let Some(all) = three.get_mut(..words.len()) else {
            return Outcome::Gone;
        };
        all.copy_from_slice(words);
        let asked = SlotRecord {
            tile: request.tile.into(),
            activity: request.activity,
            answer: (request.answer_endpoint != NO_HEADER_ENDPOINT)
                .then_some(request.answer_endpoint.into()),
            label: request.answer_label,
            credit: None,
        };
        let by = Header {
            tile: self.map.tile.0 as u8,
            endpoint: gate.endpoint as u8,
            activity: KERNEL,
            ..Header::from_bytes(&[0; HEADER_SIZE])
        };
        self.leave_answer(&asked, by, three)
    }

    /// Answers have come, and messages for gates.
    pub fn attend_gates(&mut self, unit: Unit) {
        self.take_gate_answers(unit);
        let events = unit.events() & self.root.gates.waited;
        let is_told = |gate: &Gate| gate.endpoint != 0 && events >> gate.endpoint & 1 != 0;
        for gate in 0..GATES {
            if events == 0 {
                break;
            }
            if is_told(&self.root.gates.all[gate]) {
                self.wake_server(gate as u8);
            }
        }
        self.wake_servers();
    }
}
