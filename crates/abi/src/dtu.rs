//! The data transfer unit of a tile (`docs/dtu.md`): registers, commands, errors, endpoints and the
//! header of a message. The unit's model and the firmware share these.
//!
//! ```
//! use flick_abi::dtu::{Command, CommandWord, Endpoint, SendEndpoint, endpoint_word};
//!
//! // A kernel lets activity 7 send two messages of at most 256 bytes to endpoint 3 of tile 1.
//! let send = Endpoint::Send(SendEndpoint {
//!     activity: 7,
//!     tile: 1,
//!     endpoint: 3,
//!     receiver: 9,
//!     label: 0x1234,
//!     credits: 2,
//!     most_credits: 2,
//!     log2_message: 8,
//! });
//! assert_eq!(Endpoint::from_words(send.words()), Some(send));
//! // The addresses of its four words in the unit, word 0 last:
//! let order = flick_abi::dtu::WRITE_ORDER.map(|word| endpoint_word(5, word));
//! assert_eq!(order, [0x20a8, 0x20b0, 0x20b8, 0x20a0]);
//! // The activity sends, and takes the answer at endpoint 4.
//! let word = CommandWord::new(Command::Send, 5).with_answer(4);
//! assert_eq!(CommandWord::from_bits(word.bits()), word);
//! ```

/// Version of the registers, in [`Identity`].
pub const VERSION: u8 = 1;
/// Bytes of a page of registers.
pub const PAGE: u64 = 0x1000;
/// Receive endpoints are among so many first ones, for each of which [`EVENTS`] has a bit.
pub const RECEIVE_ENDPOINTS: u16 = 64;
/// A unit has at most so many endpoints: numbers of a message's header have 8 bits.
pub const MOST_ENDPOINTS: u16 = 255;
/// A receive endpoint has at most so many slots, for each of which its words have a bit.
pub const MOST_SLOTS: u8 = 32;
/// A unit has at most so many banks, for each of which [`ENABLE`] has a bit.
pub const MOST_BANKS: usize = 64;
/// No activity. It owns no endpoint.
pub const NO_ACTIVITY: u16 = 0xffff;
/// [`CommandWord::answer`] of a message that takes no answer.
pub const NO_ANSWER_ENDPOINT: u16 = 0xffff;
/// The bit of a hart's `mip` that the unit drives.
pub const INTERRUPT_BIT: u32 = 16;

/// Page 0, the bank of the hart: starts a command ([`CommandWord`]). Reads as 0 when none runs.
pub const COMMAND: u64 = 0x00;
/// The outcome of the last command ([`Outcome`]). A kernel that has saved it can write it back.
pub const RESULT: u64 = 0x08;
/// Physical address of data or of a message in the tile.
pub const ADDRESS: u64 = 0x10;
/// Bytes of them.
pub const SIZE: u64 = 0x18;
/// Offset in the remote memory.
pub const OFFSET: u64 = 0x20;
/// The label that an answer shall carry.
pub const LABEL: u64 = 0x28;
/// Receive endpoints of the current activity with unread messages, a bit each.
pub const EVENTS: u64 = 0x30;
/// The current activity of the bank.
pub const ACTIVITY: u64 = 0x38;
/// The [`EVENTS`] of which the hart is interrupted.
pub const INTERRUPT: u64 = 0x40;
/// What the unit is ([`Identity`]).
pub const IDENTITY: u64 = 0x48;

/// Page 1, for the tile's kernel: a write of a bank's number aborts its command. Reads as 1 while a
/// bank that is not enabled has a command that runs.
pub const ABORT: u64 = 0x1000;
/// The banks whose commands are taken, a bit each.
pub const ENABLE: u64 = 0x1008;
/// Receive endpoints with unread messages for activities that no bank runs, a bit each.
pub const WAITING: u64 = 0x1010;
/// The [`WAITING`] endpoints of which the kernel hart is interrupted.
pub const WAITING_INTERRUPT: u64 = 0x1018;
/// Cycles after which the unit sends a packet again that was not confirmed.
pub const TIMEOUT: u64 = 0x1020;
/// [`TIMEOUT`] after reset.
pub const FIRST_TIMEOUT: u64 = 0x1_0000;

/// The current activity of a bank.
pub const fn current(bank: usize) -> u64 {
    0x1100 + 8 * bank as u64
}

/// The first byte of the window of a bank: [`ADDRESS`] and [`SIZE`] of its commands are in it.
pub const fn window_base(bank: usize) -> u64 {
    0x1400 + 16 * bank as u64
}

/// The bytes of the window of a bank.
pub const fn window_size(bank: usize) -> u64 {
    window_base(bank) + 8
}

/// A word of an endpoint, from page 2 on. The words are those of [`Endpoint::words`].
pub const fn endpoint_word(endpoint: u16, word: usize) -> u64 {
    2 * PAGE + 32 * endpoint as u64 + 8 * word as u64
}

