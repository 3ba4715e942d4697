//! Instructions that translated code counts, and where it looks at the count.
//!
//! Instructions are counted together in front of the first. What is counted so ends with a block, or with a
//! call, behind which the code may be entered by itself. It also ends in front of an instruction that the
//! interpreter may have to execute instead, which is counted when it has completed.
//!
//! Code within a budget counts at *budget points* alone: the function's entries, starts of loops without a call
//! on each way round, and what is behind a call or an instruction as above. Each counts the longest way to the
//! next. Where a shorter way is taken, the rest is taken back: most rounds of a loop take none back. If the way
//! does not fit into what is left, the code leaves, and the interpreter does the rest. So a budget ends at its
//! last instruction, whatever is translated.
use crate::function::{Block, Function};
use crate::thunk::ENTRY_INSNS;
use flick_engine::vector::is_executed_alone;
use flick_riscv::{Class, Insn, Op};
use std::ops::Range;

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
    /// The same for code that a debugger shows, of which the interpreter is to execute nothing: it leaves at
    /// the first entry behind the end of the budget. Each budget point at a block's start is an entry.
    PastBudget,
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
fn is_entered(block: &Block, n: usize) -> bool {
    n == 0 || is_call(block.insns[n - 1].1)
}

/// Instructions that are counted in front of a block's `n`th, or at its end.
pub fn counted(block: &Block, n: usize) -> u32 {
    let is_behind_left = is_behind_left(block, n);
    if !is_behind_left && !is_entered(block, n) {
        return 0;
    }
    let rest = &block.insns[n..stretch_end(block, n)];
    let left = rest.iter().position(|&(_, insn)| may_be_left(insn));
    let count = left.unwrap_or(rest.len());
    u32::from(is_behind_left) + executed(block, n..n + count)
}

/// Instructions of a part of a block, and those of entries of the linkage table that its calls pass through.
fn executed(block: &Block, part: Range<usize>) -> u32 {
    let passing = block.passing.iter().filter(|n| part.contains(n));
    part.len() as u32 + ENTRY_INSNS * passing.count() as u32
}

/// The instruction behind the next call, or the block's end.
fn stretch_end(block: &Block, n: usize) -> usize {
    let call = block.insns[n..].iter().position(|&(_, insn)| is_call(insn));
    call.map_or(block.insns.len(), |call| n + call + 1)
}

/// The budget points of a function.
pub struct Points {
    /// By block: is its start one?
    at: Vec<bool>,
    /// By block: instructions on the longest way from its start to the next point.
    ways: Vec<u32>,
    /// Of the way in front of a point there may be one instruction more.
    spare: u32,
}

impl Counting {
    /// Are there budgets?
    pub fn has_points(self) -> bool {
        matches!(self, Self::Budget | Self::PastBudget)
    }

    /// Does the code count in a host register? Code of a module has the count in memory: what its stubs
    /// and entries lead to does not know such a register.
    pub fn is_in_register(self) -> bool {
        self == Self::Budget
    }
}

impl Points {
    /// Where the function is to be entered besides ([`Counting::PastBudget`]): blocks that begin with a point.
    pub fn entries(function: &Function) -> Vec<u64> {
        let points = Self::of(function).at.into_iter().zip(&function.blocks);
        let starts = points.filter(|&(is_one, _)| is_one);
        starts.map(|(_, block)| block.start).collect()
    }

    pub fn of(function: &Function) -> Self {
        let blocks = &function.blocks;
        let mut insns = blocks.iter().flat_map(|block| &block.insns);
        let mut points = Self {
            at: vec![false; blocks.len()],
            ways: vec![0; blocks.len()],
            spare: insns.any(|&(_, insn)| may_be_left(insn)).into(),
        };
        let entries = std::iter::once(&0).chain(&function.entries);
        entries.for_each(|&entry| points.at[entry] = true);
        for block in blocks {
            if is_behind(block, block.insns.len()) {
                block
                    .succs()
                    .into_iter()
                    .for_each(|to| points.at[to] = true);
            }
        }
        points.find_ways(blocks);
        let loops = function.loops();
        while points.end_at_exits(blocks, &loops) {
            points.find_ways(blocks);
        }
        points
    }

