//! Zba, Zbb, Zbs and Zicond.
use regalloc2::{Operand, VReg};

use super::*;

/// A byte of each of 64 bits' bytes.
const fn bytes(byte: u8) -> i64 {
    i64::from_ne_bytes([byte; 8])
}

impl Lower<'_> {
    pub(super) fn bits(&mut self, at: At) {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let a = self.get(insn.rs1(), pc);
        let value = match insn.op() {
            AddUw | Sh1add | Sh2add | Sh3add | Sh1addUw | Sh2addUw | Sh3addUw => {
                let b = self.get(insn.rs2(), pc);
                self.shifted_sum(insn.op(), a, b, pc)
            }
            SlliUw => {
                let a = self.unary(Unary::Zext32, a, pc);
                self.shift_imm(Shift::Left, a, insn.imm() as u8 & 63, false, pc)
            }
            Clz => self.unary(Unary::LeadingZeros { word: false }, a, pc),
            Clzw => self.unary(Unary::LeadingZeros { word: true }, a, pc),
            Ctz => self.unary(Unary::TrailingZeros { word: false }, a, pc),
            Ctzw => self.unary(Unary::TrailingZeros { word: true }, a, pc),
            Cpop => self.unary(Unary::Ones { word: false }, a, pc),
            Cpopw => self.unary(Unary::Ones { word: true }, a, pc),
            SextB => self.unary(Unary::Sext8, a, pc),
            SextH => self.unary(Unary::Sext16, a, pc),
            ZextH => self.unary(Unary::Zext16, a, pc),
            Rev8 => self.unary(Unary::Swap, a, pc),
            OrcB => self.or_combine(a, pc),
            Rori => self.shift_imm(Shift::Rotate, a, insn.imm() as u8 & 63, false, pc),
            Roriw => {
                let value = self.shift_imm(Shift::Rotate, a, insn.imm() as u8 & 31, true, pc);
                self.sext32(value, pc)
            }
            Bclri | Bexti | Binvi | Bseti => self.bit_imm(insn, a, pc),
            _ => {
                let b = self.get(insn.rs2(), pc);
                self.two(insn.op(), a, b, pc)
            }
        };
        self.set(insn.rd(), value, pc);
    }

    fn unary(&mut self, op: Unary, a: VReg, pc: u64) -> VReg {
        self.int(Op::Unary(op), pc, &[a])
    }

    fn shifted_sum(&mut self, op: Guest, a: VReg, b: VReg, pc: u64) -> VReg {
        use Guest::*;
        let shift = match op {
            AddUw => 0,
            Sh1add | Sh1addUw => 1,
            Sh2add | Sh2addUw => 2,
            _ => 3,
        };
        let word = matches!(op, AddUw | Sh1addUw | Sh2addUw | Sh3addUw);
        let a = if word {
            self.unary(Unary::Zext32, a, pc)
        } else {
            a
        };
        if shift == 0 || self.known(a).is_some() {
            let a = self.shift_imm(Shift::Left, a, shift, false, pc);
            return self.alu(Alu::Add, a, b, false, pc);
        }
        self.int(Op::Lea(shift, 0), pc, &[b, a])
    }

    /// All bits of each byte that is not 0.
    fn or_combine(&mut self, a: VReg, pc: u64) -> VReg {
        let low = self.constant(bytes(0x7f), pc);
        let high = self.constant(bytes(0x80), pc);
        let carry = self.alu(Alu::And, a, low, false, pc);
        let carry = self.alu(Alu::Add, carry, low, false, pc);
        let carry = self.alu(Alu::Or, carry, a, false, pc);
        let top = self.alu(Alu::And, carry, high, false, pc);
        let bottom = self.shift_imm(Shift::Right, top, 7, false, pc);
        let rest = self.alu(Alu::Sub, top, bottom, false, pc);
        self.alu(Alu::Or, top, rest, false, pc)
    }

    fn bit_imm(&mut self, insn: Insn, a: VReg, pc: u64) -> VReg {
        let n = insn.imm() as u8 & 63;
        let bit = 1i64 << n;
        match insn.op() {
            Guest::Bexti => {
                let value = self.shift_imm(Shift::Right, a, n, false, pc);
                self.alu_imm(Alu::And, value, 1, false, pc)
            }
            Guest::Bclri => {
                let mask = self.constant(!bit, pc);
                self.alu(Alu::And, a, mask, false, pc)
            }
            Guest::Binvi => {
                let mask = self.constant(bit, pc);
                self.alu(Alu::Xor, a, mask, false, pc)
            }
            _ => {
                let mask = self.constant(bit, pc);
                self.alu(Alu::Or, a, mask, false, pc)
            }
        }
    }

    fn and_not(&mut self, a: VReg, b: VReg, pc: u64) -> VReg {
        self.int(Op::AndNot, pc, &[a, b])
    }

    fn two(&mut self, op: Guest, a: VReg, b: VReg, pc: u64) -> VReg {
        use Guest::*;
        match op {
            Andn => self.and_not(a, b, pc),
            Orn => {
                let b = self.alu_imm(Alu::Xor, b, -1, false, pc);
                self.alu(Alu::Or, a, b, false, pc)
            }
            Xnor => {
                let value = self.alu(Alu::Xor, a, b, false, pc);
                self.alu_imm(Alu::Xor, value, -1, false, pc)
            }
            Max => self.other(Cc::L, a, b, pc),
            Maxu => self.other(Cc::B, a, b, pc),
            Min => self.other(Cc::Ge, a, b, pc),
            Minu => self.other(Cc::Ae, a, b, pc),
            Rol => self.shift(Shift::RotateLeft, a, b, false, pc),
            Ror => self.shift(Shift::Rotate, a, b, false, pc),
            Rolw | Rorw => {
                let shift = if op == Rolw {
                    Shift::RotateLeft
                } else {
                    Shift::Rotate
                };
                let value = self.shift(shift, a, b, true, pc);
                self.sext32(value, pc)
            }
            Bext => {
                let value = self.shift(Shift::Right, a, b, false, pc);
                self.alu_imm(Alu::And, value, 1, false, pc)
            }
            Bclr | Binv | Bset => {
                let one = self.constant(1, pc);
                let bit = self.shift(Shift::Left, one, b, false, pc);
                match op {
                    Bclr => self.and_not(a, bit, pc),
                    Binv => self.alu(Alu::Xor, a, bit, false, pc),
                    _ => self.alu(Alu::Or, a, bit, false, pc),
                }
            }
            CzeroEqz => self.if_zero(Cc::E, a, b, pc),
            CzeroNez => self.if_zero(Cc::Ne, a, b, pc),
            op => unreachable!("{op:?} is translated elsewhere"),
        }
    }

    fn other(&mut self, cc: Cc, a: VReg, b: VReg, pc: u64) -> VReg {
        self.tied(Op::Other(cc), pc, &[a, b], RegClass::Int)
    }

    fn if_zero(&mut self, cc: Cc, a: VReg, b: VReg, pc: u64) -> VReg {
        let zero = self.constant(0, pc);
        let value = self.fresh(RegClass::Int);
        let operands = vec![
            Operand::reg_use(a),
            Operand::reg_use(b),
            Operand::reg_use(zero),
            Operand::reg_reuse_def(value, 0),
        ];
        self.defining(Op::IfZero(cc), pc, operands, value)
    }
}
