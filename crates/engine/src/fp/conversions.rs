//! Conversions under the rounding mode that MXCSR has.

use core::arch::asm;

use super::env::mxcsr;
use super::sse::{canonical_d, canonical_s};
use super::{boxed, env, soft, unbox};
use flick_riscv::Op;
use rustc_apfloat::Round;

#[inline(always)]
fn single(raw: u64) -> f32 {
    f32::from_bits(unbox(raw))
}

#[inline(always)]
pub fn s_from_d(a: u64) -> u64 {
    let mut v = 0.0_f32;
    // SAFETY: registers and MXCSR only.
    unsafe {
        asm!("cvtsd2ss {v}, {a}", v = inout(xmm_reg) v, a = in(xmm_reg) f64::from_bits(a),
            options(nostack));
    }
    boxed(canonical_s(v.to_bits()))
}

#[inline(always)]
pub fn d_from_s(a: u64) -> u64 {
    let mut v = 0.0_f64;
    // SAFETY: registers and MXCSR only.
    unsafe {
        asm!("cvtss2sd {v}, {a}", v = inout(xmm_reg) v, a = in(xmm_reg) single(a),
            options(nostack));
    }
    canonical_d(v.to_bits())
}

/// SSE answers every value out of range with the least integer (and NV); the ISA saturates, and
/// takes a NaN for positive.
#[inline(always)]
fn saturate_l(found: i64, negative: bool) -> u64 {
    if found == i64::MIN && !negative {
        i64::MAX as u64
    } else {
        found as u64
    }
}

/// As [`saturate_l`].
#[inline(always)]
fn saturate_w(found: i32, negative: bool) -> u64 {
    let found = if found == i32::MIN && !negative {
        i32::MAX
    } else {
        found
    };
    i64::from(found) as u64
}

#[inline(always)]
fn below_zero_s(raw: u64) -> bool {
    let bits = unbox(raw);
    bits >> 31 != 0 && !super::is_nan_s(bits)
}

#[inline(always)]
fn below_zero_d(bits: u64) -> bool {
    bits >> 63 != 0 && !super::is_nan_d(bits)
}

macro_rules! to_signed {
    ($name:ident, $int:ty, $read:path, $below:ident, $saturate:ident, $insn:literal) => {
        #[inline(always)]
        pub fn $name(a: u64) -> u64 {
            let v: $int;
            // SAFETY: registers and MXCSR only.
            unsafe { asm!($insn, v = out(reg) v, a = in(xmm_reg) $read(a), options(nostack)) };
            $saturate(v, $below(a))
        }
    };
}

to_signed!(
    w_from_s,
    i32,
    single,
    below_zero_s,
    saturate_w,
    "cvtss2si {v:e}, {a}"
);
to_signed!(
    w_from_d,
    i32,
    f64::from_bits,
    below_zero_d,
    saturate_w,
    "cvtsd2si {v:e}, {a}"
);
to_signed!(
    l_from_s,
    i64,
    single,
    below_zero_s,
    saturate_l,
    "cvtss2si {v:r}, {a}"
);
to_signed!(
    l_from_d,
    i64,
    f64::from_bits,
    below_zero_d,
    saturate_l,
    "cvtsd2si {v:r}, {a}"
);
// Towards zero, whatever MXCSR says: what C's conversions compile to.
to_signed!(
    w_from_s_rtz,
    i32,
    single,
    below_zero_s,
    saturate_w,
    "cvttss2si {v:e}, {a}"
);
to_signed!(
    w_from_d_rtz,
    i32,
    f64::from_bits,
    below_zero_d,
    saturate_w,
    "cvttsd2si {v:e}, {a}"
);
to_signed!(
    l_from_s_rtz,
    i64,
    single,
    below_zero_s,
    saturate_l,
    "cvttss2si {v:r}, {a}"
);
to_signed!(
    l_from_d_rtz,
    i64,
    f64::from_bits,
    below_zero_d,
    saturate_l,
    "cvttsd2si {v:r}, {a}"
);

/// Conversion to an unsigned integer. Below `$limit` (and not negative) the signed conversion to 64
/// bits does it; else software, because NX must not be raised when NV is.
macro_rules! to_unsigned {
    ($name:ident, $op:expr, $bits:expr, $limit:expr, $signed:ident, $round:expr) => {
        #[inline(always)]
        pub fn $name(a: u64) -> u64 {
            let bits = $bits(a);
            if bits <= $limit {
                let value = $signed(a);
                return if matches!($op, Op::FcvtWuS | Op::FcvtWuD) {
                    i64::from(value as i32) as u64
                } else {
                    value
                };
            }
            soft::to_int($op, a, $round).unwrap_or(a)
        }
    };
}