/// Registers from here on are on no page of a tile: the root reaches them by its register endpoints.
pub const ROOT_REGISTERS: u64 = 0x1_0000;

/// Messages of a send endpoint that were refused with [`Error::Gone`]: how often the endpoint was set up (31:0),
/// and how many such messages the root has not taken yet (63:32). A write takes one, and is an error if there is
/// none.
pub const fn gone(endpoint: u16) -> u64 {
    ROOT_REGISTERS + 8 * endpoint as u64
}

/// What the unit knows of the sender of a message in a slot ([`SlotRecord`]), 32 bytes.
pub const fn slot_record(endpoint: u16, slot: u8) -> u64 {
    0x2_0000 + 0x400 * endpoint as u64 + 32 * slot as u64
}

/// The registers of the accelerator of a tile.
pub const ACCELERATOR_REGISTERS: u64 = 0x3_0000;

/// The order in which a kernel writes the words of an endpoint that was of kind 0: word 0 has the
/// kind, and makes the endpoint usable.
pub const WRITE_ORDER: [usize; 4] = [1, 2, 3, 0];

/// Bytes of the registers of a unit with so many endpoints, in whole pages.
pub const fn registers_size(endpoints: u16) -> u64 {
    endpoint_word(endpoints, 0).next_multiple_of(PAGE)
}

/// Makes an enumeration with the numbers of its values.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$value_doc])* $value = $number,)*
        }

        impl $name {
            /// All values, by number.
            pub const ALL: &'static [Self] = &[$(Self::$value),*];

            /// The value with this number.
            pub const fn from_number(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$value),)*
                    _ => None,
                }
            }

            /// The name as C has it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => stringify!($value),)*
                }
            }
        }
    };
}

numbered! {
    /// A command.
    Command {
        /// Sends `SIZE` bytes at `ADDRESS` to the receiver of the endpoint, for a credit.
        Send = 1,
        /// Answers the message in a slot, and frees the slot if the answer arrives.
        Reply = 2,
        /// Copies `SIZE` bytes at `OFFSET` of a memory endpoint to `ADDRESS`.
        Read = 3,
        /// Copies them the other way.
        Write = 4,
        /// Marks the oldest unread message read. The value is its address, or 0.
        Fetch = 5,
        /// Frees a slot without an answer, and gives the sender's credit back.
        Acknowledge = 6,
        /// Ends when the bank has an unread message, or after `SIZE` cycles (0: never).
        Sleep = 7,
        /// Of the root alone: sends a message in the name of another sender ([`ForwardedHeader`]).
        Forward = 8,
    }
}

numbered! {
    /// How a command ends.
    Error {
        /// Done.
        None = 0,
        /// The endpoint is not of this kind, or of another activity.
        NoEndpoint = 1,
        /// No credit is left.
        NoCredits = 2,
        /// No slot of the receiver is free.
        NoSpace = 3,
        /// The receiving activity does not own the endpoint, or runs on no bank of a tile without a
        /// kernel.
        Gone = 4,
        /// The range is not within the memory endpoint, or the message is too long.
        OutOfBounds = 5,
        /// The memory endpoint does not allow it.
        NoRight = 6,
        /// The command was aborted, and can be made again.
        Aborted = 7,
        /// A range is not plain memory, or is not within the window of the bank.
        NoMemory = 8,
        /// The slot has no message, or the message takes no answer.
        NoAnswer = 9,
        /// No link leads to the tile.
        Unreachable = 10,
        /// No command has this number.
        NoCommand = 11,
        /// A packet was not confirmed, however often it was sent. Its effect may have come about.
        NoConfirmation = 12,
        /// No page is at the address, and no pager has one.
        NoPage = 13,
    }
}

/// What software writes to [`COMMAND`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommandWord {
    /// The number of the [`Command`].
    pub command: u8,
    /// The endpoint that the command uses.
    pub endpoint: u16,
    /// The endpoint that takes an answer, or [`NO_ANSWER_ENDPOINT`].
    pub answer: u16,
    /// The slot of a message.
    pub slot: u8,
}

impl CommandWord {
    /// A command without a slot, and without an answer.
    pub const fn new(command: Command, endpoint: u16) -> Self {
        Self {
            command: command as u8,
            endpoint,
            answer: NO_ANSWER_ENDPOINT,
            slot: 0,
        }
    }

    /// The command, whose answer this endpoint takes.
    pub const fn with_answer(self, answer: u16) -> Self {
        Self { answer, ..self }
    }

    /// The command for this slot.
    pub const fn with_slot(self, slot: u8) -> Self {
        Self { slot, ..self }
    }

    /// As in the register.
    pub const fn bits(self) -> u64 {
        self.command as u64
            | (self.endpoint as u64) << 8
            | (self.answer as u64) << 24
            | (self.slot as u64) << 40
    }

