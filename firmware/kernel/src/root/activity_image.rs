//! An activity of an accelerator while it does not run: its local memory, and all that its tile has of it.
use core::mem::offset_of;

use flick_abi::accelerator::{
    ANSWERS, ANSWERS_BUFFER, ANSWERS_SLOTS, BLOCKS, CONTEXT, CONTEXT_WORDS, CONTROL, Control,
    INPUT, INPUT_DATA, INPUT_REQUESTS, LOG2_NOTICE, LOG2_SLOT, OUTPUT_DATA, OUTPUT_REQUESTS,
    REQUESTS, REQUESTS_BUFFER, REQUESTS_SLOTS, ROOT, STATUS, Status, YIELD,
};
use flick_abi::card::PAGE;
use flick_abi::dtu::{
    self, ACCELERATOR_REGISTERS, Command, Endpoint, HEADER_SIZE, Header, NO_ACTIVITY,
    ReceiveEndpoint, SendEndpoint, SlotRecord,
};
use flick_kernel_core::frames::Frames;

use super::remote::NoAnswer;
use super::tile_table::TileFacts;
use crate::cache;
use crate::direct::Direct;
use crate::dtu::{CALLS, KERNEL, Unit};
use flick_kernel_core::page_tables::Physical;

/// Endpoints of an accelerator that the module uses.
pub const ENDPOINTS: usize = REQUESTS as usize + 1;
/// Registers of the module, up to the last word of the context.
const REGISTERS: usize = CONTEXT as usize / 8 + CONTEXT_WORDS;
/// The buffers for messages that come.
const BUFFERS: usize = (ANSWERS_SLOTS as usize + REQUESTS_SLOTS as usize) << LOG2_SLOT;
/// The endpoints that receive, their slots, and where their buffer begins.
const RECEIVERS: [(u16, u8, u64); 2] = [
    (ANSWERS, ANSWERS_SLOTS, ANSWERS_BUFFER),
    (REQUESTS, REQUESTS_SLOTS, REQUESTS_BUFFER),
];
/// Slots of each of them.
const SLOTS: usize = ANSWERS_SLOTS as usize;

const _: () = assert!(ANSWERS_SLOTS == REQUESTS_SLOTS);

/// What is saved besides the local memory. It has words alone, so that the unit can read and write them.
#[repr(C)]
struct Saved {
    registers: [u64; REGISTERS],
    endpoints: [[u64; 4]; ENDPOINTS],
    /// What the unit knows of the messages in the slots.
    records: [[[u64; 4]; SLOTS]; RECEIVERS.len()],
    buffers: [[u8; 1 << LOG2_SLOT]; BUFFERS >> LOG2_SLOT],
}

const _: () = assert!(size_of::<Saved>() <= PAGE as usize);

/// Where the image of an activity is: a page with what is saved, and the local memory behind it.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    at: u64,
    /// Bytes of the local memory.
    size: u64,
}

/// A message that is left for an activity.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    pub header: Header,
    pub words: [u64; 3],
    /// What an answer to it needs.
    pub record: SlotRecord,
}

/// The endpoint has no free slot.
pub struct NoSlot;

impl Image {
    /// None.
    pub const NONE: Self = Self { at: 0, size: 0 };

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