const SINGLE_BELOW_2_32: u32 = 0x4f7f_ffff;
const SINGLE_BELOW_2_63: u32 = 0x5eff_ffff;
const DOUBLE_2_32_LESS_1: u64 = 0x41ef_ffff_ffe0_0000;
const DOUBLE_BELOW_2_63: u64 = 0x43df_ffff_ffff_ffff;

fn raw(a: u64) -> u64 {
    a
}

to_unsigned!(
    wu_from_s,
    Op::FcvtWuS,
    unbox,
    SINGLE_BELOW_2_32,
    l_from_s,
    live_round()
);
to_unsigned!(
    wu_from_d,
    Op::FcvtWuD,
    raw,
    DOUBLE_2_32_LESS_1,
    l_from_d,
    live_round()
);
to_unsigned!(
    lu_from_s,
    Op::FcvtLuS,
    unbox,
    SINGLE_BELOW_2_63,
    l_from_s,
    live_round()
);
to_unsigned!(
    lu_from_d,
    Op::FcvtLuD,
    raw,
    DOUBLE_BELOW_2_63,
    l_from_d,
    live_round()
);
to_unsigned!(
    wu_from_s_rtz,
    Op::FcvtWuS,
    unbox,
    SINGLE_BELOW_2_32,
    l_from_s_rtz,
    Round::TowardZero
);
to_unsigned!(
    wu_from_d_rtz,
    Op::FcvtWuD,
    raw,
    DOUBLE_2_32_LESS_1,
    l_from_d_rtz,
    Round::TowardZero
);
to_unsigned!(
    lu_from_s_rtz,
    Op::FcvtLuS,
    unbox,
    SINGLE_BELOW_2_63,
    l_from_s_rtz,
    Round::TowardZero
);
to_unsigned!(
    lu_from_d_rtz,
    Op::FcvtLuD,
    raw,
    DOUBLE_BELOW_2_63,
    l_from_d_rtz,
    Round::TowardZero
);

/// MXCSR's rounding control.
fn live_round() -> Round {
    match env::rc_to_frm(mxcsr()) {
        1 => Round::TowardZero,
        2 => Round::TowardNegative,
        3 => Round::TowardPositive,
        _ => Round::NearestTiesToEven,
    }
}

macro_rules! from_signed {
    ($name:ident, $float:ty, $int:ty, $insn:literal, $write:expr) => {
        #[inline(always)]
        pub fn $name(a: u64) -> u64 {
            let mut v: $float = 0.0;
            // SAFETY: registers and MXCSR only.
            unsafe {
                asm!($insn, v = inout(xmm_reg) v, a = in(reg) a as $int, options(nostack));
            }
            $write(v.to_bits())
        }
    };
}

from_signed!(s_from_w, f32, i32, "cvtsi2ss {v}, {a:e}", boxed);
from_signed!(d_from_w, f64, i32, "cvtsi2sd {v}, {a:e}", raw);
from_signed!(s_from_l, f32, i64, "cvtsi2ss {v}, {a:r}", boxed);
from_signed!(d_from_l, f64, i64, "cvtsi2sd {v}, {a:r}", raw);

#[inline(always)]
pub fn s_from_wu(a: u64) -> u64 {
    s_from_l(a & 0xffff_ffff)
}

#[inline(always)]
pub fn d_from_wu(a: u64) -> u64 {
    d_from_l(a & 0xffff_ffff)
}

/// Half of a large number, with the lost bit kept as a sticky one: it rounds as the number does.
#[inline(always)]
fn halved(a: u64) -> u64 {
    a >> 1 | a & 1
}

#[inline(always)]
pub fn s_from_lu(a: u64) -> u64 {
    if a >> 63 == 0 {
        return s_from_l(a);
    }
    let half = s_from_l(halved(a));
    super::sse::add_s(half, half)
}

#[inline(always)]
pub fn d_from_lu(a: u64) -> u64 {
    if a >> 63 == 0 {
        return d_from_l(a);
    }
    let half = d_from_l(halved(a));
    super::sse::add_d(half, half)
}
