//! The translator: RV64 functions to x86-64 code (`docs/translator.md`).
//!
//! A translation is a host function for one guest address: a function's entry, or any address in it where
//! the interpreter or an unwinder goes on. All that a guest frame is lies in guest registers and guest
//! memory, so that a translation needs nothing but the hart, and the host's frames may be cut off at any
//! call. [`run()`] is the loop around translations: it enters the one for `hart.pc`, and when that comes
//! back without having returned to a translated caller, looks at `hart.pc` again.
//!
//! Exactness: at an access that faults the table of its translation says where every live guest register
//! is ([`StateTable::restore`]).
mod code;
mod code_cache;
mod dispatch;
mod emit;
mod features;
mod function;
mod glue;
mod jumps;
mod listing;
mod liveness;
mod lower;
mod moves;
mod program;
mod registers;
mod simplify;
mod state;
mod tables;
mod targets;
mod thunk;
mod translator;
mod unwind;
pub mod valgrind;

pub use code::Reason;
pub use code_cache::pages_for;
pub use dispatch::{LEAST_STACK, advance, run};
pub use emit::trace::{Part, Span};
pub use glue::{Lookup, go_in, leave, leave_at_call, returned};
pub use listing::{Line, Listing};
pub use liveness::Summary;
pub use program::{Program, Target};
pub use registers::HART_BIAS;
pub use state::{HostRegisters, StateTable};
pub use targets::{MASK as TARGETS_MASK, SCALE as TARGETS_SCALE, Targets};
pub use translator::{TRACE_ROOM, Translator, Usage};
pub use unwind::{CFA as CFA_FROM_RBP, HOST_SAVED as HOST_SAVED_FROM_RBP, unwind_section_behind};
