//! The V extension, version 1.0 (ISA manual, chapter "V"), with ELEN 64 and VLEN from 128 to 4096.
//!
//! The decoder tells four kinds of instruction apart (configure, arithmetic, load, store); the rest
//! of the word is decoded here, out of the interpreter's way. A hart has vector instructions if its
//! core has a [`VectorState`] ([`Core::vector`](crate::Core::vector)).
//!
//! | file | subject |
//! |---|---|
//! | `vector_state.rs` | [`VectorState`]: registers and CSRs |
//! | `process_states.rs` | states that a process makes at their harts' first vector instruction |
//! | `word.rs` | fields of the instruction word |
//! | `configuration.rs` | `vsetvl` and its like; the vector CSRs |
//! | `groups.rs` | register groups: which operands are reserved |
//! | `element_access.rs` | loads and stores |
//! | `integer_elements.rs` | integer arithmetic, comparison |
//! | `fixed.rs` | fixed-point arithmetic |
//! | `float_elements.rs` | floating-point arithmetic, comparison |
//! | `float_conversions.rs` | floating-point conversions |
//! | `estimate.rs` | estimates of reciprocals |
//! | `reduce.rs` | reductions |
//! | `mask.rs` | mask instructions |
//! | `permute.rs` | moves, slides, gather, compress |
//!
//! - Tail elements and inactive elements are left undisturbed under either policy, which the
//!   manual allows for the agnostic one (section "Vector Tail Agnostic and Vector Mask Agnostic").
//! - Reserved encodings are illegal instructions, also where a register is read with two different
//!   element widths (section "Vector Operands").
//! - `vl` is the lesser of the application vector length and VLMAX.
//! - An instruction begins with element `vstart`, and ends with `vstart` zero. A load or store that
//!   faults leaves the element that did so in `vstart`, and the instruction goes on with it.

mod configuration;
mod element_access;
mod estimate;
mod fixed;
mod float_conversions;
mod float_elements;
mod groups;
mod integer_elements;
mod mask;
mod permute;
mod process_states;
mod reduce;
mod vector_state;
mod word;

use integer_elements::First;
pub use process_states::{StateOf, process_state, set_process_states};
pub use vector_state::VectorState;
use word::Word;

use crate::core::Exception;
use crate::csr::CsrAccess;
use crate::guest_memory::Memory;
use crate::hart_state::Hart;
use crate::observer::{NoObserver, Observer};
use flick_riscv::{Insn, Op};

/// Why an instruction is not executed: it is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reserved;

/// A legal instruction, or not one.
type Legal<T = ()> = Result<T, Reserved>;

/// Goes on only if the encoding is not reserved.
fn require(condition: bool) -> Legal {
    if condition { Ok(()) } else { Err(Reserved) }
}

/// Is it a vector instruction of floating point?
pub fn is_float(insn: Insn) -> bool {
    let word = Word(insn.imm() as u32);
    let is_arithmetic = !matches!(insn.op(), Op::VConfig | Op::VLoad | Op::VStore);
    is_arithmetic && matches!(word.funct3(), word::FVV | word::FVF)
}

/// Executes an instruction of translated code outside of the interpreter: a vector instruction, or one
/// that only reads a vector CSR. `a` and `b` are what rs1 and rs2 hold; the answer is what rd then
/// holds, if the instruction writes a register. `None`: it is illegal.
///
/// An access may be a host signal; `caller` is what [`VectorState::caller`] is meanwhile.
///
/// # Safety
/// `state` is valid, and no one else refers to it. `memory` is the process's.
#[unsafe(link_section = "flick_engine")]
#[inline(never)]
pub unsafe fn execute_alone<M: Memory<Fault = core::convert::Infallible>>(
    state: *mut VectorState,
    memory: &M,
    insn: Insn,
    [a, b]: [u64; 2],
    caller: usize,
) -> Option<u64> {
    let mut hart = Hart::ZERO;
    // An operand is in one of the two files; nobody looks at the other.
    (hart.x[insn.rs1()], hart.f[insn.rs1()]) = (a, a);
    hart.x[insn.rs2()] = if insn.rs1() == insn.rs2() { a } else { b };
    hart.x[0] = 0;
    if !is_vector(insn) {
        // SAFETY: by contract.
        return access_csr(unsafe { &mut *state }, CsrAccess::of(&hart, insn));
    }
    // SAFETY: by contract.
    unsafe { (*state).set_caller(caller) };
    // SAFETY: by contract.
    let done = execute(
        &mut hart,
        unsafe { &mut *state },
        memory,
        &mut NoObserver,
        insn,
    );
    // SAFETY: by contract.
    unsafe { (*state).set_caller(0) };
    done.ok()?;
    let rd = insn.rd();
    Some(match insn.writes() >> 32 {
        0 => hart.x[rd],
        _ => hart.f[rd],
    })
}

