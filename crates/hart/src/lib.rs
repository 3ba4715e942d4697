//! Privileged RV64 harts: M, S and U mode, control and status registers, traps, translation of
//! addresses, physical memory protection. A hart executes instructions by `flick-engine`, of which
//! [`Processor`] is a [`Core`](flick_engine::Core), and reaches memory and devices by a [`Bus`]. This
//! crate knows nothing of Flick and of the host's clock: a hart's time is the cycles it has executed.
//!
//! | file | subject |
//! |---|---|
//! | `bus.rs` | [`Bus`]: what a hart reaches by physical addresses |
//! | `privileged_registers.rs` | the registers of the privileged manual, their fields and numbers |
//! | `csr_access.rs` | which of them an instruction may access, and how |
//! | `traps.rs` | exceptions, interrupts, and returns from them |
//! | `pmp.rs` | physical memory protection |
//! | `page_tables.rs` | page tables: Sv39, Sv48, Sv57 |
//! | `memory_view.rs` | the hart's view of memory, with a cache of translations |
//! | `memory_view/forgetting.rs` | what the view forgets, and when |
//! | `memory_view/view_access.rs` | its loads, stores and atomics |
//! | `reservations.rs` | reservations of load-reserved instructions |
//! | `store_chains.rs` | which entries of the cache are for stores to a page |
//! | `decoded_pages.rs` | decoded instructions by physical page |
//! | `blocks/` | translated blocks of what is executed often |
//! | `processor/block_runner.rs` | execution by blocks and by the interpreter |
//! | `hart_events.rs` | what a hart tells of its traps |
//! | `slice.rs` | how long a hart runs before the others |
//! | `timed_mode.rs` | [`Timing`]: what instructions and accesses take in timed mode |
//! | `timed_access.rs` | accesses in timed mode |
//! | `processor.rs` | [`Processor`]: all of these together |
//! | `processor/fetched_pages.rs` | where the instructions of a page are |
//! | `processor/privileged_instructions.rs` | CSR accesses, privileged instructions, cache-block operations |
//! | `processor/foreign_code.rs` | code of host programs, which the hart does not execute itself |
//! | `processor/machine_side.rs` | what the machine asks of a hart |
//! | `processor/debug_access.rs` | what a debugger sees and changes |
//! | `processor/pausing.rs` | slices that pause, for a debugger |
//! | `processor/saved_*.rs`, `*/saved_*.rs` | the state for snapshots |
//!
//! Source: *The RISC-V Instruction Set Manual, Volume II: Privileged Architecture* (20240411), and
//! volume I for the extensions.
#![warn(missing_docs)]

mod blocks;
mod bus;
mod csr_access;
mod decoded_pages;
mod hart_events;
mod line_copies;
mod memory_view;
mod own_bytes;
mod page_tables;
mod pmp;
mod privileged_registers;
mod processor;
mod reservations;
mod slice;
mod store_chains;
mod timed_access;
mod timed_mode;
mod traps;

pub use bus::{Bus, BusError, PAGE};
pub use decoded_pages::CodeCache;
pub use decoded_pages::SavedCode;
pub use flick_engine::fp::fcsr::NoFlags;
pub use flick_riscv::{Extension, Isa, IsaError};
pub use hart_events::{Change, HartEvent};
pub use privileged_registers::{Privilege, Registers, interrupt};
pub use processor::{
    BadProcessor, Begin, Part, Pausing, Processor, SavedProcessor, SliceEnd, StopAt,
};
pub use slice::MOST_CYCLES;
pub use timed_mode::{ClassCounter, ClassCounts, Marker, SavedTiming, Timing};
