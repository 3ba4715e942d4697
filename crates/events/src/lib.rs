//! What a run did. The runtime writes it, and reports read it. Both print the same text, because
//! the text is made here. `docs/records.md` has the contract.
//!
//! The data flows in this order:
//! 1. The runtime fills a [`Summary`], with [`timed`] (`timed_data.rs`) and [`profile`] where a
//!    platform is named. While the program runs, it writes events into a trace ([`trace`]).
//! 2. [`render`] and `timed_render.rs` make the text for people, and `timed_notes.rs` has its
//!    sentences. [`record`] and `timed_record.rs` write the record for tools, and read it again, with
//!    the lines of `lines.rs`. [`card`] has both for the card. [`number`] writes figures.
//! 3. `flick stat`, `flick report` and `flick advise` (`crates/report`) and the tests read records
//!    and traces.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod card;
mod lines;
pub mod number;
pub mod profile;
pub mod record;
pub mod render;
mod timed_data;
mod timed_notes;
mod timed_record;
mod timed_render;
pub mod trace;

/// The prediction of a timed run, and its text for people.
pub mod timed {
    pub use crate::timed_data::*;
    pub use crate::timed_render::{duration, verdict};
}

pub use record::{ParseError, parse};
pub use render::{HostInstructions, View};

/// How host code enters the NxP (`FLICK_TRIGGER`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    /// Gates call the crossing.
    #[default]
    Gate,
    /// Gates jump to the image and the fault migrates the thread.
    Fault,
}

/// Whether placed functions ran on the NxP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Offload {
    /// Placed functions ran on the NxP.
    #[default]
    On,
    /// The host clones ran; the text says why (`FLICK_OFFLOAD=off`, no NxP-local memory, …).
    Off(String),
}

/// Who serves `malloc` of NxP code and `flick_alloc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Heap {
    /// The heap in NxP-local memory.
    #[default]
    Nxp,
    /// The process's own `malloc`; the text says why (another allocator, valgrind, …).
    Host(String),
}

/// Calls of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Symbol, or `file+0xoffset` where there is none.
    pub function: String,
    /// File name of the program or library that holds the function; empty if unknown.
    pub module: String,
    /// Number of calls.
    pub count: u64,
}

/// Migrations of threads between harts of the card for one instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrations {
    /// How many there were.
    pub count: u64,
    /// How many threads have migrated.
    pub threads: u64,
    /// Instructions of the card's harts that they took.
    pub cost: u64,
    /// Name and extension of the instruction.
    pub instruction: String,
    /// Source line, or function.
    pub place: String,
}

impl Migrations {
    /// Those that a thread would save which stays on a hart with the extension.
    pub fn avoidable(&self) -> u64 {
        self.count.saturating_sub(self.threads)
    }
}

/// Why calls of a placed function ran its host copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Offload was off ([`Summary::offload`] says why).
    Off,
    /// The call came before Flick's own constructor had run.
    Early,
}

/// One process, from its start to its exit (or `exec`). Sizes are bytes, times nanoseconds.
///
/// ```
/// use flick_events::{Calls, Summary, parse};
///
/// let call = Calls { function: "sum".into(), module: "prog".into(), count: 3 };
/// let summary = Summary { host_to_nxp: vec![call], ..Summary::default() };
/// assert_eq!(summary.crossings(), 6);
/// // Records are appended to a file, which a reader takes apart again.
/// let file = summary.to_record() + &summary.to_record();
/// assert_eq!(parse(&file)?, [summary.clone(), summary]);
/// # Ok::<(), flick_events::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Path of the executable.
    pub program: String,
    /// The process's number.
    pub pid: u32,
    /// How calls entered the NxP.
    pub trigger: Trigger,
    /// Name of the engine: `interp`, ….
    pub engine: String,
    /// Name of the backend: `inline`, ….
    pub backend: String,
    /// Whether placed functions ran on the NxP.
    pub offload: Offload,
    /// Who served allocations of NxP code.
    pub heap: Heap,
    /// Calls from the host that ran on the NxP, by function.
    pub host_to_nxp: Vec<Calls>,
    /// Calls from NxP code that ran on the host, by target.
    pub nxp_to_host: Vec<Calls>,
    /// Instruction-fetch faults that migrated a thread (trigger `fault`).
    pub faults: u64,
    /// RV64 instructions retired; 0 where the engine does not count them.
    pub instructions: u64,
    /// Bytes of RV64 functions that were translated, each once; 0 where the engine translates
    /// nothing.
    pub translated: u64,
    /// Bytes of the host code that was made of these functions.
    pub translation: u64,
    /// Bytes of tables that say where guest registers are in it.
    pub translation_tables: u64,
    /// Entries of functions, and places in them, that were translated.
    pub translations: u64,
    /// Calls of placed functions that ran on the host.
    pub on_host: Vec<(Cause, Calls)>,
    /// Paths of the program and of the libraries it had loaded.
    pub files: Vec<String>,
    /// Threads that had an NxP stack.
    pub threads: u64,
    /// Address space reserved for NxP-local memory; 0 if none.
    pub region_size: u64,
    /// Most bytes allocated in the NxP heap at any time.
    pub heap_peak: u64,
    /// Bytes allocated in the NxP heap at the end.
    pub heap_live: u64,
    /// Most address space in use by NxP stacks at any time.
    pub stack_peak: u64,
    /// Where threads moved to another hart of the card, which has an extension.
    pub migrations: Vec<Migrations>,
    /// Wall-clock time since the process started.
    pub elapsed: u64,
    /// User time of all threads.
    pub user: u64,
    /// System time of all threads.
    pub system: u64,
    /// Why the trace of the run (`FLICK_TRACE`) is not whole, where it is not.
    pub trace_lost: Option<String>,
    /// Where NxP functions ran on a card.
    pub card: Option<card::Card>,
    /// Where a platform was named.
    pub timed: Option<timed::Timed>,
}

impl Summary {
    /// Calls from the host to the NxP; each is one crossing there and one back.
    pub fn host_to_nxp_calls(&self) -> u64 {
        total(&self.host_to_nxp)
    }

    /// Calls from the NxP to the host; each is one crossing there and one back.
    pub fn nxp_to_host_calls(&self) -> u64 {
        total(&self.nxp_to_host)
    }

    /// Bytes of host code for each byte of RV64 code that was translated.
    pub fn translation_ratio(&self) -> Option<f64> {
        (self.translated > 0).then(|| self.translation as f64 / self.translated as f64)
    }

    /// Calls of placed functions that ran on the host.
    pub fn on_host_calls(&self) -> u64 {
        self.on_host
            .iter()
            .fold(0, |sum, (_, c)| sum.saturating_add(c.count))
    }

    /// Crossings: calls and returns that changed the ISA. A call that never returned (`exit`,
    /// `longjmp`, an exception) is counted as if it had.
    pub fn crossings(&self) -> u64 {
        self.host_to_nxp_calls()
            .saturating_add(self.nxp_to_host_calls())
            .saturating_mul(2)
    }
}

fn total(calls: &[Calls]) -> u64 {
    calls.iter().fold(0, |sum, c| sum.saturating_add(c.count))
}
