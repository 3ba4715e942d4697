//! Arithmetic under the rounding mode that MXCSR has.

use core::arch::asm;

use super::env::raise_invalid;
use super::{CANONICAL_D, CANONICAL_S, boxed, is_nan_d, is_nan_s, unbox};

/// Replaces a NaN by the canonical one.
#[inline(always)]
pub fn canonical_s(bits: u32) -> u32 {
    if is_nan_s(bits) { CANONICAL_S } else { bits }
}

/// As [`canonical_s`].
#[inline(always)]
pub fn canonical_d(bits: u64) -> u64 {
    if is_nan_d(bits) { CANONICAL_D } else { bits }
}

macro_rules! binary {
    ($single:ident, $ss:literal, $double:ident, $sd:literal) => {
        #[inline(always)]
        pub fn $single(a: u64, b: u64) -> u64 {
            let mut v = f32::from_bits(unbox(a));
            // SAFETY: registers and MXCSR only.
            unsafe {
                asm!($ss, v = inout(xmm_reg) v, b = in(xmm_reg) f32::from_bits(unbox(b)),
                    options(nostack));
            }
            boxed(canonical_s(v.to_bits()))
        }

        #[inline(always)]
        pub fn $double(a: u64, b: u64) -> u64 {
            let mut v = f64::from_bits(a);
            // SAFETY: registers and MXCSR only.
            unsafe {
                asm!($sd, v = inout(xmm_reg) v, b = in(xmm_reg) f64::from_bits(b),
                    options(nostack));
            }
            canonical_d(v.to_bits())
        }
    };
}

binary!(add_s, "addss {v}, {b}", add_d, "addsd {v}, {b}");
binary!(sub_s, "subss {v}, {b}", sub_d, "subsd {v}, {b}");
binary!(mul_s, "mulss {v}, {b}", mul_d, "mulsd {v}, {b}");
binary!(div_s, "divss {v}, {b}", div_d, "divsd {v}, {b}");

#[inline(always)]
pub fn sqrt_s(a: u64) -> u64 {
    let v: f32;
    // SAFETY: registers and MXCSR only.
    unsafe {
        asm!("sqrtss {v}, {v}", v = inout(xmm_reg) f32::from_bits(unbox(a)) => v, options(nostack));
    }
    boxed(canonical_s(v.to_bits()))
}

#[inline(always)]
pub fn sqrt_d(a: u64) -> u64 {
    let v: f64;
    // SAFETY: registers and MXCSR only.
    unsafe {
        asm!("sqrtsd {v}, {v}", v = inout(xmm_reg) f64::from_bits(a) => v, options(nostack));
    }
    canonical_d(v.to_bits())
}

// The C library's, for processors without FMA3: it rounds once, in the mode of MXCSR, and raises
// all flags.
unsafe extern "C" {
    fn fma(a: f64, b: f64, c: f64) -> f64;
    fn fmaf(a: f32, b: f32, c: f32) -> f32;
}

#[inline(always)]
pub fn hardware_fma_s(a: u32, b: u32, c: u32) -> u32 {
    let mut v = f32::from_bits(a);
    // SAFETY: the caller has found FMA3; registers and MXCSR only.
    unsafe {
        asm!("vfmadd213ss {v}, {b}, {c}", v = inout(xmm_reg) v, b = in(xmm_reg) f32::from_bits(b),
            c = in(xmm_reg) f32::from_bits(c), options(nostack));
    }
    v.to_bits()
}

#[inline(always)]
pub fn hardware_fma_d(a: u64, b: u64, c: u64) -> u64 {
    let mut v = f64::from_bits(a);
    // SAFETY: the caller has found FMA3; registers and MXCSR only.
    unsafe {
        asm!("vfmadd213sd {v}, {b}, {c}", v = inout(xmm_reg) v, b = in(xmm_reg) f64::from_bits(b),
            c = in(xmm_reg) f64::from_bits(c), options(nostack));
    }
    v.to_bits()
}

#[inline(always)]
pub fn library_fma_s(a: u32, b: u32, c: u32) -> u32 {
    // SAFETY: a pure function of the C library.
    unsafe { fmaf(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)) }.to_bits()
}

#[inline(always)]
pub fn library_fma_d(a: u64, b: u64, c: u64) -> u64 {
    // SAFETY: a pure function of the C library.
    unsafe { fma(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)) }.to_bits()
}

/// a × b + c, rounded once.
#[inline(always)]
fn fused_s(a: u32, b: u32, c: u32) -> u64 {
    let v = if std::is_x86_feature_detected!("fma") {
        hardware_fma_s(a, b, c)
    } else {
        library_fma_s(a, b, c)
    };
    if is_nan_s(v) {
        // Infinity times zero is invalid also when a quiet NaN is added; x86 says nothing then.
        let (a, b) = (a << 1, b << 1);
        if (a == 0xff00_0000 && b == 0) || (a == 0 && b == 0xff00_0000) {
            raise_invalid();
        }
        return boxed(CANONICAL_S);
    }
    boxed(v)
}

/// As [`fused_s`].
#[inline(always)]
fn fused_d(a: u64, b: u64, c: u64) -> u64 {
    let v = if std::is_x86_feature_detected!("fma") {
        hardware_fma_d(a, b, c)
    } else {
        library_fma_d(a, b, c)
    };
    if is_nan_d(v) {
        let (a, b) = (a << 1, b << 1);
        if (a == 0xffe0 << 48 && b == 0) || (a == 0 && b == 0xffe0 << 48) {
            raise_invalid();
        }
        return CANONICAL_D;
    }
    v
}

