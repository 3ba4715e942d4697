//! The translator: RV64 functions to x86-64 code (`docs/translator.md`).
//!
//! In comes a [`Program`], which gives decoded instructions and the bounds of functions. Out goes
//! host code in a code cache, with a table of the guest's registers ([`StateTable`]). [`run()`] and
//! [`advance`] execute a hart by it. The files, in the order of the data:
//!
//! | file | subject |
//! |---|---|
//! | `program.rs` | [`Program`]: what the translator asks about guest code |
//! | `translator.rs` | [`Translator`]: all translations of a process |
//! | `function.rs`, `jumps.rs`, `tables.rs`, `thunk.rs` | a function's blocks, and where its jumps lead |
//! | `counting.rs` | [`Counting`]: instructions that translated code counts, and budgets |
//! | `liveness.rs` | guest registers that are read later |
//! | `lower/` | guest instructions to SSA (`code.rs`) |
//! | `simplify/`, `moves.rs` | the code before and after the allocation of registers |
//! | `registers.rs` | which host register holds which guest register |
//! | `emit/`, `features.rs` | x86-64 code |
//! | `fault_state.rs`, `unwind.rs` | where guest registers are at a fault; unwind information |
//! | `code_pages.rs`, `code_cache.rs`, `targets.rs` | the place of code, and where calls through registers lead |
//! | `context.rs`, `glue.rs`, `dispatch.rs` | [`Context`], entering and leaving translated code, the dispatch loop |
//! | `ahead.rs`, `ahead/` | [`Ahead`]: the translations of a module before it runs |
//! | `movable/` | a function apart from its place, whose translation the next link can use |
//! | `listing.rs` | [`Listing`]: a translation as text, without a run |
//! | `valgrind.rs` | requests to valgrind |
//!
//! A translation is a host function for one guest address: a function's entry, or any address in it
//! where the interpreter or an unwinder goes on. A guest frame lies wholly in guest registers and
//! guest memory. So a translation needs nothing but the [`Context`], and the host's frames may be
//! cut off at any call. [`run()`] enters the translation for `hart.pc`. When the translation comes
//! back without having returned to a translated caller, [`run()`] looks at `hart.pc` again.
//!
//! Exactness: at an access that faults the table of its translation says where every live guest
//! register is ([`StateTable::restore`]).
#![warn(missing_docs)]

mod ahead;
mod code;
mod code_cache;
mod code_pages;
mod context;
mod counting;
mod disassembly;
mod dispatch;
mod emit;
mod fault_state;
pub mod features;
mod function;
mod glue;
mod guest_frame;
mod jumps;
mod listing;
mod liveness;
mod lower;
mod movable;
mod moves;
mod program;
mod registers;
mod simplify;
mod tables;
mod targets;
mod thunk;
mod translator;
mod unwind;
pub mod valgrind;
mod vector_call;

pub use ahead::{Ahead, Displacement, Entry, Kept, Made, Origin, Piece, Place, STUB_SIZE};
pub use code::Reason;
pub use code_cache::pages_for;
pub use code_pages::CodePages;
pub use context::{CALLER_FRAME, Context, HOST_SAVED};
pub use counting::Counting;
pub use disassembly::{Disassembled, disassembly};
pub use dispatch::{LEAST_STACK, advance, advance_within, run, run_within};
pub use emit::code_origin::{Part, Span};
pub use emit::homes::{Home, Homed};
pub use emit::{Outside, Word};
pub use fault_state::{HostRegisters, StateTable, restore_from, restore_leaf};
pub use glue::{
    Lookup, convert, elsewhere, go_in, go_in_counted, go_on, helper, leave, leave_at_call,
    leave_at_call_counted, returned, slow_call_with,
};
pub use listing::{Line, Listing};
pub use liveness::Summary;
pub use program::{Program, Target, is_on_hart};
pub use registers::HART_BIAS;
pub use targets::{MASK as TARGETS_MASK, SCALE as TARGETS_SCALE, Targets};
pub use translator::{TRACE_ROOM, Translator, Usage};
pub use unwind::{
    CFA as CFA_FROM_RBP, HOST_SAVED as HOST_SAVED_FROM_RBP, UnwindRecords, unwind_section_behind,
};
pub use vector_call::{
    StateAt, VectorCall, set_vector_calls, state_at as state_at_vector_call, vector,
};
