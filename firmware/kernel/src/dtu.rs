//! The tile's data transfer unit (`docs/dtu.md`), as the kernel uses it on all its harts.
//!
//! | endpoints | |
//! |---|---|
//! | 0, 1 | what other kernels send, and their answers |
//! | 2 | notes of user harts of other tiles |
//! | from 3 on | mailboxes of programs |
//! | the last ones | one to each tile's kernel; then two for each hart, for messages and for memory |
use core::cell::UnsafeCell;
use core::ptr::{read_volatile, write_volatile};

use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, HEADER_SIZE, Header, Identity, MemoryEndpoint,
    Outcome, RECEIVE_ENDPOINTS, ReceiveEndpoint, SendEndpoint, WRITE_ORDER,
};
use flick_kernel_core::frames::Frames;

use crate::cache;
#[cfg(feature = "host")]
use crate::host_hart::Direct;
#[cfg(feature = "host")]
use flick_abi::descriptor::{
    DIRECT_HARTS, FIRST_HART_ENDPOINT, HOST_ACTIVITY, HOST_ENDPOINT, LOG2_DESCRIPTOR_SLOT,
};

/// The kernels' activity, in all units.
pub const KERNEL: u16 = 1;
/// That of user harts, in all units.
pub const HARTS: u16 = flick_abi::descriptor::HARTS_ACTIVITY;
/// The first one of mailboxes, and how many there are for these and for gates.
const FIRST_ACTIVITY: u16 = 16;
const ACTIVITIES: u16 = 0xd000;
/// Requests of other kernels.
pub const REQUESTS: u16 = 0;
/// Their answers.
pub const ANSWERS: u16 = 1;
/// Notes of user harts of other tiles.
pub const NOTES: u16 = 2;
/// What activities of accelerators tell the root.
#[cfg(all(feature = "root", not(feature = "host")))]
pub const CALLS: u16 = 3;
#[cfg(all(feature = "root", feature = "host"))]
pub const CALLS: u16 = FIRST_HART_ENDPOINT + DIRECT_HARTS;
/// Answers to programs' calls of gates.
#[cfg(feature = "root")]
pub const REPLIES: u16 = CALLS + 1;
/// Requests of the host.
#[cfg(feature = "host")]
pub const HOST: u16 = flick_abi::descriptor::KERNEL_ENDPOINT;
/// The first one of mailboxes.
#[cfg(not(any(feature = "host", feature = "root")))]
const FIRST_MAILBOX: u16 = 3;
/// Calls of programs of other tiles.
#[cfg(feature = "root")]
pub const REMOTE: u16 = REPLIES + 1;
#[cfg(feature = "root")]
const FIRST_MAILBOX: u16 = REMOTE + 1;
#[cfg(all(feature = "host", not(feature = "root")))]
const FIRST_MAILBOX: u16 = FIRST_HART_ENDPOINT + DIRECT_HARTS;
/// Endpoints from 0 on, of which those of [`has_buffer`] have buffers of the kernel.
#[cfg(any(not(feature = "host"), feature = "root"))]
const BUFFERS: usize = FIRST_MAILBOX as usize;
#[cfg(all(feature = "host", not(feature = "root")))]
const BUFFERS: usize = HOST as usize + 1;
/// Endpoints behind all others: what harts send to the host's tile, what the kernel does, and its memory.
#[cfg(feature = "host")]
pub const OF_HOST: u16 = DIRECT_HARTS + 2;
#[cfg(not(feature = "host"))]
pub const OF_HOST: u16 = 0;
/// The root's, in front of these.
#[cfg(feature = "root")]
const OF_ROOT: u16 = crate::root::ENDPOINTS;
#[cfg(not(feature = "root"))]
const OF_ROOT: u16 = 0;
/// Words of the longest message that the kernel sends.
const OUTGOING_WORDS: usize = if cfg!(feature = "root") {
    LONGEST
} else if cfg!(feature = "host") {
    flick_abi::descriptor::DESCRIPTOR_WORDS
} else {
    PAYLOAD / 8
};
const _: () = assert!(flick_abi::descriptor::DESCRIPTOR_WORDS <= LONGEST);
/// Words of what is in a slot of the largest size, behind its header.
pub const LONGEST: usize = ((1 << LOG2_REQUEST) - HEADER_SIZE) / 8;
/// Slots of a receive endpoint: each other kernel has one message under way at most.
const SLOTS: u8 = MOST_TILES as u8;
/// Bytes of a slot for a request: a header and a payload.
pub const LOG2_REQUEST: u8 = 8;
/// The same for an answer or a note: a header and a word.
const LOG2_ANSWER: u8 = 5;
/// Bytes of a payload.
pub const PAYLOAD: usize = flick_abi::card::MAILBOX_BYTES;
/// Tiles of a machine whose kernels talk, so that each has a credit for slots of the others.
pub const MOST_TILES: u64 = 16;

