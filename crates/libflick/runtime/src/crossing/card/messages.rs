//! The descriptors of crossings: what an activation asks a card for, and what a message says of it.
use flick_abi::card::{Error, ThreadState};
use flick_abi::descriptor::{
    Answer, DESCRIPTOR_CALL, DESCRIPTOR_CALL_IN_FULL, DESCRIPTOR_CALL_OF_INTEGERS,
    DESCRIPTOR_FAULT, DESCRIPTOR_RESUME, DESCRIPTOR_RETURN, DESCRIPTOR_YIELD, Descriptor,
};
use flick_abi::layout::GATE_VARIADIC;
use flick_engine::{Cause, Exit, Trap};
use flick_riscv::register::{A0, RA, SP, T2};

use super::super::backend::Event;
use super::lent_code::{BREAKPOINT, ILLEGAL, fcsr};
use super::owner::Owner;
use super::tile_place::{BEGINS, MOVED, Place, RETURNED, how};
use super::{card_failure, token};
use crate::modules::signatures;
use crate::thread::crossing_code;
use crate::thread::entered::Entered;

/// Is the request to be made again?
pub fn is_busy(message: &Descriptor) -> bool {
    message.kind == DESCRIPTOR_RETURN && message.error == Error::Busy as u32
}

/// The other tile on which an activation goes on after this message.
pub fn goes_to(message: &Descriptor, place: Place) -> Option<u16> {
    let error = u64::from(message.error);
    match message.kind {
        DESCRIPTOR_FAULT if error == ILLEGAL => place.for_instruction(message.address as u32),
        // Its hart has not waited for it, and none is idle.
        DESCRIPTOR_RETURN if error == Error::Again as u64 => Some(place.own),
        DESCRIPTOR_YIELD => Some(place.own),
        _ => None,
    }
}

/// Writes the descriptor, and the activation's registers, if the card needs them.
pub fn write_request(
    act: &mut Entered,
    (owner, place, is_kept): (Owner, Place, bool),
    to: &mut Descriptor,
    registers: &mut ThreadState,
) {
    let fcsr = fcsr(&mut act.context.hart);
    let hart = &act.context.hart;
    *to = Descriptor {
        process: token::process(),
        tile: place.tile,
        owner: token::owner(owner.slot()),
        activation: act.address() as u64,
        pc: hart.pc,
        sp: hart.x[SP],
        fcsr: fcsr as u32,
        ..Descriptor::new(DESCRIPTOR_CALL)
    };
    to.ints.copy_from_slice(&hart.x[A0..A0 + 8]);
    let floats = &hart.f[A0..A0 + 8];
    let how = how(act);
    match how {
        // A function with dots gets more than the registers of a descriptor.
        BEGINS if act.gate().flags & GATE_VARIADIC == 0 => {
            to.address = hart.x[RA];
            match signatures::has_float_arguments(act.gate()) {
                true => to.floats.copy_from_slice(floats),
                false => to.kind = DESCRIPTOR_CALL_OF_INTEGERS,
            }
        }
        RETURNED if is_kept => {
            to.kind = DESCRIPTOR_RETURN;
            to.floats.copy_from_slice(floats);
        }
        _ => {
            (registers.pc, registers.f, registers.fcsr) = (hart.pc, hart.f, fcsr);
            registers.x.copy_from_slice(&hart.x[1..]);
            let (kind, returns_to) = match how {
                BEGINS => (DESCRIPTOR_CALL_IN_FULL, hart.x[RA]),
                MOVED => (DESCRIPTOR_CALL_IN_FULL, crossing_code::return_address()),
                _ => (DESCRIPTOR_RESUME, 0),
            };
            let registers = std::ptr::from_ref(registers) as u64;
            *to = to.in_full(
                (kind, registers),
                returns_to,
                place.is_guest(),
                owner.hint(),
            );
        }
    }
}

/// What a message from the card says of `act`.
pub fn event(act: &mut Entered, message: &Descriptor) -> Event {
    let hart = &mut act.context.hart;
    match message.answer() {
        Some(Answer::Return) => {
            hart.x[A0..A0 + 8].copy_from_slice(&message.ints);
            hart.f[A0..A0 + 8].copy_from_slice(&message.floats);
            Event::Return
        }
        Some(Answer::Call) => {
            hart.x[A0..A0 + 8].copy_from_slice(&message.ints);
            hart.f[A0..A0 + 8].copy_from_slice(&message.floats);
            hart.pc = message.pc;
            let target = match message.pc == crossing_code::xcall_address() {
                true => hart.x[T2],
                false => message.pc,
            };
            Event::HostCall {
                target,
                pc: message.pc,
            }
        }
        Some(Answer::Fault { cause, value }) => Event::Fault(match u64::from(cause) {
            ILLEGAL => Exit::Illegal { bits: value as u32 },
            BREAKPOINT => Exit::Ebreak,
            cause => {
                let is_load = cause == Cause::LoadMisaligned as u64;
                let cause = match is_load {
                    true => Cause::LoadMisaligned,
                    false => Cause::StoreMisaligned,
                };
                Exit::Trap(Trap { cause, addr: value })
            }
        }),
        None | Some(Answer::Yield) => card_failure::refused(message, act.gate()),
    }
}
