//! MXCSR (Intel SDM volume 1, 10.2.3).

use core::arch::asm;

/// Rounding control.
pub const RC_MASK: u32 = 3 << 13;
/// To nearest, ties to even.
pub const RC_NEAREST: u32 = 0;

/// fflags bits: invalid operation.
pub const NV: u32 = 16;
/// fflags bits: inexact.
pub const NX: u32 = 1;

/// Reads MXCSR.
#[inline(always)]
pub fn mxcsr() -> u32 {
    let mut value = 0_u32;
    // SAFETY: writes the variable.
    unsafe {
        asm!("stmxcsr dword ptr [{}]", in(reg) &mut value, options(nostack, preserves_flags));
    }
    value
}

/// Writes MXCSR.
///
/// Rust assumes the default rounding mode and masks for its own floating-point operators, as C
/// compilers do; like `fesetround`, this is for code that uses none.
#[inline(always)]
pub fn set_mxcsr(value: u32) {
    // SAFETY: reads the variable. Reserved bits are those that `mxcsr` returned, so there is no
    // #GP.
    unsafe { asm!("ldmxcsr dword ptr [{}]", in(reg) &value, options(nostack)) };
}

/// frm for the rounding control in an MXCSR value: both number the same modes, with RTZ moved.
#[inline(always)]
pub(crate) fn rc_to_frm(mxcsr: u32) -> u32 {
    // RC 0 nearest, 1 down, 2 up, 3 zero; frm 0 nearest, 1 zero, 2 down, 3 up.
    [0, 2, 3, 1][(mxcsr >> 13) as usize & 3]
}

/// Rounding control for frm; to nearest for modes that MXCSR lacks.
#[inline(always)]
pub(crate) fn frm_to_rc(frm: u32) -> u32 {
    [0, 3, 1, 2, 0, 0, 0, 0][frm as usize & 7] << 13
}

/// fflags (NV DZ OF UF NX from bit 4 down) in an MXCSR value (IE - ZE OE UE PE from bit 0 up).
#[inline(always)]
pub(crate) fn fflags(mxcsr: u32) -> u32 {
    (mxcsr & 1) << 4
        | (mxcsr >> 2 & 1) << 3
        | (mxcsr >> 3 & 1) << 2
        | (mxcsr >> 4 & 1) << 1
        | mxcsr >> 5 & 1
}

/// An MXCSR value with its flags replaced; DE stays.
#[inline(always)]
pub(crate) fn with_fflags(mxcsr: u32, fflags: u32) -> u32 {
    mxcsr & !0x3d
        | fflags >> 4 & 1
        | (fflags >> 3 & 1) << 2
        | (fflags >> 2 & 1) << 3
        | (fflags >> 1 & 1) << 4
        | (fflags & 1) << 5
}

/// Raises NV by an operation that is invalid, so that it traps if the program unmasked it.
#[inline(always)]
pub(crate) fn raise_invalid() {
    // SAFETY: registers only.
    unsafe { asm!("divss {0}, {0}", inout(xmm_reg) 0.0_f32 => _, options(nostack)) };
}

/// Raises NX by an operation that is inexact in every rounding mode.
#[inline(always)]
pub(crate) fn raise_inexact() {
    let tiny = f32::from_bits(0x3000_0000);
    // SAFETY: registers only.
    unsafe {
        asm!("addss {0}, {1}", inout(xmm_reg) 1.0_f32 => _, in(xmm_reg) tiny, options(nostack));
    }
}
