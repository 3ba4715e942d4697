//! Floating point.
//!
//! Arithmetic under the current rounding mode is one host instruction and a check of the result for
//! NaN. The interpreter's own functions do rare operations, and those on which the host differs too
//! much. Translated code runs only while MXCSR holds the rounding mode (`hart.frm` is 0).
use regalloc2::{Operand, RegClass, VReg};

use super::*;
use flick_engine::fp;
use flick_riscv::Format;

/// Whether the instruction's operands and result, as far as they are floating-point, are single.
fn is_single(op: Guest) -> bool {
    let (_, bits) = op.encoding();
    // The field "fmt" is that of the result; only fcvt.s.d and fcvt.d.s have operands of the other.
    bits >> 25 & 3 == 0 && op != Guest::FcvtSD
}

impl Lower<'_> {
    pub(super) fn float(&mut self, at: At) {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let dynamic = insn.rm() == fp::DYNAMIC;
        let single = is_single(insn.op());
        match insn.op() {
            FaddS | FaddD if dynamic => self.arithmetic(Arith::Add, single, at),
            FsubS | FsubD if dynamic => self.arithmetic(Arith::Sub, single, at),
            FmulS | FmulD if dynamic => self.arithmetic(Arith::Mul, single, at),
            FdivS | FdivD if dynamic => self.arithmetic(Arith::Div, single, at),
            FsqrtS | FsqrtD if dynamic => {
                let a = self.operand(insn.rs1(), single, pc);
                // The upper half of a single's register comes from the operand.
                let value = self.value(Op::Sqrt(single), pc, &[a], RegClass::Float);
                self.result(value, single, at);
            }
            FeqS | FeqD => self.compare(Compare::Equal, single, at),
            FltS | FltD => self.compare(Compare::Less, single, at),
            FleS | FleD => self.compare(Compare::LessOrEqual, single, at),
            FsgnjD if insn.rs1() == insn.rs2() => {
                let value = self.get_float(insn.rs1(), pc);
                self.set_float(insn.rd(), value, at.pc);
            }
            FsgnjS if insn.rs1() == insn.rs2() => {
                let value = self.operand(insn.rs1(), true, pc);
                self.set_float(insn.rd(), value, at.pc);
            }
            FsgnjnS | FsgnjnD if insn.rs1() == insn.rs2() => self.sign(Sign::Negate, single, at),
            FsgnjxS | FsgnjxD if insn.rs1() == insn.rs2() => self.sign(Sign::Clear, single, at),
            FsgnjS | FsgnjD => self.copy_sign(CopySign::Same, single, at),
            FsgnjnS | FsgnjnD => self.copy_sign(CopySign::Opposite, single, at),
            FsgnjxS | FsgnjxD => self.copy_sign(CopySign::Xor, single, at),
            FcvtWS | FcvtWuS | FcvtLS | FcvtLuS | FcvtWD | FcvtWuD | FcvtLD | FcvtLuD => {
                self.float_to_int(single, at);
            }
            FcvtSW | FcvtSWu | FcvtSL | FcvtSLu | FcvtDW | FcvtDWu | FcvtDL | FcvtDLu => {
                self.int_to_float(single, at);
            }
            FcvtSD if insn.rm() != fp::RMM => self.double_to_single(at),
            FcvtDS => {
                let a = self.operand(insn.rs1(), true, pc);
                let value = self.value(Op::Widen, pc, &[a], RegClass::Float);
                self.result(value, false, at);
            }
            FmvXW => {
                let a = self.get_float(insn.rs1(), pc);
                let value = self.int(Op::BitsToInt(true), pc, &[a]);
                let value = self.sext32(value, pc);
                self.set(insn.rd(), value, pc);
            }
            FmvXD => {
                let a = self.get_float(insn.rs1(), pc);
                let value = self.int(Op::BitsToInt(false), pc, &[a]);
                self.set(insn.rd(), value, pc);
            }
            FmvWX | FmvDX => {
                let single = insn.op() == FmvWX;
                let a = self.get(insn.rs1(), pc);
                if let Some(k) = self.known(a) {
                    let bits = if single {
                        fp::boxed(k as u32)
                    } else {
                        k as u64
                    };
                    let value = self.float_constant(bits, pc);
                    return self.set_float(insn.rd(), value, at.pc);
                }
                let value = self.value(Op::BitsToFloat(single), pc, &[a], RegClass::Float);
                let value = if single {
                    self.in_box(value, pc)
                } else {
                    value
                };
                self.set_float(insn.rd(), value, at.pc);
            }
            _ => self.helper(at),
        }
    }

    /// A floating-point operand; a single one as its lower half has it.
    pub(super) fn operand(&mut self, number: usize, single: bool, pc: u64) -> VReg {
        let value = self.get_float(number, pc);
        if !single || self.boxed[value.vreg()] {
            return value;
        }
        let unboxed = self.fresh(RegClass::Float);
        let scratch = self.fresh(RegClass::Int);
        let operands = vec![
            Operand::reg_use(value),
            Operand::reg_temp(scratch),
            Operand::reg_reuse_def(unboxed, 0),
        ];
        self.defining(Op::Unbox, pc, operands, unboxed);
        self.boxed[unboxed.vreg()] = true;
        unboxed
    }

    /// A single as its register has it.
    pub(super) fn in_box(&mut self, single: VReg, pc: u64) -> VReg {
        let value = self.tied(Op::Box, pc, &[single], RegClass::Float);
        self.boxed[value.vreg()] = true;
        value
    }

    pub(super) fn result(&mut self, value: VReg, single: bool, at: At) {
        let value = self.tied(Op::Canonical(single), at.pc, &[value], RegClass::Float);
        self.boxed[value.vreg()] = single;
        self.set_float(at.insn.rd(), value, at.pc);
    }

    fn arithmetic(&mut self, op: Arith, single: bool, at: At) {
        let a = self.operand(at.insn.rs1(), single, at.pc);
        let b = self.operand(at.insn.rs2(), single, at.pc);
        let value = self.fresh(RegClass::Float);
        let operands = vec![
            Operand::reg_use(a),
            Operand::any_use(b),
            Operand::reg_def(value),
        ];
        self.defining(Op::Arith(op, single), at.pc, operands, value);
        self.result(value, single, at);
    }

    fn compare(&mut self, compare: Compare, single: bool, at: At) {
        let a = self.operand(at.insn.rs1(), single, at.pc);
        let b = self.operand(at.insn.rs2(), single, at.pc);
        let value = self.int(Op::FloatCompare(compare, single), at.pc, &[a, b]);
        self.set(at.insn.rd(), value, at.pc);
    }

    fn sign(&mut self, sign: Sign, single: bool, at: At) {
        let a = self.operand(at.insn.rs1(), single, at.pc);
        let value = self.tied(Op::Sign(sign, single), at.pc, &[a], RegClass::Float);
        self.boxed[value.vreg()] = single;
        self.set_float(at.insn.rd(), value, at.pc);
    }

    fn copy_sign(&mut self, sign: CopySign, single: bool, at: At) {
        let a = self.operand(at.insn.rs1(), single, at.pc);
        let b = self.operand(at.insn.rs2(), single, at.pc);
        let value = self.fresh(RegClass::Float);
        let operands = vec![
            Operand::reg_use(a),
            Operand::reg_use_at_end(b),
            Operand::reg_reuse_def(value, 0),
        ];
        self.defining(Op::CopySign(sign, single), at.pc, operands, value);
        self.boxed[value.vreg()] = single;
        self.set_float(at.insn.rd(), value, at.pc);
    }

    /// By the interpreter's function: operands in rdi, rsi and rdx, the result in rax.
    fn helper(&mut self, at: At) {
        let (pc, insn) = (at.pc, at.insn);
        let (reads, writes) = (insn.reads(), insn.writes());
        let from_int = matches!(insn.op().format(), Format::Fx | Format::FxRm);
        let mut operands = vec![];
        let sources = [insn.rs1(), insn.rs2(), insn.rs3()];
        for (n, (number, place)) in sources.into_iter().zip([RDI, RSI, RDX]).enumerate() {
            let value = if from_int && n == 0 {
                self.get(number, pc)
            } else if reads & bit(number + 32) != 0 && !from_int {
                let value = self.get_float(number, pc);
                self.int(Op::BitsToInt(false), pc, &[value])
            } else {
                continue;
            };
            operands.push(Operand::reg_fixed_use(value, host(place)));
        }
        let value = self.fresh(RegClass::Int);
        operands.push(Operand::reg_fixed_def(value, host(RAX)));
        let mut clobbers = call_clobbers();
        clobbers.remove(host(RAX));
        self.defining(Op::Helper(insn.word()), pc, operands, value);
        if let Some(node) = self.code.nodes.last_mut() {
            node.clobbers = clobbers;
        }
        if writes >> 32 == 0 {
            return self.set(insn.rd(), value, pc);
        }
        let raw = self.value(Op::BitsToFloat(false), pc, &[value], RegClass::Float);
        self.set_float(insn.rd(), raw, at.pc);
    }
}
