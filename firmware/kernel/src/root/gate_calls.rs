//! Calls of programs to gates, which wait for their answers. The kernel hands those to gates of its own tile from
//! program to program. Others go by the unit.
use flick_abi::card::remote_call::NOTICE;
use flick_abi::card::{Error, MAILBOX_BYTES};
use flick_abi::dtu::{Error as UnitError, NO_ANSWER_ENDPOINT};
use flick_kernel_core::handovers::FIELDS;
use flick_kernel_core::threads::{Place, State, Wait};

use super::activities::of_units;
use super::forwarding::Requester;
use super::gates::SLOTS;
use super::known_rights::{self, Kind};
use super::services::GatePlace;
use super::{Object, Root, Sender, Side};
use crate::dtu::{KERNEL, Message, Payload, REPLIES, Unit};
use crate::hart_unit::note;
use crate::kernel::{Answer, Caller, Kernel, value};

/// Calls to gates that wait, as bits.
const CALLS: usize = u64::BITS as usize;
/// Those of a process: others find room, too.
const CALLS_OF_PROCESS: usize = 8;
/// Those by the unit, which has room for so many answers.
const CALLS_BY_UNIT: usize = SLOTS as usize;
/// Capabilities that a server gives until its answer.
const MOST_GIVEN: u8 = 4;

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
    stage: Stage,
    /// The thread that has the message, and its number of the gate.
    taker: (u64, u64),
}

/// The message of a call to a gate of this tile.
#[derive(Clone, Copy, Debug)]
struct Words {
    /// Its sender's.
    label: u64,
    words: Payload,
    size: u64,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The unit has sent it.
    Sent,
    /// It waits for the server.
    Waits,
    /// The server has it. Its slot is that of the call, behind those of the unit.
    Taken,
    /// The same, and its caller does not wait any more. The slot is not another's before the answer.
    Left,
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
    all: &'static mut [Option<OpenCall>],
    messages: &'static mut [Words],
    /// Places that are used, and those of calls that wait for a server, as bits.
    used: u64,
    waiting: u64,
    before: u64,
}

/// The places of bits.
fn places(bits: u64) -> impl Iterator<Item = usize> {
    let mut rest = bits;
    core::iter::from_fn(move || {
        let place = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (place < CALLS).then_some(place)
    })
}

impl OpenCalls {
    /// None.
    pub const fn new() -> Self {
        Self {
            all: &mut [],
            messages: &mut [],
            used: 0,
            waiting: 0,
            before: 0,
        }
    }

    fn get(&self, place: usize) -> Option<&OpenCall> {
        self.all.get(place)?.as_ref()
    }

    fn put(&mut self, place: usize, call: OpenCall) {
        self.used |= 1 << place;
        self.all[place] = Some(call);
        self.set_stage(place, call.stage);
    }

    fn set_stage(&mut self, place: usize, stage: Stage) {
        self.waiting &= !(1 << place);
        self.waiting |= u64::from(stage == Stage::Waits) << place;
        if let Some(call) = &mut self.all[place] {
            call.stage = stage;
        }
    }

    fn take(&mut self, place: usize) -> Option<OpenCall> {
        self.used &= !(1 << place);
        self.waiting &= !(1 << place);
        self.all[place].take()
    }

    /// A place for one more of a process.
    fn find_place(&self, process: u16, is_local: bool) -> Option<usize> {
        let (mut own, mut by_unit) = (0, 0);
        for call in places(self.used).filter_map(|place| self.get(place)) {
            own += usize::from(call.process == process);
            by_unit += usize::from(call.stage == Stage::Sent);
        }
        let has_room = own < CALLS_OF_PROCESS && (is_local || by_unit < CALLS_BY_UNIT);
        let place = places(!self.used).next();
        place.filter(|&place| has_room && place < self.messages.len().min(self.all.len()))
    }
}

/// The place of calls that harts hand over by a field.
pub fn place_of_field(n: usize) -> u8 {
    (CALLS - 1 - n) as u8
}

/// The slot of such calls.
pub fn slot_of_field(n: usize) -> u64 {
    SLOTS + u64::from(place_of_field(n))
}

