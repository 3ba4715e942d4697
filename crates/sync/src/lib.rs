//! What the runtime's threads share without a lock of the system's, because signal handlers or the
//! allocator's fast path touch it.
//!
//! `RUSTFLAGS='--cfg loom' cargo test -p flick-sync` tries the interleavings and the reorderings that
//! the memory model allows (`tests/loom.rs`). Nothing here knows what it is used for, nor calls the
//! system, so that this says all about it.
mod entrance;
mod hash;
mod platform;
mod ranges;
mod spin;
mod tally;

pub use entrance::Entrance;
pub use hash::spread;
pub use ranges::RangeList;
pub use spin::RwSpinLock;
pub use tally::Tally;