/// How often a command is made again that the root has aborted: a root that has failed meanwhile ends it.
#[cfg(feature = "root")]
const ABORTS: u32 = 1 << 20;

/// Endpoints of harts that take requests of the host lie between those of the kernel.
const fn has_buffer(endpoint: u16) -> bool {
    #[cfg(feature = "host")]
    return endpoint < FIRST_HART_ENDPOINT || endpoint >= FIRST_HART_ENDPOINT + DIRECT_HARTS;
    #[cfg(not(feature = "host"))]
    return endpoint < FIRST_MAILBOX;
}

const fn log2_slot(endpoint: u16) -> u8 {
    match endpoint {
        REQUESTS => LOG2_REQUEST,
        #[cfg(feature = "root")]
        CALLS | REPLIES | REMOTE => LOG2_REQUEST,
        #[cfg(feature = "host")]
        HOST => flick_abi::descriptor::LOG2_DESCRIPTOR_SLOT,
        _ => LOG2_ANSWER,
    }
}

/// Turns of an empty loop between two looks at a long command at most: some 100 cycles.
#[cfg(feature = "host")]
const PAUSE: u32 = 32;

/// Words of a payload.
pub type Payload = [u64; PAYLOAD / 8];

#[repr(C, align(64))]
struct Outgoing(UnsafeCell<[u64; OUTGOING_WORDS]>);

// SAFETY: the unit and the kernel hart alone use it.
unsafe impl Sync for Outgoing {}

static OUTGOING: Outgoing = Outgoing(UnsafeCell::new([0; OUTGOING_WORDS]));

/// A message that has come.
#[derive(Clone, Copy, Debug)]
pub struct Message<const WORDS: usize = { PAYLOAD / 8 }> {
    /// Its header.
    pub header: Header,
    /// The slot that it is in.
    pub slot: u8,
    /// What it says.
    pub payload: [u64; WORDS],
}

/// The registers of a tile's unit, whose first page is the bank of the hart that accesses.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers(u64);

/// A tile's unit, and which endpoints are for what.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    registers: Registers,
    /// Tiles with kernels.
    pub tiles: u64,
    /// The pages of requests, of answers and of notes, and of what the host asks for.
    buffers: [u64; BUFFERS],
    /// The endpoint that sends to the kernel of tile 0.
    first_sender: u16,
    /// The first one of user harts; 0: they have none.
    first_of_harts: u16,
}

/// An activity for an endpoint that receives, when so many were used before.
pub fn next_activity(used: &mut u16) -> u16 {
    let activity = FIRST_ACTIVITY + *used % ACTIVITIES;
    *used = used.wrapping_add(1);
    activity
}

impl core::ops::Deref for Unit {
    type Target = Registers;

    fn deref(&self) -> &Registers {
        &self.registers
    }
}

impl Registers {
    /// Sets an endpoint up that receives.
    pub fn set_receiver(
        &self,
        number: u16,
        activity: u16,
        buffer: u64,
        (log2_slot, slots): (u8, u8),
    ) {
        let receive = ReceiveEndpoint {
            activity,
            buffer,
            log2_slot,
            slots,
            occupied: 0,
            unread: 0,
        };
        self.set_endpoint(number, Endpoint::Receive(receive));
    }

    /// The endpoint is of no use any more.
    pub fn clear_endpoint(&self, number: u16) {
        self.set(dtu::endpoint_word(number, 0), 0);
    }

    /// Slots of a receive endpoint that are occupied.
    #[inline(always)]
    pub fn occupied(&self, endpoint: u16) -> u64 {
        let slots = self.get(dtu::endpoint_word(endpoint, 3)) as u32;
        slots.count_ones().into()
    }