const SIGN_S: u32 = 1 << 31;
const SIGN_D: u64 = 1 << 63;

macro_rules! fused {
    ($single:ident, $double:ident, $product:expr, $addend:expr) => {
        #[inline(always)]
        pub fn $single(a: u64, b: u64, c: u64) -> u64 {
            let (product, addend) = (SIGN_S * $product, SIGN_S * $addend);
            fused_s(unbox(a) ^ product, unbox(b), unbox(c) ^ addend)
        }

        #[inline(always)]
        pub fn $double(a: u64, b: u64, c: u64) -> u64 {
            fused_d(a ^ (SIGN_D * $product), b, c ^ (SIGN_D * $addend))
        }
    };
}

// Which of product and addend is negated.
fused!(madd_s, madd_d, 0, 0);
fused!(msub_s, msub_d, 0, 1);
fused!(nmsub_s, nmsub_d, 1, 0);
fused!(nmadd_s, nmadd_d, 1, 1);

/// Quiet equality: NV for signalling NaNs only.
macro_rules! equal {
    ($name:ident, $read:expr, $insn:literal) => {
        #[inline(always)]
        pub fn $name(a: u64, b: u64) -> u64 {
            let mut yes = 0_u32;
            // SAFETY: registers and MXCSR only.
            unsafe {
                asm!($insn, "setnp {t}", "sete {y:l}", "and {y:l}, {t}", t = out(reg_byte) _,
                    a = in(xmm_reg) $read(a), b = in(xmm_reg) $read(b),
                    y = inout(reg_abcd) yes, options(nostack));
            }
            u64::from(yes)
        }
    };
}

/// `$set` looks at a comparison of `b` with `a`, so that CF excludes the unordered case.
macro_rules! less {
    ($name:ident, $read:expr, $insn:literal, $set:literal) => {
        #[inline(always)]
        pub fn $name(a: u64, b: u64) -> u64 {
            let mut yes = 0_u32;
            // SAFETY: registers and MXCSR only.
            unsafe {
                asm!($insn, $set, a = in(xmm_reg) $read(a), b = in(xmm_reg) $read(b),
                    y = inout(reg_abcd) yes, options(nostack));
            }
            u64::from(yes)
        }
    };
}

#[inline(always)]
fn single(raw: u64) -> f32 {
    f32::from_bits(unbox(raw))
}

equal!(eq_s, single, "ucomiss {a}, {b}");
equal!(eq_d, f64::from_bits, "ucomisd {a}, {b}");
less!(lt_s, single, "comiss {b}, {a}", "seta {y:l}");
less!(lt_d, f64::from_bits, "comisd {b}, {a}", "seta {y:l}");
less!(le_s, single, "comiss {b}, {a}", "setae {y:l}");
less!(le_d, f64::from_bits, "comisd {b}, {a}", "setae {y:l}");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::env::{fflags, mxcsr, set_mxcsr, with_fflags};

    /// Runs `f` with no flags raised in rounding mode `rc`; its result and flags.
    fn observed<T>(rc: u32, f: impl FnOnce() -> T) -> (T, u32) {
        let saved = mxcsr();
        set_mxcsr(with_fflags(saved, 0) & !(3 << 13) | rc << 13);
        let result = f();
        let flags = fflags(mxcsr());
        set_mxcsr(saved);
        (result, flags)
    }

    /// With `GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4` this compares glibc's software path.
    #[test]
    fn library_fma_equals_the_hardwares() {
        if !std::is_x86_feature_detected!("fma") {
            return;
        }
        let edges: [u64; 18] = [
            0,
            1,
            0x000f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x0010_0000_0000_0001,
            0x1e60_0000_0000_0001,
            0x3970_0000_0000_0000,
            0x3ca0_0000_0000_0000,
            0x3fe0_0000_0000_0000,
            0x3fef_ffff_ffff_ffff,
            0x3ff0_0000_0000_0000,
            0x3ff0_0000_0000_0001,
            0x41a0_0000_0200_0000,
            0x5fe0_0000_0000_0001,
            0x7fef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0x7ff8_0000_0000_0000,
            0x7ff4_0000_0000_0000,
        ];
        let sign = |v: u64, n: usize, bit: u32| v | (n as u64 >> bit & 1) << 63;
        for rc in 0..4 {
            for n in 0..edges.len().pow(3) * 8 {
                let (signs, n) = (n % 8, n / 8);
                let a = sign(edges[n % 18], signs, 0);
                let b = sign(edges[n / 18 % 18], signs, 1);
                let c = sign(edges[n / 324], signs, 2);
                let hardware = observed(rc, || canonical_d(hardware_fma_d(a, b, c)));
                let library = observed(rc, || canonical_d(library_fma_d(a, b, c)));
                // Infinity times zero plus a quiet NaN may or may not be invalid for them.
                if hardware.0 == CANONICAL_D {
                    assert_eq!(hardware.0, library.0, "{a:#x} {b:#x} {c:#x} {rc}");
                } else {
                    assert_eq!(hardware, library, "{a:#x} {b:#x} {c:#x} {rc}");
                }
                let [s, t, u] = [a, b, c].map(|v| (v >> 32) as u32);
                let hardware = observed(rc, || canonical_s(hardware_fma_s(s, t, u)));
                let library = observed(rc, || canonical_s(library_fma_s(s, t, u)));
                if hardware.0 == CANONICAL_S {
                    assert_eq!(hardware.0, library.0, "{s:#x} {t:#x} {u:#x} {rc}");
                } else {
                    assert_eq!(hardware, library, "{s:#x} {t:#x} {u:#x} {rc}");
                }
            }
        }
    }
}