/// The field that has a slot.
#[inline(always)]
pub fn field_of_slot(slot: u64) -> Option<usize> {
    let n = slot_of_field(0).wrapping_sub(slot) as usize;
    (n < FIELDS).then_some(n)
}

/// A call that a receiver has taken, and not answered.
pub struct TakenCall {
    pub place: u8,
    /// Who waits, and where the answer goes.
    pub caller: Place,
    pub buffer: u64,
    /// The receiver's thread, and its number of the gate.
    pub taker: (u64, u64),
}

impl Root {
    /// A thread does not wait for its answer any more.
    pub fn forget_call(&mut self, place: u8) {
        let n = usize::from(place);
        let Some(call) = &mut self.calls.all[n] else {
            return;
        };
        let by = core::mem::replace(&mut call.by, By::Sender);
        match call.stage {
            Stage::Sent | Stage::Waits => drop(self.calls.take(n)),
            Stage::Taken | Stage::Left => self.calls.set_stage(n, Stage::Left),
        }
        if let By::Opening(session) = by {
            self.services.is_not_awaited(session);
        }
    }

    /// The oldest call that waits for the server of a gate of this tile.
    pub fn next_call(&self, endpoint: u16) -> Option<usize> {
        let waiting = places(self.calls.waiting).filter_map(|place| {
            let call = self.calls.get(place)?;
            (call.gate.1 == endpoint).then_some((call.label >> 8, place))
        });
        waiting.min().map(|(_, place)| place)
    }
}

impl Kernel {
    /// There is memory for calls and their messages.
    pub fn begin_calls(&mut self) {
        self.root.calls.all = self.root_table(CALLS, || None);
        self.root.calls.messages = self.root_table(CALLS, || Words {
            label: 0,
            words: Payload::default(),
            size: 0,
        });
    }

    /// The caller sends a message, and waits for the answer.
    pub fn call_gate(
        &mut self,
        caller: Caller,
        [number, message, size, buffer, until, _]: [u64; 6],
        why: u64,
    ) -> Answer {
        let (sender, by) = match self.capability(caller, number)?.1 {
            Object::Sender(sender) => (sender, By::Sender),
            Object::Session(session, Side::User) => {
                let (gate, label) = self.root.services.way_of(session).ok_or(Error::Dead)?;
                (self.sender_to(gate, label)?, By::Session(session, 0))
            }
            _ => return Err(Error::Invalid),
        };
        let mut payload = Payload::default();
        let words = self.load_message(caller, (message, size), &mut payload)?;
        if why & 0xff == note::UNKNOWN {
            self.tell_of_call(caller, number, &sender);
        }
        self.call(caller, (sender, by), &payload[..words], buffer, until)
    }

    /// Harts of the caller's process may call the gate of a sender by themselves.
    fn tell_of_call(&self, caller: Caller, number: u64, sender: &Sender) {
        if sender.tile == self.map.tile.0 as u16
            && let Some(gate) = self.gate_at(sender.endpoint)
            && let Some(field) = self.root.handovers.field_of(gate)
        {
            let words = (field as u32, sender.label, 0);
            known_rights::add(Kind::Call, caller.process, number, words);
        }
    }

    /// Asks the server of a gate for a session.
    pub fn call_to_open(
        &mut self,
        caller: Caller,
        session: u8,
        (gate, label): (GatePlace, u64),
        message: &[u64],
        until: u64,
    ) -> Answer {
        let way = (self.sender_to(gate, label)?, By::Opening(session));
        self.call(caller, way, message, 0, until)
    }

    /// Sends to the gate of a service.
    fn sender_to(&self, gate: GatePlace, label: u64) -> Result<Sender, Error> {
        let (tile, endpoint, receiver) = match gate {
            GatePlace::Own(gate) => {
                let (endpoint, receiver) = self.root.place_of(gate);
                (self.map.tile.0 as u16, endpoint, receiver)
            }
            GatePlace::Core(core, endpoint) => {
                let gate = self.root.cores.gate(core, endpoint);
                gate.ok_or(Error::Dead)?
            }
        };
        Ok(Sender {
            tile,
            endpoint,
            receiver,
            credits: 1,
            label,
            own: 0,
            answers: 0,
        })
    }

