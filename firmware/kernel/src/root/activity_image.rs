//! An activity of an accelerator while it does not run: its local memory, and all that its tile has of it.
use core::mem::offset_of;

use flick_abi::accelerator::{
    ANSWERS, ANSWERS_BUFFER, ANSWERS_SLOTS, BLOCKS, CONTEXT, CONTEXT_WORDS, CONTROL, Control,
    INPUT, INPUT_DATA, INPUT_REQUESTS, LOG2_NOTICE, LOG2_SLOT, LOG2_STEPS_SLOT, OUTPUT_DATA,
    OUTPUT_REQUESTS, PAGER, PAGES, REQUESTS, REQUESTS_BUFFER, REQUESTS_SLOTS, ROOT, STATUS,
    STEPS_BUFFER, STEPS_SLOTS, Status, YIELD,
};
use flick_abi::card::PAGE;
use flick_abi::dtu::{
    self, ACCELERATOR_REGISTERS, Command, Endpoint, HEADER_SIZE, Header, NO_ACTIVITY, PageFault,
    ReceiveEndpoint, SendEndpoint, SlotRecord,
};
use flick_kernel_core::frames::Frames;

use super::remote::NoAnswer;
use super::requests;
use super::tile_table::TileFacts;
use crate::cache;
use crate::direct::Direct;
use crate::dtu::{CALLS, KERNEL, Unit};
use flick_kernel_core::page_tables::Physical;

/// Endpoints of an accelerator of streams that the module uses.
const STREAM_ENDPOINTS: usize = REQUESTS as usize + 1;
/// Those of any accelerator.
pub const ENDPOINTS: usize = requests::ENDPOINTS;
/// Registers of the module, up to the last word of the context.
const REGISTERS: usize = CONTEXT as usize / 8 + CONTEXT_WORDS;

/// An endpoint that receives messages.
struct Receiver {
    endpoint: u16,
    slots: u8,
    log2_slot: u8,
    /// Where its buffer begins.
    buffer: u64,
}

/// Those of an accelerator of streams, and of one of requests. Their buffers lie one behind the other.
const OF_STREAMS: [Receiver; 2] = [
    Receiver {
        endpoint: ANSWERS,
        slots: ANSWERS_SLOTS,
        log2_slot: LOG2_SLOT,
        buffer: ANSWERS_BUFFER,
    },
    Receiver {
        endpoint: REQUESTS,
        slots: REQUESTS_SLOTS,
        log2_slot: LOG2_SLOT,
        buffer: REQUESTS_BUFFER,
    },
];
const OF_REQUESTS: [Receiver; 1] = [Receiver {
    endpoint: REQUESTS,
    slots: STEPS_SLOTS,
    log2_slot: LOG2_STEPS_SLOT,
    buffer: STEPS_BUFFER,
}];
/// Where the first buffer begins.
const BUFFERS: u64 = ANSWERS_BUFFER;
/// Slots of an endpoint, and bytes of all of them, at most.
const SLOTS: usize = STEPS_SLOTS as usize;
const BYTES: usize = SLOTS << LOG2_STEPS_SLOT;

const _: () = assert!(ANSWERS_SLOTS <= STEPS_SLOTS && REQUESTS_SLOTS <= STEPS_SLOTS);
const _: () = assert!(STEPS_BUFFER == BUFFERS && OF_STREAMS.len() << LOG2_SLOT <= BYTES / SLOTS);

impl Receiver {
    /// Where a slot is among the buffers.
    fn slot(&self, slot: usize) -> usize {
        (self.buffer - BUFFERS) as usize + (slot << self.log2_slot)
    }
}

/// What is saved besides the local memory. It has words alone, so that the unit can read and write them.
#[repr(C)]
struct Saved {
    registers: [u64; REGISTERS],
    endpoints: [[u64; 4]; ENDPOINTS],
    /// What the unit knows of the messages in the slots.
    records: [[[u64; 4]; SLOTS]; OF_STREAMS.len()],
    /// The page that a pager has named while the activity had no turn; or 0.
    page: [u64; 4],
    buffers: [u8; BYTES],
}

const _: () = assert!(size_of::<Saved>() <= PAGE as usize);

/// Where the image of an activity is: a page with what is saved, and the local memory behind it.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    at: u64,
    /// Bytes of the local memory.
    size: u64,
    /// It is of an accelerator of requests.
    is_request: bool,
}

