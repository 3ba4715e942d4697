//! Data that threads of the runtime share without a lock of the system, because signal handlers or
//! the allocator's fast path touch them.
//!
//! **From where.** The runtime keeps these values in statics and fills them: registered modules,
//! the ranges of marked variables, calls by host function, and the threads that are inside the
//! allocator.
//!
//! `RUSTFLAGS='--cfg loom' cargo test -p flick-sync` tries the interleavings and the reorderings
//! that the memory model allows (`tests/loom.rs`). Nothing here knows its users or calls the
//! system, so that this says all about it.
//!
//! | file | subject |
//! |---|---|
//! | `platform.rs` | atomics and waiting: the machine's, or loom's |
//! | `hash.rs` | places in tables |
//! | `spin.rs` | a lock of many readers, which handlers may be |
//! | `bump.rs` | a range that is handed out part by part |
//! | `range_list.rs` | a list of ranges that is read without a lock |
//! | `tally.rs` | counters by key |
//! | `closable_entrance.rs` | who is inside the allocator, for `fork` |
//! | `token_with_loans.rs` | the right to use a machine, which threads hand on |
//!
//! **Where to.** The crossing, signal handlers and the allocator of the runtime read the values,
//! and its statistics at exit read the counts.
//!
//! ```
//! let calls = flick_sync::Tally::<16>::new();
//! calls.add(7);
//! assert_eq!(calls.add(7), Some(1));
//! ```
#![warn(missing_docs)]
mod bump;
mod closable_entrance;
mod hash;
mod platform;
mod range_list;
mod spin;
mod tally;
mod token_with_loans;

pub use bump::Bump;
pub use closable_entrance::Entrance;
pub use hash::spread;
pub use range_list::RangeList;
pub use spin::RwSpinLock;
pub use tally::Tally;
pub use token_with_loans::{Found, Rule, Token, Waited};
