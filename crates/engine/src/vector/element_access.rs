//! Loads and stores (ISA manual, chapter "V", section "Vector Loads and Stores").

use super::configuration::Shape;
use super::groups::{Group, Write, check, check_sources};
use super::vector_state::{BYTE, DOUBLE, HALF, SINGLE, VectorState};
use super::{Legal, Reserved, Word, require};
use crate::guest_memory::Memory;
use crate::hart_state::{Cause, Hart, Trap};
use crate::observer::Observer;

/// What an instruction accesses.
pub(super) struct Plan {
    /// Logarithm of the element width.
    width: u32,
    /// Elements of a segment, each in a group of its own.
    fields: u32,
    /// Registers of a group.
    len: u32,
    /// The first and the last element, as segments count.
    first: u64,
    end: u64,
    base: u64,
    /// Bytes from a segment to the next; 0 if indexed.
    stride: u64,
    /// Logarithm of the width of the indices in vs2.
    index: Option<u32>,
    is_masked: bool,
    /// Fault-only-first.
    trims: bool,
}

impl Word {
    /// Fields of a segment, or registers of a whole-register access; less one.
    fn nf(self) -> u32 {
        self.0 >> 29
    }

    fn mop(self) -> u32 {
        self.0 >> 26 & 3
    }

    /// Logarithm of the width in bits.
    fn eew(self) -> Legal<u32> {
        // mew is reserved, and so are the widths of floating-point loads and stores.
        match (self.0 >> 28 & 1, self.funct3()) {
            (0, 0) => Ok(BYTE),
            (0, 5) => Ok(HALF),
            (0, 6) => Ok(SINGLE),
            (0, 7) => Ok(DOUBLE),
            _ => Err(Reserved),
        }
    }
}

impl Plan {
    /// The accesses of `word`, if it is not reserved.
    pub fn of(hart: &Hart, state: &VectorState, word: Word, is_store: bool) -> Legal<Self> {
        let width = word.eew()?;
        let base = hart.x[word.vs1() as usize];
        let operand = hart.x[word.vs2() as usize];
        let bytes = 1 << (width - BYTE);
        let plan = |shape: Shape, width: u32, emul: i32| Self {
            width,
            fields: word.nf() + 1,
            len: 1 << emul.max(0),
            first: shape.vstart,
            end: shape.vl,
            base,
            stride: 0,
            index: None,
            is_masked: !word.vm(),
            trims: false,
        };
        // EMUL of a group with this width.
        let emul = |shape: Shape| shape.lmul + width as i32 - shape.sew as i32;
        match (word.mop(), word.vs2()) {
            (0, 8) => Self::whole(state, word, width, base, is_store),
            (0, 11) => {
                require(width == BYTE && word.nf() == 0 && word.vm())?;
                let shape = Shape::of(state)?;
                Ok(Self {
                    end: shape.vl.div_ceil(8),
                    stride: 1,
                    ..plan(shape, BYTE, 0)
                })
            }
            (0, lumop @ (0 | 16)) => {
                let trims = lumop == 16;
                require(!(trims && is_store))?;
                let shape = Shape::of(state)?;
                check_unit(word, shape, width, is_store)?;
                Ok(Self {
                    stride: bytes * u64::from(word.nf() + 1),
                    trims,
                    ..plan(shape, width, emul(shape))
                })
            }
            (0, _) => Err(Reserved),
            (2, _) => {
                let shape = Shape::of(state)?;
                check_unit(word, shape, width, is_store)?;
                Ok(Self {
                    stride: operand,
                    ..plan(shape, width, emul(shape))
                })
            }
            _ => {
                let shape = Shape::of(state)?;
                check_indexed(word, shape, width, is_store)?;
                Ok(Self {
                    index: Some(width),
                    ..plan(shape, shape.sew, shape.lmul)
                })
            }
        }
    }

    /// `vl1re8` to `vl8re64`, `vs1r` to `vs8r`, which look neither at vtype nor at vl.
    fn whole(
        state: &VectorState,
        word: Word,
        width: u32,
        base: u64,
        is_store: bool,
    ) -> Legal<Self> {
        let count = word.nf() + 1;
        require(word.vm() && count.is_power_of_two() && word.vd().is_multiple_of(count))?;
        require(width == BYTE || !is_store)?;
        Ok(Self {
            width,
            fields: 1,
            len: count,
            first: state.vstart,
            end: u64::from(state.vlen() * count) >> width,
            base,
            stride: 1 << (width - BYTE),
            index: None,
            is_masked: false,
            trims: false,
        })
    }
}

