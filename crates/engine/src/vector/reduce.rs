//! Reductions (ISA manual, chapter "V", section "Vector Reduction Operations").

use super::configuration::Shape;
use super::float_elements::Environment;
use super::groups::{Group, Write, check};
use super::vector_state::{SINGLE, VectorState, sign_extended};
use super::{Legal, Reserved, Word, require};
use crate::fp::quiet;
use flick_riscv::Op;

/// vd\[0\] = f(… f(vs1\[0\], vs2\[i\]) …) for the active elements in their order; vs1 and vd have
/// 2^`width` bits.
#[inline(always)]
fn fold(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    width: u32,
    f: impl Fn(u64, u64) -> u64,
) -> Legal {
    require(shape.vstart == 0)?;
    let sources = [
        Group::of(word.vs2(), shape),
        Group::scalar(word.vs1(), width),
    ];
    let destination = Group::scalar(word.vd(), width);
    check(word, Write::Scalar, destination, &sources)?;
    if shape.vl == 0 {
        return Ok(());
    }
    let mut sum = state.get(word.vs1(), 0, width);
    for i in 0..shape.vl {
        if state.is_active(word, i) {
            sum = f(sum, state.get(word.vs2(), i, shape.sew));
        }
    }
    state.set(word.vd(), 0, width, sum);
    Ok(())
}

/// `vredsum` to `vredmax`, by funct6.
pub(super) fn integer(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let w = shape.sew;
    let s = move |value| sign_extended(value, w);
    match word.funct6() {
        0 => fold(state, word, shape, w, |a, b| a.wrapping_add(b)),
        1 => fold(state, word, shape, w, |a, b| a & b),
        2 => fold(state, word, shape, w, |a, b| a | b),
        3 => fold(state, word, shape, w, |a, b| a ^ b),
        4 => fold(state, word, shape, w, |a, b| a.min(b)),
        5 => fold(
            state,
            word,
            shape,
            w,
            |a, b| if s(b) < s(a) { b } else { a },
        ),
        6 => fold(state, word, shape, w, |a, b| a.max(b)),
        7 => fold(
            state,
            word,
            shape,
            w,
            |a, b| if s(b) > s(a) { b } else { a },
        ),
        _ => Err(Reserved),
    }
}

/// `vwredsumu` and `vwredsum`.
pub(super) fn widening(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let w = shape.sew;
    if word.funct6() == 0x30 {
        fold(state, word, shape, w + 1, |a, b| a.wrapping_add(b))
    } else {
        fold(state, word, shape, w + 1, |a, b| {
            a.wrapping_add(sign_extended(b, w) as u64)
        })
    }
}

/// `vfredusum`, `vfredosum`, `vfredmin`, `vfredmax`. The unordered sum is the ordered one, which
/// the manual allows.
#[unsafe(link_section = "flick_engine")]
pub(super) fn float(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    environment: Environment,
) -> Legal {
    let w = environment.plain(shape)?;
    let raw = move |value| Environment::raw(value, w);
    match (word.funct6(), w == SINGLE) {
        (1 | 3, _) => fold(state, word, shape, w, |a, b| {
            environment.compute(w, [Op::FaddS, Op::FaddD], a, b, 0)
        }),
        (5, true) => fold(state, word, shape, w, |a, b| quiet::min_s(raw(a), raw(b))),
        (5, _) => fold(state, word, shape, w, quiet::min64),
        (7, true) => fold(state, word, shape, w, |a, b| quiet::max_s(raw(a), raw(b))),
        (7, _) => fold(state, word, shape, w, quiet::max64),
        _ => Err(Reserved),
    }
}

/// `vfwredusum` and `vfwredosum`.
#[unsafe(link_section = "flick_engine")]
pub(super) fn float_widening(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    environment: Environment,
) -> Legal {
    require(shape.sew == SINGLE)?;
    fold(state, word, shape, SINGLE + 1, |a, b| {
        environment.execute(Op::FaddD, a, environment.widened(b), 0)
    })
}
