//! Floating point on the SSE unit.
use super::*;
use crate::code::{Arith, Compare, CopySign, Node, Sign};

const SIGN: u64 = 1 << 63;
const SIGN_SINGLE: u64 = 1 << 31;
const BOX: u64 = 0xffff_ffff_0000_0000;

/// d = x op y, where y is a register or a place in memory.
macro_rules! arithmetic {
    ($a:expr, $op:expr, $single:expr, $d:expr, $x:expr, $y:expr) => {
        match ($op, $single) {
            (Arith::Add, false) => $a.vaddsd($d, $x, $y),
            (Arith::Sub, false) => $a.vsubsd($d, $x, $y),
            (Arith::Mul, false) => $a.vmulsd($d, $x, $y),
            (Arith::Div, false) => $a.vdivsd($d, $x, $y),
            (Arith::Add, true) => $a.vaddss($d, $x, $y),
            (Arith::Sub, true) => $a.vsubss($d, $x, $y),
            (Arith::Mul, true) => $a.vmulss($d, $x, $y),
            (Arith::Div, true) => $a.vdivss($d, $x, $y),
        }
    };
}

impl Emitter<'_> {
    pub fn float(&mut self, node: &Node, operands: &[Allocation]) -> Emitted {
        let r = |k: usize| number(operands[k]);
        match node.op {
            Op::Arith(op, single) => {
                self.record(node);
                let (x, d) = (XMM[r(0)], XMM[r(2)]);
                match operands[1].as_stack() {
                    Some(slot) => {
                        let y = self.spilled(slot);
                        arithmetic!(self.a, op, single, d, x, y)
                    }
                    None => arithmetic!(self.a, op, single, d, x, XMM[r(1)]),
                }
            }
            Op::Sqrt(single) => {
                self.record(node);
                let (x, d) = (XMM[r(0)], XMM[r(1)]);
                if single {
                    self.a.vsqrtss(d, x, x)
                } else {
                    self.a.vsqrtsd(d, x, x)
                }
            }
            Op::Canonical(single) => {
                let register = r(1);
                let d = XMM[register];
                self.test_nan(d, d, single)?;
                let mut back = self.a.create_label();
                let cold = self.cold(Cold::Canonical {
                    register,
                    single,
                    back,
                });
                self.a.jp(cold)?;
                bind(&mut self.a, &mut back)
            }
            Op::CanonicalPair(single) => {
                let registers = (r(2), r(3));
                self.test_nan(XMM[registers.0], XMM[registers.1], single)?;
                let mut back = self.a.create_label();
                let cold = self.cold(Cold::CanonicalPair {
                    registers,
                    single,
                    back,
                });
                self.a.jp(cold)?;
                bind(&mut self.a, &mut back)
            }
            Op::Unbox => {
                let (scratch, register) = (r(1), r(2));
                self.a.movq(R64[scratch], XMM[register])?;
                self.a.sar(R64[scratch], 32)?;
                self.a.cmp(R32[scratch], -1)?;
                let mut back = self.a.create_label();
                let cold = self.cold(Cold::Canonical {
                    register,
                    single: true,
                    back,
                });
                self.a.jne(cold)?;
                bind(&mut self.a, &mut back)
            }
            Op::Box => {
                let ones = self.constant(BOX);
                self.a.movsd_2(xmm15, ones)?;
                self.a.orps(XMM[r(1)], xmm15)
            }
            Op::Sign(sign, single) => {
                let d = XMM[r(1)];
                let bits = if single { SIGN_SINGLE } else { SIGN };
                match sign {
                    Sign::Negate => {
                        let mask = self.constant(bits);
                        self.a.movsd_2(xmm15, mask)?;
                        self.a.xorps(d, xmm15)
                    }
                    Sign::Clear => {
                        let mask = self.constant(!bits);
                        self.a.movsd_2(xmm15, mask)?;
                        self.a.andps(d, xmm15)
                    }
                }
            }
            Op::CopySign(sign, single) => {
                let (y, d) = (XMM[r(1)], XMM[r(2)]);
                let bits = if single { SIGN_SINGLE } else { SIGN };
                match sign {
                    CopySign::Same => {
                        let mask = self.constant(!bits);
                        self.a.xorps(d, y)?;
                        self.a.movsd_2(xmm15, mask)?;
                        self.a.andps(d, xmm15)?;
                        self.a.xorps(d, y)
                    }
                    CopySign::Opposite => {
                        let mask = self.constant(bits);
                        self.a.xorps(d, y)?;
                        self.a.movsd_2(xmm15, mask)?;
                        self.a.orps(d, xmm15)?;
                        self.a.xorps(d, y)
                    }
                    CopySign::Xor => {
                        let mask = self.constant(bits);
                        self.a.movsd_2(xmm15, mask)?;
                        self.a.andps(xmm15, y)?;
                        self.a.xorps(d, xmm15)
                    }
                }
            }
            Op::FloatCompare(compare, single) => {
                self.record(node);
                self.float_compare(compare, single, XMM[r(0)], XMM[r(1)], r(2))
            }
            Op::FloatConst(0) => {
                let d = XMM[r(0)];
                self.a.xorps(d, d)
            }
            Op::FloatConst(bits) => {
                let constant = self.constant(bits);
                self.a.movsd_2(XMM[r(0)], constant)
            }
            Op::Widen => {
                self.record(node);
                let (x, d) = (XMM[r(0)], XMM[r(1)]);
                self.a.cvtss2sd(d, x)
            }
            Op::BitsToFloat(single) => {
                let (x, d) = (r(0), XMM[r(1)]);
                if single {
                    self.a.movd(d, R32[x])
                } else {
                    self.a.movq(d, R64[x])
                }
            }
            Op::BitsToInt(true) => self.a.movd(R32[r(1)], XMM[r(0)]),
            Op::BitsToInt(false) => self.a.movq(R64[r(1)], XMM[r(0)]),
            _ => self.a.ud2(),
        }
    }

    /// The flag P is set if one of them is NaN. Quiet NaNs raise nothing.
    pub(super) fn test_nan(
        &mut self,
        x: AsmRegisterXmm,
        y: AsmRegisterXmm,
        single: bool,
    ) -> Emitted {
        if single {
            self.a.ucomiss(x, y)
        } else {
            self.a.ucomisd(x, y)
        }
    }

    /// Less and less or equal are signaling, equal is quiet, as are `comis` and `ucomis`. Unordered
    /// operands look like less.
    fn float_compare(
        &mut self,
        compare: Compare,
        single: bool,
        x: AsmRegisterXmm,
        y: AsmRegisterXmm,
        d: usize,
    ) -> Emitted {
        let a = &mut self.a;
        match (compare, single) {
            (Compare::Equal, false) => a.ucomisd(x, y)?,
            (Compare::Equal, true) => a.ucomiss(x, y)?,
            (_, false) => a.comisd(y, x)?,
            (_, true) => a.comiss(y, x)?,
        }
        match compare {
            Compare::Equal => {
                // Equal and not unordered: ZF and not PF.
                a.mov(R32[d], 0)?;
                let mut unordered = a.create_label();
                a.jp(unordered)?;
                a.sete(R8[d])?;
                bind(a, &mut unordered)
            }
            Compare::Less => {
                a.seta(R8[d])?;
                a.movzx(R32[d], R8[d])
            }
            Compare::LessOrEqual => {
                a.setae(R8[d])?;
                a.movzx(R32[d], R8[d])
            }
        }
    }
}
