//! Floating point (ISA manual, chapters "F" and "D") on the host's SSE unit.
//!
//! There is one floating-point environment for a thread: fcsr is a view of the live MXCSR, and
//! nothing is swapped. (A machine's harts have an fcsr each, which the machine loads: `fcsr.rs`.)
//!
//! | of fcsr | in MXCSR |
//! |---|---|
//! | fflags: NV, DZ, OF, UF, NX | the sticky flags IE, ZE, OE, UE, PE; fflags do not show DE |
//! | frm | the rounding control |
//! | frm: RMM (to nearest, ties to max magnitude), reserved modes | to nearest; [`Hart::frm`](crate::Hart::frm) has the mode |
//!
//! Exception masks, FTZ and DAZ stay as the program has set them. An unmasked exception is a SIGFPE
//! at the guest instruction.
//!
//! All arithmetic is inline assembly, because the compiler may fold Rust's own operators, and may
//! move them across changes of MXCSR. SSE agrees with the ISA on everything (both detect tininess
//! after rounding), except on NaN results, on conversions to integers out of range, and on minimum
//! and maximum.
//!
//! An operation takes and returns raw register contents. Single-precision values are NaN-boxed.

pub(crate) mod conversions;
pub mod env;
mod execute;
pub mod fcsr;
pub(crate) mod quiet;
pub(crate) mod soft;
pub(crate) mod sse;

pub use execute::execute;

use crate::hart_state::Hart;
use env::{RC_MASK, RC_NEAREST, mxcsr, set_mxcsr};
use flick_riscv::Op;
use rustc_apfloat::Round;

/// Value of rm for "as frm says".
pub const DYNAMIC: u32 = 7;
/// Value of rm and frm for "to nearest, ties to max magnitude".
pub const RMM: u32 = 4;
/// Value of rm and frm for "towards zero".
pub const RTZ: u32 = 1;

const CANONICAL_S: u32 = 0x7fc0_0000;
const CANONICAL_D: u64 = 0x7ff8_0000_0000_0000;

/// A single in a register; what is not boxed counts as the canonical NaN.
#[inline(always)]
pub(crate) fn unbox(raw: u64) -> u32 {
    if raw >> 32 == 0xffff_ffff {
        raw as u32
    } else {
        CANONICAL_S
    }
}

/// A single as register contents.
#[inline(always)]
pub fn boxed(single: u32) -> u64 {
    u64::from(single) | 0xffff_ffff_0000_0000
}

