//! Registers and endpoints of the module that runs an accelerator's logic (`docs/accelerators.md`). The root reaches
//! the registers by external requests, from [`ACCELERATOR_REGISTERS`](crate::dtu::ACCELERATOR_REGISTERS) on.

/// Written: a [`Control`]. Reads as 0.
pub const CONTROL: u64 = 0x00;
/// What the module does ([`Status`]).
pub const STATUS: u64 = 0x08;
/// Where input comes from ([`Input`]).
pub const INPUT: u64 = 0x10;
/// The number of the error that has ended the activity, or the last request; or 0.
pub const FAULT: u64 = 0x18;
/// Blocks, or steps of requests, that the logic has computed since the activity began.
pub const BLOCKS: u64 = 0x20;
/// The first of the words that belong to an activity: a kernel saves and restores them.
pub const CONTEXT: u64 = 0x100;
/// So many.
pub const CONTEXT_WORDS: usize = 16;

/// The endpoint by which the module tells the root that an activity has ended, if the root has set it up. The
/// message has two words: a [`Status`], and what [`FAULT`] has.
pub const ROOT: u16 = 0;
/// The endpoint by which the module asks for input.
pub const INPUT_REQUESTS: u16 = 4;
/// That of the memory with input.
pub const INPUT_DATA: u16 = 5;
/// The endpoint by which it asks for room for output.
pub const OUTPUT_REQUESTS: u16 = 6;
/// That of the memory for output.
pub const OUTPUT_DATA: u16 = 7;
/// The endpoint that takes answers.
pub const ANSWERS: u16 = 3;
/// The endpoint that takes requests of an accelerator that writes into this one.
pub const REQUESTS: u16 = 8;

/// Of an accelerator of requests: the endpoint of pages that its arrays are in.
pub const PAGES: u16 = 9;
/// The endpoint to the pager.
pub const PAGER: u16 = 10;
/// The first endpoint of memory in which pages are.
pub const PAGED: u16 = 11;

/// The module's buffers for messages: addresses in its tile that are no memory. Each slot has
/// `1 << LOG2_SLOT` bytes.
pub const ANSWERS_BUFFER: u64 = 1 << 55;
/// Slots of [`ANSWERS_BUFFER`].
pub const ANSWERS_SLOTS: u8 = 2;
/// Where requests of other accelerators lie.
pub const REQUESTS_BUFFER: u64 = ANSWERS_BUFFER + ((ANSWERS_SLOTS as u64) << LOG2_SLOT);
/// Slots of [`REQUESTS_BUFFER`].
pub const REQUESTS_SLOTS: u8 = 2;
/// What the module sends.
pub const OUTGOING: u64 = REQUESTS_BUFFER + ((REQUESTS_SLOTS as u64) << LOG2_SLOT);
/// log2 of the bytes of a slot.
pub const LOG2_SLOT: u8 = 6;
/// Bytes of all of them.
pub const BUFFERS: usize = (ANSWERS_SLOTS as usize + REQUESTS_SLOTS as usize + 1) << LOG2_SLOT;

/// The functions of accelerators of requests that come with Flick.
pub const REQUEST_FUNCTIONS: [&str; 5] = ["vector-sum", "stencil", "md", "spmv", "fft1d"];

/// Where requests for steps lie. Each slot has `1 << LOG2_STEPS_SLOT` bytes.
pub const STEPS_BUFFER: u64 = ANSWERS_BUFFER;
/// Slots of [`STEPS_BUFFER`].
pub const STEPS_SLOTS: u8 = 2;
/// log2 of the bytes of a slot.
pub const LOG2_STEPS_SLOT: u8 = 8;
/// What the module answers.
pub const STEPS_ANSWER: u64 = STEPS_BUFFER + ((STEPS_SLOTS as u64) << LOG2_STEPS_SLOT);
/// The line of the cache that is read or written.
pub const LINE: u64 = STEPS_ANSWER + (1 << LOG2_STEPS_SLOT);
/// Bytes of all of them but [`LINE`].
pub const STEPS_BUFFERS: usize = (LINE - STEPS_BUFFER) as usize;

const _: () = assert!(
    crate::dtu::HEADER_SIZE + crate::step_request::STEP_REQUEST_SIZE <= 1 << LOG2_STEPS_SLOT
);

/// What a kernel tells the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Control {
    /// A new activity begins, with empty buffers.
    Start = 1,
    /// Stop at the next point at which the state is whole.
    Stop = 2,
    /// Go on from where it stopped.
    Continue = 3,
    /// Of an accelerator of requests: the activity ends, and what its cache has is lost.
    End = 4,
}

impl Control {
    /// The control with this number.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::Start),
            2 => Some(Self::Stop),
            3 => Some(Self::Continue),
            4 => Some(Self::End),
            _ => None,
        }
    }
}

/// What the module does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Status {
    /// No activity has begun.
    Idle = 0,
    /// It works, or waits for messages.
    Runs = 1,
    /// It has stopped, and its state is whole.
    Stopped = 2,
    /// The activity has ended: all input was used, and all output was written.
    Ended = 3,
    /// The activity has ended with an error ([`FAULT`]).
    Failed = 4,
}

/// Where a stream comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Input {
    /// The module asks a server for it, and reads it.
    Asked = 0,
    /// Another accelerator, or a program, writes it into the module's memory.
    Pushed = 1,
}
