//! Fixed-point arithmetic (ISA manual, chapter "V", section "Vector Fixed-Point Arithmetic
//! Instructions").

use core::cell::Cell;

use super::configuration::Shape;
use super::integer_elements::{First, map, narrow};
use super::vector_state::{VectorState, ones, sign_extended};
use super::word::{IVI, IVV, IVX, MVV, MVX};
use super::{Legal, Reserved, Word};
use crate::hart_state::Hart;

/// A shift to the right that rounds as vxrm says (section "Vector Fixed-Point Rounding Mode
/// Register").
#[derive(Clone, Copy)]
struct Rounding(u8);

impl Rounding {
    #[inline(always)]
    fn shift(self, value: i128, amount: u32) -> i128 {
        if amount == 0 {
            return value;
        }
        let bit = |n: u32| value >> n & 1;
        let lost = |n: u32| i128::from(value & ((1 << n) - 1) != 0);
        let up = match self.0 {
            // To nearest, up; to nearest, to even; down; to odd.
            0 => bit(amount - 1),
            1 => bit(amount - 1) & (lost(amount - 1) | bit(amount)),
            2 => 0,
            _ => !bit(amount) & 1 & lost(amount),
        };
        (value >> amount) + up
    }
}

/// vxsat, as far as the instruction has set it.
struct Saturation(Cell<bool>);

impl Saturation {
    /// The value in the range, of 2^`width` bits.
    #[inline(always)]
    fn signed(&self, value: i128, width: u32) -> u64 {
        let most = i128::from(ones(width) >> 1);
        self.clamp(value, -most - 1, most)
    }

    /// As [`Self::signed`].
    #[inline(always)]
    fn unsigned(&self, value: i128, width: u32) -> u64 {
        self.clamp(value, 0, i128::from(ones(width)))
    }

    #[inline(always)]
    fn clamp(&self, value: i128, least: i128, most: i128) -> u64 {
        let clamped = value.clamp(least, most);
        if clamped != value {
            self.0.set(true);
        }
        clamped as u64
    }
}

/// Is it one of these instructions, by funct3 and funct6?
pub(super) fn is_one(word: Word) -> bool {
    match word.funct3() {
        IVV | IVX => matches!(
            word.funct6(),
            0x20..=0x23 | 0x27 | 0x2a | 0x2b | 0x2e | 0x2f
        ),
        IVI => matches!(word.funct6(), 0x20 | 0x21 | 0x2a | 0x2b | 0x2e | 0x2f),
        MVV | MVX => matches!(word.funct6(), 0x08..=0x0b),
        _ => false,
    }
}

/// Executes one of them.
pub(super) fn execute(hart: &Hart, state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let first = First::of(hart, word);
    let count = First::unsigned(hart, word);
    let w = shape.sew;
    let u = |value: u64| i128::from(value);
    let s = move |value| i128::from(sign_extended(value, w));
    let bits = (1_u64 << w) - 1;
    let rounding = Rounding(state.vxrm);
    let sat = Saturation(Cell::new(false));
    let is_average = matches!(word.funct3(), MVV | MVX);
    match (is_average, word.funct6()) {
        (false, 0x20) => map(state, word, shape, first, |a, b| {
            sat.unsigned(u(a) + u(b), w)
        }),
        (false, 0x21) => map(state, word, shape, first, |a, b| sat.signed(s(a) + s(b), w)),
        (false, 0x22) => map(state, word, shape, first, |a, b| {
            sat.unsigned(u(a) - u(b), w)
        }),
        (false, 0x23) => map(state, word, shape, first, |a, b| sat.signed(s(a) - s(b), w)),
        (false, 0x27) => map(state, word, shape, first, |a, b| {
            sat.signed(rounding.shift(s(a) * s(b), (1 << w) - 1), w)
        }),
        (false, 0x2a) => map(state, word, shape, count, |a, b| {
            rounding.shift(u(a), (b & bits) as u32) as u64
        }),
        (false, 0x2b) => map(state, word, shape, count, |a, b| {
            rounding.shift(s(a), (b & bits) as u32) as u64
        }),
        (false, 0x2e) => narrow(state, word, shape, count, |a, b| {
            sat.unsigned(rounding.shift(u(a), (b & (bits * 2 + 1)) as u32), w)
        }),
        (false, 0x2f) => narrow(state, word, shape, count, |a, b| {
            let a = i128::from(sign_extended(a, w + 1));
            sat.signed(rounding.shift(a, (b & (bits * 2 + 1)) as u32), w)
        }),
        (true, 0x08) => map(state, word, shape, first, |a, b| {
            rounding.shift(u(a) + u(b), 1) as u64
        }),
        (true, 0x09) => map(state, word, shape, first, |a, b| {
            rounding.shift(s(a) + s(b), 1) as u64
        }),
        (true, 0x0a) => map(state, word, shape, first, |a, b| {
            rounding.shift(u(a) - u(b), 1) as u64
        }),
        (true, 0x0b) => map(state, word, shape, first, |a, b| {
            rounding.shift(s(a) - s(b), 1) as u64
        }),
        _ => Err(Reserved),
    }?;
    state.vxsat |= sat.0.get();
    Ok(())
}
