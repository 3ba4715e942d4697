//! `flick torture`: programs, placements, options, triggers and engines are drawn from a seed; each
//! program is built by plain clang and by Flick and must do the same. A difference is a bug: generated
//! programs have no undefined behaviour and print nothing that may differ. `docs/torture.md` has the
//! whole.
mod check;
mod count;
mod draw;
mod emit;
mod failure;
mod generate;
mod keep;
mod options;
mod placement;
mod program;
mod session;
mod shrink;
mod source;
mod statement;
mod totals;
mod types;

pub use check::Workshop;
pub use generate::{Feature, Features};
pub use program::Language;
pub use session::{Generator, Settings, run};
pub use source::{Compilers, User, has_csmith};
pub use totals::Totals;
