//! Root calls by message (`docs/root.md`): what the kernel of a tile with harts and the root tell each other. The root
//! has set up both endpoints of the tile's unit, which nobody else can.
use super::{PAGE, RootCall};

/// The tile's endpoint for what the root tells its kernel.
pub const FROM_ROOT: u16 = 0;
/// The tile's endpoint for calls to the root.
pub const TO_ROOT: u16 = 1;
/// The first endpoint for programs.
pub const FIRST_OF_PROGRAMS: u16 = 2;
/// Slots of [`FROM_ROOT`], and the bytes of one.
pub const SLOTS: u8 = 32;
/// The base-2 logarithm of the bytes of a slot.
pub const LOG2_SLOT: u8 = 8;
/// Where the buffer of [`FROM_ROOT`] is in the tile's memory: so far before its end.
pub const BEFORE_END: u64 = 64 << 10;
/// Its bytes.
pub const BUFFER: u64 = (SLOTS as u64) << LOG2_SLOT;

const _: () = assert!(BUFFER.is_multiple_of(PAGE));

/// Words of a call: number (7:0), note of the caller's hart (31:8) and process (63:32); six arguments; and the bytes
/// that it carries.
pub const CALL_WORDS: usize = 7;
/// Bytes that a call carries at most.
pub const MOST_CARRIED: usize = 160;
/// Words of an answer: two values, and one of [`answer`]; then what it carries.
pub const ANSWER_WORDS: usize = 3;

/// In the place of a call's number: a process has ended. The first argument is its status.
pub const ENDED: u64 = 0xff;
/// In the place of a call's number: the kernel asks whether the root is there.
pub const IS_THERE: u64 = 0xfe;

/// In the place of a call's number: a program that does not run has a message, and shall get a hart. The kernel of a
/// tile asks that where the root decides on switches (`switches` of the machine file).
pub const SWITCH: u64 = 0xfd;

/// What an answer is, in bits 7:0 of its third word.
pub mod answer {
    /// Values.
    pub const VALUES: u64 = 0;
    /// The call is to be made again.
    pub const AGAIN: u64 = 1;
    /// The same, by an endpoint of the tile: number (7:0), endpoint for answers (15:8), activity (31:16) of the first
    /// value. The second one is the capability of the gate for answers.
    pub const ENDPOINT: u64 = 2;
    /// A gate: the first value is its capability, the second one its endpoint (7:0) and activity (31:16).
    pub const GATE: u64 = 3;
}

/// The bit of a label that says that a message of the root is no answer. The endpoints of its first word, a bit each,
/// are gone, and it is to be answered. Its second word is one of [`program`].
pub const NOTICE: u64 = 1 << 63;

/// The bit of the number of a process that the root has chosen: it has started it.
pub const CHOSEN: u64 = 1 << 31;

/// What a notice says of a program besides, whose number is the third word.
pub mod program {
    /// Nothing.
    pub const NONE: u64 = 0;
    /// It is to be started. The fourth word is the endpoint that reaches its image, and the fifth one the image's
    /// bytes. The first word of the answer is an error, or 0.
    pub const START: u64 = 1;
    /// It is to be ended.
    pub const END: u64 = 2;
    /// It does not run any more, because it moves to another tile. The second word of the answer is how many bytes
    /// its image has, which its kernel would write. `EAGAIN`: it is not at rest yet. `EBUSY`: it has what cannot move.
    pub const HOLD: u64 = 3;
    /// Its image is to be written by the endpoint of the fourth word, to so many bytes as the fifth one says. Behind
    /// that the tile does not have it any more.
    pub const SAVE: u64 = 4;
    /// It was held, and goes on.
    pub const GO_ON: u64 = 5;
    /// It goes on on this tile, with the image that another one has written. The words are those of [`START`].
    pub const LAND: u64 = 6;
}

/// What of a call's arguments is an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The arguments with address and size of what the caller gives.
    pub given: Option<(usize, usize)>,
    /// The argument with the address of 120 bytes that the caller gets.
    pub got: Option<usize>,
}

/// What a call carries. `tile_load` and `tile_store` carry nothing: endpoints of the tile copy.
pub const fn carried(call: RootCall) -> Carried {
    let (given, got) = match call {
        RootCall::TileFind | RootCall::SessionOpen => (Some((0, 1)), None),
        RootCall::ServiceCreate | RootCall::GateSend => (Some((1, 2)), None),
        RootCall::GateAnswer => (Some((2, 3)), None),
        RootCall::GateCall => (Some((1, 2)), Some(3)),
        _ => (None, None),
    };
    Carried { given, got }
}