/// A message that is left for an activity.
#[derive(Clone, Copy, Debug)]
pub struct Left<'a> {
    pub header: Header,
    pub words: &'a [u64],
    /// What an answer to it needs.
    pub record: SlotRecord,
}

/// Why a message cannot be left.
pub enum NotLeft {
    /// The endpoint has no free slot, or is none that receives.
    NoSlot,
    /// It has more words than a slot.
    TooLong,
}

impl Image {
    /// None.
    pub const NONE: Self = Self {
        at: 0,
        size: 0,
        is_request: false,
    };

    /// An image whose local memory is 0, for an activity that has not begun.
    pub fn create(facts: &TileFacts, frames: &mut Frames) -> Option<Self> {
        let size = facts.size.next_multiple_of(PAGE);
        let pages = 1 + size / PAGE;
        let at = frames.allocate_many(pages as usize)?;
        for page in 0..pages {
            Direct.clear(at + page * PAGE);
        }
        Some(Self {
            at,
            size: facts.size,
            is_request: facts.is_request,
        })
    }

    /// Its frames are free.
    pub fn free(self, frames: &mut Frames) {
        if self.at != 0 {
            let pages = 1 + self.size.div_ceil(PAGE);
            (0..pages).for_each(|page| frames.free(self.at + page * PAGE));
        }
    }

    fn saved(&mut self) -> &mut Saved {
        // SAFETY: the page is the image's until it is freed. It has words alone, so any bits are a value. The kernel
        // hart alone uses it, and its unit by the commands of this file, which end before they return.
        unsafe { &mut *(self.at as *mut Saved) }
    }

    /// Where an address of the local memory is in the kernel's, from the tile's first one on.
    pub fn memory(&self, offset: u64) -> u64 {
        self.at + PAGE + offset
    }

