//! Computations on integer registers.
use super::*;
use crate::code::{Alu, Cc, Shift, Unary};

impl Emitter<'_> {
    /// Compares and sets the flags for `cc`.
    pub fn compare(
        &mut self,
        cc: Cc,
        k: Option<i32>,
        x: usize,
        y: Option<usize>,
        word: bool,
    ) -> Emitted {
        let a = &mut self.a;
        let unsigned = matches!(cc, Cc::B | Cc::Ae);
        match (k, y, word) {
            (Some(0), _, true) if !unsigned => a.test(R32[x], R32[x]),
            (Some(0), _, false) if !unsigned => a.test(R64[x], R64[x]),
            (Some(k), _, true) => a.cmp(R32[x], k),
            (Some(k), _, false) => a.cmp(R64[x], k),
            (None, Some(y), true) => a.cmp(R32[x], R32[y]),
            (None, Some(y), false) => a.cmp(R64[x], R64[y]),
            (None, None, _) => a.ud2(),
        }
    }

    pub fn arithmetic(&mut self, op: &Op, operands: &[Allocation]) -> Emitted {
        let r = |k: usize| number(operands[k]);
        match *op {
            Op::Entry | Op::Undef => Ok(()),
            // Changes the flags, which no operation leaves to another.
            Op::Const(0) => self.a.xor(R32[r(0)], R32[r(0)]),
            Op::Const(k) => match (u32::try_from(k), i32::try_from(k)) {
                (Ok(k), _) => self.a.mov(R32[r(0)], k),
                (_, Ok(k)) => self.a.mov(R64[r(0)], i64::from(k)),
                _ => self.a.mov(R64[r(0)], k),
            },
            Op::Address(at) => self.load_guest_address(r(0), at, false),
            Op::GetSp(0) => self.a.mov(R64[r(0)], r15),
            Op::GetSp(k) => self.a.lea(R64[r(0)], r15 + k),
            Op::GetHome(place) => self.a.mov(R64[r(0)], R64[place.hw_enc()]),
            Op::SetHome(place) => self.a.mov(R64[place.hw_enc()], R64[r(0)]),
            Op::SetSp => {
                self.a.mov(r15, R64[r(0)])?;
                self.a.mov(Self::sp_slot(), r15)
            }
            Op::AddSp(k) => {
                self.a.add(r15, k)?;
                // Where sp goes up, what the hart has stays a place below which handlers may start.
                match k < 0 {
                    true => self.a.mov(Self::sp_slot(), r15),
                    false => Ok(()),
                }
            }
            Op::Unary(unary) => self.unary(unary, r(0), r(1)),
            Op::Alu(alu, word) => self.alu(alu, word, r(0), r(1), r(2)),
            Op::AluImm(alu, k, word) => self.alu_imm(alu, k, word, r(0), r(1)),
            Op::Shift(shift, word) => self.shift(shift, word, r(0), r(1), r(2)),
            Op::ShiftImm(shift, n, word) => self.shift_imm(shift, n, word, r(0), r(1)),
            Op::AndNot => self.a.andn(R64[r(2)], R64[r(1)], R64[r(0)]),
            Op::Other(cc) => {
                let (x, y, d) = (r(0), r(1), r(2));
                self.a.cmp(R64[x], R64[y])?;
                self.move_if(cc, d, y)
            }
            Op::IfZero(cc) => {
                let (y, zero, d) = (r(1), r(2), r(3));
                self.a.test(R64[y], R64[y])?;
                self.move_if(cc, d, zero)
            }
            Op::Lea(k, offset) => {
                let address = R64[r(0)] + R64[r(1)] * (1i32 << k) + offset;
                self.a.lea(R64[r(2)], address)
            }
            Op::Set(cc, k) => {
                let d = r(if k.is_some() { 1 } else { 2 });
                let y = k.is_none().then(|| r(1));
                self.compare(cc, k, r(0), y, false)?;
                match cc {
                    Cc::E => self.a.sete(R8[d])?,
                    Cc::Ne => self.a.setne(R8[d])?,
                    Cc::L => self.a.setl(R8[d])?,
                    Cc::Ge => self.a.setge(R8[d])?,
                    Cc::B => self.a.setb(R8[d])?,
                    Cc::Ae => self.a.setae(R8[d])?,
                }
                self.a.movzx(R32[d], R8[d])
            }
            Op::MulHigh { signed: true } => self.a.imul(R64[r(1)]),
            Op::MulHigh { signed: false } => self.a.mul(R64[r(1)]),
            Op::Div { signed, word, .. } => self.divide(signed, word, r(1)),
            Op::Fence => self.a.mfence(),
            Op::Pause => self.a.pause(),
            Op::Count(n) => self.add_to_count(n),
            // All others are emitted elsewhere.
            _ => self.a.ud2(),
        }
    }

    fn move_if(&mut self, cc: Cc, d: usize, from: usize) -> Emitted {
        let a = &mut self.a;
        match cc {
            Cc::E => a.cmove(R64[d], R64[from]),
            Cc::Ne => a.cmovne(R64[d], R64[from]),
            Cc::L => a.cmovl(R64[d], R64[from]),
            Cc::Ge => a.cmovge(R64[d], R64[from]),
            Cc::B => a.cmovb(R64[d], R64[from]),
            Cc::Ae => a.cmovae(R64[d], R64[from]),
        }
    }

    /// The guest's sp for handlers of signals: they start below it.
    fn sp_slot() -> AsmMemoryOperand {
        qword_ptr(rbp + Self::hart(std::mem::offset_of!(flick_engine::Hart, x) + 16))
    }

    fn unary(&mut self, unary: Unary, x: usize, d: usize) -> Emitted {
        let a = &mut self.a;
        match unary {
            Unary::Sext8 => a.movsx(R64[d], R8[x]),
            Unary::Sext16 => a.movsx(R64[d], R16[x]),
            Unary::Sext32 => a.movsxd(R64[d], R32[x]),
            Unary::Zext16 => a.movzx(R32[d], R16[x]),
            Unary::Zext32 => a.mov(R32[d], R32[x]),
            Unary::Swap => {
                a.mov(R64[d], R64[x])?;
                a.bswap(R64[d])
            }
            Unary::LeadingZeros { word: true } => a.lzcnt(R32[d], R32[x]),
            Unary::LeadingZeros { word: false } => a.lzcnt(R64[d], R64[x]),
            Unary::TrailingZeros { word: true } => a.tzcnt(R32[d], R32[x]),
            Unary::TrailingZeros { word: false } => a.tzcnt(R64[d], R64[x]),
            Unary::Ones { word: true } => a.popcnt(R32[d], R32[x]),
            Unary::Ones { word: false } => a.popcnt(R64[d], R64[x]),
        }
    }

    /// `d` is `x` for all but additions.
    fn alu(&mut self, alu: Alu, word: bool, x: usize, y: usize, d: usize) -> Emitted {
        let a = &mut self.a;
        match (alu, word) {
            (Alu::Add, false) if d == x => a.add(R64[d], R64[y]),
            (Alu::Add, false) if d == y => a.add(R64[d], R64[x]),
            (Alu::Add, false) => a.lea(R64[d], R64[x] + R64[y]),
            (Alu::Add, true) if d == x => a.add(R32[d], R32[y]),
            (Alu::Add, true) if d == y => a.add(R32[d], R32[x]),
            (Alu::Add, true) => a.lea(R32[d], R64[x] + R64[y]),
            (Alu::Sub, false) => a.sub(R64[d], R64[y]),
            (Alu::Sub, true) => a.sub(R32[d], R32[y]),
            (Alu::And, false) => a.and(R64[d], R64[y]),
            (Alu::And, true) => a.and(R32[d], R32[y]),
            (Alu::Or, false) => a.or(R64[d], R64[y]),
            (Alu::Or, true) => a.or(R32[d], R32[y]),
            (Alu::Xor, false) => a.xor(R64[d], R64[y]),
            (Alu::Xor, true) => a.xor(R32[d], R32[y]),
            (Alu::Mul, false) => a.imul_2(R64[d], R64[y]),
            (Alu::Mul, true) => a.imul_2(R32[d], R32[y]),
        }
    }

    /// `d` is `x` for all but additions and products.
    fn alu_imm(&mut self, alu: Alu, k: i32, word: bool, x: usize, d: usize) -> Emitted {
        let a = &mut self.a;
        match (alu, word) {
            (Alu::Add, false) if d == x => a.add(R64[d], k),
            (Alu::Add, false) => a.lea(R64[d], R64[x] + k),
            (Alu::Add, true) if d == x => a.add(R32[d], k),
            (Alu::Add, true) => a.lea(R32[d], R64[x] + k),
            (Alu::And, _) if k == 255 => a.movzx(R32[d], R8[d]),
            (Alu::And, false) if k < 0 => a.and(R64[d], k),
            (Alu::And, _) => a.and(R32[d], k),
            (Alu::Or, false) => a.or(R64[d], k),
            (Alu::Or, true) => a.or(R32[d], k),
            (Alu::Xor, false) if k == -1 => a.not(R64[d]),
            (Alu::Xor, true) if k == -1 => a.not(R32[d]),
            (Alu::Xor, false) => a.xor(R64[d], k),
            (Alu::Xor, true) => a.xor(R32[d], k),
            (Alu::Mul, false) => a.imul_3(R64[d], R64[x], k),
            (Alu::Mul, true) => a.imul_3(R32[d], R32[x], k),
            // A subtraction of a constant is an addition.
            (Alu::Sub, _) => a.ud2(),
        }
    }

    fn shift(&mut self, shift: Shift, word: bool, x: usize, n: usize, d: usize) -> Emitted {
        let a = &mut self.a;
        match (shift, word) {
            // Tied to the first operand, with the count in cl.
            (Shift::Rotate, false) => a.ror(R64[d], cl),
            (Shift::Rotate, true) => a.ror(R32[d], cl),
            (Shift::RotateLeft, false) => a.rol(R64[d], cl),
            (Shift::RotateLeft, true) => a.rol(R32[d], cl),
            (Shift::Left, false) => a.shlx(R64[d], R64[x], R64[n]),
            (Shift::Right, false) => a.shrx(R64[d], R64[x], R64[n]),
            (Shift::Arithmetic, false) => a.sarx(R64[d], R64[x], R64[n]),
            (Shift::Left, true) => a.shlx(R32[d], R32[x], R32[n]),
            (Shift::Right, true) => a.shrx(R32[d], R32[x], R32[n]),
            (Shift::Arithmetic, true) => a.sarx(R32[d], R32[x], R32[n]),
        }
    }

    /// But for rotations to the right the result has the operand's register.
    fn shift_imm(&mut self, shift: Shift, n: u8, word: bool, x: usize, d: usize) -> Emitted {
        let n = u32::from(n);
        let a = &mut self.a;
        match (shift, word) {
            (Shift::Rotate, false) if x != d => a.rorx(R64[d], R64[x], n),
            (Shift::Rotate, true) if x != d => a.rorx(R32[d], R32[x], n),
            (Shift::Left, false) => a.shl(R64[d], n),
            (Shift::Right, false) => a.shr(R64[d], n),
            (Shift::Arithmetic, false) => a.sar(R64[d], n),
            (Shift::Rotate, false) => a.ror(R64[d], n),
            (Shift::Left, true) => a.shl(R32[d], n),
            (Shift::Right, true) => a.shr(R32[d], n),
            (Shift::Arithmetic, true) => a.sar(R32[d], n),
            (Shift::Rotate, true) => a.ror(R32[d], n),
            (Shift::RotateLeft, false) => a.rol(R64[d], n),
            (Shift::RotateLeft, true) => a.rol(R32[d], n),
        }
    }

    /// rax by `y`, which is not in rdx; quotient in rax, remainder in rdx, as the ISA defines them
    /// for divisors 0 and -1 ("M" extension, "Division Operations").
    fn divide(&mut self, signed: bool, word: bool, y: usize) -> Emitted {
        let a = &mut self.a;
        let (mut zero, mut minus, mut done) =
            (a.create_label(), a.create_label(), a.create_label());
        if word {
            a.test(R32[y], R32[y])?;
        } else {
            a.test(R64[y], R64[y])?;
        }
        a.je(zero)?;
        if signed {
            if word {
                a.cmp(R32[y], -1)?;
            } else {
                a.cmp(R64[y], -1)?;
            }
            a.je(minus)?;
        }
        match (signed, word) {
            (true, false) => {
                a.cqo()?;
                a.idiv(R64[y])?;
            }
            (true, true) => {
                a.cdq()?;
                a.idiv(R32[y])?;
            }
            (false, false) => {
                a.xor(edx, edx)?;
                a.div(R64[y])?;
            }
            (false, true) => {
                a.xor(edx, edx)?;
                a.div(R32[y])?;
            }
        }
        a.jmp(done)?;
        bind(a, &mut zero)?;
        a.mov(rdx, rax)?;
        a.mov(rax, -1i64)?;
        if signed {
            a.jmp(done)?;
            bind(a, &mut minus)?;
            a.neg(rax)?;
            a.xor(edx, edx)?;
        }
        bind(a, &mut done)
    }
}
