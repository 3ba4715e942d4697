//! The kernel's use of its tile's data transfer unit (`docs/dtu.md`): endpoint 0 receives what other
//! kernels send, endpoint 1 their answers, and behind them is an endpoint for each other tile.
use core::cell::UnsafeCell;
use core::ptr::{read_volatile, write_volatile};

use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, HEADER_SIZE, Header, Outcome, ReceiveEndpoint,
    SendEndpoint, WRITE_ORDER,
};

use crate::cache;

/// The kernels' activity, in all units.
const KERNEL: u16 = 1;
/// Requests of other kernels.
pub const REQUESTS: u16 = 0;
/// Their answers.
pub const ANSWERS: u16 = 1;
/// The endpoint that sends to tile 0.
const FIRST_SENDER: u16 = 2;
/// Slots of a receive endpoint: each other kernel has one message under way at most.
const SLOTS: u8 = MOST_TILES as u8;
/// Bytes of a slot for a request: a header and a payload.
const LOG2_REQUEST: u8 = 8;
/// The same for an answer: a header and a word.
const LOG2_ANSWER: u8 = 5;
/// Bytes of a payload.
pub const PAYLOAD: usize = flick_abi::card::MAILBOX_BYTES;
/// Tiles of a machine whose kernels talk, so that each has a credit for slots of the others.
pub const MOST_TILES: u64 = 16;

#[repr(C, align(256))]
struct Buffer<const SIZE: usize>(UnsafeCell<[u8; SIZE]>);

// SAFETY: the unit and the kernel hart alone use it.
unsafe impl<const SIZE: usize> Sync for Buffer<SIZE> {}

impl<const SIZE: usize> Buffer<SIZE> {
    const fn new() -> Self {
        Self(UnsafeCell::new([0; SIZE]))
    }

    fn address(&self) -> u64 {
        self.0.get().addr() as u64
    }
}

static REQUEST_BUFFER: Buffer<{ (SLOTS as usize) << LOG2_REQUEST }> = Buffer::new();
static ANSWER_BUFFER: Buffer<{ (SLOTS as usize) << LOG2_ANSWER }> = Buffer::new();

/// The buffer of a receive endpoint, and log2 of the bytes of a slot.
fn buffer_of(endpoint: u16) -> (u64, u8) {
    match endpoint {
        REQUESTS => (REQUEST_BUFFER.address(), LOG2_REQUEST),
        _ => (ANSWER_BUFFER.address(), LOG2_ANSWER),
    }
}

/// Words of a payload.
pub type Payload = [u64; PAYLOAD / 8];

#[repr(C, align(64))]
struct Outgoing(UnsafeCell<Payload>);

// SAFETY: as of `Buffer`.
unsafe impl Sync for Outgoing {}

static OUTGOING: Outgoing = Outgoing(UnsafeCell::new([0; PAYLOAD / 8]));

/// A message that has come.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Its header.
    pub header: Header,
    /// The slot that it is in.
    pub slot: u8,
    /// What it says.
    pub payload: Payload,
}

/// A tile's unit.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    base: u64,
    tiles: u64,
}

impl Unit {
    /// The unit at an address, with endpoints for the kernels of so many tiles.
    pub fn begin(base: u64, tile: u64, tiles: u64, bank: usize) -> Self {
        let unit = Self {
            base,
            tiles: tiles.min(MOST_TILES),
        };
        unit.set(dtu::current(bank), KERNEL.into());
        for number in [REQUESTS, ANSWERS] {
            let (buffer, log2_slot) = buffer_of(number);
            let receive = ReceiveEndpoint {
                activity: KERNEL,
                buffer,
                log2_slot,
                slots: SLOTS,
                occupied: 0,
                unread: 0,
            };
            unit.set_endpoint(number, Endpoint::Receive(receive));
        }
        for other in (0..unit.tiles).filter(|&other| other != tile) {
            unit.set_sender(other);
        }
        unit.set(dtu::INTERRUPT, u64::MAX);
        unit
    }