    fn receivers(&self) -> &'static [Receiver] {
        match self.is_request {
            true => &OF_REQUESTS,
            false => &OF_STREAMS,
        }
    }

    /// Endpoints that the module uses.
    fn count(&self) -> usize {
        match self.is_request {
            true => ENDPOINTS,
            false => STREAM_ENDPOINTS,
        }
    }

    /// The endpoints that the kernel sets up for each activity.
    pub fn begin(&mut self, root: u16, place: u16, number: u16) {
        for of in self.receivers() {
            let receive = ReceiveEndpoint::new(number, of.buffer, of.log2_slot, of.slots);
            self.set_endpoint(of.endpoint, Some(Endpoint::Receive(receive)));
        }
        if self.is_request {
            self.set_endpoint(PAGES, Some(requests::pages(number)));
        }
        let notices = notices(root, place.into(), number);
        self.set_endpoint(ROOT, Some(notices));
    }

    /// An endpoint, as it was when the activity ran last.
    pub fn endpoint(&mut self, number: u16) -> Option<Endpoint> {
        let words = self.saved().endpoints.get(usize::from(number))?;
        Endpoint::from_words(*words)
    }

    /// It has another one from now on.
    pub fn set_endpoint(&mut self, number: u16, endpoint: Option<Endpoint>) {
        if let Some(words) = self.saved().endpoints.get_mut(usize::from(number)) {
            *words = endpoint.map_or(Endpoint::NONE, |endpoint| endpoint.words());
        }
    }

    /// The blocks that the logic had computed.
    pub fn blocks(&mut self) -> u64 {
        self.saved().registers[BLOCKS as usize / 8]
    }

    /// Where its input comes from.
    pub fn set_input(&mut self, input: u64) {
        self.saved().registers[INPUT as usize / 8] = input;
    }

    /// Receive endpoints with unread messages, a bit each.
    pub fn unread(&mut self) -> u64 {
        let is_answered = self.is_request && self.fault().is_none();
        let pages = u64::from(is_answered) << PAGES;
        self.receivers().iter().fold(pages, |bits, of| {
            let slots = self.saved().endpoints[usize::from(of.endpoint)][3] >> 32;
            bits | u64::from(slots != 0) << of.endpoint
        })
    }

    /// The fault that the activity's pager has not answered, and its number.
    fn fault(&mut self) -> Option<(PageFault, u64)> {
        match self.endpoint(PAGES) {
            Some(Endpoint::Pages(pages)) => Some((pages.pending?, pages.faults)),
            _ => None,
        }
    }

    /// Leaves what the pager says for the activity. It may be an answer to an earlier fault.
    fn leave_page(&mut self, label: u64, words: &[u64]) {
        let Some((fault, _)) = self.fault().filter(|&(_, number)| number == label) else {
            return;
        };
        let saved = self.saved();
        // The fault is answered.
        saved.endpoints[usize::from(PAGES)][3] = 0;
        match requests::named_page(fault, words) {
            Ok(entry) => saved.page[..3].copy_from_slice(&entry.words()),
            Err(error) => requests::fail(&mut saved.registers, error),
        }
    }

    /// Leaves a message for the activity at one of its receive endpoints.
    pub fn leave(&mut self, endpoint: u16, message: &Left<'_>) -> Result<(), NotLeft> {
        if self.is_request && endpoint == PAGES {
            self.leave_page(message.header.label, message.words);
            return Ok(());
        }
        let mut receivers = (0..).zip(self.receivers());
        let found = receivers.find(|(_, of)| of.endpoint == endpoint);
        let (place, of) = found.ok_or(NotLeft::NoSlot)?;
        let saved = self.saved();
        let word = &mut saved.endpoints[usize::from(endpoint)][3];
        let slot = (*word as u32).trailing_ones() as usize;
        if slot >= usize::from(of.slots) {
            return Err(NotLeft::NoSlot);
        }
        let bytes = &mut saved.buffers[of.slot(slot)..of.slot(slot + 1)];
        let size = 8 * message.words.len();
        let payload = bytes[HEADER_SIZE..].get_mut(..size);
        let payload = payload.ok_or(NotLeft::TooLong)?;
        for (to, word) in payload.chunks_exact_mut(8).zip(message.words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let header = Header {
            size: size as u16,
            ..message.header
        };
        bytes[..HEADER_SIZE].copy_from_slice(&header.bytes());
        *word |= 1 << slot | 1 << (32 + slot);
        saved.records[place as usize][slot] = message.record.words();
        Ok(())
    }

    /// Takes what the tile has of the activity. From now on the tile refuses messages for it. `None`: its module is
    /// not stopped.
    pub fn save(&mut self, unit: Unit, facts: &TileFacts) -> Result<Option<()>, NoAnswer> {
        let tile = facts.tile;
        unit.write_registers(tile, dtu::current(0), &[NO_ACTIVITY.into()])?;
        let (receivers, count) = (self.receivers(), self.count());
        let (here, bytes) = self.buffers();
        let saved = self.saved();
        unit.read_registers(tile, ACCELERATOR_REGISTERS, &mut saved.registers)?;
        let status = Status::from_number(saved.registers[STATUS as usize / 8]);
        if status == Some(Status::Runs) {
            return Ok(None);
        }
        let endpoints = saved.endpoints[..count].as_flattened_mut();
        unit.read_registers(tile, dtu::endpoint_word(0, 0), endpoints)?;
        let mut has_messages = false;
        for (place, of) in receivers.iter().enumerate() {
            if saved.endpoints[usize::from(of.endpoint)][3] as u32 != 0 {
                let records = saved.records[place].as_flattened_mut();
                unit.read_registers(tile, dtu::slot_record(of.endpoint, 0), records)?;
                has_messages = true;
            }
        }
        if has_messages {
            unit.move_memory(Command::Read, (tile, BUFFERS), here, bytes)?;
        }
        if self.size != 0 {
            let there = (tile, facts.base);
            unit.move_memory(Command::Read, there, self.memory(0), self.size)?;
        }
        cache::refresh(self.at, PAGE + self.size);
        Ok(Some(()))
    }

    /// Gives the tile back what it had.
    pub fn restore(&mut self, unit: Unit, facts: &TileFacts) -> Result<(), NoAnswer> {
        let tile = facts.tile;
        if self.size != 0 {
            let there = (tile, facts.base);
            unit.move_memory(Command::Write, there, self.memory(0), self.size)?;
        }
        let senders: &[u16] = match self.is_request {
            true => &[ROOT, PAGER],
            false => &[ROOT, INPUT_REQUESTS, OUTPUT_REQUESTS],
        };
        for &endpoint in senders {
            self.fill_credits(endpoint);
        }
        let (receivers, count, is_request) = (self.receivers(), self.count(), self.is_request);
        let (here, bytes) = self.buffers();
        let saved = self.saved();
        let slots_of = |of: &Receiver| saved.endpoints[usize::from(of.endpoint)][3];
        let words = saved.endpoints[..count].as_flattened();
        unit.write_registers(tile, dtu::endpoint_word(0, 0), words)?;
        if receivers.iter().any(|of| slots_of(of) as u32 != 0) {
            unit.move_memory(Command::Write, (tile, BUFFERS), here, bytes)?;
        }
        for (place, of) in receivers.iter().enumerate() {
            let slots = slots_of(of);
            if slots as u32 == 0 {
                continue;
            }
            unit.write_registers(tile, dtu::endpoint_word(of.endpoint, 3), &[slots])?;
            for (slot, record) in (0..).zip(&saved.records[place]) {
                // The unit does not know a message that it cannot answer.
                let is_known = SlotRecord::from_words(*record) != SlotRecord::from_words([0; 4]);
                if slots >> slot & 1 != 0 && is_known {
                    unit.write_registers(tile, dtu::slot_record(of.endpoint, slot), record)?;
                }
            }
        }
        if is_request {
            let fault = saved.endpoints[usize::from(PAGES)][3];
            let page = core::mem::take(&mut saved.page);
            if fault != 0 {
                unit.write_registers(tile, dtu::endpoint_word(PAGES, 3), &[fault])?;
            }
            // The unit has no pages of the endpoint: it was set up anew.
            if page != [0; 4] {
                unit.write_registers(tile, dtu::page_entry(0, 0), &page)?;
            }
        }
        Ok(())
    }

    /// Lets the module begin or go on. The activity is current from then on.
    pub fn go_on(
        &mut self,
        unit: Unit,
        tile: u16,
        (number, control, yields): (u16, Control, u64),
    ) -> Result<(), NoAnswer> {
        let saved = self.saved();
        unit.write_registers(tile, dtu::current(0), &[number.into()])?;
        saved.registers[CONTROL as usize / 8] = control as u64;
        saved.registers[YIELD as usize / 8] = yields;
        // The first register is written last.
        unit.write_registers(tile, ACCELERATOR_REGISTERS, &saved.registers)
    }

    /// Where the buffers for messages are, and their bytes.
    fn buffers(&self) -> (u64, u64) {
        let last = self.receivers().last();
        let bytes = last.map_or(0, |last| last.slot(last.slots.into()));
        (self.at + offset_of!(Saved, buffers) as u64, bytes as u64)
    }

    /// The module has one message under way of an endpoint at most, and knows whether it has. So an endpoint that is
    /// set up again has all its credits: those that come back for the old one are void.
    pub fn fill_credits(&mut self, endpoint: u16) -> Option<Endpoint> {
        let Some(Endpoint::Send(mut send)) = self.endpoint(endpoint) else {
            return None;
        };
        send.credits = send.most_credits;
        let full = Some(Endpoint::Send(send));
        self.set_endpoint(endpoint, full);
        full
    }
}

