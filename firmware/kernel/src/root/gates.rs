//! Gates: receive endpoints of this tile's unit, whose messages programs take and answer; and calls of programs to
//! gates of any tile.
use flick_abi::card::{Error, MAILBOX_BYTES, PAGE};
use flick_abi::dtu::{Error as UnitError, RECEIVE_ENDPOINTS};
use flick_kernel_core::threads::{List, Place, State, Wait};

use super::{Object, Root, Sender};
use crate::dtu::{KERNEL, LOG2_REQUEST, Message, PAYLOAD, Payload, REPLIES, Unit};
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};

/// Gates of the tile.
const GATES: usize = 32;
/// Messages of a gate that were not answered.
const SLOTS: u64 = PAGE >> LOG2_REQUEST;
/// Calls to gates that wait: each has room for its answer.
const CALLS: usize = SLOTS as usize;
/// Those of a process: others find room, too.
const CALLS_OF_PROCESS: usize = CALLS / 2;

/// A gate of a process.
#[derive(Clone, Copy, Debug)]
struct Gate {
    /// 0: there is none.
    endpoint: u16,
    frame: u64,
    /// Threads that wait for messages.
    readers: List,
}

/// All of them.
#[derive(Debug)]
pub struct Gates([Gate; GATES]);

impl Gates {
    /// None.
    pub const fn new() -> Self {
        const NONE: Gate = Gate {
            endpoint: 0,
            frame: 0,
            readers: List::EMPTY,
        };
        Self([NONE; GATES])
    }
}

/// A thread waits for an answer.
#[derive(Clone, Copy, Debug)]
struct OpenCall {
    thread: u64,
    process: u16,
    /// The label of its answer: its place (7:0), and above how many calls were before it. An answer that comes too
    /// late is of no call.
    label: u64,
    /// Where the answer goes.
    buffer: u64,
    /// Whose it is: tile and endpoint.
    gate: (u16, u16),
}

/// The calls that wait, by the places of their answers.
#[derive(Debug)]
pub struct OpenCalls {
    all: [Option<OpenCall>; CALLS],
    before: u64,
}

impl OpenCalls {
    /// None.
    pub const fn new() -> Self {
        Self {
            all: [None; CALLS],
            before: 0,
        }
    }
}

impl Root {
    /// The list of threads that wait for a gate's messages.
    pub fn readers(&mut self, gate: u8) -> &mut List {
        &mut self.gates.0[usize::from(gate)].readers
    }

    /// A thread does not wait for its answer any more.
    pub fn forget_call(&mut self, place: u8) {
        self.calls.all[usize::from(place)] = None;
    }
}

impl Kernel {
    /// A gate for the caller's process.
    pub fn create_gate(&mut self, caller: Caller) -> Answer {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let place = self.root.gates.0.iter().position(|gate| gate.endpoint == 0);
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
        self.root.gates.0[place] = Gate {
            endpoint,
            frame,
            readers: List::EMPTY,
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
        } = self.root.gates.0[place];
        let Some(unit) = self.tiles.unit else {
            return;
        };
        unit.clear_endpoint(endpoint);
        self.tiles.ports[usize::from(endpoint)] = u16::MAX;
        self.root.gates.0[place].endpoint = 0;
        self.frames.free(frame);
        self.listen_to_gates(unit);
        // Nobody will answer them.
        let own = (self.map.tile.0 as u16, endpoint);
        for n in 0..CALLS {
            if self.root.calls.all[n].is_some_and(|call| call.gate == own) {
                self.end_call(n, Err(Error::Dead));
            }
        }
    }

    fn first_at_gate(&mut self, gate: u8) -> Option<Place> {
        let readers = self.root.gates.0[usize::from(gate)].readers;
        self.dispatch.threads.in_list(&readers).next()
    }

