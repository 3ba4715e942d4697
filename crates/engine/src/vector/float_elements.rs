//! Floating-point arithmetic, comparison and moves (ISA manual, chapter "V", section "Vector
//! Floating-Point Instructions"), by the operations of [`fp`](crate::fp).

use super::configuration::Shape;
use super::estimate;
use super::float_conversions;
use super::groups::{Group, Write, check};
use super::integer_elements::{First, accumulate, compare, map, merge, widen};
use super::permute;
use super::reduce;
use super::vector_state::{DOUBLE, SINGLE, VectorState};
use super::word::FVF;
use super::{Legal, Reserved, Word, require};
use crate::fp::{self, quiet, sse};
use crate::hart_state::Hart;
use flick_riscv::Op;

/// The floating-point environment: MXCSR, and a rounding mode that it lacks.
#[derive(Clone, Copy)]
pub(super) struct Environment {
    /// To nearest, ties to max magnitude.
    away: bool,
}

impl Environment {
    /// A reserved frm makes all vector floating-point instructions illegal, also those that do not
    /// round.
    fn of(hart: &Hart) -> Legal<Self> {
        let frm = (fp::read_fcsr(hart) >> 5) as u32;
        require(frm <= fp::RMM)?;
        Ok(Self {
            away: frm == fp::RMM,
        })
    }

    /// The logarithm of SEW, which has floating-point arithmetic.
    pub fn plain(self, shape: Shape) -> Legal<u32> {
        require(matches!(shape.sew, SINGLE | DOUBLE))?;
        Ok(shape.sew)
    }

    /// Raw register contents for an element.
    #[inline(always)]
    pub fn raw(value: u64, width: u32) -> u64 {
        match width {
            SINGLE => fp::boxed(value as u32),
            _ => value,
        }
    }

    /// The operation, single and double, on elements of this width.
    #[inline(always)]
    pub fn compute(self, width: u32, ops: [Op; 2], a: u64, b: u64, c: u64) -> u64 {
        let raw = |value| Self::raw(value, width);
        let [single, double] = ops;
        let op = if width == SINGLE { single } else { double };
        self.execute(op, raw(a), raw(b), raw(c))
    }

    /// The operation on raw register contents.
    #[inline(always)]
    pub fn execute(self, op: Op, a: u64, b: u64, c: u64) -> u64 {
        if self.away {
            fp::rounded(fp::RMM, fp::DYNAMIC, op, a, b, c).unwrap_or(a)
        } else {
            fp::plain(op, a, b, c)
        }
    }

    /// The operation, towards zero.
    #[inline(always)]
    pub fn towards_zero(self, op: Op, a: u64) -> u64 {
        fp::rounded(0, fp::RTZ, op, a, 0, 0).unwrap_or(a)
    }

    /// A single as double.
    #[inline(always)]
    pub fn widened(self, single: u64) -> u64 {
        fp::plain(Op::FcvtDS, fp::boxed(single as u32), 0, 0)
    }
}

/// The first operand: vs1, or f\[rs1\], which must be boxed.
fn first(hart: &Hart, word: Word, width: u32) -> First {
    let raw = hart.f[word.vs1() as usize];
    match (word.funct3() == FVF, width) {
        (false, _) => First::Vector(word.vs1()),
        (_, SINGLE) => First::Scalar(u64::from(fp::unbox(raw))),
        _ => First::Scalar(raw),
    }
}

