//! `flick torture`: programs, placements, options, triggers and engines are drawn from a seed.
//! Plain clang and Flick build each program, and both builds must do the same. A difference is a
//! bug, because generated programs have no undefined behaviour and print nothing that may differ.
//! `docs/torture.md` has the whole.
//!
//! The data flows in this order:
//! 1. `session.rs` takes the settings and draws cases with the numbers of `draw.rs`. `source.rs`
//!    says where a program comes from.
//! 2. `generate/` draws a program as a tree (`generated_program.rs`, `statement.rs`, `types.rs`),
//!    and `emit/` writes the tree as C or C++.
//! 3. `drawn_placement.rs` and `build_options.rs` say how a case is built. `workshop.rs` builds and
//!    runs it both ways, and compares.
//! 4. `shrink/` makes a failing case small. `failure.rs` and `failure_folder.rs` keep it.
//! 5. `count.rs` and `totals.rs` count what was tried, for the text at the end.
#![warn(missing_docs)]
mod build_options;
mod count;
mod draw;
mod drawn_placement;
mod emit;
mod failure;
mod failure_folder;
mod generate;
mod generated_program;
mod session;
mod shrink;
mod source;
mod statement;
mod totals;
mod types;
mod workshop;

pub use generate::{Feature, Features};
pub use generated_program::Language;
pub use session::{Generator, Settings, run};
pub use source::{Compilers, User, has_csmith};
pub use totals::Totals;
pub use workshop::Workshop;
