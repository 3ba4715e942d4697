//! Calls of programs to gates, which wait for their answers.
use flick_abi::card::{Error, MAILBOX_BYTES};
use flick_abi::dtu::{Error as UnitError, HEADER_SIZE, Header, SlotRecord};
use flick_kernel_core::threads::{Place, State, Wait};

use super::activities::of_units;
use super::activity_image::Left;
use super::forwarding::Outcome;
use super::gates::SLOTS;
use super::{Object, Root, Sender, Side};
use crate::dtu::{KERNEL, Message, REPLIES, Unit};
use crate::kernel::{Answer, Caller, Kernel};

/// Calls to gates that wait: each has room for its answer.
const CALLS: usize = SLOTS as usize;
/// Those of a process: others find room, too.
const CALLS_OF_PROCESS: usize = CALLS / 2;
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
    /// A thread does not wait for its answer any more.
    pub fn forget_call(&mut self, place: u8) {
        let call = self.calls.all[usize::from(place)].take();
        if let Some(By::Opening(session)) = call.map(|call| call.by) {
            self.services.is_not_awaited(session);
        }
    }
}

impl Kernel {
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
            endpoint: self.root.endpoint_of(gate),
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

    /// A gate is gone: nobody will answer.
    pub fn end_calls_to(&mut self, gate: (u16, u16)) {
        for n in 0..CALLS {
            if self.root.calls.all[n].is_some_and(|call| call.gate == gate) {
                self.end_call(n, Err(Error::Dead));
            }
        }
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

    /// Answers have come.
    pub fn take_gate_answers(&mut self, unit: Unit) {
        while let Some(message) = unit.fetch(REPLIES) {
            unit.acknowledge(REPLIES, message.slot);
            self.answer_has_come(&message);
        }
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
