//! Reader and writer of fat objects and images (`docs/objects.md`). Reading never panics, whatever
//! the bytes are: files come from disks, caches and other tools.
//!
//! The data flows in this order:
//! 1. The compiler pass writes a fat object. `fat.rs` reads its NxP objects, `jump_targets.rs` the
//!    targets of their jumps, and `place_lines.rs` its placement lines.
//! 2. ld.lld links the NxP objects. `linked.rs` takes the linked RV64 ELF apart, `line_table.rs`
//!    and `inlined.rs` read its debug information for reports, and `source_units.rs` for the
//!    translated code. `unwind_rows.rs` reads its call frame information, and `landing_pads.rs` the
//!    tables of exception handling.
//! 3. `host_frames.rs` describes the RV64 frames for the host's unwinder, `translation.rs` has the
//!    form of an image's translation, and `write.rs` writes the image object for the host linker.
//! 4. `final_file.rs` reads the finished program or library, and `needed.rs` finds the libraries
//!    that it needs. `host_memory.rs` has its memory as it will be loaded, and `module_in_file.rs`
//!    reads the records of its module and translation there.
//!
//! `elf_kind.rs` recognises files. `output.rs` writes files and messages, and `error.rs` has the
//! error of all tools. The driver, the reports and the tests use this crate; the runtime does not.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod elf_kind;
pub mod error;
pub mod fat;
pub mod final_file;
pub mod host_frames;
pub mod host_memory;
pub mod inlined;
pub mod jump_targets;
pub mod landing_pads;
pub mod line_table;
pub mod linked;
pub mod module_in_file;
pub mod needed;
pub mod output;
pub mod place_lines;
mod source_functions;
pub mod source_types;
pub mod source_units;
pub mod source_variables;
pub mod translation;
pub mod unwind_rows;
pub mod write;

pub use error::{Error, Result};
pub use final_file::FinalFile;
pub use linked::Linked;
pub use place_lines::Placements;
