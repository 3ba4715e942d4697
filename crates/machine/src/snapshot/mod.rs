//! Snapshots: the whole state of a machine, in memory or in a file. A run that goes on from one takes the
//! same cycles as the run that it was taken of.
//!
//! | file | subject |
//! |---|---|
//! | `memory_pages.rs` | [`MemoryPages`]: the content of memory, of which snapshots share what is equal |
//! | `run_identity.rs` | [`RunIdentity`]: which machine, and which programs |
//! | `snapshot_file.rs` | the file |
mod memory_pages;
mod run_identity;
mod snapshot_file;

pub use memory_pages::MemoryPages;
pub use run_identity::{RunIdentity, digest_of_image};
pub use snapshot_file::{
    BadSnapshotFile, SnapshotFile, read_snapshot, seal_snapshot, write_snapshot,
};

use crate::hart_order::{BadSnapshot, Machine, SavedMachine};

/// A snapshot in memory.
#[derive(Clone)]
pub struct Snapshot {
    /// All but the memory.
    pub machine: SavedMachine,
    /// The memory.
    pub memory: MemoryPages,
}

impl Snapshot {
    /// The state of a machine between turns or while it pauses. What is equal to `before` takes no
    /// memory.
    pub fn take(machine: &Machine, before: Option<&MemoryPages>) -> Self {
        Self {
            machine: machine.save(),
            memory: MemoryPages::take(machine.memories(), before),
        }
    }

    /// The machine goes on from here.
    pub fn put(&self, machine: &mut Machine) -> Result<(), BadSnapshot> {
        // Caches that have bytes of their own write them back now, and not over what comes.
        machine.set_mode(false);
        self.memory.put(machine.memories());
        machine.restore(&self.machine)
    }
}
