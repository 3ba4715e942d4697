//! Execution of RV64GCV with Zba, Zbb, Zbs and Zicond: an interpreter, and the traits that it is
//! generic over. This crate knows nothing of Flick.
//!
//! In come a [`Hart`] and a [`Core`], which has the code and the memory. [`run()`] executes the
//! hart and answers with an [`Exit`]. Instructions come from `flick-riscv`. `flick-translator` uses
//! this crate for all code that has no translation, and libflick for all code. The files, in the
//! order of the data:
//!
//! | file | subject |
//! |---|---|
//! | `hart_state.rs` | [`Hart`]: registers and pc; [`Exit`] |
//! | `core.rs` | [`Core`]: fetch, memory, CSRs, exceptions, interrupts, time |
//! | `process_core.rs` | [`ProcessCore`]: the core of ordinary programs |
//! | `limited_core.rs` | [`LimitedCore`]: the same, of a hart that lacks extensions |
//! | `code_region.rs` | [`CodeRegion`]: the code of a [`ProcessCore`], and its decode cache |
//! | `interpreter.rs` | [`run()`] |
//! | `control.rs` | [`Control`]: when a run ends |
//! | `observer.rs` | [`Observer`]: what watches a run |
//! | `guest_memory.rs` | [`Memory`]; [`Identity`]: the process's memory |
//! | `csr.rs` | CSR instructions, and the registers of user code |
//! | `integer.rs` | integer operations |
//! | `fp/` | floating-point operations ([`fp`]) |
//! | `custom_unit.rs` | what units for custom opcodes compute ([`custom_unit`]) |
//! | `vector/` | vector state and instructions ([`vector`]) |
//!
//! - [`Hart`] is plain data and may live anywhere, also on a stack. [`run()`] keeps nothing that
//!   needs dropping. So a signal handler may leave it with `longjmp`, and may enter it again with
//!   another hart.
//! - With [`Identity`] a guest address is a host address, an access is one unchecked host
//!   instruction, and a bad access is a signal. When the signal comes, [`Hart::pc`] is the faulting
//!   instruction, which has changed no guest register. Returning from the handler restarts the
//!   access.
//! - Everything that can fault runs in the link section [`SECTION`]: a fault whose program counter
//!   lies between `__start_flick_engine` and `__stop_flick_engine` comes from guest execution.
//! - fcsr is a view of the host thread's MXCSR ([`fp`]).
//!
//! Source of the semantics: *The RISC-V Instruction Set Manual, Volume I* (20240411): RV64I, M, A,
//! F, D, C, Zicsr, Zifencei, Zicntr, Zba, Zbb, Zbs (chapter "B"), Zicond, V.
#![warn(missing_docs)]

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!(
    "flick-engine works on the x86-64 floating-point unit and memory model: x86-64 Linux"
);

mod code_region;
mod control;
mod core;
mod csr;
pub mod custom_unit;
pub mod fp;
mod guest_memory;
mod hart_state;
mod integer;
mod interpreter;
mod limited_core;
mod observer;
mod process_core;
pub mod vector;

pub use code_region::CodeRegion;
pub use control::{Control, InstructionBudget, Unlimited};
pub use core::{Core, Exception, fetch_halves};
pub use csr::{CsrAccess, CsrWrite, access_fcsr, number as csr_number};
pub use guest_memory::{AmoOp, Identity, Memory};
pub use hart_state::{Cause, Exit, Hart, Trap};
pub use interpreter::run;
pub use limited_core::{LimitedCore, has_instruction};
pub use observer::{NoObserver, Observer};
pub use process_core::ProcessCore;

/// Name of the link section that holds all code which touches guest memory or does guest
/// floating-point arithmetic.
pub const SECTION: &str = "flick_engine";
