//! Gates: receive endpoints of this tile's unit, whose messages programs take and answer. Harts of programs do that
//! themselves (`hart_calls.rs`). The kernel hart tells them where, and deals with waits, with the gates of services,
//! and with answers to accelerators without a turn.
use flick_abi::card::{Error, MAILBOX_BYTES, PAGE, RootCall, rights};
use flick_abi::dtu::{
    self, Error as UnitError, HEADER_SIZE, Header, NO_HEADER_ENDPOINT, SlotRecord,
};
use flick_kernel_core::threads::{List, Place, Wait};

use super::forwarding::Outcome;
use super::known_rights::{self, Kind};
use super::remote::NoAnswer;
use super::{Object, Root, Sender, hart_calls};
use crate::dtu::{KERNEL, LOG2_REQUEST, Message, PAYLOAD, Payload, Unit, next_activity};
use crate::hart_unit::note;
use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};
use crate::{cache, csr};

/// Gates of the tile. A host program has two for each number of a file.
const GATES: usize = if cfg!(feature = "host") { 48 } else { 32 };
/// Messages of a gate that were not answered.
pub const SLOTS: u64 = PAGE >> LOG2_REQUEST;

/// What [`crate::tiles::Tiles::ports`] has for endpoints of gates, with their places.
const OF_GATES: u16 = 0xff00;

/// A gate of a process.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// 0: there is none.
    pub endpoint: u16,
    /// That of the endpoint: no other gate had it before.
    pub activity: u16,
    frame: u64,
    /// Threads that wait for messages.
    readers: List,
    /// The next message is that of a call of this tile, if the unit has one, too.
    is_turn_of_calls: bool,
    /// See [`Kernel::keep_gate`].
    is_of_kernel: bool,
    /// The unit interrupts for its messages.
    interrupts: bool,
    /// The thread that has waited last.
    waits: WaitAtGate,
    /// The process that has it and the number of its capability, on a tile that the root governs.
    of: (u16, u64),
}

/// A thread waits for a message.
#[derive(Clone, Copy, Debug)]
pub struct WaitAtGate {
    reader: Place,
    /// Its number of the gate, where the message goes, and until when it waits.
    pub number: u64,
    pub buffer: u64,
    pub until: u64,
}

impl WaitAtGate {
    const NONE: Self = Self {
        reader: Place::MAX,
        number: 0,
        buffer: 0,
        until: 0,
    };
}

/// All of them.
#[derive(Debug)]
pub struct Gates([Gate; GATES]);

impl Gates {
    /// None.
    pub const fn new() -> Self {
        const NONE: Gate = Gate {
            endpoint: 0,
            activity: 0,
            frame: 0,
            readers: List::EMPTY,
            is_turn_of_calls: false,
            is_of_kernel: false,
            interrupts: false,
            waits: WaitAtGate::NONE,
            of: (0, 0),
        };
        Self([NONE; GATES])
    }
}

impl Root {
    /// The list of threads that wait for a gate's messages.
    pub fn readers(&mut self, gate: u8) -> &mut List {
        &mut self.gates.0[usize::from(gate)].readers
    }

    /// Has a process of this tile a gate that the root has made?
    pub fn has_gates(&self, process: u16) -> bool {
        let mut all = self.gates.0.iter();
        all.any(|gate| gate.endpoint != 0 && gate.of.0 == process)
    }

    /// A process of this tile has ended, whose gates the root will clear: nobody has them any more.
    pub fn leave_gates(&mut self, process: u16) {
        let of_process = |gate: &&mut Gate| gate.endpoint != 0 && gate.of.0 == process;
        for gate in self.gates.0.iter_mut().filter(of_process) {
            gate.of.1 = u64::MAX;
        }
    }

    /// Where its messages come: the endpoint, and its activity.
    pub fn place_of(&self, gate: u8) -> (u16, u16) {
        let gate = self.gates.0[usize::from(gate)];
        (gate.endpoint, gate.activity)
    }
}

