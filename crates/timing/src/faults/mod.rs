//! Faults that a machine is to have on purpose, in a TOML file: `docs/faults.md`.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | [`Fault`]: what happens, and when |
//! | `fault_reader.rs` | the file's entries |
mod fault_reader;
#[cfg(test)]
mod fault_tests;

use serde::{Deserialize, Serialize};

pub use crate::platform::Error;

/// Picoseconds.
pub type Time = u64;

/// When a fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At a virtual time.
    Time(Time),
    /// When so many cycles of a hart have passed.
    Cycle {
        /// Its number in the machine.
        hart: usize,
        /// Cycles.
        cycle: u64,
    },
    /// When so many instructions of a hart have completed.
    Instruction {
        /// Its number in the machine.
        hart: usize,
        /// Instructions.
        instruction: u64,
    },
    /// Before a hart executes the instruction at an address.
    Address {
        /// Its number in the machine.
        hart: usize,
        /// The virtual address.
        address: u64,
        /// The time that counts; 1 is the first.
        times: u64,
    },
    /// When an accelerator comes to a state.
    State {
        /// The tile's number.
        tile: usize,
        /// The state's place in [`STATE_NAMES`](flick_abi::accelerator::STATE_NAMES).
        state: usize,
        /// The time that counts; 1 is the first.
        times: u64,
    },
}

/// A register of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// An integer register, but x0.
    X(usize),
    /// A register of floating point.
    F(usize),
    /// The program counter.
    Pc,
    /// A control and status register.
    Csr(u32),
}

/// What becomes of an interrupt line of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFault {
    /// It is high.
    Raise,
    /// It is low.
    Suppress,
    /// When it rises, it does so later.
    Delay,
}

/// What becomes of requests to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// They are never answered.
    Drop,
    /// The device sees them later.
    Delay(Time),
    /// The device does them twice.
    Repeat,
    /// Their status is an error, and nothing is read or written.
    Fail,
}

/// What becomes of packets between tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketFault {
    /// They do not arrive.
    Drop,
    /// They arrive later, and others overtake them.
    Delay(Time),
    /// They arrive, and once more after this time.
    Repeat(Time),
}

/// Classes of packets (`docs/dtu.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketClass {
    /// A message that is no answer.
    Message,
    /// An answer.
    Answer,
    /// Credits on their way back.
    Credit,
    /// Parts of reads and writes.
    Data,
    /// A confirmation.
    Confirmation,
}

/// Which packets have a fault; `None`: any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketChoice {
    /// The sender's tile.
    pub from: Option<usize>,
    /// The receiver's tile.
    pub to: Option<usize>,
    /// The class.
    pub class: Option<PacketClass>,
    /// Each packet of this number among them: 1 is all of them.
    pub every: u64,
    /// How many packets have the fault.
    pub packets: u64,
}

/// Queues of descriptors of a host program (`docs/card.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Queue {
    /// The ring of the host's tile.
    Ring,
    /// The endpoint of a tile's kernel.
    Kernel,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A hart executes nothing.
    StopHart {
        /// Its number in the machine.
        hart: usize,
        /// For so many of its cycles; `None`: for ever.
        cycles: Option<u64>,
    },
    /// Bits of a doubleword of memory change.
    FlipMemory {
        /// The tile's number.
        tile: usize,
        /// Its physical address.
        address: u64,
        /// The bits.
        bits: u64,
    },
    /// Bits of a register change.
    FlipRegister {
        /// The hart's number in the machine.
        hart: usize,
        /// The register.
        register: Register,
        /// The bits.
        bits: u64,
    },
    /// A line changes.
    Line {
        /// The hart's number in the machine.
        hart: usize,
        /// The bit of `mip`.
        bit: u32,
        /// How.
        fault: LineFault,
        /// For so long, or by so much; `None`: for ever.
        time: Option<Time>,
    },
    /// The next requests fail.
    Request {
        /// The disk's number.
        disk: usize,
        /// How many.
        requests: u64,
        /// How.
        fault: RequestFault,
    },
    /// The next packets between tiles fail.
    Packets {
        /// Which.
        choice: PacketChoice,
        /// How.
        fault: PacketFault,
    },
    /// A tile without harts does nothing any more, and packets for it are lost.
    StopTile {
        /// The tile's number.
        tile: usize,
    },
    /// Accesses fault, those of harts and of devices.
    Refuse {
        /// The tile's number.
        tile: usize,
        /// The first physical address.
        address: u64,
        /// Bytes.
        size: u64,
        /// For so long; `None`: for ever.
        time: Option<Time>,
    },
    /// Bits of the next bytes for the console change.
    CorruptInput {
        /// The bits.
        bits: u8,
        /// How many bytes.
        bytes: u64,
    },
    /// Bits of a word of the next descriptors of a host program change.
    CorruptDescriptor {
        /// The word of 8 bytes.
        word: usize,
        /// The bits.
        bits: u64,
        /// How many descriptors.
        descriptors: u64,
    },
    /// Nothing more fits into a queue of descriptors.
    FillQueue {
        /// Which.
        queue: Queue,
        /// Of this tile, if it is a kernel's.
        tile: usize,
        /// For so long.
        time: Time,
    },
    /// The machine resets.
    Reset,
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line of the file.
    pub line: usize,
    /// When.
    pub when: When,
    /// What.
    pub action: Action,
}

/// The faults of a file, in their order. `file` is for messages, and `tiles` are the names of the
/// machine's tiles with their numbers of harts.
///
/// ```
/// use flick_timing::faults::{Action, parse};
///
/// let text = "[[fault]]\nat = { time = \"2 ms\" }\ndo = \"stop-hart\"\nhart = 1\n";
/// let faults = parse("faults.toml", text, &[("board", 4)]).unwrap();
/// assert_eq!(faults[0].action, Action::StopHart { hart: 1, cycles: None });
/// ```
pub fn parse(file: &str, text: &str, tiles: &[(&str, usize)]) -> Result<Vec<Fault>, Error> {
    fault_reader::parse(file, text, tiles)
}
