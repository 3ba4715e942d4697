//! What vector instructions cost on a platform, which has no vector unit of its own: as the scalar
//! instructions of the same kind, for each 64 bits of elements.
use flick_riscv::{Insn, Op};

use crate::platform::NxpClass;

/// Bits of elements for which the cost of one scalar instruction is charged.
const DATAPATH: u64 = 64;

/// Bits of elements for which the host executes one operation of the class `vector`.
const HOST_DATAPATH: u64 = 128;

/// How often the cost of the class is charged for elements of so many bits, and that of the host's
/// operation, which needs no configuration.
pub fn times(insn: Insn, bits: u64) -> (u64, u64) {
    if insn.op() == Op::VConfig {
        return (1, 0);
    }
    let times = |datapath| bits.div_ceil(datapath).max(1);
    (times(DATAPATH), times(HOST_DATAPATH))
}

/// The class of the scalar instruction that does to an element what this vector instruction does
/// (ISA manual, chapter "V", section "Vector Instruction Listing").
pub fn class(insn: Insn) -> NxpClass {
    let word = insn.imm() as u32;
    let funct6 = word >> 26;
    match (insn.op(), word >> 12 & 7) {
        (Op::VLoad, _) => NxpClass::Load,
        (Op::VStore, _) => NxpClass::Store,
        (Op::VConfig, _) => NxpClass::Int,
        // OPFVV, OPFVF
        (_, 1 | 5) => match (funct6, word >> 15 & 31) {
            (0x20 | 0x21, _) | (0x13, 0) => NxpClass::FpDiv,
            (0x24 | 0x28..=0x2f | 0x38 | 0x3c..=0x3f, _) => NxpClass::FpMul,
            _ => NxpClass::Fp,
        },
        // OPMVV, OPMVX
        (_, 2 | 6) => match funct6 {
            0x20..=0x23 => NxpClass::Div,
            0x24..=0x27 | 0x29 | 0x2b | 0x2d | 0x2f | 0x38 | 0x3a..=0x3f => NxpClass::Mul,
            _ => NxpClass::Int,
        },
        // OPIVV, OPIVX: vsmul. As an immediate it is a move of registers.
        (_, 0 | 4) if funct6 == 0x27 => NxpClass::Mul,
        _ => NxpClass::Int,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_riscv::decode;

    #[test]
    fn classes() {
        for (bits, wanted) in [
            (0xcd02_7557, NxpClass::Int),   // vsetivli a0, 4, e32, m1, ta, ma
            (0x0205_6407, NxpClass::Load),  // vle32.v v8, (a0)
            (0x0205_6427, NxpClass::Store), // vse32.v v8, (a0)
            (0x0285_0457, NxpClass::Int),   // vadd.vv v8, v8, v10
            (0x9685_2457, NxpClass::Mul),   // vmul.vv v8, v8, v10
            (0x8285_2457, NxpClass::Div),   // vdivu.vv v8, v8, v10
            (0x0285_1457, NxpClass::Fp),    // vfadd.vv v8, v8, v10
            (0x9285_1457, NxpClass::FpMul), // vfmul.vv v8, v8, v10
            (0x8285_1457, NxpClass::FpDiv), // vfdiv.vv v8, v8, v10
            (0x4e80_1457, NxpClass::FpDiv), // vfsqrt.v v8, v8
            (0x9e80_3457, NxpClass::Int),   // vmv1r.v v8, v8
        ] {
            assert_eq!(class(decode(bits)), wanted, "{bits:#010x}");
        }
    }

    #[test]
    fn every_64_bits_count() {
        let add = decode(0x0285_0457);
        assert_eq!(times(add, 0), (1, 1));
        assert_eq!(times(add, 65), (2, 1));
        assert_eq!(times(add, 4096), (64, 32));
        assert_eq!(times(decode(0xcd02_7557), 4096), (1, 0));
    }
}