    /// The endpoints that the kernel sets up for each activity.
    pub fn begin(&mut self, root: u16, place: u16, number: u16) {
        for (endpoint, slots, buffer) in RECEIVERS {
            let receive = ReceiveEndpoint::new(number, buffer, LOG2_SLOT, slots);
            self.set_endpoint(endpoint, Some(Endpoint::Receive(receive)));
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
        RECEIVERS.iter().fold(0, |bits, &(endpoint, ..)| {
            let slots = self.saved().endpoints[usize::from(endpoint)][3] >> 32;
            bits | u64::from(slots != 0) << endpoint
        })
    }

    /// Leaves a message for the activity at one of its receive endpoints.
    pub fn leave(&mut self, endpoint: u16, message: &Left) -> Result<(), NoSlot> {
        let place = RECEIVERS
            .iter()
            .position(|&(number, ..)| number == endpoint);
        let place = place.ok_or(NoSlot)?;
        let slots = RECEIVERS[place].1;
        let saved = self.saved();
        let word = &mut saved.endpoints[usize::from(endpoint)][3];
        let slot = (*word as u32).trailing_ones() as usize;
        if slot >= usize::from(slots) {
            return Err(NoSlot);
        }
        *word |= 1 << slot | 1 << (32 + slot);
        saved.records[place][slot] = message.record.words();
        let header = Header {
            size: 24,
            ..message.header
        };
        let bytes = &mut saved.buffers[place * SLOTS + slot];
        bytes[..HEADER_SIZE].copy_from_slice(&header.bytes());
        for (to, word) in bytes[HEADER_SIZE..].chunks_exact_mut(8).zip(message.words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        Ok(())
    }

    /// Takes what the tile has of the activity. From now on the tile refuses messages for it. `None`: its module is
    /// not stopped.
    pub fn save(&mut self, unit: Unit, facts: &TileFacts) -> Result<Option<()>, NoAnswer> {
        let tile = facts.tile;
        unit.write_registers(tile, dtu::current(0), &[NO_ACTIVITY.into()])?;
        let saved = self.saved();
        unit.read_registers(tile, ACCELERATOR_REGISTERS, &mut saved.registers)?;
        let status = Status::from_number(saved.registers[STATUS as usize / 8]);
        if status == Some(Status::Runs) {
            return Ok(None);
        }
        let endpoints = saved.endpoints.as_flattened_mut();
        unit.read_registers(tile, dtu::endpoint_word(0, 0), endpoints)?;
        let mut has_messages = false;
        for (place, &(endpoint, ..)) in RECEIVERS.iter().enumerate() {
            if saved.endpoints[usize::from(endpoint)][3] as u32 != 0 {
                let records = saved.records[place].as_flattened_mut();
                unit.read_registers(tile, dtu::slot_record(endpoint, 0), records)?;
                has_messages = true;
            }
        }
        if has_messages {
            let here = self.at + offset_of!(Saved, buffers) as u64;
            let there = (tile, ANSWERS_BUFFER);
            unit.move_memory(Command::Read, there, here, BUFFERS as u64)?;
        }
        let there = (tile, facts.base);
        unit.move_memory(Command::Read, there, self.memory(0), self.size)?;
        cache::refresh(self.at, PAGE + self.size);
        Ok(Some(()))
    }

    /// Gives the tile back what it had, and lets the module begin or go on. The activity is current from then on.
    pub fn restore(
        &mut self,
        unit: Unit,
        facts: &TileFacts,
        (number, control, yields): (u16, Control, u64),
    ) -> Result<(), NoAnswer> {
        let tile = facts.tile;
        let there = (tile, facts.base);
        unit.move_memory(Command::Write, there, self.memory(0), self.size)?;
        for endpoint in [ROOT, INPUT_REQUESTS, OUTPUT_REQUESTS] {
            self.fill_credits(endpoint);
        }
        let buffers = self.at + offset_of!(Saved, buffers) as u64;
        let saved = self.saved();
        let occupied = RECEIVERS.map(|(endpoint, ..)| saved.endpoints[usize::from(endpoint)][3]);
        let endpoints = saved.endpoints.as_flattened();
        unit.write_registers(tile, dtu::endpoint_word(0, 0), endpoints)?;
        if occupied != [0; RECEIVERS.len()] {
            let there = (tile, ANSWERS_BUFFER);
            unit.move_memory(Command::Write, there, buffers, BUFFERS as u64)?;
        }
        for (place, &(endpoint, ..)) in RECEIVERS.iter().enumerate() {
            let slots = occupied[place];
            if slots as u32 == 0 {
                continue;
            }
            unit.write_registers(tile, dtu::endpoint_word(endpoint, 3), &[slots])?;
            for (slot, record) in (0..).zip(&saved.records[place]) {
                // The unit does not know a message that it cannot answer.
                let is_known = SlotRecord::from_words(*record) != SlotRecord::from_words([0; 4]);
                if slots >> slot & 1 != 0 && is_known {
                    unit.write_registers(tile, dtu::slot_record(endpoint, slot), record)?;
                }
            }
        }
        unit.write_registers(tile, dtu::current(0), &[number.into()])?;
        saved.registers[CONTROL as usize / 8] = control as u64;
        saved.registers[YIELD as usize / 8] = yields;
        // The first register is written last.
        unit.write_registers(tile, ACCELERATOR_REGISTERS, &saved.registers)
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
pub fn wants_memory(endpoint: u64) -> Option<bool> {
    const REQUESTS: [u64; 2] = [INPUT_REQUESTS as u64, OUTPUT_REQUESTS as u64];
    const DATA: [u64; 2] = [INPUT_DATA as u64, OUTPUT_DATA as u64];
    match (REQUESTS.contains(&endpoint), DATA.contains(&endpoint)) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    }
}
