//! The core of ordinary programs, on a hart that lacks extensions.

use flick_riscv::{Extension, Insn, Isa, Op, illegal};

use crate::core::{Core, Exception};
use crate::csr::{CsrAccess, number};
use crate::guest_memory::Memory;
use crate::hart_state::{Exit, Hart, Trap};
use crate::process_core::ProcessCore;
use crate::vector::{self, VectorState};

/// A [`ProcessCore`] whose hart has an ISA: instructions and registers of other extensions are illegal.
/// Code regions are shared with harts that have them, so the check is made at each fetch.
pub struct LimitedCore<'a, M> {
    core: ProcessCore<'a, M>,
    isa: Isa,
}

impl<'a, M: Memory> LimitedCore<'a, M> {
    /// The core, with this ISA.
    #[inline(always)]
    pub fn new(core: ProcessCore<'a, M>, isa: Isa) -> Self {
        Self { core, isa }
    }
}

impl<M: Memory> Core for LimitedCore<'_, M> {
    type Memory = M;

    #[inline(always)]
    fn memory(&self) -> &M {
        self.core.memory()
    }

    #[inline(always)]
    fn target(&self, target: u64) -> Option<u64> {
        self.core.target(target)
    }

    #[inline(always)]
    unsafe fn fetch(&self, pc: u64) -> Insn {
        // SAFETY: by the caller.
        let insn = unsafe { self.core.fetch(pc) };
        match insn.op() {
            _ if self.isa.has_insn(insn) => insn,
            Op::Undecoded | Op::End => insn,
            _ => illegal(self.bits(pc)),
        }
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
        let needed = match access.number {
            number::FFLAGS..=number::FCSR => Some(Extension::F),
            other => vector::is_csr(other).then_some(Extension::V),
        };
        if needed.is_some_and(|extension| !self.isa.has(extension)) {
            return None;
        }
        self.core.csr(hart, access)
    }

    #[inline(always)]
    fn vector(&mut self, hart: &Hart, insn: Insn) -> Option<(&mut VectorState, &M)> {
        self.core.vector(hart, insn)
    }

    #[inline(always)]
    fn exception(&mut self, hart: &mut Hart, exception: Exception) -> Result<u64, Exit> {
        self.core.exception(hart, exception)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest_memory::Identity;
    use crate::{CodeRegion, InstructionBudget, NoObserver, run};

    fn end(isa: &str, words: &[u32]) -> (Exit, u64) {
        let base = words.as_ptr().expose_provenance() as u64;
        // SAFETY: the code outlives the region, accesses no memory, and does not change.
        let (memory, code) = unsafe {
            (
                Identity::new(),
                CodeRegion::new(base, 4 * words.len() as u64),
            )
        };
        let mut core = LimitedCore::new(ProcessCore::new(&memory, &code), isa.parse().unwrap());
        let mut hart = Hart::ZERO;
        hart.pc = base;
        let mut budget = InstructionBudget { left: 100 };
        let exit = run(&mut hart, &mut core, &mut NoObserver, &mut budget);
        (exit, hart.pc - base)
    }

    #[test]
    fn what_the_hart_lacks_is_illegal() {
        const ADDI: u32 = 0x0015_0513;
        const SH1ADD: u32 = 0x20b5_2533;
        const VSETVLI: u32 = 0x0d05_7557;
        const READ_VL: u32 = 0xc200_2573;
        const READ_FCSR: u32 = 0x0030_2573;
        const TWO_C_NOPS: u32 = 0x0001_0001;
        let illegal = |bits| (Exit::Illegal { bits }, 4);
        for (isa, word) in [
            ("rv64gc", SH1ADD),
            ("rv64gc_zba", VSETVLI),
            ("rv64gc", READ_VL),
            ("rv64imac", READ_FCSR),
        ] {
            assert_eq!(end(isa, &[ADDI, word]), illegal(word), "{isa}");
        }
        assert_eq!(end("rv64ima", &[ADDI, TWO_C_NOPS]), illegal(1));
        for (isa, word) in [
            ("rv64gc_zba", SH1ADD),
            ("rv64gc", READ_FCSR),
            ("rv64gc", TWO_C_NOPS),
        ] {
            assert_eq!(end(isa, &[ADDI, word, ADDI]), (Exit::Leave, 12), "{isa}");
        }
    }
}
