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

/// Bytes of an operation and its arguments.
const WORDS_OF_REQUEST: usize = 24;
/// A path, and another one.
pub type TwoPaths<'a> = (&'a [u8], &'a [u8]);

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
    /// The slot of a request, and its answer, which goes with the next wait.
    answer: Option<(u64, Answer)>,
}

impl Service {
    /// No service yet.
    pub const fn new() -> Self {
        Self {
            gate: 0,
            sessions: [None; SESSIONS],
            ended: 0,
            answer: None,
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

    /// Answers a request with the wait for the next event, which has to follow soon.
    pub fn finish(&mut self, message: &Message, done: Result<Answer, Failure>) {
        if let Some((slot, answer)) = self.answer.take() {
            answer.send(self.gate, slot);
        }
        self.answer = Some((message.slot, Answer::of(done)));
    }

    /// Gives the answer that is due, and takes the next message.
    fn next_message(&mut self) -> calls::Result<Message> {
        let Some((slot, answer)) = self.answer.take() else {
            return calls::gate_receive(self.gate);
        };
        loop {
            let words = &answer.words[..answer.count];
            match calls::gate_answer_receive(self.gate, slot, words) {
                Err(Error::Again) => {}
                // Whoever has asked is gone.
                Err(Error::Invalid) => return calls::gate_receive(self.gate),
                taken => return taken,
            }
        }
    }

    /// Waits for what is next. Sessions are opened here.
    ///
    /// # Errors
    /// The kernel's: there is no gate any more.
    pub fn next_event(&mut self) -> calls::Result<Event> {
        loop {
            let message = self.next_message()?;
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

impl Answer {
    fn of(done: Result<Self, Failure>) -> Self {
        done.unwrap_or_else(|failure| {
            let mut words = [0; WORDS];
            words[0] = failure as u64;
            Self { words, count: 3 }
        })
    }

    fn send(&self, gate: Capability, slot: u64) {
        let words = &self.words[..self.count];
        while calls::gate_answer(gate, slot, words) == Err(Error::Again) {}
    }
}

/// Answers the message in a slot of a gate. A client that is gone gets no answer.
pub fn answer_at(gate: Capability, slot: u64, done: Result<Answer, Failure>) {
    Answer::of(done).send(gate, slot);
}

impl Message {
    /// The open file whose sender it has come by.
    pub const fn file(&self) -> u64 {
        self.label - FIRST_FILE
    }

    /// The paths of these sizes that a request has behind its words. `None`: they are in the session's page.
    ///
    /// # Errors
    /// There is no room for them in the message.
    pub fn paths(&self, (first, second): (u64, u64)) -> Result<Option<TwoPaths<'_>>, Failure> {
        let bytes = self.bytes().get(WORDS_OF_REQUEST..).unwrap_or(&[]);
        if bytes.is_empty() {
            return Ok(None);
        }
        let both = first.checked_add(second).ok_or(Failure::Invalid)?;
        let both = bytes.get(..both as usize).ok_or(Failure::Invalid)?;
        Ok(Some(both.split_at(first as usize)))
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