/// The endpoint by which a module tells the root's kernel what happens.
pub fn notices(root: u16, label: u64, activity: u16) -> Endpoint {
    Endpoint::Send(SendEndpoint {
        activity,
        tile: root,
        endpoint: CALLS,
        receiver: KERNEL,
        label,
        credits: 1,
        most_credits: 1,
        log2_message: LOG2_NOTICE,
    })
}

/// Endpoints that programs may set up, and whether they are for memory.
pub fn wants_memory(facts: &TileFacts, endpoint: u64) -> Option<bool> {
    const REQUESTS: [u64; 2] = [INPUT_REQUESTS as u64, OUTPUT_REQUESTS as u64];
    const DATA: [u64; 2] = [INPUT_DATA as u64, OUTPUT_DATA as u64];
    if facts.is_request {
        return requests::wants_memory(endpoint);
    }
    match (REQUESTS.contains(&endpoint), DATA.contains(&endpoint)) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    }
}

/// The endpoints of a tile's module while no activity has it: by one it tells the root that it has stopped.
pub fn of_nobody(facts: &TileFacts, notices: Endpoint) -> ([[u64; 4]; ENDPOINTS], usize) {
    let mut endpoints = [[0; 4]; ENDPOINTS];
    endpoints[usize::from(ROOT)] = notices.words();
    match facts.is_request {
        true => (endpoints, ENDPOINTS),
        false => (endpoints, STREAM_ENDPOINTS),
    }
}
