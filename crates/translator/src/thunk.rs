//! Code that loads an address from the image and jumps there: entries of a procedure linkage table
//! (RISC-V psABI, "Procedure Linkage Table"), which are no function's, and the stubs of calls by
//! signature.
use crate::program::{Program, Target};
use flick_riscv::Op;
// What entries link to: the address that the lazy binder would want.
use flick_riscv::register::T1;

/// What a call leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Callee {
    /// Guest code at this address.
    Guest(u64),
    /// Whatever is at this address, which is not the engine's.
    Elsewhere(u64),
    /// What the word at this distance from the start of the module names, once the loader has
    /// placed it.
    Slot(u64),
    /// The same with the function that the word `function` names in t2: a call by signature.
    BySignature { slot: u64, function: u64 },
}

impl Callee {
    /// Where it is, or the word that names it.
    pub fn address(self) -> u64 {
        match self {
            Self::Guest(at) | Self::Elsewhere(at) | Self::Slot(at) => at,
            Self::BySignature { slot, .. } => slot,
        }
    }
}

/// What is called by a call of the guest address `pc`.
pub fn callee(program: &dyn Program, pc: u64) -> Callee {
    if !program.is_placed()
        && let Some(slot) = program.linkage_slot(pc)
    {
        return Callee::Slot(slot);
    }
    let through = || named_by(program, program.linkage_slot(pc)?);
    through().unwrap_or(Callee::Guest(pc))
}

/// Instructions of an entry of the linkage table that are executed: `auipc`, `ld` and `jalr`.
pub const ENTRY_INSNS: u32 = 3;

/// Does translated code that calls `pc` leave out an entry of the linkage table there?
pub fn passes_through(program: &dyn Program, pc: u64) -> bool {
    program.is_placed() && callee(program, pc) != Callee::Guest(pc)
}

/// What a slot has the address of, in a program that is placed.
fn named_by(program: &(impl Program + ?Sized), slot: u64) -> Option<Callee> {
    let target = program.constant(slot, 8)?;
    Some(match program.resolve(target)? {
        Target::Guest(at) => Callee::Guest(at),
        Target::Elsewhere => Callee::Elsewhere(target),
    })
}

/// See [`Program::call_stub`].
pub fn stub(program: &(impl Program + ?Sized), pc: u64) -> Option<(u64, Callee)> {
    let range = program.function(pc).filter(|range| range.start == pc)?;
    let upper = program.insn(pc)?;
    let lower = program.insn(pc + upper.len())?;
    let jump = pc + upper.len() + lower.len();
    let is_address = (upper.op(), upper.rd()) == (Op::Auipc, T1)
        && (lower.op(), lower.rd(), lower.rs1()) == (Op::Addi, T1, T1);
    let (slot, link, end) = jump_through(program, jump)?;
    if !is_address || link != 0 || end != range.end {
        return None;
    }
    let address = pc.wrapping_add(upper.imm()).wrapping_add(lower.imm());
    let callee = match program.is_placed() {
        true => named_by(program, slot).filter(|callee| matches!(callee, Callee::Elsewhere(_)))?,
        false => Callee::Slot(slot),
    };
    Some((address, callee))
}

/// See [`Program::linkage_slot`].
pub fn slot(program: &(impl Program + ?Sized), pc: u64) -> Option<u64> {
    if program.function(pc).is_some() {
        return None;
    }
    let (slot, link, _) = jump_through(program, pc)?;
    matches!(link, 0 | T1).then_some(slot)
}

