//! Instructions that translated code counts, and where it looks at the count.
//!
//! Instructions are counted together in front of the first. What is counted so ends with a block, or with a
//! call, behind which the code may be entered by itself. It also ends in front of an instruction that the
//! interpreter may have to execute instead, which is counted when it has completed. Code within a budget looks at what is left in some of these places. They are the
//! *budget points*: the function's entries, starts of loops, and what is behind a call. At each the longest
//! way to the next must fit into what is left. If it does not, the code leaves, and the interpreter does
//! the rest: so a budget ends at its last instruction, whatever is translated.
use crate::function::{Block, Function};
use flick_engine::vector::is_executed_alone;
use flick_riscv::{Class, Insn, Op};

/// What translated code counts in [`Context::retired`](crate::Context::retired).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Nothing.
    #[default]
    None,
    /// Instructions, upwards.
    Retired,
    /// The same, and it leaves before the count gets above 0 ([`Reason::Budget`](crate::Reason::Budget)): at
    /// first the count is the budget's negative.
    Budget,
}

/// So many instructions may be between two points if no block is longer: the interpreter executes them at
/// the end of a budget.
const FAR: u32 = 256;

/// Is it a call?
pub fn is_call(insn: Insn) -> bool {
    matches!(insn.op(), Op::Jal | Op::Jalr) && insn.rd() != 0
}

/// May translated code leave the instruction to the interpreter when it comes there? A misaligned atomic is
/// a trap, and a vector instruction may be illegal.
fn may_be_left(insn: Insn) -> bool {
    matches!(insn.op().class(), Class::Atomic | Class::Vector) || is_executed_alone(insn)
}

/// Is the place in front of a block's `n`th instruction its start, or behind a call?
pub fn is_entered(block: &Block, n: usize) -> bool {
    n == 0 || is_call(block.insns[n - 1].1)
}

/// Instructions that are counted in front of a block's `n`th, or at its end.
pub fn counted(block: &Block, n: usize) -> u32 {
    let before = n.checked_sub(1).map(|last| block.insns[last].1);
    let is_behind_left = before.is_some_and(may_be_left);
    if !is_behind_left && !is_entered(block, n) {
        return 0;
    }
    let rest = &block.insns[n..stretch_end(block, n)];
    let left = rest.iter().position(|&(_, insn)| may_be_left(insn));
    u32::from(is_behind_left) + left.unwrap_or(rest.len()) as u32
}

/// The instruction behind the next call, or the block's end.
fn stretch_end(block: &Block, n: usize) -> usize {
    let call = block.insns[n..].iter().position(|&(_, insn)| is_call(insn));
    call.map_or(block.insns.len(), |call| n + call + 1)
}

/// The budget points at starts of blocks, and the ways to the next.
pub struct Points {
    /// By block: is its start one?
    at: Vec<bool>,
    /// By block: instructions on the longest way from its start up to the next point.
    ways: Vec<u32>,
}

impl Points {
    pub fn of(function: &Function) -> Self {
        let count = function.blocks.len();
        let mut points = Self {
            at: vec![false; count],
            ways: vec![0; count],
        };
        let entries = std::iter::once(&0).chain(&function.entries);
        entries.for_each(|&entry| points.at[entry] = true);
        // Each way round a loop leads back to a block with a lower number, or to the same.
        for (at, block) in function.blocks.iter().enumerate() {
            for to in block.succs().into_iter().filter(|&to| to <= at) {
                points.at[to] = true;
            }
        }
        for (at, block) in function.blocks.iter().enumerate().rev() {
            let way = points.way(block, 0);
            points.at[at] |= way > FAR;
            points.ways[at] = way;
        }
        points
    }

    /// Is the start of this block a point?
    pub fn is_at(&self, block: usize) -> bool {
        self.at[block]
    }

    /// Instructions on the longest way from the `n`th of a block to the next point.
    pub fn way(&self, block: &Block, n: usize) -> u32 {
        let end = stretch_end(block, n);
        let stretch = (end - n) as u32;
        if end < block.insns.len() || end > n && is_call(block.insns[end - 1].1) {
            return stretch;
        }
        let succs = block.succs().into_iter().filter(|&to| !self.at[to]);
        stretch + succs.map(|to| self.ways[to]).max().unwrap_or(0)
    }
}