    /// The unit interrupts for gates that somebody waits for.
    fn listen_to_gates(&self, unit: Unit) {
        let waited = self.root.gates.0.iter();
        let waited = waited.filter(|gate| gate.endpoint != 0 && !gate.readers.is_empty());
        unit.listen(waited.fold(0, |bits, gate| bits | 1 << gate.endpoint));
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
                let endpoint = self.root.gates.0[usize::from(gate)].endpoint;
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
            Object::Gate(gate) => Ok((gate, self.root.gates.0[usize::from(gate)])),
            _ => Err(Error::Invalid),
        }
    }

    /// The caller takes a message.
    pub fn receive(&mut self, caller: Caller, number: u64, buffer: u64, until: u64) -> Answer {
        let (place, gate) = self.own_gate(caller, number)?;
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        if !unit.has_unread(gate.endpoint) {
            if is_past(until) {
                return Err(Error::TimedOut);
            }
            let list = &mut self.root.gates.0[usize::from(place)].readers;
            self.dispatch.threads.append(list, caller.thread);
            self.listen_to_gates(unit);
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
    fn load_message(
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
        if slot >= SLOTS {
            return Err(Error::Invalid);
        }
        let (payload, words) = self.load_message(caller, message)?;
        match unit.answer_at(gate.endpoint, slot as u8, &payload[..words]) {
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

    /// The caller sends a message, and waits for the answer.
    pub fn call_gate(
        &mut self,
        caller: Caller,
        number: u64,
        message: (u64, u64),
        buffer: u64,
        until: u64,
    ) -> Answer {
        let Object::Sender(sender) = self.capability(caller, number)?.1 else {
            return Err(Error::Invalid);
        };
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let (payload, words) = self.load_message(caller, message)?;
        let calls = &mut self.root.calls;
        let own = calls.all.iter().flatten();
        let own = own.filter(|call| call.process == caller.process).count();
        let place = calls.all.iter().position(Option::is_none);
        let place = place.filter(|_| own < CALLS_OF_PROCESS);
        let place = place.ok_or(Error::Again)?;
        calls.before += 1;
        let label = place as u64 | calls.before << 8;
        let to = (sender.tile, sender.endpoint, sender.receiver);
        let sent = unit.ask_gate(to, sender.label, &payload[..words], label);
        sent.map_err(|error| match error {
            UnitError::NoSpace => Error::Again,
            _ => Error::Dead,
        })?;
        self.root.calls.all[place] = Some(OpenCall {
            thread: self.dispatch.threads.number(caller.thread),
            process: caller.process,
            label,
            buffer,
            gate: (sender.tile, sender.endpoint),
        });
        self.wait(caller.thread, Wait::Answer(place as u8), until)
    }

    fn end_call(&mut self, place: usize, answer: Result<(u64, u64), Error>) {
        let call = self.root.calls.all[place];
        let Some(thread) = call.and_then(|call| self.caller_of(call)) else {
            self.root.calls.all[place] = None;
            return;
        };
        self.end_wait(thread, answer);
    }

    fn caller_of(&self, call: OpenCall) -> Option<Place> {
        let place = (call.thread & 0xff) as Place;
        let process = self.dispatch.threads[place].process;
        let thread = self.dispatch.threads.find(call.thread, process)?;
        let waits = matches!(
            self.dispatch.threads[thread].state,
            State::Waits(Wait::Answer(_))
        );
        waits.then_some(thread)
    }

    /// Answers have come, and messages for gates.
    pub fn attend_gates(&mut self, unit: Unit) {
        while let Some(message) = unit.fetch(REPLIES) {
            unit.acknowledge(REPLIES, message.slot);
            self.answer_has_come(&message);
        }
        let events = unit.events();
        for gate in 0..GATES as u8 {
            let endpoint = self.root.gates.0[usize::from(gate)].endpoint;
            if endpoint != 0 && endpoint < RECEIVE_ENDPOINTS && events >> endpoint & 1 != 0 {
                while let Some(reader) = self.first_at_gate(gate) {
                    self.restart(reader);
                }
            }
        }
        self.listen_to_gates(unit);
    }

    fn answer_has_come(&mut self, message: &Message) {
        let place = (message.header.label & 0xff) as usize;
        let call = self.root.calls.all.get(place).copied().flatten();
        let Some(call) = call.filter(|call| call.label == message.header.label) else {
            return;
        };
        let Some(waiting) = self.caller_of(call) else {
            return;
        };
        let caller = Caller::of_process(waiting, self.dispatch.threads[waiting].process);
        let stored = self.store_words(caller, call.buffer, &message.payload);
        let size = u64::from(message.header.size).min(MAILBOX_BYTES as u64);
        self.end_call(place, stored.map(|()| (size, 0)));
    }
}
