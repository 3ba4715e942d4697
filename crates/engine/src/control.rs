//! Control of a run: when it ends.
//!
//! The interpreter is compiled for each control, so hooks that are left empty cost nothing.

use flick_riscv::Insn;

/// Hooks of the interpreter loop that may end a run: budgets, breakpoints. What only watches is an
/// [`Observer`](crate::Observer). Addresses are guest addresses.
pub trait Control {
    /// Asked before the instruction at `pc`, possibly more than once; `false` ends the run with
    /// [`Exit::Budget`](crate::Exit::Budget) before it.
    #[inline(always)]
    fn proceed(&mut self, _pc: u64) -> bool {
        true
    }

    /// The instruction at the pc, which may proceed, is an atomic access (A extension) or a fence; `false` ends
    /// the run with [`Exit::Budget`](crate::Exit::Budget) before it.
    #[inline(always)]
    fn synchronises(&mut self) -> bool {
        true
    }

    /// `jal` or `jalr` is about to be completed; `target` has bit 0 as computed.
    #[inline(always)]
    fn jump(&mut self, _pc: u64, _target: u64) {}

    /// The instruction at `pc` has completed.
    #[inline(always)]
    fn retired(&mut self, _pc: u64, _insn: Insn) {}
}

/// Lets a run go on until it ends by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlimited;

impl Control for Unlimited {}

/// Ends the run after a number of instructions.
#[derive(Clone, Copy, Debug)]
pub struct InstructionBudget {
    /// Instructions.
    pub left: u64,
}

impl Control for InstructionBudget {
    #[inline(always)]
    fn proceed(&mut self, _pc: u64) -> bool {
        self.left != 0
    }

    #[inline(always)]
    fn retired(&mut self, _pc: u64, _insn: Insn) {
        self.left -= 1;
    }
}