    /// Sends a message that takes no answer to a gate of another tile.
    pub fn send_to_gate(
        &self,
        to: (u16, u16, u16),
        label: u64,
        words: &[u64],
    ) -> Result<(), UnitError> {
        let unit = self.tiles.unit.ok_or(UnitError::Unreachable)?;
        unit.set_message_endpoint(unit.root_sender(), KERNEL, to, (label, 1));
        unit.send_by(unit.root_sender(), words, (NO_ANSWER_ENDPOINT, 0))
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
        let sender = self.sender_now(sender);
        let is_local = sender.tile == self.map.tile.0 as u16;
        let calls = &mut self.root.calls;
        let place = calls.find_place(caller.process, is_local);
        let place = place.ok_or(Error::Again)?;
        calls.before += 1;
        let label = place as u64 | calls.before << 8;
        let mut call = OpenCall {
            thread: self.dispatch.threads.number(caller.thread),
            process: caller.process,
            label,
            buffer,
            gate: (sender.tile, sender.endpoint),
            by,
            stage: if is_local { Stage::Waits } else { Stage::Sent },
            taker: (0, 0),
        };
        let to = (sender.tile, sender.endpoint, sender.receiver);
        if is_local {
            let gate = self.gate_at(sender.endpoint).ok_or(Error::Dead)?;
            self.keep_gate(gate);
            self.begin_handovers(gate);
            let is_first = self.root.next_call(sender.endpoint).is_none();
            let reader = self.first_at_gate(gate).filter(|_| is_first);
            if let Some(reader) = reader
                && let Some(taker) = self.give_message(gate, reader, payload)
            {
                (call.stage, call.taker) = (Stage::Taken, taker);
                self.root.calls.put(place, call);
                let slot = (SLOTS + place as u64) | (8 * payload.len() as u64) << 8;
                // If a message of the unit comes before the next wait, the kernel hart finds that nobody waits for it.
                self.end_wait(reader, Ok((slot, sender.label)));
            } else {
                let message = &mut self.root.calls.messages[place];
                (message.label, message.size) = (sender.label, 8 * payload.len() as u64);
                message.words[..payload.len()].copy_from_slice(payload);
                self.root.calls.put(place, call);
                self.hand_over(gate, sender.endpoint);
            }
        } else {
            match unit.ask_gate(to, sender.label, payload, label) {
                Ok(()) => {}
                Err(UnitError::NoSpace) => return Err(Error::Again),
                Err(UnitError::Gone) => self.leave_call(&sender, label, payload)?,
                Err(_) => return Err(Error::Dead),
            }
            self.root.calls.put(place, call);
            self.watch_core(sender.tile);
        }
        self.wait(caller.thread, Wait::Answer(place as u8), until)
    }

    /// Who waits for messages of a gate of this tile gets those of calls.
    #[inline(never)]
    fn hand_over(&mut self, gate: u8, endpoint: u16) {
        while let Some(reader) = self.first_at_gate(gate)
            && let Some(place) = self.root.next_call(endpoint)
        {
            let caller = Caller::of_process(reader, self.dispatch.threads[reader].process);
            let wait = self.wait_at_gate(gate, reader);
            let taken = self.take_call(caller, place, (wait.number, wait.buffer));
            self.end_wait(reader, taken);
        }
    }

    /// The thread that waits at a gate gets a message. Returns its number, and that of the gate. `None`: its buffer
    /// has to be made accessible first, or cannot be.
    fn give_message(&mut self, gate: u8, reader: Place, words: &[u64]) -> Option<(u64, u64)> {
        let wait = self.wait_at_gate(gate, reader);
        let number = self.dispatch.threads.number(reader);
        let at = self
            .root
            .handovers
            .known_buffer(gate, (number, wait.buffer))?;
        for (n, word) in words.iter().enumerate() {
            // SAFETY: words of the thread's memory. If its pages had changed, nothing were known of them.
            unsafe { ((at + 8 * n as u64) as *mut u64).write_volatile(*word) };
        }
        Some((number, wait.number))
    }

