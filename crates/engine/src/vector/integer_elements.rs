//! Integer arithmetic (ISA manual, chapter "V", section "Vector Integer Arithmetic Instructions").

use super::configuration::Shape;
use super::groups::{Group, Write, check};
use super::vector_state::{BYTE, VectorState, ones, sign_extended};
use super::word::{IVI, IVV, IVX, MVX};
use super::{Legal, Reserved, Word, require};
use crate::hart_state::Hart;
use crate::integer;

/// The first operand, vs1 or rs1 or the immediate.
#[derive(Clone, Copy, Debug)]
pub(super) enum First {
    Vector(u32),
    Scalar(u64),
}

impl First {
    /// That of `word`; immediates are sign-extended, and all of them truncated when they are used.
    pub fn of(hart: &Hart, word: Word) -> Self {
        match word.funct3() {
            IVI => Self::Scalar(word.simm()),
            IVX | MVX => Self::Scalar(hart.x[word.vs1() as usize]),
            _ => Self::Vector(word.vs1()),
        }
    }

    /// The same with an unsigned immediate.
    pub fn unsigned(hart: &Hart, word: Word) -> Self {
        match word.funct3() {
            IVI => Self::Scalar(u64::from(word.vs1())),
            _ => Self::of(hart, word),
        }
    }

    #[inline(always)]
    pub fn get(self, state: &VectorState, index: u64, width: u32) -> u64 {
        match self {
            Self::Vector(register) => state.get(register, index, width),
            Self::Scalar(value) => value & ones(width),
        }
    }

    /// The scalar, of 64 bits; the caller knows that it is one.
    pub fn scalar(self) -> u64 {
        match self {
            Self::Scalar(value) => value,
            Self::Vector(_) => 0,
        }
    }

    /// The second operand, and this one if it is a vector with these registers.
    pub fn sources(self, second: Group, first: Group) -> ([Group; 2], usize) {
        let count = if matches!(self, Self::Vector(_)) {
            2
        } else {
            1
        };
        ([second, first], count)
    }
}

/// The operands of an element-wise instruction with EEW = SEW throughout.
pub(super) fn check_plain(word: Word, shape: Shape, first: First, write: Write) -> Legal {
    let of = |register| Group::of(register, shape);
    let (sources, count) = first.sources(of(word.vs2()), of(word.vs1()));
    check(word, write, of(word.vd()), &sources[..count])
}

/// vd\[i\] = f(vs2\[i\], first\[i\]), zero-extended ones.
#[inline(always)]
pub(super) fn map(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    first: First,
    f: impl Fn(u64, u64) -> u64,
) -> Legal {
    check_plain(word, shape, first, Write::Elements)?;
    for i in shape.body() {
        if state.is_active(word, i) {
            let a = state.get(word.vs2(), i, shape.sew);
            let b = first.get(state, i, shape.sew);
            state.set(word.vd(), i, shape.sew, f(a, b));
        }
    }
    Ok(())
}

/// The same with the old vd\[i\] as third operand.
#[inline(always)]
pub(super) fn accumulate(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    first: First,
    f: impl Fn(u64, u64, u64) -> u64,
) -> Legal {
    check_plain(word, shape, first, Write::Elements)?;
    for i in shape.body() {
        if state.is_active(word, i) {
            let a = state.get(word.vs2(), i, shape.sew);
            let b = first.get(state, i, shape.sew);
            let d = state.get(word.vd(), i, shape.sew);
            state.set(word.vd(), i, shape.sew, f(a, b, d));
        }
    }
    Ok(())
}

/// A comparison: mask bit i of vd = f(vs2\[i\], first\[i\]).
#[inline(always)]
pub(super) fn compare(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    first: First,
    f: impl Fn(u64, u64) -> bool,
) -> Legal {
    let of = |register| Group::of(register, shape);
    let (sources, count) = first.sources(of(word.vs2()), of(word.vs1()));
    check(
        word,
        Write::Elements,
        Group::mask(word.vd()),
        &sources[..count],
    )?;
    for i in shape.body() {
        if state.is_active(word, i) {
            let a = state.get(word.vs2(), i, shape.sew);
            let b = first.get(state, i, shape.sew);
            state.set_bit(word.vd(), i, f(a, b));
        }
    }
    Ok(())
}