impl Kernel {
    /// A gate for the caller's process.
    pub fn create_gate(&mut self, caller: Caller) -> Answer {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let place = self.root.gates.0.iter().position(|gate| gate.endpoint == 0);
        let place = place.ok_or(Error::NoMemory)?;
        let endpoint = self.free_endpoint(unit)?;
        let frame = self.frames.allocate().ok_or(Error::NoMemory)?;
        let granted = self.grant(caller.process, Object::Gate(place as u8), None);
        if granted.is_err() {
            self.frames.free(frame);
            return granted;
        }
        let activity = next_activity(&mut self.tiles.activities);
        self.tiles.ports[usize::from(endpoint)] = OF_GATES | place as u16;
        self.root.gates.0[place] = Gate {
            endpoint,
            activity,
            frame,
            readers: List::EMPTY,
            is_turn_of_calls: false,
            is_of_kernel: false,
            interrupts: false,
            waits: WaitAtGate::NONE,
            of: (0, 0),
        };
        unit.set_receiver(endpoint, activity, frame, (LOG2_REQUEST, SLOTS as u8));
        granted
    }

    /// The root has made a gate for a process of this tile, whose messages come to a page.
    pub fn note_gate(&mut self, of: (u16, u64), (endpoint, activity): (u16, u16), frame: u64) {
        let place = self.root.gates.0.iter().position(|gate| gate.endpoint == 0);
        if let Some(place) = place {
            self.tiles.ports[usize::from(endpoint)] = OF_GATES | place as u16;
            self.root.gates.0[place] = Gate {
                endpoint,
                activity,
                frame,
                readers: List::EMPTY,
                is_turn_of_calls: false,
                is_of_kernel: false,
                interrupts: false,
                waits: WaitAtGate::NONE,
                of,
            };
        }
    }

    /// A message of a gate of a process of this tile was answered by the root.
    pub fn free_slot(&self, of: (u16, u64), slot: u64) {
        let mut gates = self.root.gates.0.iter();
        let gate = gates.find(|gate| gate.endpoint != 0 && gate.of == of);
        if let (Some(unit), Some(gate)) = (self.tiles.unit, gate) {
            self.with_gate(unit, gate, |unit| {
                unit.acknowledge(gate.endpoint, slot as u8);
            });
        }
    }

    /// Is there a place for a gate?
    pub fn has_room_for_gate(&self) -> bool {
        let mut free = self.root.gates.0.iter().filter(|gate| gate.endpoint == 0);
        // The root makes some already.
        free.nth(self.root.asked.gates()).is_some()
    }

    /// An endpoint of the tile's unit that is for mailboxes, gates and senders, and of no use yet.
    pub fn free_endpoint(&self, unit: Unit) -> Result<u16, Error> {
        let mut endpoints = unit.mailboxes();
        let endpoint = endpoints.find(|&n| self.tiles.ports[usize::from(n)] == u16::MAX);
        endpoint.ok_or(Error::NoMemory)
    }

    /// The kernel hart does something with a gate, whose activity its bank has meanwhile.
    pub fn with_gate<T>(&self, unit: Unit, gate: &Gate, act: impl FnOnce(Unit) -> T) -> T {
        // A message to the host may be on its way still, which is the kernel's own.
        #[cfg(feature = "host")]
        unit.finish();
        let current = dtu::current(self.map.kernel_hart);
        unit.set(current, gate.activity.into());
        let outcome = act(unit);
        unit.set(current, KERNEL.into());
        outcome
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
        unit.interrupt_for(endpoint, false);
        unit.clear_endpoint(endpoint);
        self.tiles.ports[usize::from(endpoint)] = u16::MAX;
        self.root.gates.0[place].endpoint = 0;
        self.root.handovers.forget_gate(gate);
        self.drive_out_of_gates();
        self.frames.free(frame);
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
        self.interrupt_for_gate(gate, is_waited);
    }

    pub fn interrupt_for_gate(&mut self, gate: u8, is_on: bool) {
        let of = &mut self.root.gates.0[usize::from(gate)];
        if let (Some(unit), endpoint @ 1..) = (self.tiles.unit, of.endpoint)
            && core::mem::replace(&mut of.interrupts, is_on) != is_on
        {
            unit.interrupt_for(endpoint, is_on);
        }
    }