/// OPFVV and OPFVF.
#[unsafe(link_section = "flick_engine")]
pub(super) fn execute(hart: &mut Hart, state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let e = Environment::of(hart)?;
    let is_f = word.funct3() == FVF;
    match (word.funct6(), is_f) {
        (0x12, false) => return float_conversions::execute(state, word, shape, e),
        (0x30..=0x3f, _) => return widening(hart, state, word, shape, e),
        _ => {}
    }
    let w = e.plain(shape)?;
    let first = first(hart, word, w);
    let raw = move |value| Environment::raw(value, w);
    let is_single = w == SINGLE;
    macro_rules! binary {
        ($single:ident, $double:ident) => {
            map(state, word, shape, first, |a, b| {
                e.compute(w, [Op::$single, Op::$double], a, b, 0)
            })
        };
    }
    macro_rules! reversed {
        ($single:ident, $double:ident) => {
            map(state, word, shape, first, |a, b| {
                e.compute(w, [Op::$single, Op::$double], b, a, 0)
            })
        };
    }
    // vs1 × vs2 and vd, or vs1 × vd and vs2.
    macro_rules! fused {
        ($single:ident, $double:ident, addend) => {
            accumulate(state, word, shape, first, |a, b, d| {
                e.compute(w, [Op::$single, Op::$double], b, a, d)
            })
        };
        ($single:ident, $double:ident, factor) => {
            accumulate(state, word, shape, first, |a, b, d| {
                e.compute(w, [Op::$single, Op::$double], b, d, a)
            })
        };
    }
    macro_rules! quiet {
        ($single:path, $double:path) => {
            map(state, word, shape, first, |a, b| {
                if is_single {
                    $single(raw(a), raw(b))
                } else {
                    $double(a, b)
                }
            })
        };
    }
    macro_rules! comparison {
        ($single:path, $double:path, |$yes:ident| $value:expr) => {
            compare(state, word, shape, first, |a, b| {
                let yes = if is_single {
                    $single(raw(a), raw(b))
                } else {
                    $double(a, b)
                };
                let $yes = yes != 0;
                $value
            })
        };
        (swapped $single:path, $double:path) => {
            compare(state, word, shape, first, |a, b| {
                let yes = if is_single {
                    $single(raw(b), raw(a))
                } else {
                    $double(b, a)
                };
                yes != 0
            })
        };
    }
    match word.funct6() {
        0x00 => binary!(FaddS, FaddD),
        0x01 | 0x03 | 0x05 | 0x07 if !is_f => reduce::float(state, word, shape, e),
        0x02 => binary!(FsubS, FsubD),
        0x04 => quiet!(quiet::min_s, quiet::min64),
        0x06 => quiet!(quiet::max_s, quiet::max64),
        0x08 => quiet!(quiet::sgnj_s, quiet::sgnj_d),
        0x09 => quiet!(quiet::sgnjn_s, quiet::sgnjn_d),
        0x0a => quiet!(quiet::sgnjx_s, quiet::sgnjx_d),
        0x0e if is_f => permute::slide_1_up(state, word, shape, first.scalar()),
        0x0f if is_f => permute::slide_1_down(state, word, shape, first.scalar()),
        0x10 if is_f => permute::set_first(state, word, shape, first.scalar()),
        0x10 => {
            require(word.vm() && word.vs1() == 0)?;
            hart.f[word.vd() as usize] = raw(state.get(word.vs2(), 0, w));
            Ok(())
        }
        0x13 if !is_f => unary(state, word, shape, e),
        0x17 if is_f => merge(state, word, shape, first),
        0x18 => comparison!(sse::eq_s, sse::eq_d, |yes| yes),
        0x19 => comparison!(sse::le_s, sse::le_d, |yes| yes),
        0x1b => comparison!(sse::lt_s, sse::lt_d, |yes| yes),
        0x1c => comparison!(sse::eq_s, sse::eq_d, |yes| !yes),
        0x1d if is_f => comparison!(swapped sse::lt_s, sse::lt_d),
        0x1f if is_f => comparison!(swapped sse::le_s, sse::le_d),
        0x20 => binary!(FdivS, FdivD),
        0x21 if is_f => reversed!(FdivS, FdivD),
        0x24 => binary!(FmulS, FmulD),
        0x27 if is_f => reversed!(FsubS, FsubD),
        0x28 => fused!(FmaddS, FmaddD, factor),
        0x29 => fused!(FnmaddS, FnmaddD, factor),
        0x2a => fused!(FmsubS, FmsubD, factor),
        0x2b => fused!(FnmsubS, FnmsubD, factor),
        0x2c => fused!(FmaddS, FmaddD, addend),
        0x2d => fused!(FnmaddS, FnmaddD, addend),
        0x2e => fused!(FmsubS, FmsubD, addend),
        0x2f => fused!(FnmsubS, FnmsubD, addend),
        _ => Err(Reserved),
    }
}

/// VFUNARY1: square root, estimates, classification.
#[unsafe(link_section = "flick_engine")]
fn unary(state: &mut VectorState, word: Word, shape: Shape, e: Environment) -> Legal {
    let w = shape.sew;
    let raw = move |value| Environment::raw(value, w);
    let none = First::Scalar(0);
    match word.vs1() {
        0 => map(state, word, shape, none, |a, _| {
            e.compute(w, [Op::FsqrtS, Op::FsqrtD], a, 0, 0)
        }),
        4 => map(state, word, shape, none, |a, _| {
            estimate::reciprocal_root(a, w)
        }),
        5 => map(state, word, shape, none, |a, _| estimate::reciprocal(a, w)),
        16 => map(state, word, shape, none, |a, _| match w {
            SINGLE => quiet::class_s(raw(a)),
            _ => quiet::class64(a),
        }),
        _ => Err(Reserved),
    }
}

/// Sums, products and fused ones of doubles, from singles.
#[unsafe(link_section = "flick_engine")]
fn widening(
    hart: &Hart,
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    e: Environment,
) -> Legal {
    require(shape.sew == SINGLE)?;
    let first = first(hart, word, SINGLE);
    macro_rules! both {
        ($op:ident) => {
            widen(state, word, shape, first, false, |a, b, _| {
                e.execute(Op::$op, e.widened(a), e.widened(b), 0)
            })
        };
    }
    macro_rules! one {
        ($op:ident) => {
            widen(state, word, shape, first, true, |a, b, _| {
                e.execute(Op::$op, a, e.widened(b), 0)
            })
        };
    }
    macro_rules! fused {
        ($op:ident) => {
            widen(state, word, shape, first, false, |a, b, d| {
                e.execute(Op::$op, e.widened(b), e.widened(a), d)
            })
        };
    }
    match word.funct6() {
        0x30 => both!(FaddD),
        0x32 => both!(FsubD),
        0x31 | 0x33 if word.funct3() != FVF => reduce::float_widening(state, word, shape, e),
        0x34 => one!(FaddD),
        0x36 => one!(FsubD),
        0x38 => both!(FmulD),
        0x3c => fused!(FmaddD),
        0x3d => fused!(FnmaddD),
        0x3e => fused!(FmsubD),
        0x3f => fused!(FnmsubD),
        _ => Err(Reserved),
    }
}

/// vd\[i\] = f(vs2\[i\]), from one width to another.
#[inline(always)]
pub(super) fn map_widths(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    [from, to]: [u32; 2],
    f: impl Fn(u64) -> u64,
) -> Legal {
    let source = Group::wide(word.vs2(), from, shape);
    let destination = Group::wide(word.vd(), to, shape);
    check(word, Write::Elements, destination, &[source])?;
    for i in shape.body() {
        if state.is_active(word, i) {
            let value = f(state.get(word.vs2(), i, from));
            state.set(word.vd(), i, to, value);
        }
    }
    Ok(())
}
