//! What instructions read, write and access, written by hand.

use flick_riscv::{Insn, Op, Registers};

fn bit(register: usize) -> Registers {
    if register == 0 { 0 } else { 1 << register }
}

fn float(register: usize) -> Registers {
    1 << (register + 32)
}

/// The registers that an instruction reads and writes.
pub fn reads_writes(insn: Insn) -> (Registers, Registers) {
    use Op::*;
    let (rd, a, b) = (bit(insn.rd()), bit(insn.rs1()), bit(insn.rs2()));
    let (fd, fa) = (float(insn.rd()), float(insn.rs1()));
    let (fb, fc) = (float(insn.rs2()), float(insn.rs3()));
    match insn.op() {
        Nop | Fence | Pause => (0, 0),
        Lui | Auipc | Jal => (0, rd),
        Jalr => (a, rd),
        Beq | Bne | Blt | Bge | Bltu | Bgeu => (a | b, 0),
        Lb | Lh | Lw | Ld | Lbu | Lhu | Lwu => (a, rd),
        Sb | Sh | Sw | Sd => (a | b, 0),
        Addi | Slti | Sltiu | Xori | Ori | Andi | Slli | Srli | Srai | Addiw | Slliw | Srliw
        | Sraiw => (a, rd),
        SlliUw | Clz | Clzw | Ctz | Ctzw | Cpop | Cpopw | SextB | SextH | ZextH | Rori | Roriw
        | OrcB | Rev8 | Bclri | Bexti | Binvi | Bseti => (a, rd),
        Flw | Fld => (a, fd),
        Fsw | Fsd => (a | fb, 0),
        LrW | LrD => (a, rd),
        FmaddS | FmsubS | FnmsubS | FnmaddS | FmaddD | FmsubD | FnmsubD | FnmaddD => {
            (fa | fb | fc, fd)
        }
        FaddS | FsubS | FmulS | FdivS | FsgnjS | FsgnjnS | FsgnjxS | FminS | FmaxS | FaddD
        | FsubD | FmulD | FdivD | FsgnjD | FsgnjnD | FsgnjxD | FminD | FmaxD => (fa | fb, fd),
        FsqrtS | FsqrtD | FcvtSD | FcvtDS => (fa, fd),
        FeqS | FltS | FleS | FeqD | FltD | FleD => (fa | fb, rd),
        FclassS | FclassD | FcvtWS | FcvtWuS | FcvtLS | FcvtLuS | FcvtWD | FcvtWuD | FcvtLD
        | FcvtLuD | FmvXW | FmvXD => (fa, rd),
        FcvtSW | FcvtSWu | FcvtSL | FcvtSLu | FcvtDW | FcvtDWu | FcvtDL | FcvtDLu | FmvWX
        | FmvDX => (a, fd),
        // Computations on integer registers, atomics.
        _ => (a | b, rd),
    }
}

/// Whether an instruction accesses memory.
pub fn may_fault(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Lb | Lh
            | Lw
            | Ld
            | Lbu
            | Lhu
            | Lwu
            | Sb
            | Sh
            | Sw
            | Sd
            | Flw
            | Fsw
            | Fld
            | Fsd
            | LrW
            | ScW
            | AmoswapW
            | AmoaddW
            | AmoxorW
            | AmoandW
            | AmoorW
            | AmominW
            | AmomaxW
            | AmominuW
            | AmomaxuW
            | LrD
            | ScD
            | AmoswapD
            | AmoaddD
            | AmoxorD
            | AmoandD
            | AmoorD
            | AmominD
            | AmomaxD
            | AmominuD
            | AmomaxuD
    )
}