/// vd, of 2 × SEW, = f(vs2\[i\], first\[i\], vd\[i\]); vs2 is of 2 × SEW if `wide`.
#[inline(always)]
pub(super) fn widen(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    first: First,
    wide: bool,
    f: impl Fn(u64, u64, u64) -> u64,
) -> Legal {
    let double = shape.sew + 1;
    let second = if wide { double } else { shape.sew };
    let (sources, count) = first.sources(
        Group::wide(word.vs2(), second, shape),
        Group::of(word.vs1(), shape),
    );
    let destination = Group::wide(word.vd(), double, shape);
    check(word, Write::Elements, destination, &sources[..count])?;
    for i in shape.body() {
        if state.is_active(word, i) {
            let a = state.get(word.vs2(), i, second);
            let b = first.get(state, i, shape.sew);
            let d = state.get(word.vd(), i, double);
            state.set(word.vd(), i, double, f(a, b, d));
        }
    }
    Ok(())
}

/// vd = f(vs2\[i\] of 2 × SEW, first\[i\]).
#[inline(always)]
pub(super) fn narrow(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    first: First,
    mut f: impl FnMut(u64, u64) -> u64,
) -> Legal {
    let double = shape.sew + 1;
    let (sources, count) = first.sources(
        Group::wide(word.vs2(), double, shape),
        Group::of(word.vs1(), shape),
    );
    let destination = Group::of(word.vd(), shape);
    check(word, Write::Elements, destination, &sources[..count])?;
    for i in shape.body() {
        if state.is_active(word, i) {
            let a = state.get(word.vs2(), i, double);
            let b = first.get(state, i, shape.sew);
            state.set(word.vd(), i, shape.sew, f(a, b));
        }
    }
    Ok(())
}

/// OPIVV, OPIVX and OPIVI.
pub(super) fn execute_i(hart: &Hart, state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let kind = word.funct3();
    let first = First::of(hart, word);
    let count = First::unsigned(hart, word);
    let w = shape.sew;
    let s = move |value| sign_extended(value, w);
    // The shift amount is in so many bits.
    let bits = (1_u64 << w) - 1;
    match word.funct6() {
        0x00 => map(state, word, shape, first, |a, b| a.wrapping_add(b)),
        0x02 if kind != IVI => map(state, word, shape, first, |a, b| a.wrapping_sub(b)),
        0x03 if kind != IVV => map(state, word, shape, first, |a, b| b.wrapping_sub(a)),
        0x04 if kind != IVI => map(state, word, shape, first, |a, b| a.min(b)),
        0x05 if kind != IVI => map(state, word, shape, first, |a, b| s(a).min(s(b)) as u64),
        0x06 if kind != IVI => map(state, word, shape, first, |a, b| a.max(b)),
        0x07 if kind != IVI => map(state, word, shape, first, |a, b| s(a).max(s(b)) as u64),
        0x09 => map(state, word, shape, first, |a, b| a & b),
        0x0a => map(state, word, shape, first, |a, b| a | b),
        0x0b => map(state, word, shape, first, |a, b| a ^ b),
        0x10 if !word.vm() => with_carry(state, word, shape, first, |a, b, carry| {
            a.wrapping_add(b).wrapping_add(carry)
        }),
        0x12 if !word.vm() && kind != IVI => {
            with_carry(state, word, shape, first, |a, b, borrow| {
                a.wrapping_sub(b).wrapping_sub(borrow)
            })
        }
        0x11 => carry_out(state, word, shape, first, |a, b, carry| {
            u128::from(a) + u128::from(b) + u128::from(carry) > u128::from(ones(w))
        }),
        0x13 if kind != IVI => carry_out(state, word, shape, first, |a, b, borrow| {
            u128::from(a) < u128::from(b) + u128::from(borrow)
        }),
        0x17 => merge(state, word, shape, first),
        0x18 => compare(state, word, shape, first, |a, b| a == b),
        0x19 => compare(state, word, shape, first, |a, b| a != b),
        0x1a if kind != IVI => compare(state, word, shape, first, |a, b| a < b),
        0x1b if kind != IVI => compare(state, word, shape, first, |a, b| s(a) < s(b)),
        0x1c => compare(state, word, shape, first, |a, b| a <= b),
        0x1d => compare(state, word, shape, first, |a, b| s(a) <= s(b)),
        0x1e if kind != IVV => compare(state, word, shape, first, |a, b| a > b),
        0x1f if kind != IVV => compare(state, word, shape, first, |a, b| s(a) > s(b)),
        0x25 => map(state, word, shape, count, |a, b| a << (b & bits)),
        0x28 => map(state, word, shape, count, |a, b| a >> (b & bits)),
        0x29 => map(state, word, shape, count, |a, b| {
            (s(a) >> (b & bits)) as u64
        }),
        0x2c => narrow(state, word, shape, count, |a, b| a >> (b & (bits * 2 + 1))),
        0x2d => narrow(state, word, shape, count, |a, b| {
            (sign_extended(a, w + 1) >> (b & (bits * 2 + 1))) as u64
        }),
        _ => Err(Reserved),
    }
}

