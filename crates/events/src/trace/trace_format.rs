//! The format of a trace: its version, its limits, kinds of blocks, and why bytes are no trace.

/// Version of the format that this crate writes and reads.
pub const VERSION: u16 = 6;

/// The oldest version that this crate reads. It has no states, version 3 no
/// ways, version 4 no messages, and version 5 no sums and no threads of states.
pub(super) const OLDEST: u16 = 2;

/// How each block begins.
pub const MAGIC: [u8; 4] = *b"FLKT";

/// Bytes of a block's header: magic, version and kind (u16), process, thread and length of what
/// follows (u32), little endian.
pub const HEADER: usize = 20;

/// Bytes of buffer in which any single event has room that has at most 64 parts.
pub const MIN_BUFFER: usize = 16 << 10;

/// Threads with these numbers and higher ones are the harts of a card, on which the other threads of the process
/// execute code. The hart with number 0 is the first.
pub const FIRST_HART: u32 = 1 << 20;

/// The state of such a hart that executes no thread's code.
pub const IDLE: &str = "no thread's code";

/// Bytes of a name or path that are kept.
pub const MAX_TEXT: usize = 4096;

/// Frames of a sample that are kept, from the innermost.
pub const MAX_STACK: usize = 512;

/// What a block holds. Readers skip kinds that they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Kind {
    /// Program and platform: a process begins, or begins anew (`exec`).
    Process = 1,
    /// Events of one thread.
    Events = 2,
    /// What the run predicts, [`crate::timed::Timed`].
    Prediction = 3,
    /// When and how `flick record` started it.
    Run = 4,
}

/// A kind of core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The x86-64 cores.
    #[default]
    Host,
    /// The RV64 cores.
    Nxp,
}

/// Whose number a counter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The number is the thread's.
    Thread,
    /// The number is the whole process's.
    Process,
}

/// How a crossing's frame is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The function has returned.
    Return,
    /// `longjmp` or an exception went past it.
    Jump,
}

/// Why bytes are no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No [`MAGIC`] stands where a block should begin.
    #[error("no block of a trace begins here")]
    Magic,
    /// The block's version is not [`VERSION`].
    #[error("the block has version {0}, this reader knows {OLDEST} to {VERSION}")]
    Version(u16),
    /// The file is shorter than the block's header says.
    #[error("the block ends before what it holds (a process was killed or the disk was full)")]
    Truncated,
    /// A number has more bits than its field.
    #[error("a number is larger than it may be")]
    Number,
    /// An event has a tag that this version does not know.
    #[error("no event has the tag {0:#x}")]
    Event(u8),
    /// A row of a sum has a kind that this version does not know.
    #[error("no row of a sum has the kind {0:#x}")]
    Row(u8),
    /// A block of a prediction is no prediction.
    #[error("no line of a prediction begins here")]
    Prediction,
    /// An event is earlier than the one before it.
    #[error("time goes back")]
    Backwards,
    /// Differences of time add up to more than 64 bits.
    #[error("time is larger than 64 bits")]
    Time,
    /// The block's process has no block of its own before.
    #[error("the block's process has not begun")]
    NoProcess,
    /// The operating system does not read the file.
    #[error("it cannot be read: {0}")]
    Read(std::io::ErrorKind),
    /// Bytes are left behind the block's contents.
    #[error("the block is longer than what it holds")]
    Surplus,
}

/// The name of a state that begins when a thread of a machine is woken, in front of who has woken it:
/// `thread` and its number, or another text.
pub const WOKEN_BY: &str = "ready, woken by ";

/// The number in the trace of the thread that has woken another one, by the name of that one's state. There
/// threads have the number of their place, from 1, which is in the lower bits of the kernel's number.
pub fn waker(state: &str) -> Option<u32> {
    let number = state.strip_prefix(WOKEN_BY)?.strip_prefix("thread 0x")?;
    let number = u32::from_str_radix(number, 16).ok()?;
    Some((number & 0xffff) + 1)
}
