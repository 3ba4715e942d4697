//! Moves, slides, gather and compress (ISA manual, chapter "V", section "Vector Permutation
//! Instructions").

use super::configuration::Shape;
use super::groups::{Group, Write, check};
use super::integer_elements::First;
use super::vector_state::{HALF, VectorState};
use super::{Legal, Word, require};

/// vd\[0\] = `value`.
pub(super) fn set_first(state: &mut VectorState, word: Word, shape: Shape, value: u64) -> Legal {
    require(word.vm() && word.vs2() == 0)?;
    if shape.vstart < shape.vl {
        state.set(word.vd(), 0, shape.sew, value);
    }
    Ok(())
}

/// vd\[i\] = `from`(i): element of vs2, or another value.
#[inline(always)]
fn select(
    state: &mut VectorState,
    word: Word,
    shape: Shape,
    write: Write,
    index: Option<Group>,
    from: impl Fn(&VectorState, u64) -> Option<Result<u64, u64>>,
) -> Legal {
    let of = |register| Group::of(register, shape);
    let second = of(word.vs2());
    let sources = [second, index.unwrap_or(second)];
    check(word, write, of(word.vd()), &sources)?;
    for i in shape.body() {
        if !state.is_active(word, i) {
            continue;
        }
        let value = match from(state, i) {
            Some(Ok(at)) if at < shape.vlmax => state.get(word.vs2(), at, shape.sew),
            Some(Ok(_)) => 0,
            Some(Err(value)) => value,
            None => continue,
        };
        state.set(word.vd(), i, shape.sew, value);
    }
    Ok(())
}

/// `vslideup`: elements below the offset stay.
pub(super) fn slide_up(state: &mut VectorState, word: Word, shape: Shape, offset: u64) -> Legal {
    select(state, word, shape, Write::Apart, None, |_, i| {
        Some(Ok(i.checked_sub(offset)?))
    })
}

/// `vslidedown`.
pub(super) fn slide_down(state: &mut VectorState, word: Word, shape: Shape, offset: u64) -> Legal {
    select(state, word, shape, Write::Elements, None, |_, i| {
        Some(Ok(i.saturating_add(offset)))
    })
}

/// `vslide1up` and `vfslide1up`.
pub(super) fn slide_1_up(state: &mut VectorState, word: Word, shape: Shape, value: u64) -> Legal {
    select(state, word, shape, Write::Apart, None, |_, i| {
        Some(i.checked_sub(1).ok_or(value))
    })
}

/// `vslide1down` and `vfslide1down`.
pub(super) fn slide_1_down(state: &mut VectorState, word: Word, shape: Shape, value: u64) -> Legal {
    select(state, word, shape, Write::Elements, None, |_, i| {
        Some(if i + 1 < shape.vl {
            Ok(i + 1)
        } else {
            Err(value)
        })
    })
}

/// `vrgather`; the index of a vector form has SEW, a scalar one is not truncated.
pub(super) fn gather(state: &mut VectorState, word: Word, shape: Shape, first: First) -> Legal {
    match first {
        First::Vector(register) => {
            let index = Group::of(register, shape);
            select(state, word, shape, Write::Apart, Some(index), |state, i| {
                Some(Ok(state.get(register, i, shape.sew)))
            })
        }
        First::Scalar(index) => select(state, word, shape, Write::Apart, None, |_, _| {
            Some(Ok(index))
        }),
    }
}

/// `vrgatherei16`.
pub(super) fn gather_16(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let index = Group::wide(word.vs1(), HALF, shape);
    select(state, word, shape, Write::Apart, Some(index), |state, i| {
        Some(Ok(state.get(word.vs1(), i, HALF)))
    })
}

/// `vcompress`: the elements of vs2 whose bit in vs1 is set, one behind the other.
pub(super) fn compress(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    require(word.vm() && shape.vstart == 0)?;
    let sources = [Group::of(word.vs2(), shape), Group::mask(word.vs1())];
    check(word, Write::Apart, Group::of(word.vd(), shape), &sources)?;
    let mut to = 0;
    for i in 0..shape.vl {
        if state.bit(word.vs1(), i) {
            let value = state.get(word.vs2(), i, shape.sew);
            state.set(word.vd(), to, shape.sew, value);
            to += 1;
        }
    }
    Ok(())
}

/// `vmv1r` to `vmv8r`: as many elements of SEW as there are, whatever vl is.
pub(super) fn move_registers(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    let count = word.vs1() + 1;
    require(word.vm() && matches!(count, 1 | 2 | 4 | 8))?;
    let group = |register| Group::registers(register, shape.sew, count);
    let destination = group(word.vd());
    check(word, Write::Elements, destination, &[group(word.vs2())])?;
    let end = u64::from(state.vlen() * count) >> shape.sew;
    for i in shape.vstart..end {
        let value = state.get(word.vs2(), i, shape.sew);
        state.set(word.vd(), i, shape.sew, value);
    }
    Ok(())
}
