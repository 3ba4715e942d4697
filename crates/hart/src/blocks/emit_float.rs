//! Floating-point instructions on SSE, under the thread's MXCSR, of which the hart's fcsr is a view
//! (`flick_engine::fp`). Where SSE and the ISA differ (NaNs, values out of range, singles that are not
//! boxed, rounding modes that MXCSR lacks) the interpreter executes the instruction: the flags that it
//! raises are those that it would have raised alone, because they stay.
use flick_engine::fp;
use flick_riscv::{Insn, Op};

use super::emitter::Emitter;
use super::hart_frame::{FRM, f, f_upper};
use super::x86_code::{Alu, Cond, Place, RAX, RCX, Shift, W32, W64, Width};

/// Prefixes of scalar instructions.
const SINGLE: u8 = 0xf3;
const DOUBLE: u8 = 0xf2;
const PACKED_DOUBLE: u8 = 0x66;

const LOAD: u8 = 0x10;
const STORE: u8 = 0x11;
const FROM_INTEGER: u8 = 0x2a;
const TO_INTEGER_TRUNCATED: u8 = 0x2c;
const TO_INTEGER: u8 = 0x2d;
const COMPARE_QUIETLY: u8 = 0x2e;
const COMPARE: u8 = 0x2f;
const SQUARE_ROOT: u8 = 0x51;
const XOR: u8 = 0x57;
const ADD: u8 = 0x58;
const MULTIPLY: u8 = 0x59;
const CONVERT: u8 = 0x5a;
const SUBTRACT: u8 = 0x5c;
const DIVIDE: u8 = 0x5e;

const X0: Place = Place::Reg(super::x86_code::Gpr(0));