    /// The gate that has an endpoint.
    pub fn gate_at(&self, endpoint: u16) -> Option<u8> {
        let port = self.tiles.ports.get(usize::from(endpoint))?;
        let place = port.wrapping_sub(OF_GATES);
        (usize::from(place) < GATES).then_some(place as u8)
    }

    /// The kernel hart alone has messages for the gate from now on, which harts of programs do not see: calls of this
    /// tile, or ends of sessions.
    pub fn keep_gate(&mut self, gate: u8) {
        let of = &mut self.root.gates.0[usize::from(gate)];
        if !core::mem::replace(&mut of.is_of_kernel, true) {
            known_rights::forget_all();
            self.drive_out_of_gates();
        }
    }

    /// Threads that wait for messages on their harts look again what there is.
    fn drive_out_of_gates(&mut self) {
        self.dispatch.drive_out_parked(csr::time(), &mut self.harts);
    }

    /// A message has come to the gate that has an endpoint with this port. False: it is the port of a mailbox.
    pub fn attend_gate(&mut self, port: u64) -> bool {
        let place = (port as u16).wrapping_sub(OF_GATES);
        let is_gate = usize::from(place) < GATES;
        if is_gate && !self.asks_for_switch(place as u8) {
            self.wake_server(place as u8);
        }
        is_gate
    }