    /// Whether messages were not fetched.
    pub fn has_unread(&self, endpoint: u16) -> bool {
        self.get(dtu::endpoint_word(endpoint, 3)) >> 32 != 0
    }

    /// Sets an endpoint up that sends so many messages, to an endpoint of a tile with an activity.
    pub fn set_message_endpoint(
        &self,
        number: u16,
        activity: u16,
        (tile, endpoint, receiver): (u16, u16, u16),
        credits: (u64, u16),
    ) {
        let to = (tile, endpoint, receiver);
        self.set_long_endpoint(number, activity, to, credits, LOG2_REQUEST);
    }

    /// The same for messages of any length.
    pub fn set_long_endpoint(
        &self,
        number: u16,
        activity: u16,
        (tile, endpoint, receiver): (u16, u16, u16),
        (label, credits): (u64, u16),
        log2_message: u8,
    ) {
        let send = SendEndpoint {
            activity,
            tile,
            endpoint,
            receiver,
            label,
            credits,
            most_credits: credits,
            log2_message,
        };
        self.set_endpoint(number, Endpoint::Send(send));
    }

    /// Sets an endpoint up that reaches all memory of a tile.
    pub fn set_memory_endpoint(&self, number: u16, tile: u64) {
        self.set_memory(number, HARTS, tile);
    }

    /// The same for an activity.
    pub fn set_memory(&self, number: u16, activity: u16, tile: u64) {
        let memory = MemoryEndpoint {
            activity,
            can_read: true,
            can_write: true,
            tile: tile as u16,
            address: 0,
            size: 1 << 56,
            receiver: 0,
        };
        self.set_endpoint(number, Endpoint::Memory(memory));
    }

    /// Where a register is.
    pub fn address(&self, offset: u64) -> u64 {
        self.0 + offset
    }

    /// Writes a register.
    #[inline(always)]
    pub fn set(&self, offset: u64, value: u64) {
        // SAFETY: the machine's tree says that the unit is there, and its registers are whole pages.
        unsafe { write_volatile((self.0 + offset) as *mut u64, value) };
    }

    /// Reads a register.
    #[inline(always)]
    pub fn get(&self, offset: u64) -> u64 {
        // SAFETY: as in `set`.
        unsafe { read_volatile((self.0 + offset) as *const u64) }
    }

    /// Sets an endpoint up.
    #[inline(always)]
    pub fn set_endpoint(&self, number: u16, endpoint: Endpoint) {
        let words = endpoint.words();
        for word in WRITE_ORDER {
            self.set(dtu::endpoint_word(number, word), words[word]);
        }
    }

    /// Executes a command: a round trip on the links at most, if it is of messages.
    #[inline(always)]
    pub fn execute(&self, word: CommandWord) -> Result<u64, Error> {
        self.start(word);
        self.finish();
        let result = Outcome::from_bits(self.get(dtu::RESULT)).result();
        #[cfg(feature = "root")]
        if result == Err(Error::Aborted) {
            return self.execute_again(word);
        }
        result
    }

    /// The root has taken the bank meanwhile, and gives it back.
    #[cfg(feature = "root")]
    #[cold]
    #[inline(never)]
    fn execute_again(&self, word: CommandWord) -> Result<u64, Error> {
        let mut result = Err(Error::Aborted);
        for _ in 0..ABORTS {
            self.start(word);
            self.finish();
            result = Outcome::from_bits(self.get(dtu::RESULT)).result();
            if result != Err(Error::Aborted) {
                break;
            }
        }
        result
    }

    /// Starts a command. None runs.
    #[inline(always)]
    pub fn start(&self, word: CommandWord) {
        cache::clean();
        self.set(dtu::COMMAND, word.bits());
    }

    /// Waits for the end of the command that runs.
    #[inline(always)]
    pub fn finish(&self) {
        #[cfg(feature = "host")]
        for look in 0_u32.. {
            if self.get(dtu::COMMAND) == 0 {
                return;
            }
            // A command that has been on its way to the host for long will be for long, and each look takes
            // who simulates the machine as long as many instructions.
            if look >= 2 {
                (0..look.min(PAUSE)).for_each(|n| _ = core::hint::black_box(n));
            }
        }
        #[cfg(not(feature = "host"))]
        while self.get(dtu::COMMAND) != 0 {}
    }
}

