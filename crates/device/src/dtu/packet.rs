//! Packets between the units of two tiles.
use flick_abi::dtu::FLAG_ANSWER;
use serde::{Deserialize, Serialize};

/// Bytes of a packet on a link beside what its kind has: tiles, kind, command and part.
const HEADER: u64 = 16;
/// Bytes of the address in a tile's memory.
const ADDRESS: u64 = 8;
/// Bytes of a credit behind the first one of its packet.
const CREDIT: u64 = 8;
/// In the place of a bank: the unit itself, which gives credits back.
pub const UNIT_BANK: u8 = flick_abi::dtu::MOST_BANKS as u8;

/// One packet on its way from one unit to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Packet {
    /// The sender's tile.
    pub from: u16,
    /// The receiver's tile, which is never the sender's own on a link.
    pub to: u16,
    /// What it is.
    pub kind: PacketKind,
}

/// The command that a packet is of: the unit that has sent the first packet knows it by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommandNumber {
    /// The bank, or [`UNIT_BANK`].
    pub bank: u8,
    /// The number of the command in the bank, which is above those of all earlier ones.
    pub number: u64,
}

/// A credit on its way back, or with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Credit {
    /// The send endpoint that has spent it.
    pub endpoint: u16,
    /// How often that endpoint had been set up. A credit of a former endpoint is void.
    pub setup: u32,
}

/// A message to a receive endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The receive endpoint.
    pub endpoint: u16,
    /// The activity that the message is for.
    pub receiver: u16,
    /// The header, as it will lie in memory.
    pub header: [u8; flick_abi::dtu::HEADER_SIZE],
    /// The payload.
    pub payload: Vec<u8>,
    /// The credit that the message has cost. An answer costs none.
    pub cost: Option<Credit>,
    /// The credit that an answer gives to its receiver's unit.
    pub refund: Option<Credit>,
}

/// What a packet is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PacketKind {
    /// A message or an answer. [`PacketKind::Done`] comes back.
    Message(CommandNumber, Message),
    /// A part of a write. [`PacketKind::Done`] comes back.
    Write {
        /// The command.
        command: CommandNumber,
        /// The offset of the part in the whole transfer.
        part: u64,
        /// The address in the receiver's tile.
        address: u64,
        /// The activity that has to be current there; 0: any.
        receiver: u16,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Asks for a part of a read. [`PacketKind::Data`] comes back, or [`PacketKind::Done`] with an
    /// error.
    Read {
        /// The command.
        command: CommandNumber,
        /// The offset of the part in the whole transfer.
        part: u64,
        /// The address in the receiver's tile.
        address: u64,
        /// The activity that has to be current there; 0: any.
        receiver: u16,
        /// Bytes of the part.
        size: u32,
    },
    /// A part of a write of registers by the root: words of 64 bits. [`PacketKind::Done`] comes back.
    WriteRegisters {
        /// The command.
        command: CommandNumber,
        /// The offset of the part in the whole transfer.
        part: u64,
        /// The offset of the first register.
        register: u64,
        /// The values.
        bytes: Vec<u8>,
    },
    /// The root asks for a part of a read of registers. [`PacketKind::Data`] comes back, or
    /// [`PacketKind::Done`] with an error.
    ReadRegisters {
        /// The command.
        command: CommandNumber,
        /// The offset of the part in the whole transfer.
        part: u64,
        /// The offset of the first register.
        register: u64,
        /// Bytes of the part.
        size: u32,
    },
    /// Bytes that were read.
    Data {
        /// The command.
        command: CommandNumber,
        /// The offset of the part in the whole transfer.
        part: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A message or a part of a transfer has ended.
    Done {
        /// The command.
        command: CommandNumber,
        /// The offset of the part in the whole transfer, or 0.
        part: u64,
        /// The number of an [`Error`](flick_abi::dtu::Error).
        error: u8,
    },
    /// Messages were acknowledged without an answer. [`PacketKind::Done`] comes back.
    Credits(CommandNumber, Vec<Credit>),
}

/// Classes of packets, by which a tester chooses what fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PacketClass {
    /// A message that is no answer.
    Message,
    /// An answer.
    Answer,
    /// Credits on their way back.
    Credit,
    /// Parts of reads and writes.
    Data,
    /// [`PacketKind::Done`].
    Confirmation,
}

impl Packet {
    /// The bytes that a link carries for it.
    pub fn bytes(&self) -> u64 {
        let rest = match &self.kind {
            PacketKind::Message(_, message) => {
                (message.header.len() + message.payload.len()) as u64
            }
            PacketKind::Write { bytes, .. } | PacketKind::WriteRegisters { bytes, .. } => {
                ADDRESS + bytes.len() as u64
            }
            PacketKind::Read { .. } | PacketKind::ReadRegisters { .. } => ADDRESS,
            PacketKind::Data { bytes, .. } => bytes.len() as u64,
            PacketKind::Done { .. } => 0,
            PacketKind::Credits(_, credits) => CREDIT * (credits.len() as u64).saturating_sub(1),
        };
        HEADER + rest
    }

    /// What a tester calls it.
    pub fn class(&self) -> PacketClass {
        match &self.kind {
            PacketKind::Message(_, message) if message.header[0] & FLAG_ANSWER != 0 => {
                PacketClass::Answer
            }
            PacketKind::Message(..) => PacketClass::Message,
            PacketKind::Write { .. }
            | PacketKind::Read { .. }
            | PacketKind::WriteRegisters { .. }
            | PacketKind::ReadRegisters { .. }
            | PacketKind::Data { .. } => PacketClass::Data,
            PacketKind::Done { .. } => PacketClass::Confirmation,
            PacketKind::Credits(..) => PacketClass::Credit,
        }
    }
}
