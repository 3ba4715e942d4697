//! Operations on the representation: minimum, maximum, sign injection, classification.

use super::env::raise_invalid;
use super::{CANONICAL_D, CANONICAL_S, boxed, is_nan_d, is_nan_s, unbox};

macro_rules! format {
    ($is_nan:ident, $ty:ty, $signed:ty, $exp:literal, $quiet:literal, $canonical:ident,
     $min:ident, $max:ident, $class:ident, $signaling:ident, $key:ident) => {
        fn $signaling(bits: $ty) -> bool {
            $is_nan(bits) && bits & $quiet == 0
        }

        /// A number that orders as the value does, with -0 below +0.
        fn $key(bits: $ty) -> $signed {
            let bits = bits as $signed;
            bits ^ ((bits >> (<$ty>::BITS - 1)) as $ty >> 1) as $signed
        }

        /// The lesser; a number rather than a NaN.
        #[unsafe(link_section = "flick_engine")]
        pub fn $min(a: $ty, b: $ty) -> $ty {
            if $signaling(a) || $signaling(b) {
                raise_invalid();
            }
            match ($is_nan(a), $is_nan(b)) {
                (true, true) => $canonical,
                (true, false) => b,
                (false, true) => a,
                _ if $key(a) < $key(b) => a,
                _ => b,
            }
        }

        /// The greater; a number rather than a NaN.
        #[unsafe(link_section = "flick_engine")]
        pub fn $max(a: $ty, b: $ty) -> $ty {
            if $signaling(a) || $signaling(b) {
                raise_invalid();
            }
            match ($is_nan(a), $is_nan(b)) {
                (true, true) => $canonical,
                (true, false) => b,
                (false, true) => a,
                _ if $key(a) > $key(b) => a,
                _ => b,
            }
        }

        /// The mask of FCLASS: 0 -inf, 1 -normal, 2 -subnormal, 3 -0, 4 +0, 5 +subnormal,
        /// 6 +normal, 7 +inf, 8 signalling NaN, 9 quiet NaN.
        pub fn $class(bits: $ty) -> u64 {
            let magnitude = bits & (<$ty>::MAX >> 1);
            let positive = match magnitude {
                _ if $is_nan(bits) => return if $signaling(bits) { 1 << 8 } else { 1 << 9 },
                0 => 4,
                m if m & $exp == 0 => 5,
                m if m == $exp => 7,
                _ => 6,
            };
            if magnitude == bits {
                1 << positive
            } else {
                1 << (7 - positive)
            }
        }
    };
}

format!(
    is_nan_s,
    u32, i32, 0x7f80_0000, 0x0040_0000, CANONICAL_S, min32, max32, class32, signaling32, key32
);
format!(
    is_nan_d,
    u64,
    i64,
    0x7ff0_0000_0000_0000,
    0x0008_0000_0000_0000,
    CANONICAL_D,
    min64,
    max64,
    class64,
    signaling64,
    key64
);

#[unsafe(link_section = "flick_engine")]
pub fn min_s(a: u64, b: u64) -> u64 {
    boxed(min32(unbox(a), unbox(b)))
}

#[unsafe(link_section = "flick_engine")]
pub fn max_s(a: u64, b: u64) -> u64 {
    boxed(max32(unbox(a), unbox(b)))
}

pub fn class_s(a: u64) -> u64 {
    class32(unbox(a))
}

const SIGN_S: u32 = 1 << 31;
const SIGN_D: u64 = 1 << 63;

#[inline(always)]
pub fn sgnj_s(a: u64, b: u64) -> u64 {
    boxed(unbox(a) & !SIGN_S | unbox(b) & SIGN_S)
}

#[inline(always)]
pub fn sgnjn_s(a: u64, b: u64) -> u64 {
    boxed(unbox(a) & !SIGN_S | !unbox(b) & SIGN_S)
}

#[inline(always)]
pub fn sgnjx_s(a: u64, b: u64) -> u64 {
    boxed(unbox(a) ^ unbox(b) & SIGN_S)
}

#[inline(always)]
pub fn sgnj_d(a: u64, b: u64) -> u64 {
    a & !SIGN_D | b & SIGN_D
}

#[inline(always)]
pub fn sgnjn_d(a: u64, b: u64) -> u64 {
    a & !SIGN_D | !b & SIGN_D
}

#[inline(always)]
pub fn sgnjx_d(a: u64, b: u64) -> u64 {
    a ^ b & SIGN_D
}
