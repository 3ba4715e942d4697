//! What a signal handler may make of the context in which NxP code faulted: the registers there are
//! the engine's, and mean nothing that the program could know.
use std::ffi::CStr;

use flick_abi::layout::Gate;

use crate::os::{fatal, illegal};
use crate::reports::fault_report;
use crate::thread::Current;

/// The general registers of a signal's context (ucontext(3), `REG_*`).
type Registers = [libc::greg_t; 23];

const NAMES: [(libc::c_int, &str); 18] = [
    (libc::REG_RIP, "rip"),
    (libc::REG_RSP, "rsp"),
    (libc::REG_RAX, "rax"),
    (libc::REG_RBX, "rbx"),
    (libc::REG_RCX, "rcx"),
    (libc::REG_RDX, "rdx"),
    (libc::REG_RSI, "rsi"),
    (libc::REG_RDI, "rdi"),
    (libc::REG_RBP, "rbp"),
    (libc::REG_R8, "r8"),
    (libc::REG_R9, "r9"),
    (libc::REG_R10, "r10"),
    (libc::REG_R11, "r11"),
    (libc::REG_R12, "r12"),
    (libc::REG_R13, "r13"),
    (libc::REG_R14, "r14"),
    (libc::REG_R15, "r15"),
    (libc::REG_EFL, "eflags"),
];

/// Ends the program if a handler has changed registers and the engine would go on with them. A
/// handler that sends the thread to another place of the host gives it the registers that it needs
/// there. `leaf`: the gate by which the host called the leaf that has faulted, without a crossing.
pub fn check(before: &Registers, after: &Registers, leaf: Option<*const Gate>) {
    let pc = after[libc::REG_RIP as usize] as u64;
    if before == after || !(fault_report::in_engine(pc) || illegal::is_illegal_at(pc)) {
        return;
    }
    let differs = |&(at, _): &(libc::c_int, _)| before[at as usize] != after[at as usize];
    if let Some((_, name)) = NAMES.into_iter().find(differs) {
        refuse(name, leaf);
    }
}

#[cold]
fn refuse(register: &str, leaf: Option<*const Gate>) {
    // SAFETY: the activation in which the thread faulted is alive, the gate the module's.
    let gate = unsafe {
        let of_activation = || Some(Current::get()?.active.top().as_ref()?.gate);
        leaf.or_else(of_activation)
            .map(|gate| CStr::from_ptr((*gate).name).to_string_lossy())
    };
    let gate = gate.unwrap_or_default();
    let gate = flick_names::demangled(&gate);
    fatal::exit(
        "FLK0507",
        &format!(
            "a signal handler has changed {register} of the context that a fault in NxP code gave it, \
             in a call of '{gate}': registers there are those of Flick's engine"
        ),
        &format!(
            "remove the fault's reason and return, leave with siglongjmp, or keep '{gate}' on the host"
        ),
    )
}