impl Unit {
    /// The unit at an address, with endpoints for so many kernels and so many harts of the tile.
    pub fn begin(
        base: u64,
        (tile, tiles): (u64, u64),
        (kernel_hart, harts): (usize, usize),
        frames: &mut Frames,
    ) -> Option<Self> {
        let mut unit = Self {
            registers: Registers(base),
            tiles: tiles.min(MOST_TILES),
            buffers: [0; BUFFERS],
            first_sender: 0,
            first_of_harts: 0,
        };
        let endpoints = Identity::from_bits(unit.get(dtu::IDENTITY)).endpoints;
        let with_harts = unit.tiles as u16 + 2 * harts as u16 + OF_HOST + OF_ROOT;
        unit.first_sender = FIRST_MAILBOX;
        if FIRST_MAILBOX + with_harts < endpoints {
            unit.first_sender = endpoints - with_harts;
            unit.first_of_harts = unit.first_sender + unit.tiles as u16;
        }
        unit.set(dtu::current(kernel_hart), KERNEL.into());
        for number in (0..BUFFERS as u16).filter(|&number| has_buffer(number)) {
            let buffer = frames.allocate()?;
            unit.buffers[usize::from(number)] = buffer;
            unit.set_receiver(number, KERNEL, buffer, (log2_slot(number), SLOTS));
        }
        for other in (0..unit.tiles).filter(|&other| other != tile) {
            unit.set_sender(other);
        }
        // The bank of a hart that is alone has another activity while its thread waits for its owner. The
        // kernel is interrupted all the same.
        let waiting = match cfg!(feature = "alone") {
            true => (1 << BUFFERS) - 1,
            false => 0,
        };
        unit.set(dtu::WAITING_INTERRUPT, waiting);
        unit.set(dtu::INTERRUPT, u64::MAX);
        Some(unit)
    }

    /// The same if another tile sets up all endpoints. The buffer of the first one is at an address.
    #[cfg(feature = "root")]
    pub fn begin_governed(base: u64, buffer: u64, kernel_hart: usize) -> Self {
        let mut buffers = [0; BUFFERS];
        buffers[usize::from(flick_abi::card::remote_call::FROM_ROOT)] = buffer;
        let unit = Self {
            registers: Registers(base),
            tiles: 0,
            buffers,
            // Harts have endpoints, and none of them is the kernel's to set up.
            first_sender: 0,
            first_of_harts: u16::MAX,
        };
        unit.set(dtu::current(kernel_hart), KERNEL.into());
        unit.set(dtu::WAITING_INTERRUPT, 0);
        unit.set(dtu::INTERRUPT, u64::MAX);
        unit
    }

    /// Its bank has the harts' activity from now on.
    #[cfg(feature = "root")]
    pub fn begin_governed_hart(&self, hart: usize) -> Registers {
        self.set(dtu::current(hart), HARTS.into());
        self.registers
    }

    /// Sends a message by an endpoint. Its answer has `token` as its label.
    #[cfg(feature = "root")]
    pub fn send_by(
        &self,
        endpoint: u16,
        payload: &[u64],
        (answers, token): (u16, u64),
    ) -> Result<(), Error> {
        self.prepare(payload);
        self.set(dtu::LABEL, token);
        let word = CommandWord::new(Command::Send, endpoint).with_answer(answers);
        self.command(word).map(|_| ())
    }

    /// The endpoints for mailboxes.
    pub fn mailboxes(&self) -> core::ops::Range<u16> {
        match self.first_of_harts {
            0 => 0..0,
            _ => FIRST_MAILBOX..self.first_sender.min(RECEIVE_ENDPOINTS),
        }
    }

    /// Have user harts endpoints of their own?
    #[cfg(feature = "root")]
    pub fn has_harts(&self) -> bool {
        self.first_of_harts != 0
    }

    /// The endpoints of a user hart, for messages and for memory. Its bank has its activity from now on.
    pub fn begin_hart(&self, hart: usize) -> Option<(Registers, [u16; 2])> {
        if self.first_of_harts == 0 {
            return None;
        }
        self.set(dtu::current(hart), HARTS.into());
        let first = self.first_of_harts + 2 * hart as u16;
        Some((self.registers, [first, first + 1]))
    }

