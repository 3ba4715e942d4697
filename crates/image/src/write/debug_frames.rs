//! `.debug_frame` of translated code (DWARF 4, 6.4): how to find a caller's registers. `.eh_frame`
//! has the callers' places on the host's stack alone. The registers that the RV64 code keeps for its
//! caller are where the RV64 code has saved them, or where the translation has them; and r15, the
//! guest's sp, is the canonical frame address of the RV64 function that was called. A debugger needs
//! them for the variables of callers.
use flick_abi::layout::{
    SAVED_NUMBERS, UNWIND_BY_FP, UNWIND_SAVED_SHIFT, UNWIND_UNKNOWN, UnwindEntry,
};
use gimli::Register;
use gimli::write::{
    CallFrameInstruction, CommonInformationEntry, Expression, FrameDescriptionEntry, FrameTable,
};

use super::debug_places::{Homes, dwarf_register};
use super::debug_rows::Part;
use super::debug_units::{ENCODING, code_address};
use crate::linked::Linked;
use crate::translation::{Home, Homed};

const RSP: Register = Register(7);
const R15: Register = Register(15);
const RETURN_ADDRESS: Register = Register(16);
const WORD: i32 = 8;

/// The RV64 registers s0 to s3 and the hardware's numbers of the host's that have them in front of a
/// call and behind it.
const KEPT: [(u8, u8); 4] = [(8, 3), (9, 12), (18, 13), (19, 14)];

/// A translated function.
pub(super) struct Frames<'a> {
    pub(super) part: Part<'a>,
    /// Offsets in it from which rsp is so many bytes below the return address.
    pub(super) depths: &'a [(usize, u32)],
    /// It touches none of the registers that it keeps ([`Translated::leaves`]).
    ///
    /// [`Translated::leaves`]: crate::translation::Translated::leaves
    pub(super) is_leaf: bool,
}

/// What an unwinder has to know at a place in the code.
#[derive(Clone, PartialEq)]
struct Rules {
    /// rsp's distance from the canonical frame address.
    depth: i32,
    sp: Rule,
    kept: [Rule; 4],
}

#[derive(Clone, PartialEq)]
enum Rule {
    Same,
    Unknown,
    /// It is this.
    Value(Expression),
    /// It is in memory at this address.
    At(Expression),
    In(Register),
}

/// Adds the frames of translated functions.
pub(super) fn add<'a>(
    table: &mut FrameTable,
    linked: &Linked,
    all: impl Iterator<Item = Frames<'a>>,
) {
    let mut cie = CommonInformationEntry::new(ENCODING, 1, -8, RETURN_ADDRESS);
    cie.add_instruction(CallFrameInstruction::Cfa(RSP, WORD));
    cie.add_instruction(CallFrameInstruction::Offset(RETURN_ADDRESS, -WORD));
    let cie = table.add_cie(cie);
    for Frames {
        part,
        depths,
        is_leaf,
    } in all
    {
        let size = part.code.len() as u32;
        let mut fde = FrameDescriptionEntry::new(code_address(part.code.start), size);
        let homes = Homes::new(part.homes);
        let mut last = Rules {
            depth: WORD,
            sp: Rule::Same,
            kept: [Rule::Same, Rule::Same, Rule::Same, Rule::Same],
        };
        for at in changes(&part, depths) {
            let rules = match is_leaf {
                true => Rules {
                    depth: depth_at(depths, at),
                    ..last.clone()
                },
                false => rules(linked, &part, depths, &homes, at),
            };
            for instruction in differences(&last, &rules) {
                fde.add_instruction(at, instruction);
            }
            last = rules;
        }
        table.add_fde(cie, fde);
    }
}

/// Offsets in the part where rules may change.
fn changes(part: &Part, depths: &[(usize, u32)]) -> Vec<u32> {
    let start = part.code.start;
    let mut all = vec![0];
    all.extend(depths.iter().map(|&(offset, _)| offset as u32));
    all.extend(part.origins.iter().map(|origin| origin.code - start));
    let is_kept =
        |reg| reg == 0 || reg >= Homed::CALLERS || KEPT.iter().any(|&(kept, _)| kept == reg);
    let homes = part.homes.iter().filter(|homed| is_kept(homed.reg));
    all.extend(homes.map(|homed| homed.code - start));
    all.retain(|&at| at < part.code.len() as u32);
    all.sort_unstable();
    all.dedup();
    all
}

