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
/// Cycles that the module waits for a message until it stops by itself; 0: it waits for ever.
pub const YIELD: u64 = 0x28;
/// The first of the words that belong to an activity: a kernel saves and restores them.
pub const CONTEXT: u64 = 0x100;
/// So many.
pub const CONTEXT_WORDS: usize = 16;

/// The endpoint by which the module tells the root what has happened ([`Notice`]), if the root has set it up.
pub const ROOT: u16 = 0;
/// Words of what it tells.
pub const NOTICE_WORDS: usize = 6;
/// log2 of the bytes of such a message.
pub const LOG2_NOTICE: u8 = 7;
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

/// Words of the context of an accelerator of requests: what the module does next, and the error of its answer.
pub const STEPS_PHASE: usize = 0;
/// See [`STEPS_PHASE`].
pub const STEPS_ERROR: usize = 2;
/// What [`STEPS_PHASE`] has if the module answers its request next.
pub const STEPS_REPLY: u64 = 2;

/// Where requests for steps lie. Each slot has `1 << LOG2_STEPS_SLOT` bytes.
pub const STEPS_BUFFER: u64 = ANSWERS_BUFFER;
/// Slots of [`STEPS_BUFFER`].
pub const STEPS_SLOTS: u8 = 8;
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
    /// Make the command again about which the root was told, because the root did not do it.
    Again = 5,
    /// The command about which the root was told cannot be made by anybody: the activity ends.
    Refused = 6,
}

impl Control {
    /// The control with this number.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::Start),
            2 => Some(Self::Stop),
            3 => Some(Self::Continue),
            4 => Some(Self::End),
            5 => Some(Self::Again),
            6 => Some(Self::Refused),
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

/// What the module tells the root, and the words of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// It is stopped, or the activity has ended.
    Status {
        /// What it does now.
        status: Status,
        /// What [`FAULT`] has.
        fault: u64,
        /// The receive endpoints without whose messages it cannot go on, a bit each. 0: it can.
        waits: u64,
    },
    /// The receiver of a message is suspended.
    Message {
        /// The send endpoint.
        endpoint: u16,
        /// The label of the answer.
        label: u64,
        /// The payload.
        words: [u64; 3],
    },
    /// Who gets an answer is suspended.
    Answer {
        /// The slot of the request, of [`REQUESTS`].
        slot: u8,
        /// The payload.
        words: [u64; 3],
    },
    /// The activity that has its data in a memory is suspended.
    Data {
        /// The memory endpoint.
        endpoint: u16,
        /// It is a write.
        is_write: bool,
        /// The offset in the memory.
        offset: u64,
        /// The address in the module's tile.
        address: u64,
        /// Bytes.
        size: u64,
    },
}

const MESSAGE: u64 = 16;
const ANSWER: u64 = 17;
const DATA: u64 = 18;

impl Notice {
    /// The words of the message.
    pub const fn words(&self) -> [u64; NOTICE_WORDS] {
        match *self {
            Self::Status {
                status,
                fault,
                waits,
            } => [status as u64, fault, waits, 0, 0, 0],
            Self::Message {
                endpoint,
                label,
                words: [a, b, c],
            } => [MESSAGE, endpoint as u64, label, a, b, c],
            Self::Answer {
                slot,
                words: [a, b, c],
            } => [ANSWER, slot as u64, 0, a, b, c],
            Self::Data {
                endpoint,
                is_write,
                offset,
                address,
                size,
            } => [
                DATA,
                endpoint as u64 | (is_write as u64) << 16,
                0,
                offset,
                address,
                size,
            ],
        }
    }

    /// From the words. `None`: it is none.
    pub const fn from_words(words: [u64; NOTICE_WORDS]) -> Option<Self> {
        let [kind, first, second, a, b, c] = words;
        Some(match kind {
            MESSAGE => Self::Message {
                endpoint: first as u16,
                label: second,
                words: [a, b, c],
            },
            ANSWER => Self::Answer {
                slot: first as u8,
                words: [a, b, c],
            },
            DATA => Self::Data {
                endpoint: first as u16,
                is_write: first >> 16 & 1 != 0,
                offset: a,
                address: b,
                size: c,
            },
            _ => {
                let status = match Status::from_number(kind) {
                    Some(status @ (Status::Stopped | Status::Ended | Status::Failed)) => status,
                    _ => return None,
                };
                Self::Status {
                    status,
                    fault: first,
                    waits: second,
                }
            }
        })
    }
}

impl Status {
    /// The status with this number.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Idle),
            1 => Some(Self::Runs),
            2 => Some(Self::Stopped),
            3 => Some(Self::Ended),
            4 => Some(Self::Failed),
            _ => None,
        }
    }
}

/// What module and logic do, as traces name it, and faults on purpose.
pub const STATE_NAMES: [&str; 13] = [
    "idle",
    "computes",
    "computes, asks",
    "computes, reads",
    "computes, writes",
    "asks",
    "reads",
    "writes",
    "waits for input",
    "waits for output",
    "stopped",
    "ended",
    "failed",
];

/// Where a stream comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Input {
    /// The module asks a server for it, and reads it.
    Asked = 0,
    /// Another accelerator, or a program, writes it into the module's memory.
    Pushed = 1,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_come_back() {
        let all = [
            Notice::Status {
                status: Status::Stopped,
                fault: 0,
                waits: 1 << ANSWERS,
            },
            Notice::Message {
                endpoint: OUTPUT_REQUESTS,
                label: 3,
                words: [1, 2, u64::MAX],
            },
            Notice::Answer {
                slot: 1,
                words: [0, 64, 128],
            },
            Notice::Data {
                endpoint: OUTPUT_DATA,
                is_write: true,
                offset: 64,
                address: 128,
                size: 256,
            },
        ];
        for notice in all {
            assert_eq!(Notice::from_words(notice.words()), Some(notice));
        }
        for kind in [0, 1, 5, 15, 19, u64::MAX] {
            assert_eq!(Notice::from_words([kind, 0, 0, 0, 0, 0]), None);
        }
    }
}