#[inline(always)]
fn is_nan_s(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

#[inline(always)]
fn is_nan_d(bits: u64) -> bool {
    bits & (u64::MAX >> 1) > 0x7ff0_0000_0000_0000
}

/// Can an instruction with this rm run under MXCSR as it is?
#[inline(always)]
pub(crate) fn is_plain(hart_frm: u32, rm: u32) -> bool {
    rm == DYNAMIC && hart_frm == 0
}

/// Executes `op` in the rounding mode it names; `None` if that is a reserved one.
///
/// An unmasked exception traps in here, before anything is changed but MXCSR's rounding control
/// (the kernel starts a signal handler with a fresh MXCSR and restores this one at its return).
#[unsafe(link_section = "flick_engine")]
#[inline(never)]
pub(crate) fn rounded(hart_frm: u32, rm: u32, op: Op, a: u64, b: u64, c: u64) -> Option<u64> {
    let saved = mxcsr();
    let live = env::rc_to_frm(saved);
    // What the hart holds is stale once the host side has chosen another mode.
    let frm = if saved & RC_MASK == RC_NEAREST && hart_frm != 0 {
        hart_frm
    } else {
        live
    };
    let mode = if rm == DYNAMIC { frm } else { rm };
    if mode > RMM {
        return None;
    }
    let away = mode == RMM;
    if away && let Some(value) = soft::to_int(op, a, Round::NearestTiesToAway) {
        return Some(value);
    }
    let wanted = if away {
        RC_NEAREST
    } else {
        env::frm_to_rc(mode)
    };
    if saved & RC_MASK != wanted {
        set_mxcsr(saved & !RC_MASK | wanted);
    }
    let value = compute(op, a, b, c);
    if saved & RC_MASK != wanted {
        set_mxcsr(mxcsr() & !RC_MASK | saved & RC_MASK);
    }
    // The flags of both nearest modes are the same: they differ in ties only, and the ties at the
    // limits of overflow and underflow go up in both.
    Some(if away {
        soft::away(op, a, b, c, value)
    } else {
        value
    })
}

/// Executes a rounded instruction under MXCSR as it is.
#[inline(always)]
fn compute(op: Op, a: u64, b: u64, c: u64) -> u64 {
    match op {
        Op::FaddS => sse::add_s(a, b),
        Op::FaddD => sse::add_d(a, b),
        Op::FsubS => sse::sub_s(a, b),
        Op::FsubD => sse::sub_d(a, b),
        Op::FmulS => sse::mul_s(a, b),
        Op::FmulD => sse::mul_d(a, b),
        Op::FdivS => sse::div_s(a, b),
        Op::FdivD => sse::div_d(a, b),
        Op::FsqrtS => sse::sqrt_s(a),
        Op::FsqrtD => sse::sqrt_d(a),
        Op::FmaddS => sse::madd_s(a, b, c),
        Op::FmaddD => sse::madd_d(a, b, c),
        Op::FmsubS => sse::msub_s(a, b, c),
        Op::FmsubD => sse::msub_d(a, b, c),
        Op::FnmsubS => sse::nmsub_s(a, b, c),
        Op::FnmsubD => sse::nmsub_d(a, b, c),
        Op::FnmaddS => sse::nmadd_s(a, b, c),
        Op::FnmaddD => sse::nmadd_d(a, b, c),
        Op::FcvtSD => conversions::s_from_d(a),
        Op::FcvtDS => conversions::d_from_s(a),
        Op::FcvtWS => conversions::w_from_s(a),
        Op::FcvtWuS => conversions::wu_from_s(a),
        Op::FcvtLS => conversions::l_from_s(a),
        Op::FcvtLuS => conversions::lu_from_s(a),
        Op::FcvtWD => conversions::w_from_d(a),
        Op::FcvtWuD => conversions::wu_from_d(a),
        Op::FcvtLD => conversions::l_from_d(a),
        Op::FcvtLuD => conversions::lu_from_d(a),
        Op::FcvtSW => conversions::s_from_w(a),
        Op::FcvtSWu => conversions::s_from_wu(a),
        Op::FcvtSL => conversions::s_from_l(a),
        Op::FcvtSLu => conversions::s_from_lu(a),
        Op::FcvtDW => conversions::d_from_w(a),
        Op::FcvtDWu => conversions::d_from_wu(a),
        Op::FcvtDL => conversions::d_from_l(a),
        Op::FcvtDLu => conversions::d_from_lu(a),
        // The interpreter asks for no other.
        _ => a,
    }
}

/// As [`compute`], for those who choose the operation as they run.
#[unsafe(link_section = "flick_engine")]
#[inline(never)]
pub(crate) fn plain(op: Op, a: u64, b: u64, c: u64) -> u64 {
    compute(op, a, b, c)
}

/// An MXCSR value with other fflags.
pub(crate) fn fflags_with(mxcsr: u32, f: impl FnOnce(u32) -> u32) -> u32 {
    env::with_fflags(mxcsr, f(env::fflags(mxcsr)))
}

/// The canonical NaN in a register.
#[inline]
pub fn canonical() -> u64 {
    CANONICAL_D
}

/// The canonical NaN of single precision in a register.
#[inline]
pub fn boxed_canonical() -> u64 {
    boxed(CANONICAL_S)
}

/// fcsr as the guest sees it: frm in bits 5 to 7, fflags in bits 0 to 4.
pub fn read_fcsr(hart: &Hart) -> u64 {
    fcsr_of(hart, mxcsr())
}

/// The same, where MXCSR is `m`.
fn fcsr_of(hart: &Hart, m: u32) -> u64 {
    let frm = if m & RC_MASK == RC_NEAREST && hart.frm != 0 {
        u32::from(hart.frm)
    } else {
        env::rc_to_frm(m)
    };
    u64::from(frm << 5 | env::fflags(m))
}

/// Makes MXCSR (and `hart.frm`) show `fcsr`; bits above 7 are ignored.
pub fn write_fcsr(hart: &mut Hart, fcsr: u64) {
    let frm = (fcsr >> 5) as u32 & 7;
    let rc = env::frm_to_rc(frm);
    hart.frm = if frm >= RMM { frm as u16 } else { 0 };
    let old = mxcsr();
    let new = env::with_fflags(old, fcsr as u32 & 31) & !RC_MASK | rc;
    // Setting it takes as long as some ten instructions.
    if new != old {
        set_mxcsr(new);
    }
}