fn rules(linked: &Linked, part: &Part, depths: &[(usize, u32)], homes: &Homes, at: u32) -> Rules {
    let code = part.code.start + at;
    let origins = part.origins.partition_point(|origin| origin.code <= code);
    let origin = origins.checked_sub(1).map(|last| &part.origins[last]);
    let row = origin.and_then(|origin| row_at(&linked.unwind.rows, origin.frame));
    // The RV64 registers may be the function's own already.
    let is_early = origin.is_some_and(|origin| origin.frame != origin.guest);
    let home = |reg| homes.at(reg, code).map(|homed| homed.home);
    // The canonical frame address of the RV64 function, plus a number.
    let frame = |offset: i32| -> Option<Expression> {
        let mut out = Expression::new();
        if let Some(Home::Sp(distance)) = home(0) {
            out.op_breg(R15, i64::from(distance) + i64::from(offset));
            return Some(out);
        }
        let row = row?;
        let offset = i64::from(row.cfa) + i64::from(offset);
        if row.flags & UNWIND_BY_FP == 0 {
            out.op_breg(R15, offset);
            return Some(out);
        }
        match home(KEPT[0].0)? {
            Home::Register(number) => out.op_breg(dwarf_register(number), offset),
            Home::Stack(slot) => {
                out.op_breg(RSP, slot.into());
                out.op_deref();
                out.op_consts(offset);
                out.op(gimli::DW_OP_plus);
            }
            Home::Sp(distance) => out.op_breg(R15, i64::from(distance) + offset),
            _ => return None,
        }
        Some(out)
    };
    let kept = std::array::from_fn(|n| {
        let (guest, host) = KEPT[n];
        let saved = row.map_or(0, |row| {
            let saved = linked
                .unwind
                .saved
                .get((row.flags >> UNWIND_SAVED_SHIFT) as usize);
            let number = SAVED_NUMBERS.iter().position(|&known| known == guest);
            saved.zip(number).map_or(0, |(saved, n)| saved.s[n])
        });
        if saved != 0 {
            return frame(saved.into()).map_or(Rule::Unknown, Rule::At);
        }
        let home = match is_early {
            true => home(Homed::CALLERS + n as u8),
            false => home(guest),
        };
        match home {
            Some(Home::Register(number)) if number == host => Rule::Same,
            Some(Home::Register(number)) => Rule::In(dwarf_register(number)),
            Some(Home::Stack(slot)) => {
                let mut at = Expression::new();
                at.op_breg(RSP, slot.into());
                Rule::At(at)
            }
            // Where no home is known, the code has nothing of its own in the register.
            None | Some(Home::Nowhere) if part.homes.is_empty() => Rule::Same,
            _ => Rule::Unknown,
        }
    });
    Rules {
        depth: depth_at(depths, at),
        sp: frame(0).map_or(Rule::Unknown, Rule::Value),
        kept,
    }
}

/// rsp's distance from the canonical frame address.
fn depth_at(depths: &[(usize, u32)], at: u32) -> i32 {
    let after = depths.partition_point(|&(offset, _)| offset as u32 <= at);
    let depth = after.checked_sub(1).map_or(0, |last| depths[last].1);
    depth as i32 + WORD
}

fn row_at(rows: &[UnwindEntry], offset: u32) -> Option<&UnwindEntry> {
    let after = rows.partition_point(|row| row.offset <= offset);
    let row = rows.get(after.checked_sub(1)?)?;
    (row.flags & UNWIND_UNKNOWN == 0).then_some(row)
}

fn differences(from: &Rules, to: &Rules) -> Vec<CallFrameInstruction> {
    let mut all = vec![];
    if from.depth != to.depth {
        all.push(CallFrameInstruction::CfaOffset(to.depth));
    }
    if from.sp != to.sp {
        all.push(instruction(R15, &to.sp));
    }
    for ((from, to), (_, host)) in from.kept.iter().zip(&to.kept).zip(KEPT) {
        if from != to {
            all.push(instruction(dwarf_register(host), to));
        }
    }
    all
}

fn instruction(register: Register, rule: &Rule) -> CallFrameInstruction {
    match rule {
        Rule::Same => CallFrameInstruction::SameValue(register),
        Rule::Unknown => CallFrameInstruction::Undefined(register),
        Rule::Value(value) => CallFrameInstruction::ValExpression(register, value.clone()),
        Rule::At(address) => CallFrameInstruction::Expression(register, address.clone()),
        Rule::In(other) => CallFrameInstruction::Register(register, *other),
    }
}