/// Reads the carry in v0: of all elements, which are active.
#[inline(always)]
fn with_carry(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    first: First,
    f: impl Fn(u64, u64, u64) -> u64,
) -> Legal {
    check_plain(word, shape, first, Write::Elements)?;
    for i in shape.body() {
        let a = state.get(word.vs2(), i, shape.sew);
        let b = first.get(state, i, shape.sew);
        let carry = u64::from(state.bit(0, i));
        state.set(word.vd(), i, shape.sew, f(a, b, carry));
    }
    Ok(())
}

/// Writes the carry of all elements; reads one if vm is 0.
#[inline(always)]
fn carry_out(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    first: First,
    f: impl Fn(u64, u64, u64) -> bool,
) -> Legal {
    let of = |register| Group::of(register, shape);
    let (sources, count) = first.sources(of(word.vs2()), of(word.vs1()));
    let destination = Group::mask(word.vd());
    check(word, Write::Elements, destination, &sources[..count])?;
    for i in shape.body() {
        let a = state.get(word.vs2(), i, shape.sew);
        let b = first.get(state, i, shape.sew);
        let carry = u64::from(!word.vm() && state.bit(0, i));
        state.set_bit(word.vd(), i, f(a, b, carry));
    }
    Ok(())
}

/// `vmerge`, and with vm = 1 `vmv.v`: what is inactive is vs2's.
pub(super) fn merge(state: &mut VectorState, word: Word, shape: Shape, first: First) -> Legal {
    if word.vm() {
        require(word.vs2() == 0)?;
        let source = [Group::of(word.vs1(), shape)];
        let count = usize::from(matches!(first, First::Vector(_)));
        let destination = Group::of(word.vd(), shape);
        check(word, Write::Elements, destination, &source[..count])?;
    } else {
        check_plain(word, shape, first, Write::Elements)?;
    }
    for i in shape.body() {
        let value = if state.is_active(word, i) {
            first.get(state, i, shape.sew)
        } else {
            state.get(word.vs2(), i, shape.sew)
        };
        state.set(word.vd(), i, shape.sew, value);
    }
    Ok(())
}

