//! The trace of a timed run: what each thread did, in virtual time. The runtime writes it through
//! an [`Encoder`] for each thread, reports read it as a [`Trace`]. `docs/records.md`, "Trace", has
//! the bytes.
//!
//! A trace is a sequence of blocks. Each says whose it is (process and thread) and how long it is,
//! and is appended to the file with one `write` by whoever has it, so that threads and processes
//! need no lock and a process that is killed leaves whole blocks.
//!
//! # How a runtime uses it
//! 1. Open the file with `O_APPEND` and write the block of [`process_block`]; after `fork` and
//!    `exec` again, before any other block of that process.
//! 2. Give each thread a buffer of at least [`MIN_BUFFER`] bytes (64 KiB is a good size) and an
//!    [`Encoder`] on it. It allocates nothing, takes no lock and does not panic. It is not
//!    reentrant: a signal handler that traces needs its own, or drops what it has to tell while its
//!    thread is encoding.
//! 3. Encode events as they happen through [`Encoder::with`], which writes the block out when it
//!    is full; [`Encoder::flush`] when the thread ends, at `exit`, and before `fork` and `exec`.
//! 4. Names (functions, call sites, parts of a crossing, counters) are numbers, chosen by the
//!    runtime for the whole process, from 1; 0 is "unknown". [`Encoder::name`] defines one, once,
//!    in any thread's block, before or after its uses.
//! 5. At exit, when the totals are known, write the [`prediction_block`].
//!
//! Times are picoseconds of the thread's clock in the migrating world. They never go back within a
//! thread; the encoder takes an earlier time for the last one.
mod encoder;
mod event;
mod prediction;
mod reader;
mod wire;

pub use encoder::{Encoder, process_block, run_block};
pub use event::{Event, Ids, Parts, What};
pub use prediction::prediction_block;
pub use reader::{Error, Name, Process, Reason, Run, Thread, Trace};

/// Version of the format that this crate writes and reads.
pub const VERSION: u16 = 2;

/// How each block begins.
pub const MAGIC: [u8; 4] = *b"FLKT";

/// Bytes of a block's header: magic, version and kind (u16), process, thread and length of what
/// follows (u32), little endian.
pub const HEADER: usize = 20;

/// Bytes of buffer in which any single event has room that has at most 64 parts.
pub const MIN_BUFFER: usize = 16 << 10;

/// Bytes of a name or path that are kept.
pub const MAX_TEXT: usize = 4096;

/// Frames of a sample that are kept, from the innermost.
pub const MAX_STACK: usize = 512;

/// What a block holds. Readers skip kinds that they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
enum Kind {
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
    #[default]
    Host,
    Nxp,
}

/// Whose number a counter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Thread,
    Process,
}

/// How a crossing's frame is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Return,
    /// `longjmp` or an exception went past it.
    Jump,
}