impl Emitter<'_> {
    pub(super) fn float(&mut self, insn: Insn) {
        match insn.op() {
            Op::FaddS => self.binary(insn, SINGLE, ADD),
            Op::FaddD => self.binary(insn, DOUBLE, ADD),
            Op::FsubS => self.binary(insn, SINGLE, SUBTRACT),
            Op::FsubD => self.binary(insn, DOUBLE, SUBTRACT),
            Op::FmulS => self.binary(insn, SINGLE, MULTIPLY),
            Op::FmulD => self.binary(insn, DOUBLE, MULTIPLY),
            Op::FdivS => self.binary(insn, SINGLE, DIVIDE),
            Op::FdivD => self.binary(insn, DOUBLE, DIVIDE),
            Op::FsqrtS => self.conversion(insn, SINGLE, SQUARE_ROOT, SINGLE),
            Op::FsqrtD => self.conversion(insn, DOUBLE, SQUARE_ROOT, DOUBLE),
            Op::FcvtSD => self.conversion(insn, DOUBLE, CONVERT, SINGLE),
            Op::FcvtDS => self.conversion(insn, SINGLE, CONVERT, DOUBLE),
            Op::FmaddS => self.fused_sum(insn, W32, 0xa9),
            Op::FmaddD => self.fused_sum(insn, W64, 0xa9),
            Op::FmsubS => self.fused_sum(insn, W32, 0xab),
            Op::FmsubD => self.fused_sum(insn, W64, 0xab),
            Op::FnmsubS => self.fused_sum(insn, W32, 0xad),
            Op::FnmsubD => self.fused_sum(insn, W64, 0xad),
            Op::FnmaddS => self.fused_sum(insn, W32, 0xaf),
            Op::FnmaddD => self.fused_sum(insn, W64, 0xaf),
            Op::FsgnjS | Op::FsgnjnS | Op::FsgnjxS => self.sign(insn, W32),
            Op::FsgnjD | Op::FsgnjnD | Op::FsgnjxD => self.sign(insn, W64),
            Op::FeqS => self.equal(insn, SINGLE),
            Op::FeqD => self.equal(insn, DOUBLE),
            Op::FltS => self.less(insn, SINGLE, Cond::Above),
            Op::FltD => self.less(insn, DOUBLE, Cond::Above),
            Op::FleS => self.less(insn, SINGLE, Cond::AboveEqual),
            Op::FleD => self.less(insn, DOUBLE, Cond::AboveEqual),
            Op::FcvtWS => self.round_to_integer(insn, SINGLE, W32),
            Op::FcvtWD => self.round_to_integer(insn, DOUBLE, W32),
            Op::FcvtLS => self.round_to_integer(insn, SINGLE, W64),
            Op::FcvtLD => self.round_to_integer(insn, DOUBLE, W64),
            Op::FcvtSW => self.convert_integer(insn, SINGLE, W32),
            Op::FcvtDW => self.convert_integer(insn, DOUBLE, W32),
            Op::FcvtSL => self.convert_integer(insn, SINGLE, W64),
            Op::FcvtDL | Op::FcvtDWu => self.convert_integer(insn, DOUBLE, W64),
            Op::FmvXD => {
                let to = self.result(insn.rd());
                self.code.mov(W64, to, f(insn.rs1()));
                self.set(insn.rd(), to);
            }
            Op::FmvXW => {
                let to = self.result(insn.rd());
                self.code.load_extended(4, true, to, f(insn.rs1()));
                self.set(insn.rd(), to);
            }
            Op::FmvDX => {
                let from = self.value(insn.rs1(), RAX);
                self.code.store(W64, f(insn.rd()), from);
            }
            Op::FmvWX => {
                let from = self.value(insn.rs1(), RAX);
                self.set_single(insn.rd(), from);
            }
            op => unreachable!("{op:?} is not emitted"),
        }
    }

    /// MXCSR has the rounding mode, if the instruction asks for that of fcsr.
    fn check_mode(&mut self, insn: Insn) {
        if insn.rm() == fp::DYNAMIC {
            self.code.compare_short(FRM, 0);
            let other = self.interpret();
            self.code.jump_if(Cond::NotEqual, other);
        }
    }

    /// A single has to be boxed.
    fn check_box(&mut self, prefix: u8, number: usize) {
        if prefix == SINGLE {
            self.code.alu_constant(W32, Alu::Cmp, f_upper(number), -1);
            let other = self.interpret();
            self.code.jump_if(Cond::NotEqual, other);
        }
    }

    /// Loads a register to xmm0 or xmm1.
    fn load(&mut self, prefix: u8, xmm: u8, number: usize) {
        self.check_box(prefix, number);
        self.code.sse(prefix, W32, LOAD, xmm, f(number));
    }

    /// xmm0 is the result, unless it is a NaN.
    fn set_float(&mut self, prefix: u8, rd: usize) {
        let compare = if prefix == DOUBLE { PACKED_DOUBLE } else { 0 };
        self.code.sse(compare, W32, COMPARE_QUIETLY, 0, X0);
        let other = self.interpret();
        self.code.jump_if(Cond::Parity, other);
        self.code.sse(prefix, W32, STORE, 0, f(rd));
        if prefix == SINGLE {
            self.code.store_constant(W32, f_upper(rd), -1);
        }
    }

    fn binary(&mut self, insn: Insn, prefix: u8, opcode: u8) {
        self.check_mode(insn);
        self.load(prefix, 0, insn.rs1());
        self.check_box(prefix, insn.rs2());
        self.code.sse(prefix, W32, opcode, 0, f(insn.rs2()));
        self.set_float(prefix, insn.rd());
    }

    /// Of one operand.
    fn conversion(&mut self, insn: Insn, from: u8, opcode: u8, to: u8) {
        self.check_mode(insn);
        self.check_box(from, insn.rs1());
        self.clear_xmm0();
        self.code.sse(from, W32, opcode, 0, f(insn.rs1()));
        self.set_float(to, insn.rd());
    }

    /// Scalar conversions keep the upper part of their result, and would wait for it.
    fn clear_xmm0(&mut self) {
        self.code.sse(0, W32, XOR, 0, X0);
    }

    fn fused_sum(&mut self, insn: Insn, width: Width, opcode: u8) {
        let prefix = if width == W64 { DOUBLE } else { SINGLE };
        self.check_mode(insn);
        self.load(prefix, 0, insn.rs1());
        self.load(prefix, 1, insn.rs2());
        self.check_box(prefix, insn.rs3());
        self.code.fused(width, opcode, 0, 1, f(insn.rs3()));
        self.set_float(prefix, insn.rd());
    }

    fn sign(&mut self, insn: Insn, width: Width) {
        let (a, b) = (insn.rs1(), insn.rs2());
        if width == W32 {
            self.check_box(SINGLE, a);
            self.check_box(SINGLE, b);
        }
        let top = if width == W64 { 63 } else { 31 };
        let is_product = matches!(insn.op(), Op::FsgnjxS | Op::FsgnjxD);
        let is_negated = matches!(insn.op(), Op::FsgnjnS | Op::FsgnjnD);
        self.code.mov(width, RAX, f(a));
        self.code.mov(width, RCX, f(b));
        if !is_product {
            self.code.alu(width, Alu::Xor, RCX, Place::Reg(RAX));
        }
        if is_negated {
            self.code.not(RCX);
        }
        // The sign changes where this bit is set.
        self.code.shift_constant(width, Shift::Shr, RCX, top);
        self.code.shift_constant(width, Shift::Shl, RCX, top);
        self.code.alu(width, Alu::Xor, RAX, Place::Reg(RCX));
        match width {
            W64 => self.code.store(W64, f(insn.rd()), RAX),
            W32 => self.set_single(insn.rd(), RAX),
        }
    }

    /// Flags of a comparison of `a` with `b`.
    fn compare_floats(&mut self, prefix: u8, opcode: u8, a: usize, b: usize) {
        self.load(prefix, 0, a);
        self.check_box(prefix, b);
        let packed = if prefix == DOUBLE { PACKED_DOUBLE } else { 0 };
        self.code.sse(packed, W32, opcode, 0, f(b));
    }

    fn set_comparison(&mut self, rd: usize, cond: Cond) {
        self.code.set(cond, RAX);
        let to = self.result(rd);
        self.code.load_extended(1, false, to, Place::Reg(RAX));
        self.set(rd, to);
    }

    fn equal(&mut self, insn: Insn, prefix: u8) {
        self.compare_floats(prefix, COMPARE_QUIETLY, insn.rs1(), insn.rs2());
        let unordered = self.interpret();
        self.code.jump_if(Cond::Parity, unordered);
        self.set_comparison(insn.rd(), Cond::Equal);
    }

    /// The second operand is compared with the first, so that no condition holds of NaNs.
    fn less(&mut self, insn: Insn, prefix: u8, cond: Cond) {
        self.compare_floats(prefix, COMPARE, insn.rs2(), insn.rs1());
        self.set_comparison(insn.rd(), cond);
    }

    fn round_to_integer(&mut self, insn: Insn, prefix: u8, width: Width) {
        self.check_mode(insn);
        self.check_box(prefix, insn.rs1());
        let opcode = match insn.rm() {
            fp::RTZ => TO_INTEGER_TRUNCATED,
            _ => TO_INTEGER,
        };
        self.code.sse(prefix, width, opcode, RAX.0, f(insn.rs1()));
        // The least number is also the answer for what is out of range.
        self.code.mov_reg(RCX, RAX);
        self.code.negate(width, RCX);
        let other = self.interpret();
        self.code.jump_if(Cond::Overflow, other);
        if width == W32 {
            self.code.load_extended(4, true, RAX, Place::Reg(RAX));
        }
        self.set(insn.rd(), RAX);
    }

    fn convert_integer(&mut self, insn: Insn, prefix: u8, width: Width) {
        self.check_mode(insn);
        let mut from = self.value(insn.rs1(), RAX);
        if insn.op() == Op::FcvtDWu {
            self.code.mov(W32, RAX, Place::Reg(from));
            from = RAX;
        }
        self.clear_xmm0();
        let from = Place::Reg(from);
        self.code.sse(prefix, width, FROM_INTEGER, 0, from);
        self.code.sse(prefix, W32, STORE, 0, f(insn.rd()));
        if prefix == SINGLE {
            self.code.store_constant(W32, f_upper(insn.rd()), -1);
        }
    }
}
