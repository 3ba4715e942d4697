//! Computations on integer registers.
use regalloc2::{Operand, RegClass, VReg};

use super::*;

impl Lower<'_> {
    pub(super) fn sext32(&mut self, value: VReg, pc: u64) -> VReg {
        match self.known(value) {
            Some(k) => self.constant(i64::from(k as i32), pc),
            None => self.int(Op::Unary(Unary::Sext32), pc, &[value]),
        }
    }

    pub(super) fn extended(&mut self, value: VReg, word: bool, pc: u64) -> VReg {
        if word { self.sext32(value, pc) } else { value }
    }

    pub(super) fn alu(&mut self, op: Alu, a: VReg, b: VReg, word: bool, pc: u64) -> VReg {
        if self.is_far_apart(a, b) || self.is_far_apart(b, a) {
            return match op {
                Alu::Add => self.int(Op::Alu(op, word), pc, &[a, b]),
                _ => self.tied(Op::Alu(op, word), pc, &[a, b], RegClass::Int),
            };
        }
        if let Some(k) = self.small(b) {
            return match op {
                Alu::Sub if k != i32::MIN => self.alu_imm(Alu::Add, a, -k, word, pc),
                Alu::Sub => self.tied(Op::Alu(op, word), pc, &[a, b], RegClass::Int),
                _ => self.alu_imm(op, a, k, word, pc),
            };
        }
        if let (Some(k), true) = (self.small(a), op != Alu::Sub) {
            return self.alu_imm(op, b, k, word, pc);
        }
        if op != Alu::Add {
            return self.tied(Op::Alu(op, word), pc, &[a, b], RegClass::Int);
        }
        if !word {
            for (a, b) in [(a, b), (b, a)] {
                if let Some(node) = self.definition(b)
                    && let Op::ShiftImm(Shift::Left, k @ 1..=3, false) = node.op
                {
                    let index = node.value(0);
                    return self.int(Op::Lea(k, 0), pc, &[a, index]);
                }
            }
        }
        self.int(Op::Alu(op, word), pc, &[a, b])
    }

    /// Whether these are an address of the module and a constant that is no offset of an instruction.
    /// Their sum is made at run time: a constant address is near one that the function names
    /// (`movable.rs`).
    fn is_far_apart(&self, address: VReg, distance: VReg) -> bool {
        let is_address = |node: &Node| matches!(node.op, Op::Address(_));
        self.definition(address).is_some_and(is_address)
            && self
                .known(distance)
                .is_some_and(|k| k.unsigned_abs() > 4096)
    }

    pub(super) fn alu_imm(&mut self, op: Alu, a: VReg, k: i32, word: bool, pc: u64) -> VReg {
        if let Some(c) = self.known(a) {
            let k = i64::from(k);
            let value = match op {
                Alu::Add => c.wrapping_add(k),
                Alu::Sub => c.wrapping_sub(k),
                Alu::And => c & k,
                Alu::Or => c | k,
                Alu::Xor => c ^ k,
                Alu::Mul => c.wrapping_mul(k),
            };
            return self.constant(value, pc);
        }
        if let (Alu::Add, false, Some(at)) = (op, word, self.known_address(a)) {
            return self.guest_address(at.wrapping_add_signed(k.into()), pc);
        }
        if k == 0 && matches!(op, Alu::Add | Alu::Or | Alu::Xor) {
            return a;
        }
        if matches!(op, Alu::Add | Alu::Mul) {
            self.int(Op::AluImm(op, k, word), pc, &[a])
        } else {
            self.tied(Op::AluImm(op, k, word), pc, &[a], RegClass::Int)
        }
    }

    pub(super) fn shift_imm(&mut self, shift: Shift, a: VReg, n: u8, word: bool, pc: u64) -> VReg {
        if let (Some(c), false) = (self.known(a), word) {
            let value = match shift {
                Shift::Left => c << n,
                Shift::Right => (c as u64 >> n) as i64,
                Shift::Arithmetic => c >> n,
                Shift::Rotate => c.rotate_right(n.into()),
                Shift::RotateLeft => c.rotate_left(n.into()),
            };
            return self.constant(value, pc);
        }
        if n == 0 {
            return a;
        }
        // slli n, srli n: the lower bits.
        if let (Shift::Right, false, 33..) = (shift, word, n)
            && let Some(node) = self.definition(a)
            && node.op == Op::ShiftImm(Shift::Left, n, false)
        {
            let (whole, mask) = (node.value(0), u32::MAX >> (n - 32));
            return self.alu_imm(Alu::And, whole, mask as i32, false, pc);
        }
        // slli 32, srli n: zero-extension and a shift of the lower half.
        if let (Shift::Right, false, 32..) = (shift, word, n)
            && let Some(node) = self.definition(a)
            && node.op == Op::ShiftImm(Shift::Left, 32, false)
        {
            let whole = node.value(0);
            let half = self.int(Op::Unary(Unary::Zext32), pc, &[whole]);
            return match n - 32 {
                0 => half,
                n => self.tied(
                    Op::ShiftImm(Shift::Right, n, true),
                    pc,
                    &[half],
                    RegClass::Int,
                ),
            };
        }
        if shift == Shift::Rotate {
            return self.int(Op::ShiftImm(shift, n, word), pc, &[a]);
        }
        self.tied(Op::ShiftImm(shift, n, word), pc, &[a], RegClass::Int)
    }

    pub(super) fn shift(&mut self, shift: Shift, a: VReg, n: VReg, word: bool, pc: u64) -> VReg {
        if let Some(k) = self.known(n) {
            let mask = if word { 31 } else { 63 };
            return self.shift_imm(shift, a, k as u8 & mask, word, pc);
        }
        if !matches!(shift, Shift::Rotate | Shift::RotateLeft) {
            return self.int(Op::Shift(shift, word), pc, &[a, n]);
        }
        let value = self.fresh(RegClass::Int);
        let operands = vec![
            Operand::reg_use(a),
            Operand::reg_fixed_use(n, host(RCX)),
            Operand::reg_reuse_def(value, 0),
        ];
        self.defining(Op::Shift(shift, word), pc, operands, value)
    }

    pub(super) fn set_if(&mut self, cc: Cc, a: VReg, b: VReg, pc: u64) -> VReg {
        match self.small(b) {
            Some(k) => self.int(Op::Set(cc, Some(k)), pc, &[a]),
            None => self.int(Op::Set(cc, None), pc, &[a, b]),
        }
    }

    fn mul_high(&mut self, signed: bool, a: VReg, b: VReg, pc: u64) -> VReg {
        let (high, low) = (self.fresh(RegClass::Int), self.fresh(RegClass::Int));
        let operands = vec![
            Operand::reg_fixed_use(a, host(RAX)),
            Operand::reg_use(b),
            Operand::reg_fixed_def(low, host(RAX)),
            Operand::reg_fixed_def(high, host(RDX)),
        ];
        self.defining(Op::MulHigh { signed }, pc, operands, high)
    }

    fn divide(&mut self, signed: bool, remainder: bool, word: bool, at: At) {
        let (a, b) = (
            self.get(at.insn.rs1(), at.pc),
            self.get(at.insn.rs2(), at.pc),
        );
        let (wanted, other) = (self.fresh(RegClass::Int), self.fresh(RegClass::Int));
        let (place, rest) = if remainder { (RDX, RAX) } else { (RAX, RDX) };
        let operands = vec![
            Operand::reg_fixed_use(a, host(RAX)),
            // Not in rdx, which is written first.
            Operand::reg_use_at_end(b),
            Operand::reg_fixed_def(other, host(rest)),
            Operand::reg_fixed_def(wanted, host(place)),
        ];
        let op = Op::Div {
            signed,
            remainder,
            word,
        };
        let value = self.defining(op, at.pc, operands, wanted);
        let value = self.extended(value, word, at.pc);
        self.set(at.insn.rd(), value, at.pc);
    }

    pub(super) fn compute(&mut self, at: At) {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let imm = insn.imm() as i64;
        let small = imm as i32;
        match insn.op() {
            Div => return self.divide(true, false, false, at),
            Divu => return self.divide(false, false, false, at),
            Rem => return self.divide(true, true, false, at),
            Remu => return self.divide(false, true, false, at),
            Divw => return self.divide(true, false, true, at),
            Divuw => return self.divide(false, false, true, at),
            Remw => return self.divide(true, true, true, at),
            Remuw => return self.divide(false, true, true, at),
            Addi if insn.rd() == SP && insn.rs1() == SP => {
                return self.push(Op::AddSp(small), pc, vec![]);
            }
            _ => {}
        }
        let value = match insn.op() {
            Lui => self.constant(imm, pc),
            Auipc => self.guest_address(pc.wrapping_add(imm as u64), pc),
            Addi if insn.rs1() == SP => self.int(Op::GetSp(small), pc, &[]),
            Addi | Slti | Sltiu | Xori | Ori | Andi | Addiw | Slli | Srli | Srai | Slliw
            | Srliw | Sraiw => self.compute_imm(insn, small, pc),
            _ => self.compute_registers(at),
        };
        self.set(insn.rd(), value, pc);
    }

    fn compute_imm(&mut self, insn: Insn, imm: i32, pc: u64) -> VReg {
        use Guest::*;
        let a = self.get(insn.rs1(), pc);
        match insn.op() {
            Addi => self.alu_imm(Alu::Add, a, imm, false, pc),
            Andi => self.alu_imm(Alu::And, a, imm, false, pc),
            Ori => self.alu_imm(Alu::Or, a, imm, false, pc),
            Xori => self.alu_imm(Alu::Xor, a, imm, false, pc),
            Slti => self.int(Op::Set(Cc::L, Some(imm)), pc, &[a]),
            Sltiu => self.int(Op::Set(Cc::B, Some(imm)), pc, &[a]),
            Slli => self.shift_imm(Shift::Left, a, imm as u8 & 63, false, pc),
            Srli => self.shift_imm(Shift::Right, a, imm as u8 & 63, false, pc),
            Srai => self.shift_imm(Shift::Arithmetic, a, imm as u8 & 63, false, pc),
            op => {
                let value = match op {
                    Addiw => self.alu_imm(Alu::Add, a, imm, true, pc),
                    Slliw => self.shift_imm(Shift::Left, a, imm as u8 & 31, true, pc),
                    Srliw => self.shift_imm(Shift::Right, a, imm as u8 & 31, true, pc),
                    _ => self.shift_imm(Shift::Arithmetic, a, imm as u8 & 31, true, pc),
                };
                self.sext32(value, pc)
            }
        }
    }

    /// Sign-extends the bits of two sign extensions instead of both, if nobody else reads these.
    fn bitwise(&mut self, op: Alu, a: VReg, b: VReg, at: At) -> Option<VReg> {
        let [a, b] = [(at.insn.rs1(), a), (at.insn.rs2(), b)].map(|(reg, value)| {
            let node = self.definition(value)?;
            let is_read = at.after & bit(reg) != 0 && reg != at.insn.rd();
            (node.op == Op::Unary(Unary::Sext32) && !is_read).then(|| node.value(0))
        });
        let value = self.tied(Op::Alu(op, true), at.pc, &[a?, b?], RegClass::Int);
        Some(self.sext32(value, at.pc))
    }

    fn compute_registers(&mut self, at: At) -> VReg {
        use Guest::*;
        let (pc, insn) = (at.pc, at.insn);
        let op = insn.op();
        if op == Add && (insn.rs1() == 0 || insn.rs2() == 0) {
            return self.get(insn.rs1().max(insn.rs2()), pc);
        }
        let (a, b) = (self.get(insn.rs1(), pc), self.get(insn.rs2(), pc));
        let alu = match op {
            Add => Some((Alu::Add, false)),
            Sub => Some((Alu::Sub, false)),
            And => Some((Alu::And, false)),
            Or => Some((Alu::Or, false)),
            Xor => Some((Alu::Xor, false)),
            Mul => Some((Alu::Mul, false)),
            Addw => Some((Alu::Add, true)),
            Subw => Some((Alu::Sub, true)),
            Mulw => Some((Alu::Mul, true)),
            _ => None,
        };
        if let Some((alu @ (Alu::And | Alu::Or | Alu::Xor), _)) = alu
            && let Some(value) = self.bitwise(alu, a, b, at)
        {
            return value;
        }
        if let Some((alu, word)) = alu {
            let value = self.alu(alu, a, b, word, pc);
            return self.extended(value, word, pc);
        }
        match op {
            Sll => self.shift(Shift::Left, a, b, false, pc),
            Srl => self.shift(Shift::Right, a, b, false, pc),
            Sra => self.shift(Shift::Arithmetic, a, b, false, pc),
            Sllw => {
                let value = self.shift(Shift::Left, a, b, true, pc);
                self.sext32(value, pc)
            }
            Srlw => {
                let value = self.shift(Shift::Right, a, b, true, pc);
                self.sext32(value, pc)
            }
            Sraw => {
                let value = self.shift(Shift::Arithmetic, a, b, true, pc);
                self.sext32(value, pc)
            }
            Slt => self.set_if(Cc::L, a, b, pc),
            Sltu => self.set_if(Cc::B, a, b, pc),
            Mulh => self.mul_high(true, a, b, pc),
            Mulhu => self.mul_high(false, a, b, pc),
            Mulhsu => {
                // Of the unsigned product, less b where a is negative.
                let high = self.mul_high(false, a, b, pc);
                let sign = self.shift_imm(Shift::Arithmetic, a, 63, false, pc);
                let less = self.alu(Alu::And, b, sign, false, pc);
                self.alu(Alu::Sub, high, less, false, pc)
            }
            op => unreachable!("{op:?} is translated elsewhere"),
        }
    }
}
