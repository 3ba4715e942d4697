//! The core that executes a hart's code: where instructions and data come from, and what happens
//! beyond user-level instructions.
//!
//! [`run()`](crate::run()) is generic over a [`Core`]. [`ProcessCore`](crate::ProcessCore) is the
//! core of ordinary programs: their memory is the process's, and every event ends the run. The core
//! of a simulated machine translates addresses, has control and status registers, takes traps and
//! interrupts itself, and has a time of its own.

#[cfg(doc)]
use flick_riscv::Op;
use flick_riscv::{Insn, decode};

use crate::csr::CsrAccess;
use crate::guest_memory::Memory;
use crate::hart_state::{Exit, Hart, Trap};
use crate::vector::VectorState;

/// What the interpreter asks while it executes a hart.
///
/// The interpreter asks in this order, again and again:
///
/// 1. [`is_interrupted`](Core::is_interrupted), and [`interrupt`](Core::interrupt) if so. This is
///    the one point where interrupts are taken: before an instruction, when the last one has
///    completed.
/// 2. [`fetch`](Core::fetch), and [`fill`](Core::fill) if the instruction is not decoded yet.
/// 3. [`Control::proceed`](crate::Control::proceed).
/// 4. What the instruction needs: accesses of [`memory`](Core::memory), [`target`](Core::target) of
///    a jump, [`csr`](Core::csr), [`privileged`](Core::privileged).
/// 5. [`retired`](Core::retired) if the instruction completed, or [`exception`](Core::exception) if
///    it did not.
///
/// A `Result<u64, Exit>` says how execution goes on: at this program counter, or not in this run.
/// In all calls with a hart, [`Hart::pc`] is the address of the instruction in question, and the
/// core does not change it.
///
/// Mark methods of the fast path `#[inline(always)]`: what faults must stay inside
/// [`SECTION`](crate::SECTION).
///
/// ```
/// use flick_engine::{Core, CsrAccess, Exception, Exit, Hart, Identity, Memory, Trap};
/// use flick_engine::{NoObserver, Unlimited, fetch_halves, run};
/// use flick_riscv::{Insn, Op};
///
/// /// Executes a read-only memory at address 0, and stops at `ecall`.
/// struct Rom<'a> {
///     words: &'a [u32],
///     memory: Identity,
///     /// A decode cache of one instruction.
///     decoded: Option<(u64, Insn)>,
/// }
///
/// impl Core for Rom<'_> {
///     type Memory = Identity;
///     fn memory(&self) -> &Identity {
///         &self.memory
///     }
///     fn target(&self, target: u64) -> Option<u64> {
///         Some(target & !1)
///     }
///     unsafe fn fetch(&self, pc: u64) -> Insn {
///         let known = self.decoded.filter(|&(at, _)| at == pc);
///         known.map_or(Insn::UNDECODED, |(_, insn)| insn)
///     }
///     fn fill(&mut self, pc: u64) -> Result<(), Trap> {
///         let insn = fetch_halves(pc, |at| {
///             let word = self.words.get(at as usize / 4).ok_or(Trap::fetch_access(at))?;
///             Ok((word >> (at % 4 * 8)) as u16)
///         })?;
///         self.decoded = Some((pc, insn));
///         Ok(())
///     }
///     fn bits(&self, pc: u64) -> u32 {
///         self.words[pc as usize / 4]
///     }
///     fn fence_i(&mut self) {}
///     fn csr(&mut self, _: &mut Hart, _: CsrAccess) -> Option<u64> {
///         None
///     }
///     fn exception(&mut self, _: &mut Hart, exception: Exception) -> Result<u64, Exit> {
///         Err(exception.into())
///     }
/// }
///
/// // addi a0, a0, 5; ecall
/// let words = [0x0055_0513, 0x0000_0073];
/// // SAFETY: the code accesses no memory.
/// let memory = unsafe { Identity::new() };
/// let mut core = Rom { words: &words, memory, decoded: None };
/// let mut hart = Hart::ZERO;
/// let exit = run(&mut hart, &mut core, &mut NoObserver, &mut Unlimited);
/// assert_eq!((exit, hart.pc, hart.x[10]), (Exit::Ecall, 4, 5));
/// // Behind the end of the memory the fetch fails.
/// hart.pc = 8;
/// let exit = run(&mut hart, &mut core, &mut NoObserver, &mut Unlimited);
/// assert_eq!(exit, Exit::Trap(Trap::fetch_access(8)));
/// ```
pub trait Core {
    /// Data memory, as the hart's loads and stores see it.
    type Memory: Memory;

    /// The data memory.
    fn memory(&self) -> &Self::Memory;

    /// Where a jump to `target` leads, bit 0 as computed: the address of the instruction, or `None`
    /// if this core does not execute it. Then the run ends with [`Exit::Leave`].
    fn target(&self, target: u64) -> Option<u64>;