    /// The kernel hart is interrupted for messages that wait at an endpoint, or not.
    pub fn interrupt_for(&self, endpoint: u16, is_on: bool) {
        let mask = self.get(dtu::WAITING_INTERRUPT) & !(1 << endpoint);
        self.set(dtu::WAITING_INTERRUPT, mask | u64::from(is_on) << endpoint);
    }

    /// Endpoints whose messages wait, and interrupt for that.
    pub fn waiting(&self) -> u64 {
        self.get(dtu::WAITING) & self.get(dtu::WAITING_INTERRUPT)
    }

    /// The endpoint that sends to the kernel of a tile, with its credit.
    pub fn set_sender(&self, tile: u64) {
        let to = (tile as u16, REQUESTS, KERNEL);
        self.set_message_endpoint(self.first_sender + tile as u16, KERNEL, to, (0, 1));
    }

    /// The same, if it is the kernel's.
    #[inline(always)]
    fn command(&self, word: CommandWord) -> Result<u64, Error> {
        #[cfg(feature = "symmetric")]
        return crate::symmetric::command(self, word);
        // A message to the host may be on its way still.
        #[cfg(feature = "host")]
        self.finish();
        #[cfg(not(feature = "symmetric"))]
        self.execute(word)
    }

    fn prepare(&self, payload: &[u64]) {
        #[cfg(feature = "host")]
        self.finish();
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
        let endpoint = self.first_sender + tile as u16;
        self.prepare(payload);
        self.set(dtu::endpoint_word(endpoint, 2), label);
        self.set(dtu::LABEL, token);
        let word = CommandWord::new(Command::Send, endpoint).with_answer(ANSWERS);
        let sent = self.command(word).map(|_| ());
        // The credit may be lost with the message.
        if sent == Err(Error::NoConfirmation) {
            self.set_sender(tile);
        }
        sent
    }

    /// The endpoints to the tile of the host.
    #[cfg(feature = "host")]
    pub fn host_endpoints(&self) -> [u16; 2] {
        let endpoints = Identity::from_bits(self.get(dtu::IDENTITY)).endpoints;
        [endpoints - 2, endpoints - 1]
    }

    /// What a hart needs that talks with the tile of the host itself: its endpoints are made here. `None`:
    /// the tile has not enough of them. Its own tile is the first number.
    #[cfg(feature = "host")]
    pub fn direct(&self, hart: usize, (tile, host): (u64, u64), slots: u64) -> Option<Direct> {
        let [messages, _] = self.host_endpoints();
        let number = u16::try_from(hart).ok().filter(|&n| n < DIRECT_HARTS)?;
        if self.first_of_harts == 0 {
            return None;
        }
        let (endpoint, sender) = (FIRST_HART_ENDPOINT + number, messages - 1 - number);
        let slot = slots + (u64::from(number) << LOG2_DESCRIPTOR_SLOT);
        self.set_receiver(endpoint, HARTS, slot, (LOG2_DESCRIPTOR_SLOT, 1));
        // The slot is open while the hart waits alone.
        self.set(dtu::endpoint_word(endpoint, 3), 1);
        let to = (host as u16, HOST_ENDPOINT, HOST_ACTIVITY);
        self.set_long_endpoint(sender, HARTS, to, (0, 1), LOG2_DESCRIPTOR_SLOT);
        let memory = self.first_of_harts + 2 * number + 1;
        self.set_memory_endpoint(memory, host);
        Some(Direct {
            unit: self.registers,
            current: dtu::current(hart),
            endpoint,
            sender,
            memory,
            slot,
            word1: u64::from(endpoint) << 40 | tile << 48,
        })
    }

    /// Starts to send a message that takes no answer. The next command waits for its end.
    #[cfg(feature = "host")]
    pub fn start_to_send(&self, endpoint: u16, words: &[u64]) {
        self.finish();
        self.prepare(words);
        self.start(CommandWord::new(Command::Send, endpoint));
    }

    /// Are all messages that wait for the kernel from the host?
    #[cfg(feature = "host")]
    pub fn has_messages_of_host_alone(&self) -> bool {
        self.get(dtu::EVENTS) == 1 << HOST
    }

