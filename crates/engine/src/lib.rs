//! Execution of RV64GC with Zba, Zbb, Zbs and Zicond: an interpreter, and the traits behind which a
//! translator, a bus with translation and a timing observer fit. It knows nothing of Flick. Its
//! instructions come from `flick-riscv`; `flick-translator` builds on it.
//!
//! Source of the semantics: *The RISC-V Instruction Set Manual, Volume I* (20240411): RV64I, M, A, F,
//! D, C, Zicsr, Zifencei, Zicntr, Zba, Zbb, Zbs (chapter "B"), Zicond.
//!
//! - [`Hart`] is plain data and may live anywhere, also on a stack; [`run()`] keeps nothing that needs
//!   dropping, so a signal handler may leave it with `longjmp` and may enter it again with another
//!   hart.
//! - Guest code is read through a [`CodeRegion`] and its decode cache.
//! - Guest data goes through a [`Memory`]; with [`Identity`] a guest address is a host address, an
//!   access is one unchecked host instruction, and a bad access is a signal. When one is raised
//!   [`Hart::pc`] is the faulting instruction, no guest register has been changed by it, and
//!   returning from the handler restarts the access.
//! - Everything that can fault runs in the link section [`SECTION`]: a fault whose program counter
//!   lies between `__start_flick_engine` and `__stop_flick_engine` comes from guest execution.
//! - fcsr is a view of the host thread's MXCSR ([`fp`]).
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!(
    "flick-engine works on the x86-64 floating-point unit and memory model: x86-64 Linux"
);

mod csr;
pub mod fp;
mod hart;
mod int;
mod interpreter;
mod memory;
mod observer;
mod region;

pub use hart::{Cause, Exit, Hart, Trap};
pub use interpreter::run;
pub use memory::{AmoOp, Identity, Memory};
pub use observer::{InstructionBudget, InstructionCounter, NoObserver, Observer};
pub use region::CodeRegion;

/// Name of the link section that holds all code which touches guest memory or does guest
/// floating-point arithmetic.
pub const SECTION: &str = "flick_engine";