    /// Where a way out of a loop is longer than the one that stays in it, each round would take the rest back.
    /// So it ends behind the loop. Are there new points? A loop with a call on each way round has no point at its
    /// start, and what is behind the call is often executed once.
    fn end_at_exits(&mut self, blocks: &[Block], loops: &[Range<usize>]) -> bool {
        let mut exits = vec![];
        for inner in loops.iter().filter(|inner| self.at[inner.start]) {
            for block in &blocks[inner.clone()] {
                let (inside, outside): (Vec<_>, Vec<_>) =
                    block.succs().into_iter().partition(|to| inner.contains(to));
                let stays = inside.into_iter().map(|to| self.counted_for(to)).max();
                let is_longer = |&to: &usize| Some(self.counted_for(to)) > stays;
                if stays.is_some() {
                    exits.extend(outside.into_iter().filter(is_longer));
                }
            }
        }
        exits.iter().for_each(|&to| self.at[to] = true);
        !exits.is_empty()
    }

    /// Looks for the ways from all blocks, in depth. A block that it comes to on a way from that block, without a
    /// point on it, gets one.
    fn find_ways(&mut self, blocks: &[Block]) {
        let mut visits = vec![Visit::Not; blocks.len()];
        // Blocks on the way, each with its successors that have not been looked at.
        let mut path: Vec<(usize, Vec<usize>)> = vec![];
        let next = |at: usize| match blocks[at].insns.iter().any(|&(_, insn)| is_call(insn)) {
            true => vec![],
            false => blocks[at].succs(),
        };
        for root in 0..blocks.len() {
            if visits[root] == Visit::Not {
                visits[root] = Visit::OnWay;
                path.push((root, next(root)));
            }
            while let Some((at, left)) = path.last_mut() {
                let at = *at;
                match left.pop().map(|to| (to, visits[to])) {
                    Some((to, _)) if self.at[to] => {}
                    Some((to, Visit::Not)) => {
                        visits[to] = Visit::OnWay;
                        path.push((to, next(to)));
                    }
                    Some((to, Visit::OnWay)) => self.at[to] = true,
                    Some((_, Visit::Done)) => {}
                    None => {
                        let way = self.way(&blocks[at], 0);
                        self.at[at] |= way > FAR;
                        self.ways[at] = way;
                        visits[at] = Visit::Done;
                        path.pop();
                    }
                }
            }
        }
    }

    /// Is one in front of the `n`th instruction of a block?
    pub fn is_at(&self, (number, block): (usize, &Block), n: usize) -> bool {
        match n {
            0 => self.at[number],
            _ => is_behind(block, n),
        }
    }

    /// Instructions on the longest way from the `n`th of a block, in front of which is a point, to the next.
    pub fn way(&self, block: &Block, n: usize) -> u32 {
        let end = (n + 1..=block.insns.len()).find(|&end| is_before(block, end));
        let end = end.unwrap_or(block.insns.len()).max(n);
        let starts_left = block
            .insns
            .get(n)
            .is_some_and(|&(_, insn)| may_be_left(insn));
        match end == block.insns.len() && !is_behind(block, end) {
            _ if starts_left => 0,
            true => executed(block, n..end) + self.behind(block),
            false => executed(block, n..end),
        }
    }

    /// What must be left at a point with this way.
    pub fn needed(&self, way: u32) -> u32 {
        way + self.spare
    }

    /// What the last point of a block has counted of the ways behind it.
    pub fn behind(&self, block: &Block) -> u32 {
        let ways = block.succs().into_iter().map(|to| self.counted_for(to));
        ways.max().unwrap_or(0)
    }

    fn counted_for(&self, to: usize) -> u32 {
        match self.at[to] {
            true => 0,
            false => self.ways[to],
        }
    }

    /// What is to be taken back on the way from a block to each of its successors.
    pub fn taken_back(&self, block: &Block) -> Vec<u32> {
        let behind = self.behind(block);
        let succs = block.succs().into_iter();
        succs.map(|to| behind - self.counted_for(to)).collect()
    }
}

/// How far [`Points::find_ways`] is with a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Not,
    OnWay,
    Done,
}

/// Is the place in front of a block's `n`th instruction behind one with which a way ends?
fn is_behind(block: &Block, n: usize) -> bool {
    let before = n.checked_sub(1).map(|last| block.insns[last].1);
    before.is_some_and(|insn| is_call(insn) || may_be_left(insn))
}

/// Does a way end in front of a block's `n`th instruction?
fn is_before(block: &Block, n: usize) -> bool {
    let next = block.insns.get(n).map(|&(_, insn)| insn);
    is_behind(block, n) || next.is_some_and(may_be_left)
}

/// Is a block's `n`th instruction behind one that is counted when it has completed?
pub fn is_behind_left(block: &Block, n: usize) -> bool {
    n > 0 && may_be_left(block.insns[n - 1].1)
}
