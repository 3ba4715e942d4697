//! From the record and the trace of a run to text and pages for people.
//!
//! The data flows in this order:
//! 1. A command runs a program (`run_program.rs`) on a platform (`named_platform.rs`), and again
//!    where asked (`again.rs`). The runtime writes a record and perhaps a trace, which
//!    `flick-events` reads. `counter.rs` counts the processor's own instructions.
//! 2. `reasons.rs` adds the compiler's reasons, and `source_lines.rs` adds source lines.
//!    `timeline.rs` turns the events of a trace into steps that fit into each other.
//! 3. Each command has its output: `stat.rs` with `baseline.rs` and `spread.rs` prints text,
//!    `record_command.rs` keeps the trace, `page/` makes the page of `flick report`, `perfetto/`
//!    makes a trace for Perfetto, and `advise/` proposes a placement.
//!
//! `json.rs` has the results for programs.
//! `machine_drawing/` draws machine files, for `flick machine show`.
#![warn(missing_docs)]
pub mod advise;
pub mod json;
pub mod machine_drawing;
pub mod page;
pub mod perfetto;
pub mod record_command;
pub mod stat;

mod again;
mod baseline;
mod counter;
mod named_platform;
mod reasons;
mod run_program;
#[cfg(test)]
mod sample_trace;
pub mod source_lines;
mod spread;
mod timeline;