/// Does the handler of [`execute_alone`] take the instruction?
pub fn is_executed_alone(insn: Insn) -> bool {
    is_vector(insn) || configuration::is_read(insn)
}

fn is_vector(insn: Insn) -> bool {
    matches!(insn.op(), Op::VConfig | Op::VArith | Op::VLoad | Op::VStore)
}

/// Executes a vector instruction.
#[cold]
#[inline(never)]
#[unsafe(link_section = "flick_engine")]
pub(crate) fn execute<M: Memory, O: Observer>(
    hart: &mut Hart,
    state: &mut VectorState,
    memory: &M,
    observer: &mut O,
    insn: Insn,
) -> Result<(), Exception> {
    let word = Word(insn.imm() as u32);
    let is_store = insn.op() == Op::VStore;
    let result = match insn.op() {
        Op::VConfig => configuration::set(hart, state, word),
        Op::VLoad | Op::VStore => match element_access::Plan::of(hart, state, word, is_store) {
            Ok(plan) => {
                // SAFETY: the state is a unique reference.
                let done = unsafe {
                    element_access::transfer(state, memory, observer, word, plan, is_store)
                };
                return done.map_err(Exception::Trap);
            }
            Err(reserved) => Err(reserved),
        },
        _ => arithmetic(hart, state, word),
    };
    result.map_err(|Reserved| Exception::Illegal { bits: word.0 })
}

/// Executes an arithmetic instruction, by the category in funct3 (section "Vector Arithmetic
/// Instruction Formats").
fn arithmetic(hart: &mut Hart, state: &mut VectorState, word: Word) -> Legal {
    let shape = configuration::Shape::of(state)?;
    let kind = word.funct3();
    let unsigned = First::unsigned(hart, word);
    match (kind, word.funct6()) {
        _ if fixed::is_one(word) => fixed::execute(hart, state, word, shape)?,
        (word::IVV | word::IVX | word::IVI, 0x0c) => {
            permute::gather(state, word, shape, unsigned)?;
        }
        (word::IVV, 0x0e) => permute::gather_16(state, word, shape)?,
        (word::IVX | word::IVI, 0x0e) => {
            permute::slide_up(state, word, shape, unsigned.scalar())?;
        }
        (word::IVX | word::IVI, 0x0f) => {
            permute::slide_down(state, word, shape, unsigned.scalar())?;
        }
        (word::IVI, 0x27) => permute::move_registers(state, word, shape)?,
        (word::IVV, 0x30 | 0x31) => reduce::widening(state, word, shape)?,
        (word::IVV | word::IVI | word::IVX, _) => {
            integer_elements::execute_i(hart, state, word, shape)?
        }
        (word::MVV, 0x00..=0x07) => reduce::integer(state, word, shape)?,
        (word::MVX, 0x0e) => permute::slide_1_up(state, word, shape, unsigned.scalar())?,
        (word::MVX, 0x0f) => permute::slide_1_down(state, word, shape, unsigned.scalar())?,
        (word::MVX, 0x10) => permute::set_first(state, word, shape, unsigned.scalar())?,
        (word::MVV, 0x10) => mask::to_integer(hart, state, word, shape)?,
        (word::MVV, 0x14) => mask::unary(state, word, shape)?,
        (word::MVV, 0x17) => permute::compress(state, word, shape)?,
        (word::MVV, 0x18..=0x1f) => mask::logical(state, word, shape)?,
        (word::MVV | word::MVX, _) => integer_elements::execute_m(hart, state, word, shape)?,
        (word::FVV | word::FVF, _) => float_elements::execute(hart, state, word, shape)?,
        // Configuration: not asked here.
        _ => return Err(Reserved),
    }
    state.vstart = 0;
    Ok(())
}

/// Executes a CSR instruction on a vector register and returns the old value; `None` if the register
/// is another one, or must not be written. For [`Core::csr`](crate::Core::csr).
pub fn access_csr(state: &mut VectorState, access: CsrAccess) -> Option<u64> {
    configuration::access(state, access)
}

/// Is it a vector CSR?
pub(crate) fn is_csr(number: u32) -> bool {
    configuration::is_register(number)
}
