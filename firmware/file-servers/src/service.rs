//! A service, and the sessions with it.
use flick_abi::card::Error;
use flick_abi::service::{CLOSE, OPEN};

use crate::calls::{self, Capability, Message};
use flick_files::Failure;

/// Sessions at most: as many as the kernel has.
pub const SESSIONS: usize = 64;
/// The label of the first session. The kernel's messages have 0.
const FIRST_SESSION: u64 = 1;
/// The label of the first open file.
const FIRST_FILE: u64 = 0x100;

/// Who has sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A client, by its session.
    Session(u8),
    /// Who has the sender of an open file.
    File(u64),
}

/// What is next.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A request, which waits for its answer.
    Request(Sender, Message),
    /// A session is over.
    Ended(u8),
}

/// The gate of a service, and the kernel's capabilities of its sessions.
#[derive(Debug)]
pub struct Service {
    /// Where its messages come.
    pub gate: Capability,
    sessions: [Option<Capability>; SESSIONS],
    /// Sessions that are over.
    ended: u64,
}

impl Service {
    /// No service yet.
    pub const fn new() -> Self {
        Self {
            gate: 0,
            sessions: [None; SESSIONS],
            ended: 0,
        }
    }

    /// A gate with a name. It waits until the name is free.
    ///
    /// # Errors
    /// The kernel's.
    pub fn begin(&mut self, name: &[u8], ticks: u64) -> calls::Result<()> {
        self.gate = calls::gate_create()?;
        loop {
            match calls::service_create(self.gate, name) {
                Err(Error::Exists) => calls::sleep(ticks),
                made => return made.map(|_| ()),
            }
        }
    }

    /// Have so many sessions ended, and there is none?
    pub fn is_done(&self, after: u64) -> bool {
        self.ended >= after && self.sessions.iter().all(Option::is_none)
    }

    /// The kernel's capability of a session.
    pub fn session(&self, session: u8) -> Result<Capability, Failure> {
        let found = self.sessions.get(usize::from(session)).copied().flatten();
        found.ok_or(Failure::Invalid)
    }

    /// A sender for requests of an open file.
    ///
    /// # Errors
    /// The kernel's.
    pub fn sender_of_file(&self, file: u64) -> calls::Result<Capability> {
        calls::gate_sender(self.gate, FIRST_FILE + file)
    }

    /// Answers a request. A client that is gone gets no answer.
    pub fn answer(&self, message: &Message, words: &[u64]) {
        while calls::gate_answer(self.gate, message.slot, words) == Err(Error::Again) {}
    }

    /// Waits for what is next. Sessions are opened here.
    ///
    /// # Errors
    /// The kernel's: there is no gate any more.
    pub fn next_event(&mut self) -> calls::Result<Event> {
        loop {
            let message = calls::gate_receive(self.gate)?;
            let [what, session, ..] = message.words;
            match message.label {
                0 if what == OPEN => self.open(session, &message),
                0 if what == CLOSE => {
                    let is_its = |it: &Option<Capability>| *it == Some(session);
                    let place = self.sessions.iter().position(is_its);
                    let Some(place) = place else {
                        continue;
                    };
                    self.sessions[place] = None;
                    self.ended += 1;
                    return Ok(Event::Ended(place as u8));
                }
                0 => self.answer(&message, &[Failure::NoOperation as u64]),
                label if label < FIRST_FILE => {
                    let session = (label - FIRST_SESSION) as u8;
                    return Ok(Event::Request(Sender::Session(session), message));
                }
                label => return Ok(Event::Request(Sender::File(label - FIRST_FILE), message)),
            }
        }
    }

    fn open(&mut self, session: Capability, message: &Message) {
        match self.sessions.iter().position(Option::is_none) {
            Some(place) => {
                self.sessions[place] = Some(session);
                self.answer(message, &[0, FIRST_SESSION + place as u64]);
            }
            None => self.answer(message, &[Error::NoMemory as u64, 0]),
        }
    }
}

impl Default for Service {
    fn default() -> Self {
        Self::new()
    }
}
