//! Control and status registers: CSR instructions, and the registers that user code may access (ISA
//! manual, chapters "Zicsr", "F" and "Zicntr").

use crate::fp;
use crate::hart_state::Hart;
use crate::vector::{VectorState, access_csr as access_vector_csr, is_csr, process_state};
use flick_riscv::{Insn, Op};

/// Numbers of the registers for user code.
pub mod number {
    /// Accrued floating-point exceptions.
    pub const FFLAGS: u32 = 1;
    /// Rounding mode.
    pub const FRM: u32 = 2;
    /// Both.
    pub const FCSR: u32 = 3;
    /// Cycles of the hart.
    pub const CYCLE: u32 = 0xc00;
    /// Time of the machine.
    pub const TIME: u32 = 0xc01;
    /// Instructions that the hart has retired.
    pub const INSTRET: u32 = 0xc02;
}
use number::{CYCLE, FCSR, FFLAGS, FRM, INSTRET, TIME};

/// What a CSR instruction does to its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsrWrite {
    /// `csrrw`: takes the operand.
    Replace(u64),
    /// `csrrs`: sets the operand's bits.
    Set(u64),
    /// `csrrc`: clears the operand's bits.
    Clear(u64),
}

impl CsrWrite {
    /// The register's new value.
    #[inline(always)]
    pub fn apply(self, old: u64) -> u64 {
        match self {
            Self::Replace(operand) => operand,
            Self::Set(operand) => old | operand,
            Self::Clear(operand) => old & !operand,
        }
    }
}

/// A CSR instruction with its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsrAccess {
    /// Of the register, below 0x1000. Bits 11 and 10 both set: read-only; bits 9 and 8: the least
    /// privilege.
    pub number: u32,
    /// Does it read? Without, reading must have no side effects. It is `csrrw` with x0 as
    /// destination.
    pub reads: bool,
    /// `None`: it does not write, and the register may be a read-only one.
    pub write: Option<CsrWrite>,
}

impl CsrAccess {
    /// The access of `insn`, a CSR instruction of `hart`.
    #[inline(always)]
    pub(crate) fn of(hart: &Hart, insn: Insn) -> Self {
        // The field of rs1 holds the register or the immediate operand.
        let (register, immediate) = (hart.x[insn.rs1()], insn.rs1() as u64);
        let write = match insn.op() {
            Op::Csrrw => Some(CsrWrite::Replace(register)),
            Op::Csrrwi => Some(CsrWrite::Replace(immediate)),
            // Only reading; the field counts, not what is in the register.
            _ if immediate == 0 => None,
            Op::Csrrs => Some(CsrWrite::Set(register)),
            Op::Csrrsi => Some(CsrWrite::Set(immediate)),
            Op::Csrrc => Some(CsrWrite::Clear(register)),
            // `csrrci`: there is no other.
            _ => Some(CsrWrite::Clear(immediate)),
        };
        Self {
            number: insn.imm() as u32 & 0xfff,
            reads: insn.rd() != 0 || !matches!(insn.op(), Op::Csrrw | Op::Csrrwi),
            write,
        }
    }
}

/// Accesses fflags, frm or fcsr, which are the live MXCSR's and [`Hart::frm`]'s ([`fp`]). Returns
/// the old value; `None` if the register is another one.
pub fn access_fcsr(hart: &mut Hart, access: CsrAccess) -> Option<u64> {
    let fcsr = fp::read_fcsr(hart);
    let old = match access.number {
        FFLAGS => fcsr & 31,
        FRM => fcsr >> 5,
        FCSR => fcsr,
        _ => return None,
    };
    if let Some(write) = access.write {
        let new = write.apply(old);
        let fcsr = match access.number {
            FFLAGS => fcsr & !31 | new & 31,
            FRM => fcsr & 31 | (new & 7) << 5,
            _ => new,
        };
        fp::write_fcsr(hart, fcsr);
    }
    Some(old)
}

/// Executes a CSR instruction of an ordinary program and returns the old value; `None` if the
/// register does not exist or must not be written.
///
/// `time` is CLOCK_MONOTONIC in nanoseconds. `cycle` and `instret` are `counted`, one cycle an
/// instruction, or if nobody counts both are the host's time-stamp counter.
#[inline(never)]
pub(crate) fn access_of_process(
    hart: &mut Hart,
    access: CsrAccess,
    counted: Option<u64>,
    vector: Option<&mut VectorState>,
) -> Option<u64> {
    let old = match access.number {
        CYCLE | INSTRET => counted.unwrap_or_else(time_stamp),
        TIME => nanoseconds(),
        _ => {
            if let Some(old) = access_fcsr(hart, access) {
                return Some(old);
            }
            let state = match vector {
                Some(state) => state,
                None if !is_csr(access.number) => return None,
                // SAFETY: the process's state of this hart, which is executed here and nowhere else.
                None => unsafe { process_state(hart)?.as_mut() },
            };
            return access_vector_csr(state, access);
        }
    };
    access.write.is_none().then_some(old)
}

fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

fn nanoseconds() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the variable; the clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    (now.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec as u64)
}