/// The groups of all fields end with v31, and have at most eight registers together.
fn check_fields(word: Word, emul: i32) -> Legal {
    let registers = (word.nf() + 1) << emul.clamp(0, 3);
    require(registers <= 8 && word.vd() + registers <= 32)
}

fn check_unit(word: Word, shape: Shape, width: u32, is_store: bool) -> Legal {
    let group = Group::wide(word.vd(), width, shape);
    check_fields(word, shape.lmul + width as i32 - shape.sew as i32)?;
    if is_store {
        check_sources(word, &[group])
    } else {
        check(word, Write::Elements, group, &[])
    }
}

/// Data have SEW, and indices the instruction's width.
fn check_indexed(word: Word, shape: Shape, width: u32, is_store: bool) -> Legal {
    let index = Group::wide(word.vs2(), width, shape);
    check_fields(word, shape.lmul)?;
    let step = 1 << shape.lmul.max(0);
    for field in 0..=word.nf() {
        let group = Group::of(word.vd() + field * step, shape);
        if is_store {
            check_sources(word, &[index, group])?;
        } else {
            // A segment's destination is apart from the indices.
            let write = match word.nf() {
                0 => Write::Elements,
                _ => Write::Apart,
            };
            check(word, write, group, &[index])?;
        }
    }
    Ok(())
}

/// Logarithm of the size of the smallest pages.
const PAGE: u32 = 12;

/// Makes the accesses, element by element; vstart is that of the element at each.
///
/// An access may be a host signal, whose handler sees the state: it is in memory before each, and
/// nothing here has a reference to it during one.
///
/// # Safety
/// `state` is valid, and no one else refers to it.
#[unsafe(link_section = "flick_engine")]
#[inline(never)]
pub(super) unsafe fn transfer<M: Memory, O: Observer>(
    state: *mut VectorState,
    memory: &M,
    observer: &mut O,
    word: Word,
    plan: Plan,
    is_store: bool,
) -> Result<(), Trap> {
    macro_rules! state {
        () => {
            // SAFETY: valid by contract; the reference ends before the next access.
            unsafe { &mut *state }
        };
    }
    let bytes = 1_u64 << (plan.width - BYTE);
    // Pages whose elements have been loaded, from the first byte of one to the last of another.
    let mut loaded_pages = 0..=0;
    for i in plan.first..plan.end {
        if plan.is_masked && !state!().bit(0, i) {
            continue;
        }
        let offset = match plan.index {
            Some(width) => state!().get(word.vs2(), i, width),
            None => i.wrapping_mul(plan.stride),
        };
        let trims = plan.trims && i != 0;
        state!().begin_element(i, trims);
        let segment = plan.base.wrapping_add(offset);
        for field in 0..plan.fields {
            let register = word.vd() + field * plan.len;
            let addr = segment.wrapping_add(u64::from(field) * bytes);
            let result = if is_store {
                let value = state!().get(register, i, plan.width);
                observer.store(addr, bytes);
                match plan.width {
                    BYTE => memory.store8(addr, value as u8),
                    HALF => memory.store16(addr, value as u16),
                    SINGLE => memory.store32(addr, value as u32),
                    _ => memory.store64(addr, value),
                }
            } else {
                if plan.trims {
                    let pages = addr >> PAGE..=addr.wrapping_add(bytes - 1) >> PAGE;
                    if trims && pages != loaded_pages {
                        let may_load = |&page: &u64| memory.may_load(page << PAGE);
                        if !(may_load(pages.start()) && may_load(pages.end())) {
                            state!().trim();
                            return Ok(());
                        }
                    }
                    loaded_pages = pages;
                }
                observer.load(addr, bytes);
                let loaded = match plan.width {
                    BYTE => memory.load8(addr).map(u64::from),
                    HALF => memory.load16(addr).map(u64::from),
                    SINGLE => memory.load32(addr).map(u64::from),
                    _ => memory.load64(addr),
                };
                loaded.map(|value| state!().set(register, i, plan.width, value))
            };
            if let Err(fault) = result {
                let trap: Trap = fault.into();
                // No access is a fetch: by such a trap memory asks for the instruction once more.
                if trims && trap.cause != Cause::FetchAccess {
                    state!().trim();
                    return Ok(());
                }
                return Err(trap);
            }
        }
    }
    state!().begin_element(0, false);
    Ok(())
}
