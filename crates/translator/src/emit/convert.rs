//! Conversions between floating-point values and integers, and from double to single precision.
//!
//! Results, flags and traps are the ISA's (chapter "F", "Single-Precision Floating-Point Conversion
//! and Move Instructions"): what does not fit saturates and raises NV, and NX is raised only where
//! NV is not. The host's own conversions give the least integer for everything that does not fit.
use super::*;
use crate::code::{FromInt, Integer, Node, Rounding, ToInt};
use crate::registers::FLOAT_SCRATCH;
use flick_engine::fp::env::RC_MASK;

/// Of `round`: the mode that MXCSR has, and not to raise NX for a result that is not exact.
const ROUND_AS_MXCSR: i32 = 4;
const ROUND_QUIETLY: i32 = 8;
const ROUND_TO_ZERO: i32 = 3;

/// The instruction and where guest registers are, for what may trap behind the function's code.
pub struct Trap {
    pc: u64,
    places: Vec<places::At>,
}

/// What gave the least integer.
pub struct Saturate {
    of: ToInt,
    register: usize,
    to: usize,
    /// Where a result that fits goes, if NX is still to be raised there.
    fits: Option<CodeLabel>,
    back: CodeLabel,
}

pub struct Unsigned {
    of: ToInt,
    register: usize,
    /// It has the bits of what was rounded.
    to: usize,
    /// Where what is in the range goes after all.
    fits: CodeLabel,
    back: CodeLabel,
    trap: Trap,
}

pub struct Rounded {
    of: FromInt,
    insn: u64,
    register: usize,
    scratch: usize,
    to: usize,
    back: CodeLabel,
    trap: Trap,
}

/// Bits of numbers in both precisions.
#[derive(Clone, Copy)]
struct Bits {
    single: u32,
    double: u64,
}

const MINUS_ZERO: Bits = bits(-0.0);
const MINUS_ONE: Bits = bits(-1.0);
const MINUS_INFINITY: Bits = bits(f64::NEG_INFINITY);
const TWO_TO_23: f64 = 8_388_608.0;
const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
const TWO_TO_31: f64 = 2_147_483_648.0;
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
/// The least number that fits a word.
const LEAST_WORD: Bits = bits(-TWO_TO_31);

const fn bits(number: f64) -> Bits {
    Bits {
        single: (number as f32).to_bits(),
        double: number.to_bits(),
    }
}

/// The greatest number below a power of two.
const fn below(power: f64) -> Bits {
    let Bits { single, double } = bits(power);
    Bits {
        single: single - 1,
        double: double - 1,
    }
}

/// MXCSR's rounding control for a mode that it has.
fn rounding_control(rounding: Rounding) -> u32 {
    match rounding {
        Rounding::Down => 1 << 13,
        Rounding::Up => 2 << 13,
        Rounding::Zero => 3 << 13,
        _ => 0,
    }
}

fn round_as(rounding: Rounding) -> i32 {
    match rounding {
        Rounding::Current => ROUND_AS_MXCSR,
        Rounding::Away => ROUND_TO_ZERO,
        other => (rounding_control(other) >> 13) as i32,
    }
}

impl ToInt {
    fn is_word(self) -> bool {
        matches!(self.to, Integer::W | Integer::Wu)
    }

    fn is_signed(self) -> bool {
        matches!(self.to, Integer::W | Integer::L)
    }

    /// Whether a value may be both inexact and out of range, so that NX has to wait for the range.
    fn raises_inexact_late(self) -> bool {
        match (self.to, self.rounding) {
            (_, Rounding::Away) => true,
            (Integer::W, _) => !self.single,
            (Integer::L, _) => false,
            (Integer::Wu | Integer::Lu, rounding) => rounding != Rounding::Zero,
        }
    }
}

