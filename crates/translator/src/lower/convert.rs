//! Conversions between floating-point values and integers, and from double to single precision.
//!
//! If the rounding mode is not the current one, lowering chooses an instruction that names the mode
//! (SSE4.1), or one that does not round. MXCSR changes only for the rest.
use regalloc2::{Operand, RegClass};

use super::*;

fn rounding(insn: Insn) -> Rounding {
    match insn.rm() {
        0 => Rounding::Nearest,
        1 => Rounding::Zero,
        2 => Rounding::Down,
        3 => Rounding::Up,
        4 => Rounding::Away,
        _ => Rounding::Current,
    }
}

impl Lower<'_> {
    pub(super) fn float_to_int(&mut self, single: bool, at: At) {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let to = match insn.op() {
            FcvtWS | FcvtWD => Integer::W,
            FcvtWuS | FcvtWuD => Integer::Wu,
            FcvtLS | FcvtLD => Integer::L,
            _ => Integer::Lu,
        };
        let conversion = ToInt {
            to,
            single,
            rounding: rounding(insn),
        };
        let a = self.operand(insn.rs1(), single, pc);
        let value = self.fresh(RegClass::Int);
        let mut operands = vec![Operand::reg_use_at_end(a)];
        if conversion.rounding == Rounding::Away {
            operands.push(Operand::reg_temp(self.fresh(RegClass::Float)));
        }
        // What may trap once the result's register is in use must leave the state as it was.
        operands.push(if conversion.is_direct() {
            Operand::reg_def(value)
        } else {
            Operand::reg_def_at_start(value)
        });
        let value = self.defining(Op::ToInt(conversion), pc, operands, value);
        let value = match to {
            Integer::W | Integer::Wu => self.sext32(value, pc),
            Integer::L | Integer::Lu => value,
        };
        self.set(insn.rd(), value, pc);
    }

    pub(super) fn int_to_float(&mut self, single: bool, at: At) {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let mut a = self.get(insn.rs1(), pc);
        let from = match insn.op() {
            FcvtSW | FcvtDW => Integer::W,
            FcvtSWu | FcvtDWu => {
                a = self.int(Op::Unary(Unary::Zext32), pc, &[a]);
                Integer::L
            }
            FcvtSL | FcvtDL => Integer::L,
            _ => Integer::Lu,
        };
        let is_exact = matches!(insn.op(), FcvtDW | FcvtDWu);
        let rounding = if is_exact {
            Rounding::Current
        } else {
            rounding(insn)
        };
        let conversion = FromInt {
            from,
            single,
            rounding,
        };
        let value = self.fresh(RegClass::Float);
        let mut operands = vec![Operand::reg_use_at_end(a)];
        if from == Integer::Lu || rounding != Rounding::Current {
            operands.push(Operand::reg_temp(self.fresh(RegClass::Int)));
        }
        operands.push(Operand::reg_def_at_start(value));
        self.defining(Op::FromInt(conversion, insn.word()), pc, operands, value);
        self.boxed[value.vreg()] = single;
        self.set_float(insn.rd(), value, at.pc);
    }

    pub(super) fn double_to_single(&mut self, at: At) {
        let rounding = rounding(at.insn);
        let a = self.get_float(at.insn.rs1(), at.pc);
        let value = self.fresh(RegClass::Float);
        let mut operands = vec![Operand::reg_use_at_end(a)];
        if rounding != Rounding::Current {
            operands.push(Operand::reg_temp(self.fresh(RegClass::Int)));
        }
        operands.push(Operand::reg_def_at_start(value));
        self.defining(Op::Narrow(rounding), at.pc, operands, value);
        self.result(value, true, at);
    }
}