    /// Can no instruction be at the target of a jump? Without compressed instructions bit 1 has to be
    /// clear. The jump raises an exception then.
    #[inline(always)]
    fn is_misaligned(&self, _target: u64) -> bool {
        false
    }

    /// The instruction at `pc` as it was decoded before; [`Op::Undecoded`] if it was not, and
    /// [`Op::End`] if the run ends here with [`Exit::Leave`].
    ///
    /// # Safety
    /// `pc` comes from this core ([`target`](Core::target), or a method that said how execution
    /// goes on), or it is the address behind an instruction that this method gave for such a `pc`,
    /// other than an [`Op::Illegal`] or [`Op::End`].
    unsafe fn fetch(&self, pc: u64) -> Insn;

    /// Decodes the instruction at `pc`, so that [`fetch`](Core::fetch) finds it. Its halves may be
    /// in different pages ([`fetch_halves`]), and reading them may fail.
    fn fill(&mut self, pc: u64) -> Result<(), Trap>;

    /// The bits of the instruction at `pc`, which was fetched: 16 or 32 of them.
    fn bits(&self, pc: u64) -> u32;

    /// `fence.i`: what the hart fetches from now on is what it has stored before.
    fn fence_i(&mut self);

    /// Executes a CSR instruction and returns the old value; `None` if the register does not exist,
    /// or the hart must not access it so.
    ///
    /// Time, cycles and instructions retired are registers, too, and no clock but the core's gives
    /// them.
    fn csr(&mut self, hart: &mut Hart, access: CsrAccess) -> Option<u64>;

    /// The instruction at [`Hart::pc`] cannot complete, and has had no effect.
    fn exception(&mut self, hart: &mut Hart, exception: Exception) -> Result<u64, Exit>;

    /// Executes an instruction of the privileged manual (`mret`, `sret`, `wfi`, `sfence.vma`, Svinval)
    /// or of Zicbom, Zicboz, XTheadCmo and a custom unit. The answer says where execution goes on, or why the hart cannot
    /// execute the instruction.
    ///
    /// A core whose hart is to wait after `wfi` goes on behind it, and then ends the run with
    /// [`Exit::Wait`] by [`interrupt`](Core::interrupt). Cores for user code have no such
    /// instruction.
    #[inline(always)]
    fn privileged(&mut self, hart: &mut Hart, _insn: Insn) -> Result<u64, Exception> {
        let bits = self.bits(hart.pc);
        Err(Exception::Illegal { bits })
    }

    /// The vector state of `hart`, and the data memory; `None` if it has no vector instructions,
    /// or must not execute `insn` now: then it is illegal. The CSRs are the core's matter, too
    /// ([`access_csr`](crate::vector::access_csr)). Asked once for each instruction: a core that tells
    /// when its state has changed takes it for a change.
    #[inline(always)]
    fn vector(&mut self, _hart: &Hart, _insn: Insn) -> Option<(&mut VectorState, &Self::Memory)> {
        None
    }

    /// Is [`interrupt`](Core::interrupt) to be called before the next instruction? Asked before
    /// each: a constant compiles away.
    #[inline(always)]
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Takes the interrupt that is pending, or ends the run. Execution would go on at [`Hart::pc`].
    fn interrupt(&mut self, hart: &mut Hart) -> Result<u64, Exit> {
        Ok(hart.pc)
    }

    /// An instruction has completed. A core that has a time lets it pass here.
    #[inline(always)]
    fn retired(&mut self) {}
}

/// Why an instruction cannot complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// `ecall`.
    Ecall,
    /// `ebreak` or `c.ebreak`.
    Ebreak,
    /// Not an instruction that the core has, an unknown CSR, or a reserved rounding mode.
    Illegal {
        /// Its 16 or 32 bits.
        bits: u32,
    },
    /// A fetch or an access of memory that was refused.
    Trap(Trap),
}

impl From<Exception> for Exit {
    fn from(exception: Exception) -> Self {
        match exception {
            Exception::Ecall => Self::Ecall,
            Exception::Ebreak => Self::Ebreak,
            Exception::Illegal { bits } => Self::Illegal { bits },
            Exception::Trap(trap) => Self::Trap(trap),
        }
    }
}

/// Decodes the instruction at `pc` by its halves of 16 bits, as `read` gives them: the second one
/// only if there is one, and from the address behind the first, which may be in another page.
///
/// The [`Trap`] of a second half has its own address, while the hart's program counter is that of
/// the instruction (privileged manual, "Machine Trap Value").
pub fn fetch_halves(pc: u64, mut read: impl FnMut(u64) -> Result<u16, Trap>) -> Result<Insn, Trap> {
    let low = u32::from(read(pc)?);
    if low & 3 != 3 {
        return Ok(decode(low));
    }
    let high = u32::from(read(pc.wrapping_add(2))?);
    Ok(decode(low | high << 16))
}
