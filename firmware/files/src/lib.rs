//! What a file server does, without kernel calls (`docs/files.md`): files of extents, directories, and the file
//! protocol. All of it is in tables of fixed size, so that no client makes the server hold more.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod archive;
mod blocks;
mod contents;
mod directories;
mod file_system;
mod open_files;
mod pipes;
mod shares;
mod terminal;
#[cfg(test)]
mod tests;

pub use archive::{Broken, find_in_tar, unpack};
pub use file_system::{About, FileSystem, Limits};
pub use flick_abi::file_session::Failure;
pub use open_files::{OPEN_FILES, OPEN_FILES_OF_SESSION, Reply};
pub use pipes::{ENDS, Late, PIPE_SIZE, PIPES, Pipes, Side};
pub use shares::{NOBODY, SESSIONS};
pub use terminal::{INPUT_SIZE, OUTPUT_SIZE, Output, TERMINAL_ENDS, TERMINAL_SIZE, Terminal};

/// Bytes of a block.
pub const BLOCK: u64 = 4096;
/// Blocks of an extent at most: 512 KiB.
pub const EXTENT_BLOCKS: u32 = 128;
/// Bytes of a name at most.
pub const NAME: usize = 59;

/// The memory where contents of files are.
pub trait Memory {
    /// Bytes from an offset on are 0 afterwards.
    ///
    /// # Errors
    /// The memory does not answer.
    fn clear(&mut self, offset: u64, size: u64) -> Result<(), Failure>;

    /// Copies bytes there.
    ///
    /// # Errors
    /// The memory does not answer.
    fn store(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Failure>;
}
