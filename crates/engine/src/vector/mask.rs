//! Mask instructions (ISA manual, chapter "V", section "Vector Mask Instructions").

use super::configuration::Shape;
use super::groups::{Group, Write, check, check_sources};
use super::vector_state::VectorState;
use super::{Legal, Reserved, Word, require};
use crate::hart_state::Hart;

/// `vmand` and its like, by funct6.
pub(super) fn logical(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    require(word.vm())?;
    let sources = [Group::mask(word.vs2()), Group::mask(word.vs1())];
    check(word, Write::Elements, Group::mask(word.vd()), &sources)?;
    for i in shape.body() {
        let (a, b) = (state.bit(word.vs2(), i), state.bit(word.vs1(), i));
        let value = match word.funct6() {
            0x18 => a & !b,
            0x19 => a & b,
            0x1a => a | b,
            0x1b => a ^ b,
            0x1c => a | !b,
            0x1d => !(a & b),
            0x1e => !(a | b),
            0x1f => !(a ^ b),
            _ => return Err(Reserved),
        };
        state.set_bit(word.vd(), i, value);
    }
    Ok(())
}

/// `vcpop.m` and `vfirst.m`: the result for the integer register.
pub(super) fn count(state: &VectorState, word: Word, shape: Shape) -> Legal<u64> {
    require(shape.vstart == 0)?;
    check_sources(word, &[Group::mask(word.vs2())])?;
    let mut set = (0..shape.vl).filter(|&i| state.is_active(word, i) && state.bit(word.vs2(), i));
    Ok(match word.vs1() {
        16 => set.count() as u64,
        _ => set.next().unwrap_or(u64::MAX),
    })
}

/// VMUNARY0: `vmsbf`, `vmsof`, `vmsif`, `viota`, `vid`.
pub(super) fn unary(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    match word.vs1() {
        1..=3 => set_first(state, word, shape),
        16 => iota(state, word, shape),
        17 => {
            require(word.vs2() == 0)?;
            check(word, Write::Elements, Group::of(word.vd(), shape), &[])?;
            for i in shape.body() {
                if state.is_active(word, i) {
                    state.set(word.vd(), i, shape.sew, i);
                }
            }
            Ok(())
        }
        _ => Err(Reserved),
    }
}

/// `vmsbf`, `vmsof`, `vmsif`: before the first set bit, only it, up to it.
fn set_first(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    require(shape.vstart == 0)?;
    let (destination, source) = (Group::mask(word.vd()), Group::mask(word.vs2()));
    check(word, Write::Apart, destination, &[source])?;
    let mut found = false;
    for i in 0..shape.vl {
        if state.is_active(word, i) {
            let is_first = !found && state.bit(word.vs2(), i);
            let is_before = !found && !is_first;
            found |= is_first;
            let value = match word.vs1() {
                1 => is_before,
                2 => is_first,
                _ => is_before | is_first,
            };
            state.set_bit(word.vd(), i, value);
        }
    }
    Ok(())
}

/// `viota.m`: to each element the number of set bits before it.
fn iota(state: &mut VectorState, word: Word, shape: Shape) -> Legal {
    require(shape.vstart == 0)?;
    let (destination, source) = (Group::of(word.vd(), shape), Group::mask(word.vs2()));
    check(word, Write::Apart, destination, &[source])?;
    let mut count = 0;
    for i in 0..shape.vl {
        if state.is_active(word, i) {
            state.set(word.vd(), i, shape.sew, count);
            count += u64::from(state.bit(word.vs2(), i));
        }
    }
    Ok(())
}

/// VWXUNARY0: moves and counts into an integer register.
pub(super) fn to_integer(hart: &mut Hart, state: &VectorState, word: Word, shape: Shape) -> Legal {
    let value = match word.vs1() {
        0 => {
            require(word.vm())?;
            state.get_signed(word.vs2(), 0, shape.sew) as u64
        }
        16 | 17 => count(state, word, shape)?,
        _ => return Err(Reserved),
    };
    if word.vd() != 0 {
        hart.x[word.vd() as usize] = value;
    }
    Ok(())
}