/// The slot from which the code at `pc` jumps, the register in which it links, and its end.
fn jump_through(program: &(impl Program + ?Sized), pc: u64) -> Option<(u64, usize, u64)> {
    let upper = program.insn(pc)?;
    let load_at = pc + upper.len();
    let load = program.insn(load_at)?;
    let jump = program.insn(load_at + load.len())?;
    let register = upper.rd();
    let through = upper.op() == Op::Auipc
        && (load.op(), load.rd(), load.rs1()) == (Op::Ld, register, register)
        && (jump.op(), jump.rs1(), jump.imm()) == (Op::Jalr, register, 0);
    let at = pc.wrapping_add(upper.imm()).wrapping_add(load.imm());
    let end = load_at + load.len() + jump.len();
    through.then_some((at, jump.rd(), end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_riscv::Insn;
    use std::ops::Range;

    const STUB: u64 = 0x1000;
    const SLOT: u64 = 0x6150;
    const FUNCTION: u64 = 0x8000;

    struct Linked {
        jump: u32,
    }

    impl Program for Linked {
        fn insn(&self, pc: u64) -> Option<Insn> {
            // auipc t3, 5; ld t3, 0x150(t3)
            let words = [0x0000_5e17, 0x150e_3e03, self.jump];
            let n = pc.checked_sub(STUB)? / 4;
            words.get(n as usize).map(|&word| flick_riscv::decode(word))
        }
        fn function(&self, pc: u64) -> Option<Range<u64>> {
            (pc == FUNCTION).then_some(FUNCTION..FUNCTION + 4)
        }
        fn constant(&self, address: u64, len: u64) -> Option<u64> {
            (address == SLOT && len == 8).then_some(0x7000)
        }
        fn resolve(&self, target: u64) -> Option<Target> {
            (target == 0x7000).then_some(Target::Guest(FUNCTION))
        }
    }

    #[test]
    fn entries_lead_to_what_their_slot_names() {
        // jalr t1, t3
        let program = Linked { jump: 0x000e_0367 };
        assert_eq!(slot(&program, STUB), Some(SLOT));
        assert_eq!(callee(&program, STUB), Callee::Guest(FUNCTION));
        assert_eq!(slot(&program, STUB + 4), None);
        // jalr ra, t3: a call.
        assert_eq!(slot(&Linked { jump: 0x000e_00e7 }, STUB), None);
        // jalr t1, 8(t3)
        assert_eq!(slot(&Linked { jump: 0x008e_0367 }, STUB), None);
    }

    /// A stub at [`STUB`] in a program that is placed or not.
    struct Unit {
        words: [u32; 5],
        is_placed: bool,
    }

    impl Program for Unit {
        fn insn(&self, pc: u64) -> Option<Insn> {
            let n = pc.checked_sub(STUB)? / 4;
            let word = self.words.get(n as usize);
            word.map(|&word| flick_riscv::decode(word))
        }
        fn function(&self, pc: u64) -> Option<Range<u64>> {
            let range = STUB..STUB + 20;
            range.contains(&pc).then_some(range)
        }
        fn constant(&self, address: u64, len: u64) -> Option<u64> {
            (address == SLOT + 8 && len == 8).then_some(0x7000)
        }
        fn is_placed(&self) -> bool {
            self.is_placed
        }
        fn resolve(&self, target: u64) -> Option<Target> {
            (target == 0x7000).then_some(Target::Elsewhere)
        }
    }

    #[test]
    fn stubs_of_calls_by_signature_are_known() {
        // auipc t1, 2; addi t1, t1, 16; auipc t3, 5; ld t3, 0x150(t3); jr t3
        let words = [
            0x0000_2317,
            0x0103_0313,
            0x0000_5e17,
            0x150e_3e03,
            0x000e_0067,
        ];
        let text = STUB + 0x2010;
        let at = |is_placed| stub(&Unit { words, is_placed }, STUB);
        assert_eq!(at(false), Some((text, Callee::Slot(SLOT + 8))));
        assert_eq!(at(true), Some((text, Callee::Elsewhere(0x7000))));
        let is_placed = false;
        assert_eq!(stub(&Unit { words, is_placed }, STUB + 8), None);
        for (n, other) in [(1, 0x0103_8313), (4, 0x000e_00e7)] {
            // addi t1, t2, 16; jalr t3
            let mut words = words;
            words[n] = other;
            assert_eq!(stub(&Unit { words, is_placed }, STUB), None);
        }
    }
}
