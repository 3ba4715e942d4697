//! Operations that SSE lacks, by LLVM's APFloat: results in the rounding mode RMM, and conversions
//! to integers in this mode or to unsigned integers. FTZ and DAZ do not act on these values.

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

use super::env::{raise_inexact, raise_invalid};
use super::{boxed, is_nan_d, is_nan_s, unbox};
use flick_riscv::Op;

const AWAY: Round = Round::NearestTiesToAway;

fn single(raw: u64) -> Single {
    Single::from_bits(unbox(raw).into())
}

fn double(raw: u64) -> Double {
    Double::from_bits(raw.into())
}

/// The result of a rounded instruction in RMM, for its result `nearest` in RNE. (The flags are
/// those of RNE. Infinities and NaNs are also the same.)
#[cold]
#[inline(never)]
pub fn away(op: Op, a: u64, b: u64, c: u64, nearest: u64) -> u64 {
    let (s, d) = (single, double);
    let single_result = match op {
        Op::FaddS => s(a).add_r(s(b), AWAY).value,
        Op::FsubS => s(a).sub_r(s(b), AWAY).value,
        Op::FmulS => s(a).mul_r(s(b), AWAY).value,
        Op::FdivS => s(a).div_r(s(b), AWAY).value,
        Op::FmaddS => s(a).mul_add_r(s(b), s(c), AWAY).value,
        Op::FmsubS => s(a).mul_add_r(s(b), -s(c), AWAY).value,
        Op::FnmsubS => (-s(a)).mul_add_r(s(b), s(c), AWAY).value,
        Op::FnmaddS => (-s(a)).mul_add_r(s(b), -s(c), AWAY).value,
        Op::FcvtSD => {
            let mut loses = false;
            d(a).convert_r(AWAY, &mut loses).value
        }
        Op::FcvtSW => Single::from_i128_r((a as i32).into(), AWAY).value,
        Op::FcvtSWu => Single::from_u128_r((a as u32).into(), AWAY).value,
        Op::FcvtSL => Single::from_i128_r((a as i64).into(), AWAY).value,
        Op::FcvtSLu => Single::from_u128_r(a.into(), AWAY).value,
        _ => {
            let result = match op {
                Op::FaddD => d(a).add_r(d(b), AWAY).value,
                Op::FsubD => d(a).sub_r(d(b), AWAY).value,
                Op::FmulD => d(a).mul_r(d(b), AWAY).value,
                Op::FdivD => d(a).div_r(d(b), AWAY).value,
                Op::FmaddD => d(a).mul_add_r(d(b), d(c), AWAY).value,
                Op::FmsubD => d(a).mul_add_r(d(b), -d(c), AWAY).value,
                Op::FnmsubD => (-d(a)).mul_add_r(d(b), d(c), AWAY).value,
                Op::FnmaddD => (-d(a)).mul_add_r(d(b), -d(c), AWAY).value,
                Op::FcvtDL => Double::from_i128_r((a as i64).into(), AWAY).value,
                Op::FcvtDLu => Double::from_u128_r(a.into(), AWAY).value,
                // Exact, or never half-way between two results (square roots).
                _ => return nearest,
            };
            return if is_nan_d(nearest) {
                nearest
            } else {
                result.to_bits() as u64
            };
        }
    };
    if is_nan_s(unbox(nearest)) {
        nearest
    } else {
        boxed(single_result.to_bits() as u32)
    }
}

/// A conversion to an integer, flags raised; `None` if `op` is something else.
#[cold]
#[inline(never)]
#[unsafe(link_section = "flick_engine")]
pub fn to_int(op: Op, a: u64, round: Round) -> Option<u64> {
    let (value, status) = match op {
        Op::FcvtWS => signed(single(a), 32, round),
        Op::FcvtLS => signed(single(a), 64, round),
        Op::FcvtWuS => unsigned(single(a), 32, round),
        Op::FcvtLuS => unsigned(single(a), 64, round),
        Op::FcvtWD => signed(double(a), 32, round),
        Op::FcvtLD => signed(double(a), 64, round),
        Op::FcvtWuD => unsigned(double(a), 32, round),
        Op::FcvtLuD => unsigned(double(a), 64, round),
        _ => return None,
    };
    if status.contains(Status::INVALID_OP) {
        raise_invalid();
    } else if status.contains(Status::INEXACT) {
        raise_inexact();
    }
    Some(value)
}

/// Saturated; a NaN is the greatest integer.
fn signed<F: Float>(value: F, width: usize, round: Round) -> (u64, Status) {
    let mut exact = false;
    let result = value.to_i128_r(width, round, &mut exact);
    let least = i64::MIN >> (64 - width);
    let value = match result.status {
        s if !s.contains(Status::INVALID_OP) => result.value as i64,
        _ if value.is_negative() && !value.is_nan() => least,
        _ => !least,
    };
    (value as u64, result.status)
}

/// Saturated; a NaN is the greatest integer. A 32-bit result is sign-extended, as the ISA has it.
fn unsigned<F: Float>(value: F, width: usize, round: Round) -> (u64, Status) {
    let mut exact = false;
    let result = value.to_u128_r(width, round, &mut exact);
    let value = match result.status {
        s if !s.contains(Status::INVALID_OP) => result.value as u64,
        _ if value.is_negative() && !value.is_nan() => 0,
        _ => u64::MAX,
    };
    (
        if width == 32 {
            i64::from(value as i32) as u64
        } else {
            value
        },
        result.status,
    )
}