    /// A server takes the message of a call. It gets slot and size, and the label.
    pub fn take_call(
        &mut self,
        caller: Caller,
        place: usize,
        (gate, buffer): (u64, u64),
    ) -> Result<(u64, u64), Error> {
        let &Words { label, size, .. } = &self.root.calls.messages[place];
        let mut words = Payload::default();
        let words = &mut words[..size as usize / 8];
        words.copy_from_slice(&self.root.calls.messages[place].words[..words.len()]);
        self.store_words(caller, buffer, words)?;
        self.root.calls.set_stage(place, Stage::Taken);
        let taker = self.dispatch.threads.number(caller.thread);
        if let Some(call) = &mut self.root.calls.all[place] {
            call.taker = (taker, gate);
        }
        Ok(((SLOTS + place as u64) | size << 8, label))
    }

    /// A server answers a call to a gate of this tile.
    pub fn answer_call(&mut self, endpoint: u16, slot: u64, words: &[u64]) -> Answer {
        let place = (slot - SLOTS) as usize;
        let call = self.root.calls.get(place);
        let call = call.filter(|call| call.gate.1 == endpoint);
        match call.map(|call| call.stage) {
            Some(Stage::Taken) => self.finish_call(place, words),
            // Nobody gets it.
            Some(Stage::Left) => drop(self.root.calls.take(place)),
            _ => return Err(Error::Invalid),
        }
        value(0)
    }

    /// A call that the receiver of a gate of this tile has taken. Its caller waits.
    pub fn taken_call(&self, endpoint: u16) -> Option<TakenCall> {
        let calls = &self.root.calls;
        places(calls.used & !calls.waiting).find_map(|place| {
            let call = calls.get(place)?;
            let is_its = call.stage == Stage::Taken && call.gate.1 == endpoint;
            let opens = matches!(call.by, By::Opening(_));
            Some(TakenCall {
                place: place as u8,
                caller: self.caller_of(call).filter(|_| is_its && !opens)?,
                buffer: call.buffer,
                taker: call.taker,
            })
        })
    }

    /// The caller of a field, if it still waits for the answer.
    pub fn waiting_caller(&self, n: usize, thread: u64) -> Option<Place> {
        let call = self.root.calls.get(place_of_field(n).into())?;
        let is_it = call.stage == Stage::Taken && call.thread == thread;
        self.caller_of(call).filter(|_| is_it)
    }

    /// Is there room for one more call of a field, whoever makes it?
    pub fn has_room_for(&self, n: usize) -> bool {
        let calls = &self.root.calls;
        let is_free = calls.used >> place_of_field(n) & 1 == 0 && calls.all.len() == CALLS;
        let most = CALLS_OF_PROCESS - FIELDS;
        let of = |process| {
            let all = places(calls.used).filter_map(|place| calls.get(place));
            all.filter(|call| call.process == process).count()
        };
        let mut all = places(calls.used).filter_map(|place| calls.get(place));
        is_free
            && (calls.used.count_ones() as usize <= most
                || all.all(|call| of(call.process) <= most))
    }

    /// A thread has called a receiver by a field: it waits.
    pub fn note_direct_call(&mut self, n: usize, gate: u8, caller: Place, taker: (u64, u64)) {
        let process = self.dispatch.threads[caller].process;
        let [number, .., buffer, _]: [u64; 5] =
            core::array::from_fn(|n| self.context(caller).x[10 + n]);
        let object = self.root.capabilities.find(process, number);
        let by = match object {
            Some((_, Object::Session(session, _))) => By::Session(session, 0),
            _ => By::Sender,
        };
        let place = place_of_field(n);
        let (endpoint, _) = self.root.place_of(gate);
        let calls = &mut self.root.calls;
        calls.before += 1;
        let call = OpenCall {
            thread: self.dispatch.threads.number(caller),
            process,
            label: u64::from(place) | calls.before << 8,
            buffer,
            gate: (self.map.tile.0 as u16, endpoint),
            by,
            stage: Stage::Taken,
            taker,
        };
        calls.put(place.into(), call);
        self.dispatch.threads[caller].state = State::Waits(Wait::Answer(place));
    }

