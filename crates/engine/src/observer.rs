//! What may watch execution. Monomorphised: hooks that are left empty cost nothing.

use flick_riscv::Insn;

/// Hooks of the interpreter loop. Addresses are guest addresses, lengths bytes.
pub trait Observer {
    /// Asked before an instruction (possibly more than once); `false` ends the run with
    /// [`Exit::Budget`](crate::Exit::Budget) before it.
    #[inline(always)]
    fn proceed(&mut self) -> bool {
        true
    }

    /// The instruction at `pc` is about to be executed.
    #[inline(always)]
    fn at(&mut self, _pc: u64) {}

    /// The accesses that follow, of the same instruction, are atomic (A extension).
    #[inline(always)]
    fn atomic(&mut self) {}

    /// The instruction at `pc` has completed. Not called for one that exits, except a jump that leaves.
    #[inline(always)]
    fn retired(&mut self, _pc: u64, _insn: Insn) {}

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

    /// Instructions retired, for the `instret` and `cycle` CSRs; `None` if this observer does not
    /// count.
    #[inline(always)]
    fn instructions(&self) -> Option<u64> {
        None
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// Counts retired instructions.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstructionCounter {
    pub count: u64,
}

impl Observer for InstructionCounter {
    #[inline(always)]
    fn retired(&mut self, _pc: u64, _insn: Insn) {
        self.count = self.count.wrapping_add(1);
    }

    #[inline(always)]
    fn instructions(&self) -> Option<u64> {
        Some(self.count)
    }
}

/// Ends the run after a number of instructions.
#[derive(Clone, Copy, Debug)]
pub struct InstructionBudget {
    pub left: u64,
}

impl Observer for InstructionBudget {
    #[inline(always)]
    fn proceed(&mut self) -> bool {
        self.left != 0
    }

    #[inline(always)]
    fn retired(&mut self, _pc: u64, _insn: Insn) {
        self.left -= 1;
    }
}
