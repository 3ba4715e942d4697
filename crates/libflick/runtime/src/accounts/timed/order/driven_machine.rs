//! What the order calls to drive the machine of a card. The functions come from above: the driver uses the
//! accounts of threads.
use std::sync::OnceLock;

/// What the order does with the machine. Each is called with the token of the order, or while nobody has it.
pub struct Machine {
    /// When it goes on by itself.
    pub next: fn() -> Option<u64>,
    /// Runs it until something comes for an owner, or until this time.
    pub advance: fn(Option<u64>) -> Advanced,
    /// The thread of an owner executes its code on a hart, and has lost the token of the order: the hart goes
    /// on without it.
    pub lost: fn(u32),
    /// The calling thread ends, at its time. Does that concern the machine?
    pub ends: fn() -> bool,
    /// Owners wait for the machine, which does nothing, and nobody else in the order does. Ends the process, if
    /// that stays so.
    pub stuck: fn(),
}

/// What has happened in the machine.
pub struct Advanced {
    /// Something has come for an owner at a time.
    pub to: Option<(u32, u64)>,
    /// When it goes on by itself.
    pub next: Option<u64>,
}

static MACHINE: OnceLock<Machine> = OnceLock::new();

/// There is one.
pub fn set_machine(machine: Machine) {
    // A second call would have the same functions.
    let _ = MACHINE.set(machine);
}

/// Is there one?
pub fn is_there() -> bool {
    MACHINE.get().is_some()
}

/// The machine, if there is one.
pub fn get() -> Option<&'static Machine> {
    MACHINE.get()
}
