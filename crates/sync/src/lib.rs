//! Data that threads of the runtime share without a lock of the system, because signal handlers or
//! the allocator's fast path touch them.
//!
//! `RUSTFLAGS='--cfg loom' cargo test -p flick-sync` tries the interleavings and the reorderings
//! that the memory model allows (`tests/loom.rs`). Nothing here knows its users or calls the system,
//! so that this says all about it.
//!
//! | file | subject |
//! |---|---|
//! | `platform.rs` | atomics and waiting: the machine's, or loom's |
//! | `hash.rs` | places in tables |
//! | `spin.rs` | a lock of many readers, which handlers may be |
//! | `bump.rs` | a range that is handed out part by part |
//! | `ranges.rs` | a list of ranges that is read without a lock |
//! | `tally.rs` | counters by key |
//! | `entrance.rs` | who is inside the allocator, for `fork` |
mod bump;
mod entrance;
mod hash;
mod platform;
mod ranges;
mod spin;
mod tally;

pub use bump::Bump;
pub use entrance::Entrance;
pub use hash::spread;
pub use ranges::RangeList;
pub use spin::RwSpinLock;
pub use tally::Tally;