/// Multiplication, division, widening and extension of OPMVV and OPMVX.
pub(super) fn execute_m(hart: &Hart, state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let first = First::of(hart, word);
    let is_x = word.funct3() == MVX;
    let w = shape.sew;
    let s = move |value| sign_extended(value, w);
    let u = |value: u64| u128::from(value);
    let high = move |product: i128| (product >> (1 << w)) as u64;
    // Sums and products of 2 × SEW, by which operands are signed.
    let signed = move |value| s(value) as u64;
    match word.funct6() {
        0x12 if !is_x => extend(state, word, shape),
        0x20 => map(state, word, shape, first, |a, b| {
            a.checked_div(b).unwrap_or(u64::MAX)
        }),
        0x21 => map(state, word, shape, first, |a, b| {
            integer::div(s(a), s(b)) as u64
        }),
        0x22 => map(state, word, shape, first, |a, b| {
            a.checked_rem(b).unwrap_or(a)
        }),
        0x23 => map(state, word, shape, first, |a, b| {
            integer::rem(s(a), s(b)) as u64
        }),
        0x24 => map(state, word, shape, first, |a, b| {
            ((u(a) * u(b)) >> (1 << w)) as u64
        }),
        0x25 => map(state, word, shape, first, |a, b| a.wrapping_mul(b)),
        0x26 => map(state, word, shape, first, |a, b| {
            high(i128::from(s(a)).wrapping_mul(i128::from(b)))
        }),
        0x27 => map(state, word, shape, first, |a, b| {
            high(i128::from(s(a)) * i128::from(s(b)))
        }),
        0x29 => accumulate(state, word, shape, first, |a, b, d| {
            b.wrapping_mul(d).wrapping_add(a)
        }),
        0x2b => accumulate(state, word, shape, first, |a, b, d| {
            a.wrapping_sub(b.wrapping_mul(d))
        }),
        0x2d => accumulate(state, word, shape, first, |a, b, d| {
            d.wrapping_add(b.wrapping_mul(a))
        }),
        0x2f => accumulate(state, word, shape, first, |a, b, d| {
            d.wrapping_sub(b.wrapping_mul(a))
        }),
        0x30 => widen(state, word, shape, first, false, |a, b, _| {
            a.wrapping_add(b)
        }),
        0x31 => widen(state, word, shape, first, false, |a, b, _| {
            signed(a).wrapping_add(signed(b))
        }),
        0x32 => widen(state, word, shape, first, false, |a, b, _| {
            a.wrapping_sub(b)
        }),
        0x33 => widen(state, word, shape, first, false, |a, b, _| {
            signed(a).wrapping_sub(signed(b))
        }),
        0x34 => widen(state, word, shape, first, true, |a, b, _| a.wrapping_add(b)),
        0x35 => widen(state, word, shape, first, true, |a, b, _| {
            a.wrapping_add(signed(b))
        }),
        0x36 => widen(state, word, shape, first, true, |a, b, _| a.wrapping_sub(b)),
        0x37 => widen(state, word, shape, first, true, |a, b, _| {
            a.wrapping_sub(signed(b))
        }),
        0x38 => widen(state, word, shape, first, false, |a, b, _| {
            a.wrapping_mul(b)
        }),
        0x3a => widen(state, word, shape, first, false, |a, b, _| {
            signed(a).wrapping_mul(b)
        }),
        0x3b => widen(state, word, shape, first, false, |a, b, _| {
            signed(a).wrapping_mul(signed(b))
        }),
        0x3c => widen(state, word, shape, first, false, |a, b, d| {
            d.wrapping_add(a.wrapping_mul(b))
        }),
        0x3d => widen(state, word, shape, first, false, |a, b, d| {
            d.wrapping_add(signed(a).wrapping_mul(signed(b)))
        }),
        // vwmaccus: the scalar is the unsigned one.
        0x3e if is_x => widen(state, word, shape, first, false, |a, b, d| {
            d.wrapping_add(signed(a).wrapping_mul(b))
        }),
        0x3f => widen(state, word, shape, first, false, |a, b, d| {
            d.wrapping_add(a.wrapping_mul(signed(b)))
        }),
        _ => Err(Reserved),
    }
}

/// `vzext` and `vsext`: from a half, a quarter or an eighth of SEW.
fn extend(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let (steps, is_signed) = match word.vs1() {
        vs1 @ 2..=7 => (4 - vs1 / 2, vs1 & 1 != 0),
        _ => return Err(Reserved),
    };
    // Below 8 bits, or with a group below an eighth, it is reserved.
    let width = shape.sew - steps;
    require(width >= BYTE)?;
    let source = Group::wide(word.vs2(), width, shape);
    let destination = Group::of(word.vd(), shape);
    check(word, Write::Elements, destination, &[source])?;
    for i in shape.body() {
        if state.is_active(word, i) {
            let value = match is_signed {
                true => state.get_signed(word.vs2(), i, width) as u64,
                false => state.get(word.vs2(), i, width),
            };
            state.set(word.vd(), i, shape.sew, value);
        }
    }
    Ok(())
}
