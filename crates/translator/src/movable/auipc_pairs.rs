//! Which instructions add the low part to the result of which `auipc`.
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::function::{Flow, flow};
use crate::program::Program;
use crate::registers::{RA, SAVED, T0, bit};
use flick_riscv::{Class, Insn, Op};

/// By the instruction with the low part.
#[derive(Default)]
pub struct Pairs {
    highs: BTreeMap<u64, u64>,
}

/// Whether the immediate operand is added to the first operand, to make an address.
fn has_offset(op: Op) -> bool {
    matches!(op, Op::Addi | Op::Jalr) || matches!(op.class(), Class::Load | Class::Store)
}

impl Pairs {
    /// Of the function with these instructions. A pair has one way from its first instruction to its
    /// second, which nothing enters. `None`: these are not all of the function's instructions.
    pub fn of(
        program: &dyn Program,
        range: &Range<u64>,
        insns: &[(u64, Insn)],
        entries: &[u64],
    ) -> Option<Self> {
        let mut leaders: BTreeSet<u64> = entries.iter().copied().collect();
        let mut recorded = BTreeSet::new();
        for &(pc, insn) in insns {
            match flow(pc, insn, range) {
                Flow::Branch(target) | Flow::Jump(target) => drop(leaders.insert(target)),
                // The interpreter may come back with registers of its own.
                Flow::Interpret => drop(leaders.insert(pc + insn.len())),
                Flow::JumpIndirect => {
                    if let Some(targets) = program.jump(pc) {
                        leaders.extend(targets);
                        recorded.insert(pc);
                    }
                }
                _ => {}
            }
        }
        let starts: BTreeSet<u64> = insns.iter().map(|&(pc, _)| pc).collect();
        let mut inside = leaders.iter().filter(|at| range.contains(at));
        if !inside.all(|at| starts.contains(at)) {
            return None;
        }
        let mut pairs = Self::default();
        // By register: the `auipc` whose result it has, and the result.
        let mut now: [Option<(u64, u64)>; 32] = [None; 32];
        for &(pc, insn) in insns {
            if leaders.contains(&pc) {
                now = [None; 32];
            }
            let flow = flow(pc, insn, range);
            let known = now[insn.rs1()].filter(|_| has_offset(insn.op()));
            let target = known.map(|(_, high)| high.wrapping_add(insn.imm()));
            if flow == Flow::JumpIndirect && !recorded.contains(&pc) {
                // It may lead to any instruction.
                if target.is_none_or(|target| range.contains(&target)) {
                    return Some(Self::default());
                }
            }
            // Returns are told by their offset.
            let is_other = insn.op() == Op::Jalr
                && (target.is_some_and(|target| target % 2 != 0)
                    || insn.rd() == 0 && matches!(insn.rs1(), RA | T0));
            if let Some((high, _)) = known.filter(|_| !is_other && flow != Flow::Interpret) {
                pairs.highs.insert(pc, high);
            }
            match flow {
                Flow::Call(_) | Flow::CallIndirect => {
                    for (reg, known) in now.iter_mut().enumerate() {
                        *known = known.filter(|_| SAVED & bit(reg) != 0);
                    }
                }
                Flow::Next | Flow::Branch(_) => {}
                _ => now = [None; 32],
            }
            for (reg, known) in now.iter_mut().enumerate() {
                *known = known.filter(|_| insn.writes() & bit(reg) == 0);
            }
            if insn.op() == Op::Auipc {
                now[insn.rd()] = Some((pc, pc.wrapping_add(insn.imm())));
            }
            now[0] = None;
        }
        Some(pairs)
    }

    /// The `auipc` to whose result the instruction at `pc` adds its immediate operand.
    pub fn high(&self, pc: u64) -> Option<u64> {
        self.highs.get(&pc).copied()
    }
}
