//! The trace of a timed run: what each thread did, in virtual time. The runtime writes it through
//! an [`Encoder`] for each thread, reports read it as a [`Trace`]. `docs/records.md`, "Trace", has
//! the bytes.
//!
//! A trace is a sequence of blocks. Each says whose it is (process and thread) and how long it is,
//! and is appended to the file with one `write` by whoever has it, so that threads and processes
//! need no lock and a process that is killed leaves whole blocks.
//!
//! A reader goes through the events of a thread ([`Thread::each`]), and makes steps of them that fit
//! into each other ([`Walk`]), facts of the steps ([`Accounts`]), and sums of the facts ([`Sums`]). A
//! [`Recorder`] does the same, so that the sums that it writes are those that a reader would make.
//!
//! # How a runtime uses it
//! 1. Open the file with `O_APPEND` and write the block of [`process_block`]; after `fork` and
//!    `exec` again, before any other block of that process.
//! 2. Give each thread a buffer of at least [`MIN_BUFFER`] bytes (64 KiB is a good size) and an
//!    [`Encoder`] on it. It allocates nothing, takes no lock and does not panic. It is not
//!    reentrant: a signal handler that traces needs its own, or drops its events while its
//!    thread is encoding.
//! 3. Encode events as they happen through [`Encoder::with`], which writes the block out when it
//!    is full; [`Encoder::flush`] when the thread ends, at `exit`, and before `fork` and `exec`.
//! 4. Names (functions, call sites, parts of a crossing, counters) are numbers, chosen by the
//!    runtime for the whole process, from 1; 0 is "unknown". [`Encoder::name`] defines one, once,
//!    in any thread's block, before or after its uses.
//! 5. Where the trace has a limit of size, put events through a [`Recorder`] instead, with the
//!    [`Detail`] that there is room for. It allocates.
//! 6. At exit, when the totals are known, write the [`prediction_block`].
//!
//! Times are picoseconds of the thread's clock in the migrating world. They never go back within a
//! thread; the encoder takes an earlier time for the last one.
//!
//! ```
//! use flick_events::trace::{Encoder, How, MIN_BUFFER, Side, Trace, process_block};
//!
//! let mut file = process_block(7, b"prog", b"flick-paper");
//! let mut buffer = vec![0; MIN_BUFFER];
//! let mut encoder = Encoder::new(&mut buffer, 7, 1);
//! encoder.thread_start(0, b"main");
//! encoder.enter(10, Side::Nxp, (1, 2), 0, &[]);
//! encoder.leave(30, How::Return, 0, &[]);
//! encoder.flush(|block| file.extend_from_slice(block));
//! let trace = Trace::read(&file)?;
//! assert_eq!(trace.processes[0].threads[0].map(|event| event.time), [0, 10, 30]);
//! # Ok::<(), flick_events::trace::Error>(())
//! ```
mod crossing_steps;
mod encoder;
mod event;
mod input;
mod interval_sums;
mod prediction;
mod recorder;
mod sum_rows;
mod trace_format;
mod trace_reader;
mod wire;

pub use crossing_steps::{Back, Callee, Span, Step, Walk};
pub use encoder::{Encoder, process_block, run_block};
pub use event::{Event, Ids, Parts, What};
pub use interval_sums::{Accounts, Fact, Sums, states};
pub use prediction::prediction_block;
pub use recorder::{Detail, Interval, Recorder};
pub use sum_rows::{CallSum, DOING, Doing, Lanes, Row, Rows};
pub use trace_format::{
    FIRST_HART, HEADER, How, IDLE, MAGIC, MAX_STACK, MAX_TEXT, MIN_BUFFER, Reason, Scope, Side,
    VERSION, WOKEN_BY, waker,
};
pub use trace_reader::{Error, Name, Process, Run, Thread, Trace};
