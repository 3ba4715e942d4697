//! A service, and the sessions with it.
use flick_abi::card::Error;
use flick_abi::file_protocol::{REQUEST_SIZE, Request};
use flick_abi::service::{CLOSE, OPEN};

use crate::calls::{self, Capability, Message, WORDS};
use flick_files::Failure;

/// Sessions at most: as many as the kernel has.
pub use flick_files::SESSIONS;
/// The label of the first session. The kernel's messages have 0.
const FIRST_SESSION: u64 = 1;
/// The label of the first open file.
const FIRST_FILE: u64 = 0x100;

/// An answer: some words.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    words: [u64; WORDS],
    count: usize,
}

/// An answer without an error, of these words.
///
/// # Errors
/// None. So it is the end of what may have some.
pub fn answer<const N: usize>(values: [u64; N]) -> Result<Answer, Failure> {
    let mut words = [0; WORDS];
    words[1..=N].copy_from_slice(&values);
    Ok(Answer {
        words,
        count: 1 + N,
    })
}

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

    /// A sender to a gate for requests of an open file.
    ///
    /// # Errors
    /// The kernel's.
    pub fn sender_of_file(gate: Capability, file: u64) -> calls::Result<Capability> {
        calls::gate_sender(gate, FIRST_FILE + file)
    }

    /// Answers a request.
    pub fn finish(&self, message: &Message, done: Result<Answer, Failure>) {
        answer_at(self.gate, message.slot, done);
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
                0 => self.finish(&message, Err(Failure::NoOperation)),
                label if label < FIRST_FILE => {
                    let session = (label - FIRST_SESSION) as u8;
                    return Ok(Event::Request(Sender::Session(session), message));
                }
                _ => return Ok(Event::Request(Sender::File(message.file()), message)),
            }
        }
    }

    fn open(&mut self, session: Capability, message: &Message) {
        match self.sessions.iter().position(Option::is_none) {
            Some(place) => {
                self.sessions[place] = Some(session);
                self.finish(message, answer([FIRST_SESSION + place as u64]));
            }
            None => self.finish(message, Err(Failure::NoMemory)),
        }
    }
}

/// Answers the message in a slot of a gate. A client that is gone gets no answer.
pub fn answer_at(gate: Capability, slot: u64, done: Result<Answer, Failure>) {
    let Answer { words, count } = match done {
        Ok(answer) => answer,
        Err(failure) => {
            let mut words = [0; WORDS];
            words[0] = failure as u64;
            Answer { words, count: 3 }
        }
    };
    while calls::gate_answer(gate, slot, &words[..count]) == Err(Error::Again) {}
}

impl Message {
    /// The open file whose sender it has come by.
    pub const fn file(&self) -> u64 {
        self.label - FIRST_FILE
    }

    /// What it is in the file protocol.
    pub fn request(&self) -> Option<Request> {
        let mut bytes = [0; REQUEST_SIZE];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(self.words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Request::from_bytes(&bytes).filter(|_| self.size == REQUEST_SIZE as u64)
    }
}

impl Default for Service {
    fn default() -> Self {
        Self::new()
    }
}
