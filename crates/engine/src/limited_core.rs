//! The core of ordinary programs, on a hart that lacks extensions.

use flick_riscv::{Extension, Format, Insn, Isa, Op, illegal};

use crate::core::{Core, Exception};
use crate::csr::CsrAccess;
use crate::guest_memory::Memory;
use crate::hart_state::{Exit, Hart, Trap};
use crate::process_core::ProcessCore;
use crate::vector::VectorState;

/// A [`ProcessCore`] whose hart has an ISA: instructions and registers of other extensions are illegal.
/// Code regions are shared with harts that have them, so the check is made at each fetch.
pub struct LimitedCore<'a, M, const COUNTS: bool = false> {
    core: ProcessCore<'a, M, COUNTS>,
    isa: Isa,
}

impl<'a, M: Memory, const COUNTS: bool> LimitedCore<'a, M, COUNTS> {
    /// The core, with this ISA.
    #[inline(always)]
    pub fn new(core: ProcessCore<'a, M, COUNTS>, isa: Isa) -> Self {
        Self {
            core: core.with_units(isa),
            isa,
        }
    }
}

impl<M: Memory, const COUNTS: bool> Core for LimitedCore<'_, M, COUNTS> {
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
        if !has_register(self.isa, access.number) {
            return None;
        }
        self.core.csr(hart, access)
    }

    #[inline(always)]
    fn privileged(&mut self, hart: &mut Hart, insn: Insn) -> Result<u64, Exception> {
        self.core.privileged(hart, insn)
    }

    #[inline(always)]
    fn vector(&mut self, hart: &Hart, insn: Insn) -> Option<(&mut VectorState, &M)> {
        match self.isa.has(Extension::V) {
            true => self.core.vector(hart, insn),
            false => None,
        }
    }

    #[inline(always)]
    fn retired(&mut self) {
        self.core.retired();
    }

    #[inline(always)]
    fn exception(&mut self, hart: &mut Hart, exception: Exception) -> Result<u64, Exit> {
        self.core.exception(hart, exception)
    }
}

/// Has a hart of this ISA this register of control and status, or each hart?
#[inline(always)]
fn has_register(isa: Isa, number: u32) -> bool {
    Extension::of_register(number).is_none_or(|extension| isa.has(extension))
}

/// Has a hart of this ISA the instruction in `bits`? User code may be unable to execute it all the same.
pub fn has_instruction(isa: Isa, bits: u32) -> bool {
    let insn = flick_riscv::decode(bits);
    let has_register = insn.op().format() != Format::Csr && insn.op().format() != Format::CsrI
        || has_register(isa, bits >> 20);
    insn.op() != Op::Illegal && isa.has_insn(insn) && has_register
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
            assert!(!has_instruction(isa.parse().unwrap(), word), "{isa}");
        }
        assert_eq!(end("rv64ima", &[ADDI, TWO_C_NOPS]), illegal(1));
        for (isa, word) in [
            ("rv64gc_zba", SH1ADD),
            ("rv64gc", READ_FCSR),
            ("rv64gc", TWO_C_NOPS),
        ] {
            assert_eq!(end(isa, &[ADDI, word, ADDI]), (Exit::Leave, 12), "{isa}");
            assert!(has_instruction(isa.parse().unwrap(), word), "{isa}");
        }
        let all = "rv64gcv_zba_zbb_zbs_zicond_xflickdot".parse().unwrap();
        assert!(
            [VSETVLI, READ_VL]
                .iter()
                .all(|word| has_instruction(all, *word))
        );
        assert!(!has_instruction(all, 0));
    }

    #[test]
    fn a_state_is_no_vectors() {
        const VSETVLI: u32 = 0x0d05_7557;
        let words = [VSETVLI];
        let base = words.as_ptr().expose_provenance() as u64;
        // SAFETY: as in `end`.
        let (memory, code) = unsafe { (Identity::new(), CodeRegion::new(base, 4)) };
        for (isa, wanted) in [
            ("rv64gc", Exit::Illegal { bits: VSETVLI }),
            ("rv64gcv", Exit::Leave),
        ] {
            let mut state = VectorState::new(128).unwrap();
            let core = ProcessCore::new(&memory, &code).with_vectors(&mut state);
            let mut core = LimitedCore::new(core, isa.parse().unwrap());
            let mut hart = Hart::ZERO;
            hart.pc = base;
            let mut budget = InstructionBudget { left: 100 };
            let exit = run(&mut hart, &mut core, &mut NoObserver, &mut budget);
            assert_eq!(exit, wanted, "{isa}");
        }
    }

    #[test]
    fn a_unit_executes_what_the_hart_has() {
        // a0, of a1 and a2.
        const DOT: u32 = 0x00c5_f50b;
        const SAD: u32 = 0x00c5_f52b;
        let illegal = |bits| (Exit::Illegal { bits }, 0);
        assert_eq!(end("rv64gc_xflickdot", &[DOT]), (Exit::Leave, 4));
        assert_eq!(end("rv64gc_xflickdot", &[SAD]), illegal(SAD));
        assert_eq!(end("rv64gc", &[DOT]), illegal(DOT));
        assert!(has_instruction("rv64gc_xflickdot".parse().unwrap(), DOT));
        assert!(!has_instruction("rv64gc_xflicksad".parse().unwrap(), DOT));
    }
}
