//! libflick's runtime: gates, crossing, threads, signals and memory of a program with NxP code.
//!
//! **From where.** `flickcrt.o`, in each program and library with an image, registers the module's
//! record: its image, gates and tables (`flick_abi::layout`). The environment has the settings. The
//! first module starts the runtime.
//!
//! **The way of a call** (paper section IV.B; `docs/runtime.md`, "A crossing"): a gate loads its
//! record and jumps to a path of the crossing, whose frame on the host stack is an activation. The
//! crossing runs the NxP code through a backend until execution leaves the image, and calls the
//! host, returns to it or goes on, as the address says that execution went to.
//!
//! **The layers.** Each layer uses those that this table names before it. A test
//! (`tests/runner/tests/circles.rs`) holds the order and finds import circles of files:
//!
//! | layer | subject |
//! |---|---|
//! | `os` | the process and its C library: messages, stacks, signal mask |
//! | `config` | the settings of the environment |
//! | `locks` | every lock, with what it promises to handlers and to `fork` |
//! | `memory` | the region of NxP-local memory, NxP stacks, libflick's own heaps |
//! | `modules` | what is known of the code of registered modules; the meaning of addresses |
//! | `thread` | the state of a thread, activations, the addresses of the crossing's code |
//! | `heap` | the NxP heap |
//! | `translation` | the engine's translator in a process |
//! | `accounts` | statistics, virtual time, profile, device check |
//! | `reports` | reports of faults, backtraces, the record for debuggers, code for them |
//! | `signals` | the program's handlers, the signals that NxP code causes |
//! | `crossing` | the two paths, steps, arguments and results, unwinding, the fault handler |
//! | `interpose` | the functions in front of the C library's |
//! | `forks`, `start`, `registration` | `fork`, the order of start-up, modules that come and go |
//!
//! **Where to.** The NxP code's effects are the program's. A run leaves a summary or a record
//! (`flick_events`), a trace, and names of translated code for perf.

pub mod accounts;
pub mod config;
mod crossing;
mod forks;
pub mod heap;
pub mod interpose;
mod locks;
pub mod memory;
mod modules;
pub mod os;
mod registration;
mod reports;
mod signals;
mod start;
mod thread;
mod translation;

/// Of the copy of the crossing for `flickcrt.o`; see `examples/near-crossing.rs`.
pub use crossing::near_code::header as near_crossing_header;
