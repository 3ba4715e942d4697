//! Reader and writer of fat objects and images (`docs/objects.md`). Reading never panics, whatever
//! the bytes: files come from disks, caches and other tools.
pub mod elf;
pub mod error;
pub mod fat;
pub mod final_file;
pub mod host_frames;
pub mod inlined;
pub mod jumps;
pub mod lines;
pub mod linked;
pub mod needed;
pub mod output;
pub mod place;
pub mod unwind;
pub mod write;

pub use error::{Code, Error, Result};
pub use final_file::FinalFile;
pub use linked::Linked;
pub use place::Placements;
