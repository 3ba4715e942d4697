//! The order of blocks in the code.
//!
//! Blocks keep the guest's order, which the guest's compiler has chosen. Blocks that split edges are
//! new. An edge's block that the allocator has left empty is skipped. One that leads back to the start
//! of the innermost loop stays in the loop. One that leads forward, or on to the next round of an outer
//! loop, is placed out of the way: the inner loop's next round then needs no jump around it. It may
//! stand before its target if no other block falls through to the target.
use std::collections::BTreeMap;

use regalloc2::{Block, InstOrEdit, Output};

use crate::code::{Code, Op};

pub struct Layout {
    pub order: Vec<usize>,
    /// The block at which control arrives that is sent to a block.
    leads_to: Vec<usize>,
}

impl Layout {
    pub fn new(code: &Code, allocation: &Output) -> Self {
        let count = code.ranges.len();
        let jumps: Vec<bool> = (0..count)
            .map(|block| {
                let mut items = allocation.block_insts_and_edits(code, Block::new(block));
                let first = items.next();
                matches!(first, Some(InstOrEdit::Inst(inst)) if code.nodes[inst.index()].op == Op::Jump)
            })
            .collect();
        let leads_to: Vec<usize> = (0..count)
            .map(|block| target(code, &jumps, block))
            .collect();
        let mut placing = Placing {
            code,
            leads_to: &leads_to,
            loops: innermost(code, &leads_to),
            order: Vec::with_capacity(count),
            placed: vec![false; count],
            waiting: BTreeMap::new(),
        };
        placing.all();
        Self {
            order: placing.order,
            leads_to,
        }
    }

    pub fn leads_to(&self, block: usize) -> usize {
        self.leads_to[block]
    }
}

/// Where control goes from the start of a block through blocks that do nothing but jump.
fn target(code: &Code, jumps: &[bool], block: usize) -> usize {
    let mut at = block;
    // A loop of them has to be entered somewhere.
    for _ in 0..jumps.len() {
        if !jumps[at] {
            return at;
        }
        at = code.succs[at][0].index();
    }
    block
}

/// For each block the first one of the innermost loop that it is in, as far as their numbers tell.
fn innermost(code: &Code, leads_to: &[usize]) -> Vec<Option<usize>> {
    let mut ends = vec![0; leads_to.len()];
    for (block, succs) in code.succs.iter().enumerate() {
        for to in succs.iter().map(|to| leads_to[to.index()]) {
            ends[to] = block;
        }
    }
    let mut around: Vec<usize> = vec![];
    let blocks = 0..leads_to.len();
    let innermost = blocks.map(|block| {
        if ends[block] >= block {
            around.push(block);
        }
        while around.pop_if(|head| ends[*head] < block).is_some() {}
        around.last().copied()
    });
    innermost.collect()
}

struct Placing<'a> {
    code: &'a Code,
    leads_to: &'a [usize],
    /// Of [`innermost`].
    loops: Vec<Option<usize>>,
    order: Vec<usize>,
    placed: Vec<bool>,
    /// Blocks that stand out of the way, by where they jump to.
    waiting: BTreeMap<usize, Vec<usize>>,
}

impl Placing<'_> {
    fn all(&mut self) {
        for block in 0..self.placed.len() {
            if self.leads_to[block] != block || self.is_edge(block) || self.is_entry(block) {
                continue;
            }
            self.before(block);
            self.place(block);
            self.edges_of(block);
        }
        for edge in std::mem::take(&mut self.waiting).into_values().flatten() {
            self.place(edge);
        }
        for &(_, entry) in &self.code.entries {
            self.place(entry);
        }
    }

    fn is_entry(&self, block: usize) -> bool {
        self.code.entries.iter().any(|&(_, entry)| entry == block)
    }

    fn is_edge(&self, block: usize) -> bool {
        let (_, end) = self.code.ranges[block];
        self.code.nodes[end - 1].is_edge()
    }

    fn place(&mut self, block: usize) {
        if !std::mem::replace(&mut self.placed[block], true) {
            self.order.push(block);
        }
    }

    /// What waits to jump to `block` may stand before it if nothing falls through to it.
    fn before(&mut self, block: usize) {
        let falls = self.order.last().is_some_and(|&last| {
            let next = self.code.succs[last].last();
            next.is_some_and(|next| self.leads_to[next.index()] == block)
        });
        if falls {
            return;
        }
        if let Some(edge) = self.waiting.get_mut(&block).and_then(Vec::pop) {
            self.place(edge);
        }
    }

    fn edges_of(&mut self, block: usize) {
        let succs = &self.code.succs[block];
        let is_branch = matches!(
            self.code.nodes[self.code.ranges[block].1 - 1].op,
            Op::Branch(..) | Op::BranchBits(..)
        );
        for (n, succ) in succs.iter().enumerate() {
            let edge = succ.index();
            if self.leads_to[edge] != edge || !self.is_edge(edge) {
                continue;
            }
            let to = self.leads_to[self.code.succs[edge][0].index()];
            let falls_through = is_branch && n + 1 == succs.len();
            let is_loop = is_branch && to <= block && self.loops[block].is_none_or(|it| it <= to);
            if falls_through || is_loop {
                self.place(edge);
            } else {
                self.waiting.entry(to).or_default().push(edge);
            }
        }
    }
}
