//! What the translator asks of the program whose code it translates.
use std::ops::Range;

use super::liveness::Summary;
use crate::op::Insn;

/// Where a jump leads that leaves its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Guest code at this address.
    Guest(u64),
    /// Not the engine's: [`run`](super::run()) answers [`Exit::Leave`](crate::Exit::Leave).
    Elsewhere,
}

/// The guest code of a process, and what its makers know of it.
pub trait Program {
    /// The instruction at `pc`; `None`: there is no guest code.
    fn insn(&self, pc: u64) -> Option<Insn>;

    /// The function with the instruction at `pc`.
    fn function(&self, pc: u64) -> Option<Range<u64>>;

    /// `len` bytes (4 or 8) at `address`, little-endian, if they never change.
    fn constant(&self, address: u64, len: u64) -> Option<u64>;

    /// Whether all functions are a compiler's: a jump through a register that has its address from a table is a
    /// tail call, or leads to an entry of that table. Translations may forget then what is read nowhere there.
    fn is_compiled(&self) -> bool {
        false
    }

    /// What the function at `pc` reads and hands back, if its makers have said.
    fn summary(&self, _pc: u64) -> Option<Summary> {
        None
    }

    /// The meaning of a jump to an address, if it is the same at all times. Guest code is always at home in
    /// [`Program::insn`].
    fn resolve(&self, target: u64) -> Option<Target>;
}