    /// The endpoint that sends to the kernel of a tile, with its credit.
    fn set_sender(&self, tile: u64) {
        let send = SendEndpoint {
            activity: KERNEL,
            tile: tile as u16,
            endpoint: REQUESTS,
            receiver: KERNEL,
            label: 0,
            credits: 1,
            most_credits: 1,
            log2_message: LOG2_REQUEST,
        };
        self.set_endpoint(FIRST_SENDER + tile as u16, Endpoint::Send(send));
    }

    fn set(&self, offset: u64, value: u64) {
        // SAFETY: the machine's tree says that the unit is there, and its registers are whole pages.
        unsafe { write_volatile((self.base + offset) as *mut u64, value) };
    }

    fn get(&self, offset: u64) -> u64 {
        // SAFETY: as in `set`.
        unsafe { read_volatile((self.base + offset) as *const u64) }
    }

    fn set_endpoint(&self, number: u16, endpoint: Endpoint) {
        let words = endpoint.words();
        for word in WRITE_ORDER {
            self.set(dtu::endpoint_word(number, word), words[word]);
        }
    }

    /// Executes a command: a round trip on the links at most.
    fn execute(&self, word: CommandWord) -> Result<u64, Error> {
        cache::clean();
        self.set(dtu::COMMAND, word.bits());
        while self.get(dtu::COMMAND) != 0 {}
        Outcome::from_bits(self.get(dtu::RESULT)).result()
    }

    fn prepare(&self, payload: &[u64]) {
        let at = OUTGOING.0.get();
        // SAFETY: the kernel hart alone uses it, and no command runs.
        let outgoing = unsafe { &mut *at };
        outgoing[..payload.len()].copy_from_slice(payload);
        self.set(dtu::ADDRESS, at.addr() as u64);
        self.set(dtu::SIZE, 8 * payload.len() as u64);
    }

    /// Sends a message to the kernel of another tile. Its answer has `token` as its label.
    pub fn send(&self, tile: u64, label: u64, payload: &[u64], token: u64) -> Result<(), Error> {
        if tile >= self.tiles {
            return Err(Error::Unreachable);
        }
        let endpoint = FIRST_SENDER + tile as u16;
        self.prepare(payload);
        self.set(dtu::endpoint_word(endpoint, 2), label);
        self.set(dtu::LABEL, token);
        let word = CommandWord::new(Command::Send, endpoint).with_answer(ANSWERS);
        let sent = self.execute(word).map(|_| ());
        // The credit may be lost with the message.
        if sent == Err(Error::NoConfirmation) {
            self.set_sender(tile);
        }
        sent
    }

    /// The oldest message of an endpoint.
    pub fn fetch(&self, endpoint: u16) -> Option<Message> {
        let at = self
            .execute(CommandWord::new(Command::Fetch, endpoint))
            .ok()?;
        if at == 0 {
            return None;
        }
        let (buffer, log2_slot) = buffer_of(endpoint);
        let size = 1 << log2_slot;
        cache::refresh(at, size);
        let mut payload = Payload::default();
        let words = (size as usize - HEADER_SIZE) / 8;
        // SAFETY: the unit has written a message there, in a slot of this buffer.
        let header = unsafe {
            let from = (at + HEADER_SIZE as u64) as *const u64;
            for (n, word) in payload.iter_mut().take(words).enumerate() {
                *word = from.add(n).read_volatile();
            }
            (at as *const [u8; HEADER_SIZE]).read_volatile()
        };
        Some(Message {
            header: Header::from_bytes(&header),
            slot: ((at - buffer) >> log2_slot) as u8,
            payload,
        })
    }

    /// Answers a request.
    pub fn answer(&self, slot: u8, word: u64) {
        self.prepare(&[word]);
        let command = CommandWord::new(Command::Reply, REQUESTS).with_slot(slot);
        if self.execute(command).is_err() {
            // Whoever has asked is gone. The slot is free all the same.
            self.acknowledge(REQUESTS, slot);
        }
    }

    /// Frees the slot of a message.
    pub fn acknowledge(&self, endpoint: u16, slot: u8) {
        let command = CommandWord::new(Command::Acknowledge, endpoint).with_slot(slot);
        let _: Result<u64, Error> = self.execute(command);
    }
}
