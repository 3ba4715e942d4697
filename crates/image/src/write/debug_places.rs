//! Places of variables in translated code, from their places in terms of RV64 registers and from the
//! homes of these registers (DWARF 4, 2.6; System V x86-64 psABI, figure 3.36).
use std::ops::Range;

use gimli::Register;
use gimli::write::{Address, Expression};

use super::debug_rows::Part;
use super::debug_units::{ENCODING, code_address, translated_ranges};
use crate::source_variables::{Place, Step, Variable};
use crate::translation::{Home, Homed};

/// The number by which [`gimli::write`] knows the start of the image.
pub(super) const IMAGE: usize = 1;
/// The same of the first of [`Body::hosts`].
pub(super) const FIRST_HOST: usize = 2;

/// What places of variables depend on, of one function.
pub(super) struct Body<'a> {
    pub(super) part: &'a Part<'a>,
    /// Places of the origins, sorted by the RV64 instructions.
    pub(super) by_guest: &'a [usize],
    pub(super) homes: &'a Homes<'a>,
    /// Symbols of the host that the image names.
    pub(super) hosts: &'a [String],
}

/// DWARF's numbers of rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi; from r8 on they are the hardware's.
const LEGACY: [u16; 8] = [0, 2, 1, 3, 7, 6, 4, 5];
const XMM0: u16 = 17;
const RBP: Register = Register(6);
const RSP: Register = Register(7);
const R15: Register = Register(15);
/// Of a register for integers.
const REGISTER_SIZE: u64 = 8;

pub(super) fn dwarf_register(hardware: u8) -> Register {
    let legacy = LEGACY.get(usize::from(hardware)).copied();
    Register(legacy.unwrap_or(hardware.into()))
}

/// Numbers of registers in [`Homed`].
const COUNT: usize = 68;

/// The homes in one function's code, by register.
pub(super) struct Homes<'a> {
    by_register: Vec<Vec<&'a Homed>>,
}

impl<'a> Homes<'a> {
    pub(super) fn new(homes: &'a [Homed]) -> Self {
        let mut by_register = vec![vec![]; COUNT];
        for homed in homes {
            by_register[usize::from(homed.reg) % COUNT].push(homed);
        }
        Self { by_register }
    }

    fn of(&self, register: u8) -> &[&'a Homed] {
        self.by_register
            .get(usize::from(register))
            .map_or(&[], Vec::as_slice)
    }

