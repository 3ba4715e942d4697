//! What a hart tells of its traps, for traces.
use crate::privileged_registers::Privilege;

/// A change of what a hart does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// An exception, by its code (privileged manual, "Machine Cause Register").
    Exception(u64),
    /// An interrupt, by its number.
    Interrupt(u32),
    /// `mret` or `sret`.
    Return,
}

/// A change, and when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HartEvent {
    /// What the slice had executed, in its unit.
    pub executed: u64,
    /// The same in front of it: an exception takes time.
    pub begun: u64,
    /// The privilege from then on.
    pub privilege: Privilege,
    /// What happened.
    pub change: Change,
}