    /// From the register.
    pub const fn from_bits(bits: u64) -> Self {
        Self {
            command: bits as u8,
            endpoint: (bits >> 8) as u16,
            answer: (bits >> 24) as u16,
            slot: (bits >> 40) as u8,
        }
    }
}

/// What [`RESULT`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// The number of the [`Error`].
    pub error: u8,
    /// A value of 56 bits.
    pub value: u64,
}

impl Outcome {
    /// As in the register.
    pub const fn bits(self) -> u64 {
        self.error as u64 | self.value << 8
    }

    /// From the register.
    pub const fn from_bits(bits: u64) -> Self {
        Self {
            error: bits as u8,
            value: bits >> 8,
        }
    }

    /// The value, or the error. A number of no error, which only a kernel can have written there,
    /// counts as [`Error::NoCommand`].
    pub fn result(self) -> Result<u64, Error> {
        match Error::from_number(self.error).unwrap_or(Error::NoCommand) {
            Error::None => Ok(self.value),
            error => Err(error),
        }
    }
}

/// What [`IDENTITY`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// [`VERSION`].
    pub version: u8,
    /// Endpoints of the unit.
    pub endpoints: u16,
    /// Slots that a receive endpoint can have.
    pub slots: u8,
    /// Bytes of a message at most, with its header.
    pub message: u16,
    /// The tile.
    pub tile: u16,
}

impl Identity {
    /// As in the register.
    pub const fn bits(self) -> u64 {
        self.version as u64
            | (self.endpoints as u64) << 8
            | (self.slots as u64) << 24
            | (self.message as u64) << 32
            | (self.tile as u64) << 48
    }

    /// From the register.
    pub const fn from_bits(bits: u64) -> Self {
        Self {
            version: bits as u8,
            endpoints: (bits >> 8) as u16,
            slots: (bits >> 24) as u8,
            message: (bits >> 32) as u16,
            tile: (bits >> 48) as u16,
        }
    }
}

pub use crate::dtu_endpoint::{
    Endpoint, MemoryEndpoint, ReceiveEndpoint, RegisterEndpoint, SendEndpoint,
};
pub use crate::dtu_message::{
    FLAG_ANSWER, FLAG_CREDIT, FORWARDED_HEADER_SIZE, ForwardedHeader, HEADER_SIZE, Header,
    NO_HEADER_ENDPOINT, SlotRecord, Unread,
};
pub use crate::dtu_pages::{
    INVALIDATE, Invalidation, PAGE_ANSWER_SIZE, PAGE_ENTRIES, PAGE_FAULT_SIZE, PAGE_SIZE,
    PageAnswer, PageEntry, PageFault, PagesEndpoint, page_entry, page_of,
};

const _: () = assert!(endpoint_word(MOST_ENDPOINTS, 0) < 2 * PAGE + 2 * PAGE);
const _: () = assert!(gone(MOST_ENDPOINTS) <= slot_record(0, 0));
const _: () = assert!(slot_record(RECEIVE_ENDPOINTS, 0) <= ACCELERATOR_REGISTERS);
const _: () = assert!(current(MOST_BANKS) <= window_base(0));
const _: () = assert!(window_base(MOST_BANKS) <= 2 * PAGE);
const _: () = assert!(Command::Forward as u8 == 8 && Error::NoPage as u8 == 13);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_the_bits_of_the_page() {
        let word = CommandWord::new(Command::Reply, 0x1234).with_slot(31);
        assert_eq!(word.bits(), 0x1fff_ff12_3402);
        let outcome = Outcome {
            error: Error::NoSpace as u8,
            value: 0x8000_1000,
        };
        assert_eq!(outcome.bits(), 0x80_0010_0003);
        assert_eq!(Outcome::from_bits(outcome.bits()), outcome);
        assert_eq!(outcome.result(), Err(Error::NoSpace));
        assert_eq!(Outcome::from_bits(0x700).result(), Ok(7));
        let identity = Identity {
            version: VERSION,
            endpoints: 128,
            slots: 32,
            message: 144,
            tile: 3,
        };
        assert_eq!(identity.bits(), 0x0003_0090_2000_8001);
        assert_eq!(Identity::from_bits(identity.bits()), identity);
    }

    #[test]
    fn numbers_name_all_commands_and_errors() {
        let commands = (0..=u8::MAX).filter_map(Command::from_number);
        assert!(commands.eq(Command::ALL.iter().copied()));
        let errors = (0..=u8::MAX).filter_map(Error::from_number);
        assert!(errors.eq(Error::ALL.iter().copied()));
        assert_eq!(Error::NoRight.name(), "NoRight");
    }

    #[test]
    fn registers_are_in_whole_pages() {
        assert_eq!(registers_size(1), 0x3000);
        assert_eq!(registers_size(128), 0x3000);
        assert_eq!(registers_size(129), 0x4000);
    }
}