    /// Messages that an endpoint can send now.
    #[cfg(feature = "host")]
    pub fn credits(&self, endpoint: u16) -> u16 {
        self.get(dtu::endpoint_word(endpoint, 3)) as u16
    }

    /// The oldest message of an endpoint.
    pub fn fetch(&self, endpoint: u16) -> Option<Message> {
        // A look at one register is quicker than a command.
        #[cfg(feature = "root")]
        if self.events() >> endpoint & 1 == 0 {
            return None;
        }
        self.fetch_long(endpoint)
    }

    /// The same with a payload of so many words.
    #[inline(always)]
    pub fn fetch_long<const WORDS: usize>(&self, endpoint: u16) -> Option<Message<WORDS>> {
        let buffer = self.buffers[usize::from(endpoint)];
        self.fetch_from(endpoint, (buffer, log2_slot(endpoint)))
    }

    /// The same of an endpoint with this buffer.
    #[inline(always)]
    pub fn fetch_from<const WORDS: usize>(
        &self,
        endpoint: u16,
        (buffer, log2_slot): (u64, u8),
    ) -> Option<Message<WORDS>> {
        let at = self
            .command(CommandWord::new(Command::Fetch, endpoint))
            .ok()?;
        if at == 0 {
            return None;
        }
        let size = 1 << log2_slot;
        cache::refresh(at, size);
        let mut payload = [0; WORDS];
        let words = (size as usize - HEADER_SIZE) / 8;
        // SAFETY: the unit has written a message there, in a slot of this buffer.
        let header =
            unsafe { Header::from_words((at as *const [u64; HEADER_SIZE / 8]).read_volatile()) };
        // Most of the root's are short.
        #[cfg(feature = "root")]
        let words = words.min(usize::from(header.size).div_ceil(8));
        // SAFETY: as above.
        unsafe {
            let from = (at + HEADER_SIZE as u64) as *const u64;
            for (n, word) in payload.iter_mut().take(words).enumerate() {
                *word = from.add(n).read_volatile();
            }
        }
        Some(Message {
            header,
            slot: ((at - buffer) >> log2_slot) as u8,
            payload,
        })
    }

    /// Endpoints of the kernel with unread messages.
    #[cfg(feature = "root")]
    pub fn events(&self) -> u64 {
        self.get(dtu::EVENTS)
    }

    /// Sends a message of a program to a gate. Its answer has `token` as its label.
    #[cfg(feature = "root")]
    pub fn ask_gate(
        &self,
        to: (u16, u16, u16),
        label: u64,
        payload: &[u64],
        token: u64,
    ) -> Result<(), Error> {
        let endpoint = self.root_sender();
        self.set_message_endpoint(endpoint, KERNEL, to, (label, 1));
        self.prepare(payload);
        self.set(dtu::LABEL, token);
        let word = CommandWord::new(Command::Send, endpoint).with_answer(REPLIES);
        self.command(word).map(|_| ())
    }

    /// Sends words by an endpoint. The answer comes to another one, with a label.
    #[cfg(all(feature = "host", feature = "root"))]
    pub fn send_words(
        &self,
        endpoint: u16,
        (words, label): (&[u64], u64),
        answers: u16,
    ) -> Result<(), Error> {
        self.prepare(words);
        self.set(dtu::LABEL, label);
        let word = CommandWord::new(Command::Send, endpoint).with_answer(answers);
        self.command(word).map(|_| ())
    }

    /// Answers a message of an endpoint.
    #[inline(always)]
    pub fn answer_at(&self, endpoint: u16, slot: u8, payload: &[u64]) -> Result<(), Error> {
        self.prepare(payload);
        let command = CommandWord::new(Command::Reply, endpoint).with_slot(slot);
        self.command(command).map(|_| ())
    }

    /// Answers a request.
    pub fn answer(&self, slot: u8, word: u64) {
        if self.answer_at(REQUESTS, slot, &[word]).is_err() {
            // Whoever has asked is gone. The slot is free all the same.
            self.acknowledge(REQUESTS, slot);
        }
    }

    /// Frees the slot of a message.
    pub fn acknowledge(&self, endpoint: u16, slot: u8) {
        let command = CommandWord::new(Command::Acknowledge, endpoint).with_slot(slot);
        let _: Result<u64, Error> = self.command(command);
    }
}