    /// The home of a register at a place in the code.
    pub(super) fn at(&self, register: u8, code: u32) -> Option<&'a Homed> {
        let all = self.of(register);
        let after = all.partition_point(|homed| homed.code <= code);
        all.get(after.checked_sub(1)?).copied()
    }

    /// Where homes of these registers change within a range, and its start.
    fn changes(&self, registers: &[u8], range: &Range<u32>) -> Vec<u32> {
        let mut all = vec![range.start];
        for &register in registers {
            let homes = self.of(register);
            let after = homes.partition_point(|homed| homed.code <= range.start);
            let inside = homes[after..].iter().map(|homed| homed.code);
            all.extend(inside.take_while(|&code| code < range.end));
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Where a variable is in the code of a function: ranges and descriptions, in ascending order. `size`:
/// of the variable in bytes, if it is known.
pub(super) fn of(
    variable: &Variable,
    size: Option<u64>,
    body: &Body,
) -> Vec<(Range<u32>, Expression)> {
    let (part, homes) = (body.part, body.homes);
    let mut all = vec![];
    for place in &variable.places {
        let ranges = match &place.code {
            Some(guest) => translated_ranges(std::slice::from_ref(guest), part, body.by_guest),
            None => vec![part.code.clone()],
        };
        let registers = registers(place);
        for range in ranges {
            let starts = homes.changes(&registers, &range);
            let ends = starts[1..].iter().copied().chain([range.end]);
            for (&start, end) in starts.iter().zip(ends) {
                if let Some(found) = expression(place, size, body, start) {
                    all.push((start..end, found));
                }
            }
        }
    }
    all.sort_by_key(|(range, _)| range.start);
    let mut merged: Vec<(Range<u32>, Expression)> = Vec::with_capacity(all.len());
    for (range, found) in all {
        match merged.last_mut() {
            Some((last, known)) if last.end == range.start && *known == found => {
                last.end = range.end;
            }
            // The description that came first holds.
            Some((last, _)) if last.end > range.start => {}
            _ => merged.push((range, found)),
        }
    }
    merged
}

fn registers(place: &Place) -> Vec<u8> {
    let register = |step: &Step| match *step {
        Step::Register(register) | Step::RegisterValue(register, _) => Some(register),
        Step::FrameAddress(_) => Some(Homed::CFA),
        _ => None,
    };
    place.steps.iter().filter_map(register).collect()
}

/// `None`: the variable is not there.
fn expression(place: &Place, size: Option<u64>, body: &Body, code: u32) -> Option<Expression> {
    let (homes, hosts) = (body.homes, body.hosts);
    let mut out = Expression::new();
    let has_pieces = place
        .steps
        .iter()
        .any(|step| matches!(step, Step::Piece(_)));
    for (n, step) in place.steps.iter().enumerate() {
        match step {
            // Its number is that of the canonical frame address.
            Step::Register(0) => return None,
            Step::Register(register) => {
                let size = match place.steps.get(n + 1) {
                    Some(Step::Piece(size)) => Some(*size),
                    _ => size.filter(|_| !has_pieces),
                };
                register_location(&mut out, homes.at(*register, code)?, size)?;
            }
            Step::RegisterValue(0, offset) => out.op_consts(*offset),
            Step::RegisterValue(register, offset) => {
                let homed = homes.at(*register, code)?;
                push_value(&mut out, homed, *offset)?;
            }
            Step::FrameAddress(offset) => {
                push_value(&mut out, homes.at(Homed::CFA, code)?, *offset)?;
            }
            Step::Address(at) => out.op_addr(image_address((*at).into())),
            Step::Host(name) => {
                let symbol = hosts.iter().position(|known| known == name)?;
                out.op_addr(Address::Symbol {
                    symbol: FIRST_HOST + symbol,
                    addend: 0,
                });
            }
            Step::Plain(bytes) => append(&mut out, bytes)?,
            Step::Value => out.op(gimli::DW_OP_stack_value),
            Step::Piece(size) => out.op_piece(*size),
        }
    }
    Some(out)
}

fn image_address(offset: u64) -> Address {
    Address::Symbol {
        symbol: IMAGE,
        addend: offset as i64,
    }
}

/// An operation that [`Expression`] has a function for if it has operands.
fn append(out: &mut Expression, bytes: &[u8]) -> Option<()> {
    if let [op] = *bytes {
        out.op(gimli::DwOp(op));
        return Some(());
    }
    let reader = gimli::EndianSlice::new(bytes, gimli::LittleEndian);
    let mut operations = gimli::Expression(reader).operations(ENCODING);
    match operations.next().ok()?? {
        gimli::Operation::PlusConstant { value } => out.op_plus_uconst(value),
        gimli::Operation::UnsignedConstant { value } => out.op_constu(value),
        gimli::Operation::SignedConstant { value } => out.op_consts(value),
        gimli::Operation::Pick { index } => out.op_pick(index),
        gimli::Operation::Deref { size, .. } => out.op_deref_size(size),
        gimli::Operation::ImplicitValue { data } => out.op_implicit_value(data.slice().into()),
        _ => return None,
    }
    Some(())
}

/// The register's value is that of the variable.
fn register_location(out: &mut Expression, homed: &Homed, size: Option<u64>) -> Option<()> {
    if size.unwrap_or(REGISTER_SIZE) > homed.size.into() {
        return None;
    }
    let is_whole = !homed.is_extended || size.is_some_and(|size| size <= REGISTER_SIZE / 2);
    match homed.home {
        Home::Nowhere => return None,
        Home::Register(number) if is_whole => out.op_reg(dwarf_register(number)),
        Home::Vector(number) => out.op_reg(Register(XMM0 + u16::from(number))),
        Home::Stack(offset) if is_whole => out.op_breg(RSP, offset.into()),
        Home::Hart(offset) if is_whole => out.op_breg(RBP, offset.into()),
        _ => {
            push_value(out, homed, 0)?;
            out.op(gimli::DW_OP_stack_value);
        }
    }
    Some(())
}

/// Pushes the register's value plus `offset`.
fn push_value(out: &mut Expression, homed: &Homed, offset: i64) -> Option<()> {
    const UPPER_HALF: u64 = 32;
    if u64::from(homed.size) < REGISTER_SIZE {
        return None;
    }
    let extend = |out: &mut Expression| {
        for op in [gimli::DW_OP_shl, gimli::DW_OP_shra] {
            out.op_constu(UPPER_HALF);
            out.op(op);
        }
    };
    match homed.home {
        Home::Nowhere | Home::Vector(_) => return None,
        Home::Sp(distance) => out.op_breg(R15, i64::from(distance).checked_add(offset)?),
        Home::Const(k) => out.op_consts(k.wrapping_add(offset)),
        Home::Address(at) => out.op_addr(image_address(at.wrapping_add_signed(offset))),
        Home::Register(number) if !homed.is_extended => {
            out.op_breg(dwarf_register(number), offset);
        }
        Home::Register(number) => {
            out.op_breg(dwarf_register(number), 0);
            extend(out);
            add(out, offset);
        }
        Home::Stack(_) | Home::Hart(_) => {
            match homed.home {
                Home::Stack(slot) => out.op_breg(RSP, slot.into()),
                Home::Hart(offset) => out.op_breg(RBP, offset.into()),
                _ => return None,
            }
            out.op_deref();
            if homed.is_extended {
                extend(out);
            }
            add(out, offset);
        }
    }
    Some(())
}

fn add(out: &mut Expression, offset: i64) {
    if offset != 0 {
        out.op_consts(offset);
        out.op(gimli::DW_OP_plus);
    }
}

/// A location list whose entries count from the first.
pub(super) fn list(places: Vec<(Range<u32>, Expression)>) -> gimli::write::LocationList {
    use gimli::write::Location::{BaseAddress, OffsetPair};
    let base = places.first().map_or(0, |(range, _)| range.start);
    let address = code_address(base);
    let mut list = vec![BaseAddress { address }];
    list.extend(places.into_iter().map(|(range, data)| OffsetPair {
        begin: u64::from(range.start - base),
        end: u64::from(range.end - base),
        data,
    }));
    gimli::write::LocationList(list)
}
