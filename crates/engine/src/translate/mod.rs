//! The translator: RV64 functions to x86-64 code (`docs/engine.md`).
//!
//! A translation is a host function for one guest address: a function's entry, or any address in it where
//! the interpreter or an unwinder goes on. All that a guest frame is lies in guest registers and guest
//! memory, so that a translation needs nothing but the hart, and the host's frames may be cut off at any
//! call. [`run()`] is the loop around translations: it enters the one for `hart.pc`, and when that comes
//! back without having returned to a translated caller, looks at `hart.pc` again.
//!
//! Exactness: at an access that faults the table of its translation says where every live guest register
//! is ([`StateTable::restore`]).
mod area;
mod code;
mod emit;
mod features;
mod function;
mod glue;
mod liveness;
mod lower;
mod program;
mod registers;
mod run;
mod simplify;
mod state;
mod targets;
mod translator;
mod unwind;
mod valgrind;

pub use glue::Lookup;
pub use liveness::Summary;
pub use program::{Program, Target};
pub use registers::HART_BIAS;
pub use run::run;
pub use state::{HostRegisters, StateTable};
pub use targets::Targets;
pub use translator::{Translator, Usage};
pub use unwind::{FRAME, unwind_section};
