//! The codes of Flick's messages, each once: number, severity, stage and title.
//!
//! The table in `error_code.rs` is where a code begins. From it come
//! 1. the enum [`Code`], which the command and the driver name,
//! 2. the table in `docs/formats.md` ([`table`], `code_table.rs`),
//! 3. the list of `flick explain`, and the check that each code has a page in `docs/errors/`,
//! 4. the macros `FLICK_CODE_*` of the compiler pass ([`Code::c_name`]; `flick-abi` writes the
//!    header).
//!
//! `tests/pages.rs` holds the pages, the table, and every code that the repository names against
//! the enum. The crate is `no_std`, allocates nothing and depends on nothing, so that each part can
//! use it.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod code_table;
mod error_code;

pub use code_table::table;
pub use error_code::{Code, Severity, Stage};
