//! A core whose hart lacks extensions.
use flick_riscv::{Insn, Isa, Op, illegal};

use crate::core::{Core, Exception};
use crate::csr::CsrAccess;
use crate::hart_state::{Exit, Hart, Trap};
use crate::vector::VectorState;

/// Another core on a hart with some extensions alone: instructions of others are illegal there.
pub struct LesserCore<C> {
    core: C,
    isa: Isa,
}

impl<C: Core> LesserCore<C> {
    /// `core` on such a hart.
    pub fn new(core: C, isa: Isa) -> Self {
        Self { core, isa }
    }
}

impl<C: Core> Core for LesserCore<C> {
    type Memory = C::Memory;

    #[inline(always)]
    fn memory(&self) -> &C::Memory {
        self.core.memory()
    }

    #[inline(always)]
    fn target(&self, target: u64) -> Option<u64> {
        self.core.target(target)
    }

    #[inline(always)]
    fn is_misaligned(&self, target: u64) -> bool {
        self.core.is_misaligned(target)
    }

    #[inline(always)]
    unsafe fn fetch(&self, pc: u64) -> Insn {
        // SAFETY: by contract; an instruction that becomes illegal asks for less.
        let insn = unsafe { self.core.fetch(pc) };
        if matches!(insn.op(), Op::Undecoded | Op::End) || self.isa.has_insn(insn) {
            return insn;
        }
        illegal(self.core.bits(pc))
    }

    #[inline(always)]
    fn fill(&mut self, pc: u64) -> Result<(), Trap> {
        self.core.fill(pc)
    }

    #[inline(always)]
    fn bits(&self, pc: u64) -> u32 {
        self.core.bits(pc)
    }

    #[inline(always)]
    fn fence_i(&mut self) {
        self.core.fence_i();
    }

    #[inline(always)]
    fn csr(&mut self, hart: &mut Hart, access: CsrAccess) -> Option<u64> {
        self.core.csr(hart, access)
    }

    #[inline(always)]
    fn exception(&mut self, hart: &mut Hart, exception: Exception) -> Result<u64, Exit> {
        self.core.exception(hart, exception)
    }

    #[inline(always)]
    fn privileged(&mut self, hart: &mut Hart, insn: Insn) -> Result<u64, Exception> {
        self.core.privileged(hart, insn)
    }

    #[inline(always)]
    fn vector(&mut self, hart: &Hart, insn: Insn) -> Option<(&mut VectorState, &C::Memory)> {
        if self.isa.has_insn(insn) {
            self.core.vector(hart, insn)
        } else {
            None
        }
    }

    #[inline(always)]
    fn is_interrupted(&self) -> bool {
        self.core.is_interrupted()
    }

    #[inline(always)]
    fn interrupt(&mut self, hart: &mut Hart) -> Result<u64, Exit> {
        self.core.interrupt(hart)
    }

    #[inline(always)]
    fn retired(&mut self) {
        self.core.retired();
    }
}
