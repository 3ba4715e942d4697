//! Estimates of reciprocals and of reciprocals of square roots to 7 bits, by the tables of the ISA
//! manual (chapter "V", sections "Vector Floating-Point Reciprocal Square-Root Estimate
//! Instruction" and "Vector Floating-Point Reciprocal Estimate Instruction").

use super::vector_state::SINGLE;
use crate::fp::env::{self, mxcsr, set_mxcsr};
use crate::fp::fflags_with;

/// By the lowest bit of the exponent and six bits of the significand.
const ROOT: [u8; 128] = [
    52, 51, 50, 48, 47, 46, 44, 43, 42, 41, 40, 39, 38, 36, 35, 34, 33, 32, 31, 30, 30, 29, 28, 27,
    26, 25, 24, 23, 23, 22, 21, 20, 19, 19, 18, 17, 16, 16, 15, 14, 14, 13, 12, 12, 11, 10, 10, 9,
    9, 8, 7, 7, 6, 6, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 127, 125, 123, 121, 119, 118, 116, 114, 113,
    111, 109, 108, 106, 105, 103, 102, 100, 99, 97, 96, 95, 93, 92, 91, 90, 88, 87, 86, 85, 84, 83,
    82, 80, 79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 70, 69, 68, 67, 66, 65, 64, 63, 63, 62, 61, 60,
    59, 59, 58, 57, 56, 56, 55, 54, 53,
];

/// By seven bits of the significand.
const RECIPROCAL: [u8; 128] = [
    127, 125, 123, 121, 119, 117, 116, 114, 112, 110, 109, 107, 105, 104, 102, 100, 99, 97, 96, 94,
    93, 91, 90, 88, 87, 85, 84, 83, 81, 80, 79, 77, 76, 75, 74, 72, 71, 70, 69, 68, 66, 65, 64, 63,
    62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 40,
    39, 38, 37, 36, 35, 35, 34, 33, 32, 31, 31, 30, 29, 28, 28, 27, 26, 25, 25, 24, 23, 23, 22, 21,
    21, 20, 19, 19, 18, 17, 17, 16, 15, 15, 14, 14, 13, 12, 12, 11, 11, 10, 9, 9, 8, 8, 7, 7, 6, 5,
    5, 4, 4, 3, 3, 2, 2, 1, 1, 0,
];

const DZ: u32 = 8;
const OF: u32 = 4;

fn raise(flags: u32) {
    set_mxcsr(fflags_with(mxcsr(), |old| old | flags));
}

/// A format: bits of the significand and of the exponent.
#[derive(Clone, Copy)]
struct Format {
    significand: u32,
    exponent: u32,
}

/// A number taken apart.
struct Parts {
    format: Format,
    negative: bool,
    exponent: i64,
    significand: u64,
}

impl Format {
    fn of(width: u32) -> Self {
        match width {
            SINGLE => Self {
                significand: 23,
                exponent: 8,
            },
            _ => Self {
                significand: 52,
                exponent: 11,
            },
        }
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    fn greatest_exponent(self) -> i64 {
        (1 << self.exponent) - 1
    }

    fn mask(self) -> u64 {
        (1 << self.significand) - 1
    }

    fn canonical(self) -> u64 {
        self.join(false, self.greatest_exponent(), 1 << (self.significand - 1))
    }

    fn infinity(self, negative: bool) -> u64 {
        self.join(negative, self.greatest_exponent(), 0)
    }

    fn join(self, negative: bool, exponent: i64, significand: u64) -> u64 {
        let sign = u64::from(negative) << (self.significand + self.exponent);
        sign | (exponent as u64) << self.significand | significand
    }
}

impl Parts {
    fn of(value: u64, width: u32) -> Self {
        let format = Format::of(width);
        Self {
            format,
            negative: value >> (format.significand + format.exponent) & 1 != 0,
            exponent: value as i64 >> format.significand & format.greatest_exponent(),
            significand: value & format.mask(),
        }
    }

    fn is_zero(&self) -> bool {
        self.exponent == 0 && self.significand == 0
    }

    fn is_infinite(&self) -> bool {
        self.exponent == self.format.greatest_exponent() && self.significand == 0
    }

    /// If it is a NaN: the canonical one, with the flag of a signalling one.
    fn nan(&self) -> Option<u64> {
        let is_nan = self.exponent == self.format.greatest_exponent() && self.significand != 0;
        if is_nan && self.significand >> (self.format.significand - 1) == 0 {
            raise(env::NV);
        }
        is_nan.then(|| self.format.canonical())
    }

    /// A subnormal number with its leading one where that of normal ones is.
    fn normalised(mut self) -> Self {
        if self.exponent == 0 && self.significand != 0 {
            let bits = self.format.significand;
            let shift = self.significand.leading_zeros() - (64 - bits);
            self.exponent = -i64::from(shift);
            self.significand = self.significand << shift << 1 & self.format.mask();
        }
        self
    }
}

/// `vfrsqrt7.v`.
pub(super) fn reciprocal_root(value: u64, width: u32) -> u64 {
    let parts = Parts::of(value, width);
    let format = parts.format;
    if let Some(nan) = parts.nan() {
        return nan;
    }
    if parts.is_zero() {
        raise(DZ);
        return format.infinity(parts.negative);
    }
    if parts.negative {
        raise(env::NV);
        return format.canonical();
    }
    if parts.is_infinite() {
        return 0;
    }
    let parts = parts.normalised();
    let high = parts.significand >> (format.significand - 6);
    let index = (parts.exponent as u64 & 1) << 6 | high;
    let exponent = (3 * format.bias() - 1 - parts.exponent) / 2;
    let significand = u64::from(ROOT[index as usize & 127]) << (format.significand - 7);
    format.join(false, exponent, significand)
}

/// `vfrec7.v`; overflow is as MXCSR rounds.
pub(super) fn reciprocal(value: u64, width: u32) -> u64 {
    let parts = Parts::of(value, width);
    let format = parts.format;
    if let Some(nan) = parts.nan() {
        return nan;
    }
    let negative = parts.negative;
    if parts.is_infinite() {
        return format.join(negative, 0, 0);
    }
    if parts.is_zero() {
        raise(DZ);
        return format.infinity(negative);
    }
    let parts = parts.normalised();
    if parts.exponent < -1 {
        raise(OF | env::NX);
        // Towards zero, down, up: away from the infinity of this sign.
        let finite = match env::rc_to_frm(mxcsr()) {
            1 => true,
            2 => !negative,
            3 => negative,
            _ => false,
        };
        return match finite {
            true => format.join(negative, format.greatest_exponent() - 1, format.mask()),
            false => format.infinity(negative),
        };
    }
    let index = parts.significand >> (format.significand - 7);
    let significand = u64::from(RECIPROCAL[index as usize & 127]) << (format.significand - 7);
    let exponent = 2 * format.bias() - 1 - parts.exponent;
    match exponent {
        1.. => format.join(negative, exponent, significand),
        // Subnormal: with its leading one.
        _ => {
            let whole = significand | 1 << format.significand;
            format.join(negative, 0, whole >> (1 - exponent))
        }
    }
}