impl Emitter<'_> {
    fn trap(&mut self, node: &Node) -> Trap {
        Trap {
            pc: node.pc,
            places: self.places(node),
        }
    }

    /// As [`Emitter::record`], behind the function's code.
    fn record_trap(&mut self, trap: &Trap) {
        let next = self.a.instructions().len();
        self.recorder.record(next, trap.pc, trap.places.clone());
    }

    /// A floating-point value's bits, in an integer register; of a single the lower half's.
    fn read_bits(&mut self, single: bool, to: usize, from: usize) -> Emitted {
        if single {
            self.a.movd(R32[to], XMM[from])
        } else {
            self.a.movq(R64[to], XMM[from])
        }
    }

    fn compare_bits(&mut self, single: bool, register: usize, with: Bits) -> Emitted {
        if single {
            self.a.cmp(R32[register], with.single as i32)
        } else {
            let with = self.constant(with.double);
            self.a.cmp(R64[register], with)
        }
    }

    fn load_number(&mut self, single: bool, number: Bits) -> AsmMemoryOperand {
        self.constant(if single {
            number.single.into()
        } else {
            number.double
        })
    }

    fn round(&mut self, single: bool, to: usize, from: usize, how: i32) -> Emitted {
        if single {
            self.a.roundss(XMM[to], XMM[from], how)
        } else {
            self.a.roundsd(XMM[to], XMM[from], how)
        }
    }

    fn truncate(&mut self, single: bool, word: bool, to: usize, from: usize) -> Emitted {
        match (single, word) {
            (false, true) => self.a.cvttsd2si(R32[to], XMM[from]),
            (false, false) => self.a.cvttsd2si(R64[to], XMM[from]),
            (true, true) => self.a.cvttss2si(R32[to], XMM[from]),
            (true, false) => self.a.cvttss2si(R64[to], XMM[from]),
        }
    }

    fn convert(&mut self, single: bool, word: bool, to: usize, from: usize) -> Emitted {
        match (single, word) {
            (false, true) => self.a.cvtsd2si(R32[to], XMM[from]),
            (false, false) => self.a.cvtsd2si(R64[to], XMM[from]),
            (true, true) => self.a.cvtss2si(R32[to], XMM[from]),
            (true, false) => self.a.cvtss2si(R64[to], XMM[from]),
        }
    }

    pub fn float_to_int(&mut self, of: ToInt, node: &Node, operands: &[Allocation]) -> Emitted {
        let (register, to) = (number(operands[0]), number(operands[operands.len() - 1]));
        if !of.is_signed() {
            return self.float_to_unsigned(of, node, operands);
        }
        let word = of.is_word();
        match of.rounding {
            Rounding::Zero => {
                self.record(node);
                self.truncate(of.single, word, to, register)?;
            }
            Rounding::Current => {
                self.record(node);
                self.convert(of.single, word, to, register)?;
            }
            _ => {
                self.round_for(of, node, operands)?;
                self.record(node);
                self.truncate(of.single, word, to, FLOAT_SCRATCH)?;
            }
        }
        // What is out of range gives the least integer, of which alone 1 cannot be taken.
        if word {
            self.a.cmp(R32[to], 1)?;
        } else {
            self.a.cmp(R64[to], 1)?;
        }
        let late = !of.is_direct() && of.raises_inexact_late();
        let (mut fits, mut back) = (self.a.create_label(), self.a.create_label());
        let cold = self.cold(Cold::Saturate(Saturate {
            of,
            register,
            to,
            fits: (late && word).then_some(fits),
            back,
        }));
        self.a.jo(cold)?;
        if late {
            bind(&mut self.a, &mut fits)?;
            self.record(node);
            self.round(of.single, FLOAT_SCRATCH, register, round_as(of.rounding))?;
        }
        bind(&mut self.a, &mut back)
    }

    /// What fits and is not negative is what the signed conversion to 64 bits gives.
    fn float_to_unsigned(&mut self, of: ToInt, node: &Node, operands: &[Allocation]) -> Emitted {
        let (register, to) = (number(operands[0]), number(operands[operands.len() - 1]));
        let rounded = if of.rounding == Rounding::Zero {
            register
        } else {
            self.round_for(of, node, operands)?;
            FLOAT_SCRATCH
        };
        self.read_bits(of.single, to, rounded)?;
        let most = below(if of.is_word() {
            2.0 * TWO_TO_31
        } else {
            TWO_TO_63
        });
        self.compare_bits(of.single, to, most)?;
        let (mut fits, mut back) = (self.a.create_label(), self.a.create_label());
        let trap = self.trap(node);
        let cold = self.cold(Cold::Unsigned(Unsigned {
            of,
            register,
            to,
            fits,
            back,
            trap,
        }));
        self.a.ja(cold)?;
        bind(&mut self.a, &mut fits)?;
        self.record(node);
        self.truncate(of.single, false, to, rounded)?;
        if of.raises_inexact_late() {
            self.record(node);
            self.round(of.single, FLOAT_SCRATCH, register, round_as(of.rounding))?;
        }
        bind(&mut self.a, &mut back)
    }

    /// The operand rounded to an integer, in xmm15; NX is raised unless it has to wait.
    fn round_for(&mut self, of: ToInt, node: &Node, operands: &[Allocation]) -> Emitted {
        let register = number(operands[0]);
        let quietly = if of.raises_inexact_late() {
            ROUND_QUIETLY
        } else {
            0
        };
        self.record(node);
        let how = round_as(of.rounding) | quietly;
        self.round(of.single, FLOAT_SCRATCH, register, how)?;
        if of.rounding == Rounding::Away {
            let (rest, scratch) = (number(operands[1]), number(operands[2]));
            self.ties_away(of.single, register, rest, scratch)?;
        }
        Ok(())
    }

    /// Away from zero what xmm15 has, if half of 1 or more was cut off. All of this is exact: what
    /// has no fraction, and what is less than a half and may be subnormal, is left out.
    fn ties_away(&mut self, single: bool, x: usize, rest: usize, scratch: usize) -> Emitted {
        const HALF: Bits = bits(0.5);
        let whole = bits(if single { TWO_TO_23 } else { TWO_TO_52 });
        let mut done = self.a.create_label();
        self.read_bits(single, scratch, x)?;
        let a = &mut self.a;
        // Without the sign, so that all bits are one place further left.
        if single {
            let most = whole.single - HALF.single;
            a.add(R32[scratch], R32[scratch])?;
            a.sub(R32[scratch], (HALF.single << 1) as i32)?;
            a.cmp(R32[scratch], (most << 1) as i32)?;
        } else {
            let most = whole.double - HALF.double;
            let (half, most) = (self.constant(HALF.double << 1), self.constant(most << 1));
            let a = &mut self.a;
            a.add(R64[scratch], R64[scratch])?;
            a.sub(R64[scratch], half)?;
            a.cmp(R64[scratch], most)?;
        }
        let a = &mut self.a;
        a.jae(done)?;
        a.movaps(XMM[rest], XMM[x])?;
        if single {
            a.subss(XMM[rest], xmm15)?;
            a.addss(XMM[rest], XMM[rest])?;
            a.roundss(XMM[rest], XMM[rest], ROUND_TO_ZERO | ROUND_QUIETLY)?;
            a.addss(xmm15, XMM[rest])?;
        } else {
            a.subsd(XMM[rest], xmm15)?;
            a.addsd(XMM[rest], XMM[rest])?;
            a.roundsd(XMM[rest], XMM[rest], ROUND_TO_ZERO | ROUND_QUIETLY)?;
            a.addsd(xmm15, XMM[rest])?;
        }
        bind(a, &mut done)
    }

    /// All ones if the number is negative, else 0; a NaN counts as positive.
    fn spread_sign(&mut self, single: bool, register: usize, to: usize) -> Emitted {
        self.read_bits(single, to, register)?;
        self.compare_bits(single, to, MINUS_INFINITY)?;
        let mut number = self.a.create_label();
        self.a.jbe(number)?;
        self.a.xor(R32[to], R32[to])?;
        bind(&mut self.a, &mut number)?;
        if single {
            self.a.movsxd(R64[to], R32[to])?;
        }
        self.a.sar(R64[to], 63)
    }

    pub fn saturate(&mut self, saturate: Saturate) -> Emitted {
        let Saturate {
            of,
            register,
            to,
            fits,
            back,
        } = saturate;
        if let Some(fits) = fits {
            self.read_bits(of.single, to, FLOAT_SCRATCH)?;
            self.compare_bits(of.single, to, LEAST_WORD)?;
            self.a.mov(R32[to], i32::MIN)?;
            self.a.je(fits)?;
        }
        self.spread_sign(of.single, register, to)?;
        if of.is_word() {
            self.a.xor(R32[to], i32::MAX)?;
        } else {
            let most = self.constant(i64::MAX as u64);
            self.a.xor(R64[to], most)?;
        }
        self.a.jmp(back)
    }

    pub fn rare_unsigned(&mut self, unsigned: Unsigned) -> Emitted {
        let Unsigned {
            of,
            register,
            to,
            fits,
            back,
            trap,
        } = unsigned;
        let (mut negative, mut outside) = (self.a.create_label(), self.a.create_label());
        let towards_zero = of.rounding == Rounding::Zero;
        if of.single {
            self.a.test(R32[to], R32[to])?;
        } else {
            self.a.test(R64[to], R64[to])?;
        }
        if of.is_word() {
            self.a.jns(outside)?;
        } else {
            self.a.js(negative)?;
            self.compare_bits(of.single, to, below(2.0 * TWO_TO_63))?;
            self.a.ja(outside)?;
            // Above 2^63 all numbers are integers, and this difference is one of them.
            if towards_zero {
                self.a.movaps(xmm15, XMM[register])?;
            }
            let high = self.load_number(of.single, bits(TWO_TO_63));
            if of.single {
                self.a.subss(xmm15, high)?;
            } else {
                self.a.subsd(xmm15, high)?;
            }
            self.truncate(of.single, false, to, FLOAT_SCRATCH)?;
            self.a.btc(R64[to], 63)?;
            self.a.jmp(back)?;
        }
        bind(&mut self.a, &mut negative)?;
        if towards_zero {
            self.compare_bits(of.single, to, MINUS_ONE)?;
            self.a.jb(fits)?;
        } else {
            self.compare_bits(of.single, to, MINUS_ZERO)?;
            self.a.je(fits)?;
        }
        bind(&mut self.a, &mut outside)?;
        let nan = self.constant(f64::NAN.to_bits());
        self.record_trap(&trap);
        self.a.cvttsd2si(R64[to], nan)?;
        self.spread_sign(of.single, register, to)?;
        self.a.not(R64[to])?;
        self.a.jmp(back)
    }

    fn integer_to_float(&mut self, of: FromInt, to: usize, from: usize) -> Emitted {
        let d = XMM[to];
        match (of.from, of.single) {
            (Integer::W, false) => self.a.cvtsi2sd(d, R32[from]),
            (Integer::W, true) => self.a.cvtsi2ss(d, R32[from]),
            (_, false) => self.a.cvtsi2sd(d, R64[from]),
            (_, true) => self.a.cvtsi2ss(d, R64[from]),
        }
    }

    pub fn int_to_float(
        &mut self,
        of: FromInt,
        insn: u64,
        node: &Node,
        operands: &[Allocation],
    ) -> Emitted {
        let (x, d) = (number(operands[0]), number(operands[operands.len() - 1]));
        let scratch = number(operands[1]);
        // Not to wait for what the register held; of a single the upper half is set.
        if of.single {
            self.a.pcmpeqd(XMM[d], XMM[d])?;
        } else {
            self.a.xorps(XMM[d], XMM[d])?;
        }
        let is_plain = of.rounding == Rounding::Current && of.from != Integer::Lu;
        let mut back = self.a.create_label();
        if !is_plain {
            let trap = self.trap(node);
            let cold = self.cold(Cold::FromInt(Rounded {
                of,
                insn,
                register: x,
                scratch,
                to: d,
                back,
                trap,
            }));
            self.unless_plain(of, x, scratch, cold)?;
        }
        self.record(node);
        self.integer_to_float(of, d, x)?;
        bind(&mut self.a, &mut back)
    }

    /// Jumps where the signed conversion would not do, or would round by another mode.
    fn unless_plain(&mut self, of: FromInt, x: usize, t: usize, cold: CodeLabel) -> Emitted {
        let precision = if of.single { 24 } else { 53 };
        let a = &mut self.a;
        match (of.rounding, of.from) {
            (Rounding::Current, _) => {
                a.test(R64[x], R64[x])?;
                a.js(cold)
            }
            (_, Integer::Lu) => {
                a.mov(R64[t], R64[x])?;
                a.shr(R64[t], precision)?;
                a.jne(cold)
            }
            (_, from) => {
                // Nothing but the sign is above the precision.
                if from == Integer::W {
                    a.movsxd(R64[t], R32[x])?;
                } else {
                    a.mov(R64[t], R64[x])?;
                }
                a.sar(R64[t], precision)?;
                a.add(R64[t], 1)?;
                a.cmp(R64[t], 1)?;
                a.ja(cold)
            }
        }
    }

    pub fn rare_from_int(&mut self, rounded: Rounded) -> Emitted {
        let (of, scratch, back) = (rounded.of, rounded.scratch, rounded.back);
        match of.rounding {
            Rounding::Current => self.halves(&rounded)?,
            Rounding::Away => {
                // For the flag, and the trap: what is inexact is so in every mode.
                self.as_mxcsr_rounds(&rounded)?;
                self.by_interpreter(&rounded)?;
            }
            rounding => {
                self.begin_rounding(rounding, scratch)?;
                self.as_mxcsr_rounds(&rounded)?;
                self.end_rounding(scratch)?;
            }
        }
        self.a.jmp(back)
    }

    fn as_mxcsr_rounds(&mut self, rounded: &Rounded) -> Emitted {
        if rounded.of.from != Integer::Lu {
            self.record_trap(&rounded.trap);
            return self.integer_to_float(rounded.of, rounded.to, rounded.register);
        }
        let x = R64[rounded.register];
        let (mut high, mut done) = (self.a.create_label(), self.a.create_label());
        self.a.test(x, x)?;
        self.a.js(high)?;
        self.record_trap(&rounded.trap);
        self.integer_to_float(rounded.of, rounded.to, rounded.register)?;
        self.a.jmp(done)?;
        bind(&mut self.a, &mut high)?;
        self.halves(rounded)?;
        bind(&mut self.a, &mut done)
    }

    /// Half of a large number, with the lost bit kept as a sticky one, rounds as the number does.
    fn halves(&mut self, rounded: &Rounded) -> Emitted {
        let (x, t, d) = (R64[rounded.register], R64[rounded.scratch], XMM[rounded.to]);
        let mut even = self.a.create_label();
        self.a.mov(t, x)?;
        self.a.shr(t, 1)?;
        self.a.jae(even)?;
        self.a.or(t, 1)?;
        bind(&mut self.a, &mut even)?;
        self.record_trap(&rounded.trap);
        self.integer_to_float(rounded.of, rounded.to, rounded.scratch)?;
        if rounded.of.single {
            self.a.addss(d, d)
        } else {
            self.a.addsd(d, d)
        }
    }

    fn by_interpreter(&mut self, rounded: &Rounded) -> Emitted {
        self.a.sub(rsp, 16)?;
        self.depth(self.frame + 16);
        self.a.mov(qword_ptr(rsp), R64[rounded.register])?;
        let insn = self.constant(rounded.insn);
        self.a.movsd_2(xmm15, insn)?;
        self.a.movsd_2(qword_ptr(rsp + 8), xmm15)?;
        self.engine_function(Word::Convert, true)?;
        self.a.movsd_2(XMM[rounded.to], qword_ptr(rsp))?;
        self.a.lea(rsp, rsp + 16)?;
        self.depth(self.frame);
        Ok(())
    }

    pub fn narrow(&mut self, rounding: Rounding, node: &Node, operands: &[Allocation]) -> Emitted {
        let (x, d) = (number(operands[0]), number(operands[operands.len() - 1]));
        self.a.pcmpeqd(XMM[d], XMM[d])?;
        if rounding == Rounding::Current {
            self.record(node);
            return self.a.cvtsd2ss(XMM[d], XMM[x]);
        }
        let scratch = number(operands[1]);
        self.begin_rounding(rounding, scratch)?;
        self.record(node);
        self.a.cvtsd2ss(XMM[d], XMM[x])?;
        self.end_rounding(scratch)
    }

    /// Another rounding mode for MXCSR, whose old value stays below the stack's end, where no
    /// handler of a signal writes (System V psABI 3.2.2).
    fn begin_rounding(&mut self, rounding: Rounding, scratch: usize) -> Emitted {
        let (old, new, t) = (dword_ptr(rsp - 8), dword_ptr(rsp - 4), R32[scratch]);
        self.a.stmxcsr(old)?;
        self.a.mov(t, old)?;
        self.a.and(t, !RC_MASK as i32)?;
        self.a.or(t, rounding_control(rounding) as i32)?;
        self.a.mov(new, t)?;
        self.a.ldmxcsr(new)
    }

    /// The old rounding mode, with the flags as they are.
    fn end_rounding(&mut self, scratch: usize) -> Emitted {
        let (old, new, t) = (dword_ptr(rsp - 8), dword_ptr(rsp - 4), R32[scratch]);
        self.a.stmxcsr(new)?;
        self.a.mov(t, new)?;
        self.a.and(t, !RC_MASK as i32)?;
        self.a.and(old, RC_MASK as i32)?;
        self.a.or(t, old)?;
        self.a.mov(new, t)?;
        self.a.ldmxcsr(new)
    }
}