    pub fn first_at_gate(&mut self, gate: u8) -> Option<Place> {
        let readers = self.root.gates.0[usize::from(gate)].readers;
        self.dispatch.threads.in_list(&readers).next()
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
                let (endpoint, activity) = self.root.place_of(gate);
                (self.map.tile.0 as u16, endpoint, activity)
            }
            Object::ActivityGate(activity) => self.gate_of(activity),
            Object::CoreGate(core, endpoint) => {
                let gate = self.root.cores.gate(core, endpoint);
                gate.ok_or(Error::NotFound)?
            }
            _ => return Err(Error::Invalid),
        };
        let sender = Sender {
            tile,
            endpoint,
            receiver,
            credits: credits as u16,
            label,
            own: 0,
            answers: 0,
        };
        self.grant(caller.process, Object::Sender(sender), Some(place))
    }

    pub fn own_gate(&self, caller: Caller, number: u64) -> Result<(u8, Gate), Error> {
        if self.map.is_governed() {
            let is_it =
                |gate: &&(u8, Gate)| gate.1.endpoint != 0 && gate.1.of == (caller.process, number);
            let all = (0..).zip(self.root.gates.0.iter().copied());
            let mut all = all;
            return all.find(|gate| is_it(&gate)).ok_or(Error::NotFound);
        }
        match self.capability(caller, number)?.1 {
            Object::Gate(gate) => Ok((gate, self.root.gates.0[usize::from(gate)])),
            _ => Err(Error::Invalid),
        }
    }

    /// Harts of the caller's process may use its gate. False: the kernel hart alone has messages for it.
    fn tell_of_gate(&self, caller: Caller, number: u64, gate: &Gate) -> bool {
        let has_harts = self.tiles.unit.is_some_and(|unit| unit.has_harts());
        let may = has_harts && !gate.is_of_kernel && !self.is_of_host(caller);
        if may {
            let right = hart_calls::KnownGate {
                endpoint: gate.endpoint,
                activity: gate.activity,
                frame: gate.frame,
            };
            known_rights::add(Kind::Gate, caller.process, number, right.words());
        }
        may
    }

    /// The caller takes a message, if its hart could not, or waits for one.
    pub fn receive(&mut self, caller: Caller, arguments: [u64; 6], why: u64) -> Answer {
        let [number, buffer, until, ..] = arguments;
        let (place, gate) = self.own_gate(caller, number)?;
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let has_unread = unit.has_unread(gate.endpoint);
        let call = self.root.next_call(gate.endpoint);
        let is_empty = !has_unread && call.is_none();
        if self.tell_of_gate(caller, number, &gate) {
            if why & 0xff == note::FAULT {
                let size = MAILBOX_BYTES as u64;
                self.each_piece(caller, buffer, size, rights::WRITE, |_, _, _, _| {})?;
            }
            let waits = why & 0xff == note::PARK && is_empty;
            if !waits || self.dispatch.park(caller.hart) {
                return Ok(Done::Again);
            }
        } else if let Some(end) = self.root.services.next_end(place, is_empty) {
            return self.tell_end(caller, buffer, end);
        }
        let call = call.filter(|_| !has_unread || gate.is_turn_of_calls);
        self.root.gates.0[usize::from(place)].is_turn_of_calls = call.is_none();
        if let Some(call) = call {
            let (slot, label) = self.take_call(caller, call, (number, buffer))?;
            return Ok(Done::Values(slot, label));
        }
        if is_empty {
            if is_past(until) {
                return Err(Error::TimedOut);
            }
            let gate = &mut self.root.gates.0[usize::from(place)];
            gate.waits = WaitAtGate {
                reader: caller.thread,
                number,
                buffer,
                until,
            };
            let list = &mut gate.readers;
            self.dispatch.threads.append(list, caller.thread);
            // It may have come meanwhile: the unit interrupts at once then.
            self.interrupt_for_gate(place, true);
            return self.wait(caller.thread, Wait::Gate(place), until);
        }
        // A buffer that cannot be stored to is refused before a message is taken.
        self.store_words(caller, buffer, &Payload::default())?;
        let message: Option<Message> = self.with_gate(unit, &gate, |unit| {
            unit.fetch_from(gate.endpoint, (gate.frame, LOG2_REQUEST))
        });
        let Some(message) = message else {
            return Ok(Done::Again);
        };
        // It may have been sent by what was revoked, to a gate that had this endpoint before.
        if self.root.lost.has(message.header.tile.into()) {
            self.with_gate(unit, &gate, |unit| {
                unit.acknowledge(gate.endpoint, message.slot);
            });
            return Ok(Done::Again);
        }
        let mut slot = u64::from(message.slot);
        if message.header.is_answer() || message.header.answer_endpoint == NO_HEADER_ENDPOINT {
            self.with_gate(unit, &gate, |unit| {
                unit.acknowledge(gate.endpoint, message.slot);
            });
            slot = hart_calls::NO_SLOT;
        }
        self.store_words(caller, buffer, &message.payload)?;
        let size = u64::from(message.header.size).min(MAILBOX_BYTES as u64);
        Ok(Done::Values(slot | size << 8, message.header.label))
    }

    /// The words of a message of the caller.
    pub fn load_message(
        &mut self,
        caller: Caller,
        (message, size): (u64, u64),
        payload: &mut Payload,
    ) -> Result<usize, Error> {
        if size > PAYLOAD as u64 || !size.is_multiple_of(8) {
            return Err(Error::Invalid);
        }
        let words = size as usize / 8;
        self.load_words(caller, message, &mut payload[..words])?;
        Ok(words)
    }

    /// A hart has found a message that it cannot load, or does not know the right. It calls again.
    pub fn load_again(&mut self, caller: Caller, (at, size): (u64, u64), why: u64) -> Answer {
        if why & 0xff == note::FAULT {
            self.each_piece(caller, at, size, rights::READ, |_, _, _, _| {})?;
        }
        Ok(Done::Again)
    }

    /// The caller answers a message, if its hart could not.
    pub fn answer_message(&mut self, caller: Caller, arguments: [u64; 6], why: u64) -> Answer {
        let [number, slot, message, size, ..] = arguments;
        let (_, gate) = self.own_gate(caller, number)?;
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        if why & 0xff != note::GONE && self.tell_of_gate(caller, number, &gate) {
            return self.load_again(caller, (message, size), why);
        }
        let mut payload = Payload::default();
        let words = self.load_message(caller, (message, size), &mut payload)?;
        let words = &payload[..words];
        if slot >= SLOTS {
            return self.answer_call(gate.endpoint, slot, words);
        }
        let answer = |unit: Unit| unit.answer_at(gate.endpoint, slot as u8, words);
        let free = |unit: Unit| unit.acknowledge(gate.endpoint, slot as u8);
        let mut answered = self.with_gate(unit, &gate, answer);
        if answered == Err(UnitError::Gone) {
            match self.leave_gate_answer(unit, &gate, slot as u8, words) {
                Outcome::Done => {
                    self.with_gate(unit, &gate, free);
                    return value(0);
                }
                Outcome::Gone | Outcome::TooLong => {}
                // It got its turn meanwhile.
                Outcome::Again => answered = self.with_gate(unit, &gate, answer),
            }
        }
        match answered {
            Ok(()) => value(0),
            // The slot has no message.
            Err(UnitError::NoAnswer) => Err(Error::Invalid),
            Err(UnitError::NoSpace) => Err(Error::Again),
            Err(_) => {
                self.with_gate(unit, &gate, free);
                Err(Error::Dead)
            }
        }
    }

    /// The caller answers a message, and takes the next one or waits for it.
    pub fn answer_and_receive(&mut self, caller: Caller, arguments: [u64; 6], why: u64) -> Answer {
        let [number, slot, _, _, buffer, until] = arguments;
        if slot != hart_calls::NO_SLOT {
            match self.answer_message(caller, arguments, why) {
                Ok(Done::Again) => return Ok(Done::Again),
                Ok(_) | Err(Error::Dead) => {}
                Err(error) => return Err(error),
            }
            // If the call is made again, there is nothing more to answer.
            self.context(caller.thread).x[11] = hart_calls::NO_SLOT;
        }
        self.receive(caller, [number, buffer, until, 0, 0, 0], why)
    }

    /// How a thread waits at a gate.
    #[inline(always)]
    pub fn wait_at_gate(&mut self, gate: u8, reader: Place) -> WaitAtGate {
        let known = self.root.gates.0[usize::from(gate)].waits;
        match known.reader == reader && !self.root.handovers.has_other_buffer(gate) {
            true => known,
            false => self.find_wait_at_gate(gate, reader),
        }
    }

    /// The same, by the arguments of its call.
    #[inline(never)]
    fn find_wait_at_gate(&mut self, gate: u8, reader: Place) -> WaitAtGate {
        let x = &self.context(reader).x;
        let (buffer, until) = match x[17] == RootCall::GateAnswerReceive as u64 {
            true => (x[14], x[15]),
            false => (x[11], x[12]),
        };
        let waits = WaitAtGate {
            reader,
            number: x[10],
            buffer,
            until,
        };
        self.root.gates.0[usize::from(gate)].waits = waits;
        waits
    }

    /// A thread waits at a gate by another call than the one that is known.
    pub fn forget_wait(&mut self, gate: u8) {
        self.root.gates.0[usize::from(gate)].waits = WaitAtGate::NONE;
    }

    /// The sender has no turn: the answer is left for it.
    fn leave_gate_answer(&mut self, unit: Unit, gate: &Gate, slot: u8, words: &[u64]) -> Outcome {
        let at = gate.frame + (u64::from(slot) << LOG2_REQUEST);
        cache::refresh(at, HEADER_SIZE as u64);
        // SAFETY: the slot is in the gate's frame, where the unit alone writes, and has a message.
        let header = unsafe { (at as *const [u8; HEADER_SIZE]).read_volatile() };
        let request = Header::from_bytes(&header);
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
            activity: gate.activity,
            ..Header::from_bytes(&[0; HEADER_SIZE])
        };
        let left = self.leave_answer(&asked, by, words);
        if left == Outcome::Again {
            let at = (
                self.map.tile.0 as u16,
                dtu::slot_record(gate.endpoint, slot),
            );
            // If it cannot be mended, the answer is refused again.
            let _: Result<(), NoAnswer> = self.mend_record(unit, at, &asked);
        }
        left
    }

    /// Answers to calls of gates have come, and sessions are over.
    pub fn attend_gates(&mut self, unit: Unit) {
        self.take_gate_answers(unit);
        self.wake_servers();
    }
}