    /// A call has been answered without the kernel hart: its caller waits for nothing any more.
    pub fn end_direct_call(&mut self, place: u8) -> Option<Place> {
        let call = self.root.calls.take(place.into())?;
        let caller = self.caller_of(&call)?;
        self.leave_wait(caller);
        Some(caller)
    }

    /// The accelerator has another activity now: the call is left for the one that it is for.
    fn leave_call(&mut self, sender: &Sender, token: u64, words: &[u64]) -> Result<(), Error> {
        let activity = of_units(sender.receiver).ok_or(Error::Dead)?;
        let from = Requester {
            tile: self.map.tile.0 as u16,
            endpoint: 0,
            activity: KERNEL,
            answer: REPLIES,
            answer_label: token,
            label: sender.label,
        };
        let left = self.leave_request((activity, sender.endpoint), &from, words);
        left.for_caller()
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

    /// Does a call wait for an answer of this tile?
    pub fn is_awaited(&self, tile: u16) -> bool {
        let mut calls = places(self.root.calls.used).filter_map(|place| self.root.calls.get(place));
        calls.any(|call| call.gate.0 == tile)
    }

    /// A gate is gone: nobody will answer.
    pub fn end_calls_to(&mut self, gate: (u16, u16)) {
        for n in 0..CALLS {
            let is_its = self.root.calls.get(n).is_some_and(|call| call.gate == gate);
            if is_its && let Some(call) = self.root.calls.take(n) {
                self.end_call(&call, Err(Error::Dead));
            }
        }
    }

    /// A session is over: nobody waits for it any more.
    pub fn end_calls_of(&mut self, session: u8) {
        for n in 0..CALLS {
            let call = self.root.calls.get(n).copied();
            let call = call.filter(|call| match call.by {
                By::Sender => false,
                By::Session(by, _) | By::Opening(by) => by == session,
            });
            if let Some(call) = call {
                self.root.forget_call(n as u8);
                self.end_call(&call, Err(Error::Dead));
            }
        }
    }

    fn end_call(&mut self, call: &OpenCall, answer: Result<(u64, u64), Error>) {
        if let Some(thread) = self.caller_of(call) {
            self.end_wait(thread, answer);
        }
    }

    /// The thread that waits for this call.
    fn caller_of(&self, call: &OpenCall) -> Option<Place> {
        let thread = self.dispatch.threads.find(call.thread, call.process)?;
        let own = State::Waits(Wait::Answer(call.label as u8));
        (self.dispatch.threads[thread].state == own).then_some(thread)
    }

    /// Answers have come.
    pub fn take_gate_answers(&mut self, unit: Unit) {
        while let Some(message) = unit.fetch(REPLIES) {
            unit.acknowledge(REPLIES, message.slot);
            match message.header.label & NOTICE {
                0 => self.answer_has_come(&message),
                _ => self.core_has_heard(&message),
            }
        }
    }

    fn answer_has_come(&mut self, message: &Message) {
        let place = (message.header.label & 0xff) as usize;
        let call = self.root.calls.get(place);
        if call.is_none_or(|call| call.label != message.header.label) {
            return;
        }
        let size = usize::from(message.header.size).min(MAILBOX_BYTES);
        self.finish_call(place, &message.payload[..size.div_ceil(8)]);
    }

    /// A call has its answer.
    fn finish_call(&mut self, place: usize, answer: &[u64]) {
        let Some(call) = self.root.calls.take(place) else {
            return;
        };
        let Some(waiting) = self.caller_of(&call) else {
            return;
        };
        let caller = Caller::of_process(waiting, self.dispatch.threads[waiting].process);
        let result = match call.by {
            By::Opening(session) => self
                .session_is_answered(session, answer)
                .map(|number| (number, 0)),
            _ => self
                .store_words(caller, call.buffer, answer)
                .map(|()| (8 * answer.len() as u64, 0)),
        };
        self.end_wait(waiting, result);
    }
}
