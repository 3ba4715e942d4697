//! The translator's questions about the program whose code it translates.
use std::ops::Range;

use crate::liveness::Summary;
use crate::thunk::Callee;
use flick_engine::vector;
use flick_riscv::{Extension, Insn, Isa};

/// Where a jump leads that leaves its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Guest code at this address.
    Guest(u64),
    /// Not the engine's: [`run`](crate::run()) answers [`Exit::Leave`](flick_engine::Exit::Leave).
    Elsewhere,
}

/// Does a hart with this ISA execute the instruction?
pub fn is_on_hart(isa: Isa, insn: Insn) -> bool {
    isa.has_insn(insn) && (isa.has(Extension::V) || !vector::is_executed_alone(insn))
}

/// Addresses that are not so far are in reach of a displacement, wherever the module's parts are
/// placed.
pub const NEAR: i64 = 1 << 30;

/// The guest code of a process, and what its makers know of it.
pub trait Program {
    /// The instruction at `pc`; `None`: there is no guest code.
    fn insn(&self, pc: u64) -> Option<Insn>;

    /// The function with the instruction at `pc`.
    fn function(&self, pc: u64) -> Option<Range<u64>>;

    /// `len` bytes (4 or 8) at `address`, little-endian, if they never change.
    fn constant(&self, address: u64, len: u64) -> Option<u64>;

    /// Where the `jr` at `pc` leads, if the makers of its function have said: to one of these
    /// addresses of the function and nowhere else, or, if there are none, out of it, as a tail
    /// call. Of any other `jr` nothing is known: it may lead to any instruction, and every register
    /// may be read there.
    fn jump(&self, _pc: u64) -> Option<Vec<u64>> {
        None
    }

    /// The host address of the translation of the function at `pc` that another has made.
    fn translated(&self, _pc: u64) -> Option<u64> {
        None
    }

    /// Where the function in `range` is entered besides its start and behind its calls: landing pads.
    /// Asked only if the program is not placed.
    fn entries(&self, _range: &Range<u64>) -> Vec<u64> {
        vec![]
    }

    /// What the function at `pc` reads and hands back, if its makers have said.
    fn summary(&self, _pc: u64) -> Option<Summary> {
        None
    }

    /// Whether guest code is executed at the addresses that it has here. If not, an address is a
    /// distance from the start of the guest's module, which the loader puts somewhere.
    fn is_placed(&self) -> bool {
        true
    }

    /// Whether the word of 8 bytes at `address`, of which [`Program::constant`] tells the contents,
    /// is an address in the module. Asked only if the program is not placed.
    fn is_address(&self, _address: u64) -> bool {
        false
    }

    /// Where an entry of a table leads: the 4 bytes at `entry` are the distance from `base`, or, without
    /// one, the 8 bytes are an address.
    fn table_target(&self, entry: u64, base: Option<u64>) -> Option<u64> {
        let Some(base) = base else {
            return self.constant(entry, 8);
        };
        let distance = self.constant(entry, 4)? as i32;
        Some(base.wrapping_add_signed(distance.into()))
    }

    /// The word from which the entry of a procedure linkage table at `pc` has its target, if one is
    /// there.
    fn linkage_slot(&self, pc: u64) -> Option<u64> {
        crate::thunk::slot(self, pc)
    }

    /// The function at `pc`, if it is a stub that puts an address into t1 and jumps elsewhere, as those
    /// of calls by signature are: the address, and where it jumps.
    fn call_stub(&self, pc: u64) -> Option<(u64, Callee)> {
        crate::thunk::stub(self, pc)
    }

    /// The meaning of a jump to an address, if it is the same at all times. Guest code is always at
    /// home in [`Program::insn`].
    fn resolve(&self, target: u64) -> Option<Target>;
}
