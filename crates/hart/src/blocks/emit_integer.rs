//! Integer instructions.
use flick_riscv::{Insn, Op};

use super::emitter::Emitter;
use super::hart_frame::HOMES;
use super::x86_code::{Alu, Cond, Gpr, Place, RAX, RCX, RDX, Shift, W32, W64, Width};

const LOWER_BITS_OF_BYTES: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const LZCNT: u8 = 0xbd;
const TZCNT: u8 = 0xbc;
const POPCNT: u8 = 0xb8;
/// `bts`, `btr` and `btc`.
const SET: u8 = 5;
const RESET: u8 = 6;
const COMPLEMENT: u8 = 7;

impl Emitter<'_> {
    pub(super) fn integer(&mut self, insn: Insn) {
        let imm = insn.imm();
        let shift = imm as u8 & 63;
        match insn.op() {
            Op::Lui => self.set_constant(insn.rd(), imm),
            Op::Auipc => self.set_constant(insn.rd(), self.pc.wrapping_add(imm)),
            Op::Addi => self.add_constant(insn),
            Op::Addiw => self.add_constant_word(insn),
            Op::Xori if imm == u64::MAX => self.unary(insn, |e, to| e.code.not(to)),
            Op::Xori => self.alu_immediate(insn, Alu::Xor),
            Op::Ori => self.alu_immediate(insn, Alu::Or),
            Op::Andi => self.alu_immediate(insn, Alu::And),
            Op::Slti | Op::Sltiu => {
                let a = self.value(insn.rs1(), RAX);
                self.code
                    .alu_constant(W64, Alu::Cmp, Place::Reg(a), imm as i32);
                self.set_if(insn.rd(), less(insn.op() == Op::Slti));
            }
            Op::Slt | Op::Sltu => {
                match insn.rs1() {
                    // 0 is less than anything else: a common test.
                    0 if insn.op() == Op::Sltu => {
                        let b = self.value(insn.rs2(), RAX);
                        self.code.test(W64, b, b);
                        return self.set_if(insn.rd(), Cond::NotEqual);
                    }
                    _ => self.compare(insn.rs1(), insn.rs2()),
                }
                self.set_if(insn.rd(), less(insn.op() == Op::Slt));
            }
            Op::Slli => self.shift_immediate(insn, W64, Shift::Shl, shift),
            Op::Srli => self.shift_immediate(insn, W64, Shift::Shr, shift),
            Op::Srai => self.shift_immediate(insn, W64, Shift::Sar, shift),
            Op::Slliw => self.shift_immediate(insn, W32, Shift::Shl, shift & 31),
            Op::Srliw => self.shift_immediate(insn, W32, Shift::Shr, shift & 31),
            Op::Sraiw => self.shift_immediate(insn, W32, Shift::Sar, shift & 31),
            Op::Rori => self.shift_immediate(insn, W64, Shift::Ror, shift),
            Op::Roriw => self.shift_immediate(insn, W32, Shift::Ror, shift & 31),
            Op::Sll => self.shift_register(insn, W64, Shift::Shl),
            Op::Srl => self.shift_register(insn, W64, Shift::Shr),
            Op::Sra => self.shift_register(insn, W64, Shift::Sar),
            Op::Sllw => self.shift_register(insn, W32, Shift::Shl),
            Op::Srlw => self.shift_register(insn, W32, Shift::Shr),
            Op::Sraw => self.shift_register(insn, W32, Shift::Sar),
            Op::Rol => self.rotate(insn, W64, Shift::Rol),
            Op::Ror => self.rotate(insn, W64, Shift::Ror),
            Op::Rolw => self.rotate(insn, W32, Shift::Rol),
            Op::Rorw => self.rotate(insn, W32, Shift::Ror),
            Op::Add => self.alu(insn, Alu::Add, W64),
            Op::Sub => self.alu(insn, Alu::Sub, W64),
            Op::Addw => self.alu(insn, Alu::Add, W32),
            Op::Subw => self.alu(insn, Alu::Sub, W32),
            Op::Xor => self.alu(insn, Alu::Xor, W64),
            Op::Or => self.alu(insn, Alu::Or, W64),
            Op::And => self.alu(insn, Alu::And, W64),
            Op::Mul => self.product(insn, W64),
            Op::Mulw => self.product(insn, W32),
            Op::Mulh | Op::Mulhu | Op::Mulhsu => self.high_product(insn),
            Op::Div | Op::Divu | Op::Rem | Op::Remu => self.divide(insn, W64),
            Op::Divw | Op::Divuw | Op::Remw | Op::Remuw => self.divide(insn, W32),
            Op::AddUw => self.shifted_sum(insn, 0, true),
            Op::Sh1add => self.shifted_sum(insn, 1, false),
            Op::Sh2add => self.shifted_sum(insn, 2, false),
            Op::Sh3add => self.shifted_sum(insn, 3, false),
            Op::Sh1addUw => self.shifted_sum(insn, 1, true),
            Op::Sh2addUw => self.shifted_sum(insn, 2, true),
            Op::Sh3addUw => self.shifted_sum(insn, 3, true),
            Op::SlliUw => {
                let to = self.result(insn.rd());
                let a = self.value(insn.rs1(), RAX);
                self.code.mov(W32, to, Place::Reg(a));
                self.code.shift_constant(W64, Shift::Shl, to, shift);
                self.set(insn.rd(), to);
            }
            Op::Andn => {
                let b = self.value(insn.rs2(), RCX);
                let a = self.value(insn.rs1(), RAX);
                let to = self.result(insn.rd());
                self.code.and_not(to, b, Place::Reg(a));
                self.set(insn.rd(), to);
            }
            Op::Orn => {
                self.copy(RAX, insn.rs2());
                self.code.not(RAX);
                self.with(Alu::Or, RAX, insn.rs1());
                self.set(insn.rd(), RAX);
            }
            Op::Xnor => {
                self.copy(RAX, insn.rs1());
                self.with(Alu::Xor, RAX, insn.rs2());
                self.code.not(RAX);
                self.set(insn.rd(), RAX);
            }
            Op::Clz => self.count(insn, W64, LZCNT),
            Op::Clzw => self.count(insn, W32, LZCNT),
            Op::Ctz => self.count(insn, W64, TZCNT),
            Op::Ctzw => self.count(insn, W32, TZCNT),
            Op::Cpop => self.count(insn, W64, POPCNT),
            Op::Cpopw => self.count(insn, W32, POPCNT),
            Op::Max => self.choose(insn, Cond::Less),
            Op::Maxu => self.choose(insn, Cond::Below),
            Op::Min => self.choose(insn, Cond::Greater),
            Op::Minu => self.choose(insn, Cond::Above),
            Op::SextB => self.extend(insn, 1, true),
            Op::SextH => self.extend(insn, 2, true),
            Op::ZextH => self.extend(insn, 2, false),
            Op::OrcB => self.or_combine(insn),
            Op::Rev8 => self.unary(insn, |e, to| e.code.swap_bytes(to)),
            Op::Bset => self.change_bit(insn, SET),
            Op::Bclr => self.change_bit(insn, RESET),
            Op::Binv => self.change_bit(insn, COMPLEMENT),
            Op::Bseti => self.unary(insn, |e, to| e.code.change_bit_constant(SET, to, shift)),
            Op::Bclri => self.unary(insn, |e, to| e.code.change_bit_constant(RESET, to, shift)),
            Op::Binvi => {
                self.unary(insn, |e, to| {
                    e.code.change_bit_constant(COMPLEMENT, to, shift)
                });
            }
            Op::Bext => {
                let b = self.value(insn.rs2(), RCX);
                let a = self.value(insn.rs1(), RAX);
                self.code.shift_by(W64, Shift::Shr, RAX, Place::Reg(a), b);
                self.code.alu_constant(W32, Alu::And, Place::Reg(RAX), 1);
                self.set(insn.rd(), RAX);
            }
            Op::Bexti => self.unary(insn, |e, to| {
                e.code.shift_constant(W64, Shift::Shr, to, shift);
                e.code.alu_constant(W32, Alu::And, Place::Reg(to), 1);
            }),
            Op::CzeroEqz => self.zero_if(insn, Cond::Equal),
            Op::CzeroNez => self.zero_if(insn, Cond::NotEqual),
            op => unreachable!("{op:?} computes nothing"),
        }
    }

    /// `to` becomes `to op register`.
    fn with(&mut self, op: Alu, to: Gpr, number: usize) {
        match number {
            0 => self.code.alu_constant(W64, op, Place::Reg(to), 0),
            _ => self.code.alu(W64, op, to, self.x(number)),
        }
    }

    /// rd becomes rs1, changed in place.
    fn unary(&mut self, insn: Insn, change: impl FnOnce(&mut Self, Gpr)) {
        let to = self.result(insn.rd());
        self.copy(to, insn.rs1());
        change(self, to);
        self.set(insn.rd(), to);
    }

    fn set_if(&mut self, rd: usize, cond: Cond) {
        self.code.set(cond, RAX);
        let to = self.result(rd);
        self.code.load_extended(1, false, to, Place::Reg(RAX));
        self.set(rd, to);
    }

    fn add_constant(&mut self, insn: Insn) {
        let (rd, rs1) = (insn.rd(), insn.rs1());
        match (HOMES[rd], rs1) {
            (_, 0) => self.set_constant(rd, insn.imm()),
            (None, _) if rd == rs1 => {
                let place = self.x(rd);
                self.code
                    .alu_constant(W64, Alu::Add, place, insn.imm() as i32);
            }
            (Some(home), _) if rd == rs1 => {
                self.code
                    .alu_constant(W64, Alu::Add, Place::Reg(home), insn.imm() as i32);
            }
            _ => {
                let to = self.result(rd);
                self.address(to, insn);
                self.set(rd, to);
            }
        }
    }

    fn add_constant_word(&mut self, insn: Insn) {
        let to = self.result(insn.rd());
        if insn.imm() == 0 && insn.rs1() != 0 {
            self.code.load_extended(4, true, to, self.x(insn.rs1()));
        } else {
            self.address(RAX, insn);
            self.code.load_extended(4, true, to, Place::Reg(RAX));
        }
        self.set(insn.rd(), to);
    }

    fn alu_immediate(&mut self, insn: Insn, op: Alu) {
        let imm = insn.imm() as i32;
        if HOMES[insn.rd()].is_none() && insn.rd() == insn.rs1() {
            return self.code.alu_constant(W64, op, self.x(insn.rd()), imm);
        }
        self.unary(insn, |e, to| {
            e.code.alu_constant(W64, op, Place::Reg(to), imm)
        });
    }

    fn alu(&mut self, insn: Insn, op: Alu, width: Width) {
        let (rd, mut a, mut b) = (insn.rd(), insn.rs1(), insn.rs2());
        let mut to = self.result(rd);
        if op != Alu::Sub && (rd == b || a == 0) {
            (a, b) = (b, a);
        }
        // The second operand must not be overwritten before it is read.
        if rd == b && rd != a {
            to = RAX;
        }
        match (op, HOMES[a], HOMES[b]) {
            (Alu::Add, Some(first), Some(second)) if first != to => {
                self.code.lea(width, to, Place::Scaled(first, second, 0, 0));
            }
            _ => {
                self.copy(to, a);
                if b != 0 {
                    self.code.alu(width, op, to, self.x(b));
                } else if op == Alu::And {
                    self.code.constant(to, 0);
                }
            }
        }
        if width == W32 {
            self.code.load_extended(4, true, to, Place::Reg(to));
        }
        self.set(rd, to);
    }

    fn shift_immediate(&mut self, insn: Insn, width: Width, op: Shift, by: u8) {
        let to = self.result(insn.rd());
        match (width, insn.rs1()) {
            (W32, 1..) => self.code.mov(W32, to, self.x(insn.rs1())),
            (_, number) => self.copy(to, number),
        }
        self.code.shift_constant(width, op, to, by);
        if width == W32 {
            self.code.load_extended(4, true, to, Place::Reg(to));
        }
        self.set(insn.rd(), to);
    }

    fn shift_register(&mut self, insn: Insn, width: Width, op: Shift) {
        let to = self.result(insn.rd());
        let by = self.value(insn.rs2(), RCX);
        let from = match insn.rs1() {
            0 => {
                self.code.constant(RAX, 0);
                Place::Reg(RAX)
            }
            number => self.x(number),
        };
        self.code.shift_by(width, op, to, from, by);
        if width == W32 {
            self.code.load_extended(4, true, to, Place::Reg(to));
        }
        self.set(insn.rd(), to);
    }

    fn rotate(&mut self, insn: Insn, width: Width, op: Shift) {
        self.copy(RCX, insn.rs2());
        self.copy(RAX, insn.rs1());
        self.code.shift_by_cl(width, op, RAX);
        if width == W32 {
            self.code.load_extended(4, true, RAX, Place::Reg(RAX));
        }
        self.set(insn.rd(), RAX);
    }

    fn product(&mut self, insn: Insn, width: Width) {
        let (rd, mut a, mut b) = (insn.rd(), insn.rs1(), insn.rs2());
        if a == 0 || b == 0 {
            return self.set_constant(rd, 0);
        }
        if rd == b {
            (a, b) = (b, a);
        }
        let to = self.result(rd);
        self.copy(to, a);
        self.code.imul(width, to, self.x(b));
        if width == W32 {
            self.code.load_extended(4, true, to, Place::Reg(to));
        }
        self.set(rd, to);
    }

    fn high_product(&mut self, insn: Insn) {
        let (a, b) = (insn.rs1(), insn.rs2());
        self.copy(RAX, a);
        let by = self.value(b, RCX);
        self.code.multiply(insn.op() == Op::Mulh, Place::Reg(by));
        if insn.op() == Op::Mulhsu {
            // A negative first operand was taken for one that is greater by 2 to the 64.
            self.copy(RAX, a);
            self.code.shift_constant(W64, Shift::Sar, RAX, 63);
            self.code.alu(W64, Alu::And, RAX, Place::Reg(by));
            self.code.alu(W64, Alu::Sub, RDX, Place::Reg(RAX));
        }
        self.set(insn.rd(), RDX);
    }

    fn divide(&mut self, insn: Insn, width: Width) {
        let op = insn.op();
        let is_signed = matches!(op, Op::Div | Op::Divw | Op::Rem | Op::Remw);
        let is_remainder = matches!(op, Op::Rem | Op::Remw | Op::Remu | Op::Remuw);
        self.copy(RCX, insn.rs2());
        self.copy(RAX, insn.rs1());
        let (zero, minus, done) = (self.code.label(), self.code.label(), self.code.label());
        self.code.test(width, RCX, RCX);
        self.code.jump_if(Cond::Equal, zero);
        if is_signed {
            // The least number divided by -1 does not fit.
            self.code.alu_constant(width, Alu::Cmp, Place::Reg(RCX), -1);
            self.code.jump_if(Cond::Equal, minus);
            self.code.sign_to_rdx(width);
        } else {
            self.code.constant(RDX, 0);
        }
        self.code.divide(width, is_signed, RCX);
        if is_remainder {
            self.code.mov_reg(RAX, RDX);
        }
        self.code.jump(done);
        self.code.bind(zero);
        if !is_remainder {
            self.code.constant(RAX, u64::MAX);
        }
        if is_signed {
            self.code.jump(done);
            self.code.bind(minus);
            match is_remainder {
                true => self.code.constant(RAX, 0),
                false => self.code.negate(width, RAX),
            }
        } else {
            self.code.bind(minus);
        }
        self.code.bind(done);
        if width == W32 {
            self.code.load_extended(4, true, RAX, Place::Reg(RAX));
        }
        self.set(insn.rd(), RAX);
    }

    fn shifted_sum(&mut self, insn: Insn, scale: u8, is_word: bool) {
        let mut a = self.value(insn.rs1(), RAX);
        if is_word {
            self.code.mov(W32, RAX, Place::Reg(a));
            a = RAX;
        }
        let b = self.value(insn.rs2(), RCX);
        let to = self.result(insn.rd());
        self.code.lea(W64, to, Place::Scaled(b, a, scale, 0));
        self.set(insn.rd(), to);
    }

    fn count(&mut self, insn: Insn, width: Width, opcode: u8) {
        let to = self.result(insn.rd());
        let a = self.value(insn.rs1(), RAX);
        self.code.count(width, opcode, to, Place::Reg(a));
        self.set(insn.rd(), to);
    }

    /// The second operand if the condition holds of the two, or else the first.
    fn choose(&mut self, insn: Insn, cond: Cond) {
        self.copy(RAX, insn.rs1());
        let b = self.value(insn.rs2(), RCX);
        self.code.alu(W64, Alu::Cmp, RAX, Place::Reg(b));
        self.code.cmov(cond, RAX, Place::Reg(b));
        self.set(insn.rd(), RAX);
    }

    fn extend(&mut self, insn: Insn, size: u8, is_signed: bool) {
        let to = self.result(insn.rd());
        let a = self.value(insn.rs1(), RAX);
        self.code.load_extended(size, is_signed, to, Place::Reg(a));
        self.set(insn.rd(), to);
    }

    /// As [`flick_engine`]'s: the top bit of each byte that is not zero, and from there to all bits.
    fn or_combine(&mut self, insn: Insn) {
        self.copy(RDX, insn.rs1());
        self.code.constant(RCX, LOWER_BITS_OF_BYTES);
        self.code.mov_reg(RAX, RDX);
        self.code.alu(W64, Alu::And, RAX, Place::Reg(RCX));
        self.code.alu(W64, Alu::Add, RAX, Place::Reg(RCX));
        self.code.alu(W64, Alu::Or, RAX, Place::Reg(RDX));
        self.code.not(RCX);
        self.code.alu(W64, Alu::And, RAX, Place::Reg(RCX));
        self.code.mov_reg(RDX, RAX);
        self.code.shift_constant(W64, Shift::Shr, RDX, 7);
        self.code.mov_reg(RCX, RAX);
        self.code.alu(W64, Alu::Sub, RCX, Place::Reg(RDX));
        self.code.alu(W64, Alu::Or, RAX, Place::Reg(RCX));
        self.set(insn.rd(), RAX);
    }

    fn change_bit(&mut self, insn: Insn, which: u8) {
        let b = self.value(insn.rs2(), RCX);
        self.copy(RAX, insn.rs1());
        self.code.change_bit(which, RAX, b);
        self.set(insn.rd(), RAX);
    }

    fn zero_if(&mut self, insn: Insn, cond: Cond) {
        self.copy(RAX, insn.rs1());
        self.code.constant(RDX, 0);
        let b = self.value(insn.rs2(), RCX);
        self.code.test(W64, b, b);
        self.code.cmov(cond, RAX, Place::Reg(RDX));
        self.set(insn.rd(), RAX);
    }
}

fn less(is_signed: bool) -> Cond {
    match is_signed {
        true => Cond::Less,
        false => Cond::Below,
    }
}
