//! Drops moves between registers and stack slots that change nothing.
//!
//! The allocator divides a value's life into parts with places of their own, and moves the value
//! between the places. So a loop that only reads a value may store it, on every way round, to the slot
//! from which it came.
use std::collections::BTreeSet;

use regalloc2::{
    Allocation, Block, Edit, InstOrEdit, OperandKind, Output, PReg, PRegSet, RegClass,
};

use crate::code::{Code, Node};

/// For each register, those of integers first, the slot that has the same contents.
#[derive(Clone, PartialEq, Eq)]
struct Known([u32; 32]);

const NONE: u32 = u32::MAX;

fn index(register: PReg) -> usize {
    register.hw_enc()
        + if register.class() == RegClass::Int {
            0
        } else {
            16
        }
}

impl Known {
    const NOTHING: Self = Self([NONE; 32]);

    /// What holds on both ways.
    fn meet(&mut self, other: &Self) {
        for (known, other) in self.0.iter_mut().zip(&other.0) {
            if known != other {
                *known = NONE;
            }
        }
    }

    fn invalidate(&mut self, registers: PRegSet) {
        for register in registers {
            self.0[index(register)] = NONE;
        }
    }

    /// After an instruction.
    fn executed(&mut self, node: &Node, allocations: &[Allocation]) {
        for (operand, allocation) in node.operands.iter().zip(allocations) {
            if let (OperandKind::Def, Some(register)) = (operand.kind(), allocation.as_reg()) {
                self.0[index(register)] = NONE;
            }
        }
        self.invalidate(node.clobbers);
        // What instructions use besides.
        self.invalidate(PRegSet::empty().with(super::registers::scratch()));
    }

    /// After a move; false: it changes nothing.
    fn moved(&mut self, from: Allocation, to: Allocation) -> bool {
        match (from.as_reg(), to.as_reg(), from.as_stack(), to.as_stack()) {
            (Some(from), Some(to), ..) => self.0[index(to)] = self.0[index(from)],
            (Some(from), _, _, Some(to)) => {
                let slot = to.index() as u32;
                if self.0[index(from)] == slot {
                    return false;
                }
                for known in self.0.iter_mut().filter(|known| **known == slot) {
                    *known = NONE;
                }
                self.0[index(from)] = slot;
            }
            (_, Some(to), Some(from), _) => {
                let slot = from.index() as u32;
                return std::mem::replace(&mut self.0[index(to)], slot) != slot;
            }
            _ => {}
        }
        true
    }
}

pub fn drop_redundant(code: &Code, allocation: &mut Output) {
    let count = code.ranges.len();
    let mut starts: Vec<Option<Known>> = vec![None; count];
    starts[0] = Some(Known::NOTHING);
    // In order, so that the first look at a block knows most of the ways to it.
    let mut todo = BTreeSet::from([0]);
    while let Some(block) = todo.pop_first() {
        let Some(mut now) = starts[block].clone() else {
            continue;
        };
        walk(code, allocation, block, &mut now, |_| ());
        for to in code.succs[block].iter().map(|to| to.index()) {
            let changed = match &mut starts[to] {
                start @ None => {
                    *start = Some(now.clone());
                    true
                }
                Some(start) => {
                    let before = start.clone();
                    start.meet(&now);
                    *start != before
                }
            };
            if changed {
                todo.insert(to);
            }
        }
    }
    let mut kept = Vec::with_capacity(allocation.edits.len());
    for (block, start) in starts.into_iter().enumerate() {
        // Blocks that nothing leads to stay as they are.
        let mut now = start.unwrap_or(Known::NOTHING);
        walk(code, allocation, block, &mut now, |needed| {
            kept.push(needed)
        });
    }
    let mut kept = kept.into_iter();
    allocation.edits.retain(|_| kept.next().unwrap_or(true));
}

/// Goes through a block and records for each move whether it changes anything.
fn walk(
    code: &Code,
    allocation: &Output,
    block: usize,
    now: &mut Known,
    mut record: impl FnMut(bool),
) {
    for item in allocation.block_insts_and_edits(code, Block::new(block)) {
        match item {
            InstOrEdit::Inst(inst) => {
                now.executed(&code.nodes[inst.index()], allocation.inst_allocs(inst));
            }
            InstOrEdit::Edit(Edit::Move { from, to }) => record(now.moved(*from, *to)),
        }
    }
}
