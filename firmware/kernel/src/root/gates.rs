//! Gates: receive endpoints of this tile's unit, whose messages programs take and answer; and calls of programs to
//! gates of any tile.
use flick_abi::card::{Error, MAILBOX_BYTES, PAGE};
use flick_abi::dtu::{Error as UnitError, HEADER_SIZE, Header, NO_HEADER_ENDPOINT, SlotRecord};
use flick_kernel_core::threads::{List, Place, State, Wait};

use super::activities::of_units;
use super::activity_image::Left;
use super::forwarding::Outcome;
use super::{Object, Root, Sender, Side};
use crate::cache;
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
/// Capabilities that a server gives until its answer.
const MOST_GIVEN: u8 = 4;

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
        };
        Self {
            all: [NONE; GATES],
            waited: 0,
        }
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
    by: By,
}

/// By what a call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Sender,
    /// A session, by which the server has given so many capabilities meanwhile.
    Session(u8, u8),
    /// It opens the session.
    Opening(u8),
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
        &mut self.gates.all[usize::from(gate)].readers
    }

    /// A thread does not wait for its answer any more.
    pub fn forget_call(&mut self, place: u8) {
        let call = self.calls.all[usize::from(place)].take();
        if let Some(By::Opening(session)) = call.map(|call| call.by) {
            self.services.is_not_awaited(session);
        }
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
        let own = (self.map.tile.0 as u16, endpoint);
        for n in 0..CALLS {
            if self.root.calls.all[n].is_some_and(|call| call.gate == own) {
                self.end_call(n, Err(Error::Dead));
            }
        }
    }

    /// The server of a gate looks whether there is something for it.
    pub fn wake_server(&mut self, gate: u8) {
        while let Some(reader) = self.first_at_gate(gate) {
            self.restart(reader);
        }
        self.listen_to_gate(self.root.gates.all[usize::from(gate)].endpoint, false);
    }

    fn first_at_gate(&mut self, gate: u8) -> Option<Place> {
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
        let is_empty = !unit.has_unread(gate.endpoint);
        if let Some(end) = self.root.services.next_end(place, is_empty) {
            return self.tell_end(caller, buffer, end);
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

    /// The caller sends a message, and waits for the answer.
    pub fn call_gate(
        &mut self,
        caller: Caller,
        number: u64,
        message: (u64, u64),
        buffer: u64,
        until: u64,
    ) -> Answer {
        let (sender, by) = match self.capability(caller, number)?.1 {
            Object::Sender(sender) => (sender, By::Sender),
            Object::Session(session, Side::User) => {
                let (gate, label) = self.root.services.way_of(session).ok_or(Error::Dead)?;
                (self.sender_to(gate, label), By::Session(session, 0))
            }
            _ => return Err(Error::Invalid),
        };
        let (payload, words) = self.load_message(caller, message)?;
        self.call(caller, (sender, by), &payload[..words], buffer, until)
    }

    /// Asks the server of a gate for a session.
    pub fn call_to_open(
        &mut self,
        caller: Caller,
        session: u8,
        (gate, label): (u8, u64),
        message: &[u64],
        until: u64,
    ) -> Answer {
        let way = (self.sender_to(gate, label), By::Opening(session));
        self.call(caller, way, message, 0, until)
    }

    /// Sends to a gate of this tile.
    fn sender_to(&self, gate: u8, label: u64) -> Sender {
        Sender {
            tile: self.map.tile.0 as u16,
            endpoint: self.root.gates.all[usize::from(gate)].endpoint,
            receiver: KERNEL,
            credits: 1,
            label,
        }
    }

    fn call(
        &mut self,
        caller: Caller,
        (sender, by): (Sender, By),
        payload: &[u64],
        buffer: u64,
        until: u64,
    ) -> Answer {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let calls = &mut self.root.calls;
        let own = calls.all.iter().flatten();
        let own = own.filter(|call| call.process == caller.process).count();
        let place = calls.all.iter().position(Option::is_none);
        let place = place.filter(|_| own < CALLS_OF_PROCESS);
        let place = place.ok_or(Error::Again)?;
        calls.before += 1;
        let label = place as u64 | calls.before << 8;
        let to = (sender.tile, sender.endpoint, sender.receiver);
        match unit.ask_gate(to, sender.label, payload, label) {
            Ok(()) => {}
            Err(UnitError::NoSpace) => return Err(Error::Again),
            Err(UnitError::Gone) => self.leave_call(&sender, label, payload)?,
            Err(_) => return Err(Error::Dead),
        }
        self.root.calls.all[place] = Some(OpenCall {
            thread: self.dispatch.threads.number(caller.thread),
            process: caller.process,
            label,
            buffer,
            gate: (sender.tile, sender.endpoint),
            by,
        });
        self.wait(caller.thread, Wait::Answer(place as u8), until)
    }

    /// The accelerator has another activity now: the call is left for the one that it is for.
    fn leave_call(&mut self, sender: &Sender, token: u64, words: &[u64]) -> Result<(), Error> {
        let activity = of_units(sender.receiver).ok_or(Error::Dead)?;
        let mut three = [0; 3];
        let all = three.get_mut(..words.len()).ok_or(Error::Invalid)?;
        all.copy_from_slice(words);
        let tile = self.map.tile.0 as u16;
        let header = Header {
            tile: tile as u8,
            answer_endpoint: REPLIES as u8,
            activity: KERNEL,
            answer_label: token,
            label: sender.label,
            ..Header::from_bytes(&[0; HEADER_SIZE])
        };
        let record = SlotRecord {
            tile,
            activity: KERNEL,
            answer: Some(REPLIES),
            label: token,
            credit: None,
        };
        let message = Left {
            header,
            words: three,
            record,
        };
        match self.leave_message(activity, sender.endpoint, &message) {
            Outcome::Done => Ok(()),
            Outcome::Again => Err(Error::Again),
            Outcome::Gone => Err(Error::Dead),
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

    /// The process that waits for an answer of a session, if the server may give it one more capability.
    pub fn count_given(&mut self, session: u8) -> Option<u16> {
        let mut calls = self.root.calls.all.iter_mut().flatten();
        calls.find_map(|call| match &mut call.by {
            By::Session(by, given) if *by == session && *given < MOST_GIVEN => {
                *given += 1;
                Some(call.process)
            }
            _ => None,
        })
    }

    /// A session is over: nobody waits for it any more.
    pub fn end_calls_of(&mut self, session: u8) {
        for n in 0..CALLS {
            let is_its = self.root.calls.all[n].is_some_and(|call| match call.by {
                By::Sender => false,
                By::Session(by, _) | By::Opening(by) => by == session,
            });
            if is_its {
                self.end_call(n, Err(Error::Dead));
            }
        }
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
        if let By::Opening(session) = call.by {
            // From here on it is no concern of the session how the call ends.
            if let Some(call) = &mut self.root.calls.all[place] {
                call.by = By::Sender;
            }
            let opened = self.session_is_answered(session, &message.payload);
            return self.end_call(place, opened.map(|number| (number, 0)));
        }
        let stored = self.store_words(caller, call.buffer, &message.payload);
        let size = u64::from(message.header.size).min(MAILBOX_BYTES as u64);
        self.end_call(place, stored.map(|()| (size, 0)));
    }
}
