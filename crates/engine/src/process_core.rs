//! The core of ordinary programs.

use core::ptr::with_exposed_provenance;
use core::sync::atomic::{AtomicU64, Ordering};

use flick_riscv::{Insn, Isa};

use crate::code_region::CodeRegion;
use crate::core::{Core, Exception};
use crate::csr::{self, CsrAccess};
use crate::custom_unit;
use crate::guest_memory::Memory;
use crate::hart_state::{Exit, Hart, Trap};
use crate::vector::{VectorState, process_state};

/// Executes the user code of one [`CodeRegion`] in the calling thread. The hart has vector
/// instructions if the core is given a state for them, or the process has states
/// ([`set_process_states`](crate::vector::set_process_states)).
///
/// Execution leaves where the region ends, and each exception ends the run. There are no interrupts
/// and no privileged instructions. Custom opcodes need a hart with a unit ([`ProcessCore::with_units`]). fcsr is a view of the thread's MXCSR ([`fp`](crate::fp)). `time`
/// is the host's clock, and `cycle` and `instret` are the instructions counted since the core was
/// made; without `COUNTS` both are the host's time-stamp counter.
pub struct ProcessCore<'a, M, const COUNTS: bool = false> {
    memory: &'a M,
    code: &'a CodeRegion,
    /// The region's, kept here: they are constant during a run, and the compiler sees that no guest
    /// store changes them.
    base: u64,
    len: u64,
    slot_bias: u64,
    retired: u64,
    vector: Option<&'a mut VectorState>,
    /// Its instructions of units; `None`: all are illegal.
    units: Option<Isa>,
}

impl<'a, M: Memory> ProcessCore<'a, M> {
    /// A core that counts nothing.
    #[inline(always)]
    pub fn new(memory: &'a M, code: &'a CodeRegion) -> Self {
        ProcessCore::make(memory, code)
    }
}

impl<'a, M: Memory> ProcessCore<'a, M, true> {
    /// A core that counts the instructions it retires.
    #[inline(always)]
    pub fn counting(memory: &'a M, code: &'a CodeRegion) -> Self {
        ProcessCore::make(memory, code)
    }

    /// Instructions retired since the core was made.
    #[inline(always)]
    pub fn instructions(&self) -> u64 {
        self.retired
    }
}

impl<'a, M: Memory, const COUNTS: bool> ProcessCore<'a, M, COUNTS> {
    #[inline(always)]
    fn make(memory: &'a M, code: &'a CodeRegion) -> Self {
        Self {
            memory,
            code,
            base: code.base(),
            len: code.len(),
            slot_bias: code.slot_bias(),
            retired: 0,
            vector: None,
            units: None,
        }
    }

    /// The core, of a hart with this vector state.
    #[inline(always)]
    pub fn with_vectors(self, state: &'a mut VectorState) -> Self {
        Self {
            vector: Some(state),
            ..self
        }
    }

    /// The core, of a hart with the units for custom opcodes that this ISA has.
    #[inline(always)]
    pub fn with_units(self, isa: Isa) -> Self {
        Self {
            units: Some(isa),
            ..self
        }
    }
}

impl<M: Memory, const COUNTS: bool> Core for ProcessCore<'_, M, COUNTS> {
    type Memory = M;

    #[inline(always)]
    fn memory(&self) -> &M {
        self.memory
    }

    #[inline(always)]
    fn target(&self, target: u64) -> Option<u64> {
        let pc = target & !1;
        (pc.wrapping_sub(self.base) < self.len).then_some(pc)
    }

    #[inline(always)]
    unsafe fn fetch(&self, pc: u64) -> Insn {
        // SAFETY: `pc` is even and in the region or at its end, by contract: `target` gives no
        // other, an instruction that reaches out of the region is illegal, and no exception goes
        // on. So this is one of the region's slots, which hold words of instructions.
        unsafe {
            let slot = self.slot_bias.wrapping_add(pc.wrapping_mul(4));
            let word =
                (*with_exposed_provenance::<AtomicU64>(slot as usize)).load(Ordering::Relaxed);
            Insn::from_word(word)
        }
    }

    #[inline(always)]
    fn fill(&mut self, pc: u64) -> Result<(), Trap> {
        self.code.fill(pc);
        Ok(())
    }

    #[inline(always)]
    fn bits(&self, pc: u64) -> u32 {
        self.code.bits(pc)
    }

    #[inline(always)]
    fn fence_i(&mut self) {
        self.code.invalidate();
    }

    #[inline(always)]
    fn csr(&mut self, hart: &mut Hart, access: CsrAccess) -> Option<u64> {
        let vector = self.vector.as_deref_mut();
        csr::access_of_process(hart, access, COUNTS.then_some(self.retired), vector)
    }

    #[inline(always)]
    fn privileged(&mut self, hart: &mut Hart, insn: Insn) -> Result<u64, Exception> {
        let has = self.units.is_some_and(|isa| isa.has_insn(insn));
        if !has || !custom_unit::is_instruction(insn.op()) {
            let bits = self.bits(hart.pc);
            return Err(Exception::Illegal { bits });
        }
        custom_unit::execute(hart, insn);
        Ok(hart.pc + insn.len())
    }

    #[inline(always)]
    fn vector(&mut self, hart: &Hart, _insn: Insn) -> Option<(&mut VectorState, &M)> {
        let state = match self.vector.as_deref_mut() {
            Some(state) => state,
            // SAFETY: the process's state of this hart, which is executed here and nowhere else.
            None => unsafe { process_state(hart)?.as_mut() },
        };
        Some((state, self.memory))
    }

    #[inline(always)]
    fn exception(&mut self, _hart: &mut Hart, exception: Exception) -> Result<u64, Exit> {
        Err(exception.into())
    }

    #[inline(always)]
    fn retired(&mut self) {
        if COUNTS {
            self.retired = self.retired.wrapping_add(1);
        }
    }
}
