//! Control and status registers that user code may access (ISA manual, chapters "Zicsr", "F" and
//! "Zicntr").

use crate::fp;
use crate::hart::Hart;
use flick_riscv::{Insn, Op};

const FFLAGS: u64 = 1;
const FRM: u64 = 2;
const FCSR: u64 = 3;
const CYCLE: u64 = 0xc00;
const TIME: u64 = 0xc01;
const INSTRET: u64 = 0xc02;

/// Executes a CSR instruction and returns the old value; `None` if the register does not exist or
/// must not be written.
///
/// `time` is CLOCK_MONOTONIC in nanoseconds. `cycle` and `instret` are `counted`, one cycle an
/// instruction, or if nobody counts both are the host's time-stamp counter.
#[inline(never)]
pub fn access(hart: &mut Hart, insn: Insn, counted: Option<u64>) -> Option<u64> {
    let csr = insn.imm() & 0xfff;
    let old = match csr {
        FFLAGS => fp::read_fcsr(hart) & 31,
        FRM => fp::read_fcsr(hart) >> 5,
        FCSR => fp::read_fcsr(hart),
        CYCLE | INSTRET => counted.unwrap_or_else(time_stamp),
        TIME => nanoseconds(),
        _ => return None,
    };
    // The field of rs1 holds the register or the immediate operand.
    let (register, immediate) = (hart.x[insn.rs1()], insn.rs1() as u64);
    let new = match insn.op() {
        Op::Csrrw => register,
        Op::Csrrwi => immediate,
        // Only reading; the field counts, not what is in the register.
        _ if immediate == 0 => return Some(old),
        Op::Csrrs => old | register,
        Op::Csrrsi => old | immediate,
        Op::Csrrc => old & !register,
        Op::Csrrci => old & !immediate,
        _ => return None,
    };
    let fcsr = match csr {
        FFLAGS => fp::read_fcsr(hart) & !31 | new & 31,
        FRM => fp::read_fcsr(hart) & 31 | (new & 7) << 5,
        FCSR => new,
        _ => return None,
    };
    fp::write_fcsr(hart, fcsr);
    Some(old)
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
