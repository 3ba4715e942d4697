//! Conversions between floating-point numbers and integers, of the same width, twice or half of it
//! (ISA manual, chapter "V", sections "Single-Width", "Widening" and "Narrowing
//! Floating-Point/Integer Type-Convert Instructions").

use super::configuration::Shape;
use super::float_elements::{Environment, map_widths};
use super::vector_state::{DOUBLE, HALF, SINGLE, VectorState, ones, sign_extended};
use super::{Legal, Reserved, Word, require};
use crate::fp::env::{self, mxcsr, raise_invalid, set_mxcsr};
use crate::fp::fflags_with;
use flick_riscv::Op;

/// VFUNARY0, by vs1: in bits 3 and 4 which side is wide, below it what is converted.
#[unsafe(link_section = "flick_engine")]
pub(super) fn execute(state: &mut VectorState, word: Word, shape: Shape, e: Environment) -> Legal {
    let (sew, double) = (shape.sew, shape.sew + 1);
    let widths = match word.vs1() >> 3 {
        0 => [sew, sew],
        1 => [sew, double],
        2 => [double, sew],
        _ => return Err(Reserved),
    };
    let [from, to] = widths;
    let is_float = |width| require(matches!(width, SINGLE | DOUBLE));
    let kind = word.vs1() & 7;
    match kind {
        0 | 1 | 6 | 7 => {
            is_float(from)?;
            let (is_signed, towards_zero) = (kind & 1 != 0, kind > 1);
            map_widths(state, word, shape, widths, |value| {
                to_integer(e, value, widths, is_signed, towards_zero)
            })
        }
        2 | 3 => {
            is_float(to)?;
            map_widths(state, word, shape, widths, |value| {
                from_integer(e, value, widths, kind == 3)
            })
        }
        4 if widths == [SINGLE, DOUBLE] => {
            map_widths(state, word, shape, widths, |value| e.widened(value))
        }
        4 if widths == [DOUBLE, SINGLE] => map_widths(state, word, shape, widths, |value| {
            e.execute(Op::FcvtSD, value, 0, 0)
        }),
        5 if widths == [DOUBLE, SINGLE] => {
            map_widths(state, word, shape, widths, |value| to_odd(e, value))
        }
        _ => Err(Reserved),
    }
}

/// To an integer, saturated, of 16 bits or more.
#[unsafe(link_section = "flick_engine")]
fn to_integer(
    e: Environment,
    value: u64,
    [from, to]: [u32; 2],
    is_signed: bool,
    towards_zero: bool,
) -> u64 {
    let op = match (from, to, is_signed) {
        (SINGLE, DOUBLE, true) => Op::FcvtLS,
        (SINGLE, DOUBLE, false) => Op::FcvtLuS,
        (SINGLE, SINGLE, false) => Op::FcvtWuS,
        (SINGLE, ..) => Op::FcvtWS,
        (_, DOUBLE, true) => Op::FcvtLD,
        (_, DOUBLE, false) => Op::FcvtLuD,
        (_, _, true) => Op::FcvtWD,
        (_, _, false) => Op::FcvtWuD,
    };
    let saved = mxcsr();
    let raw = Environment::raw(value, from);
    let result = match towards_zero {
        true => e.towards_zero(op, raw),
        false => e.execute(op, raw, 0, 0),
    };
    if to != HALF {
        return result;
    }
    // There is no such conversion of scalars: out of range, invalid is the only flag.
    let most = ones(HALF) as i64 >> u32::from(is_signed);
    let least = if is_signed { -most - 1 } else { 0 };
    let clamped = (result as i64).clamp(least, most);
    if clamped != result as i64 {
        set_mxcsr(saved);
        raise_invalid();
    }
    clamped as u64
}

/// From an integer of 16 bits or more.
#[unsafe(link_section = "flick_engine")]
fn from_integer(e: Environment, value: u64, [from, to]: [u32; 2], is_signed: bool) -> u64 {
    let value = match is_signed {
        true => sign_extended(value, from) as u64,
        false => value,
    };
    let op = match (from, to, is_signed) {
        (DOUBLE, SINGLE, true) => Op::FcvtSL,
        (DOUBLE, SINGLE, false) => Op::FcvtSLu,
        (DOUBLE, _, true) => Op::FcvtDL,
        (DOUBLE, _, false) => Op::FcvtDLu,
        (_, SINGLE, true) => Op::FcvtSW,
        (_, SINGLE, false) => Op::FcvtSWu,
        (_, _, true) => Op::FcvtDW,
        (_, _, false) => Op::FcvtDWu,
    };
    e.execute(op, value, 0, 0)
}

/// A double as single, rounded towards odd: what is lost is seen in the lowest bit.
#[unsafe(link_section = "flick_engine")]
fn to_odd(e: Environment, value: u64) -> u64 {
    let before = mxcsr();
    set_mxcsr(fflags_with(before, |flags| flags & !env::NX));
    let result = e.towards_zero(Op::FcvtSD, value);
    let after = mxcsr();
    let is_inexact = env::fflags(after) & env::NX != 0;
    let old = env::fflags(before);
    set_mxcsr(fflags_with(after, |flags| flags | old));
    result | u64::from(is_inexact)
}
