//! Observation of a run.
//!
//! The interpreter is compiled for each observer, so hooks that are left empty cost nothing.

use flick_riscv::Insn;

/// Hooks of the interpreter loop that see execution and do not change it. What ends a run is a
/// [`Control`](crate::Control). Addresses are guest addresses, lengths bytes.
pub trait Observer {
    /// The instruction at `pc` is about to be executed.
    #[inline(always)]
    fn at(&mut self, _pc: u64) {}

    /// The accesses that follow, of the same instruction, are atomic (A extension).
    #[inline(always)]
    fn atomic(&mut self) {}

    /// The instruction at `pc` has completed. Not called for one that exits, except a jump that
    /// leaves.
    #[inline(always)]
    fn retired(&mut self, _pc: u64, _insn: Insn) {}

    /// A vector instruction is about to be executed. So many bits have the elements of `vl` together, of
    /// the width in `vtype`.
    #[inline(always)]
    fn vector(&mut self, _insn: Insn, _bits: u64) {}

    /// A load is about to be made; also the read half of an atomic.
    #[inline(always)]
    fn load(&mut self, _addr: u64, _len: u64) {}

    /// A store is about to be made; also the write half of an atomic.
    #[inline(always)]
    fn store(&mut self, _addr: u64, _len: u64) {}

    /// A conditional branch was decided.
    #[inline(always)]
    fn branch(&mut self, _pc: u64, _target: u64, _taken: bool) {}

    /// `jal` or `jalr`; `target` has bit 0 as computed.
    #[inline(always)]
    fn jump(&mut self, _pc: u64, _target: u64) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
