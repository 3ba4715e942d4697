//! Removes unused values. Splits edges from a block with several successors to one with several
//! predecessors, as the register allocator requires.
use std::collections::{BTreeMap, VecDeque};

use regalloc2::Block;

use super::{definitions, phis, retain_params};
use crate::code::{Code, Node, Op};

/// Whether a node has no effect but its results. Floating-point arithmetic raises flags.
pub(super) fn is_pure(op: &Op) -> bool {
    matches!(
        op,
        Op::Undef
            | Op::Const(_)
            | Op::FloatConst(_)
            | Op::Address(_)
            | Op::GetSp(_)
            | Op::GetHome(_)
            | Op::Unary(_)
            | Op::Alu(..)
            | Op::AluImm(..)
            | Op::Shift(..)
            | Op::ShiftImm(..)
            | Op::AndNot
            | Op::Lea(..)
            | Op::LoadHart(_)
            | Op::LoadHartFloat(_)
            | Op::Set(..)
            | Op::Other(_)
            | Op::IfZero(_)
            | Op::MulHigh { .. }
            | Op::Div { .. }
            | Op::Canonical(_)
            | Op::CanonicalPair(_)
            | Op::Unbox
            | Op::Box
            | Op::Sign(..)
            | Op::CopySign(..)
            | Op::BitsToFloat(_)
            | Op::BitsToInt(_)
    )
}

pub fn finish(code: &mut Code) {
    let kept = live(code);
    rebuild(code, &kept);
    split_edges(code);
}

/// Which nodes are kept; drops parameters that nobody uses.
fn live(code: &mut Code) -> Vec<bool> {
    let definitions = definitions(code);
    let mut args: Vec<Vec<usize>> = vec![vec![]; code.vregs];
    for phi in phis(code) {
        args[phi.param] = phi.args;
    }
    let mut live = vec![false; code.vregs];
    let mut kept: Vec<bool> = code.nodes.iter().map(|node| !is_pure(&node.op)).collect();
    let mut todo: Vec<usize> = vec![];
    for (node, _) in code.nodes.iter().zip(&kept).filter(|(_, kept)| **kept) {
        todo.extend(node.uses().map(|value| value.vreg()));
    }
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut live[value], true) {
            continue;
        }
        todo.extend(&args[value]);
        if let Some(n) = definitions[value].map(|n| n as usize)
            && !std::mem::replace(&mut kept[n], true)
        {
            todo.extend(code.nodes[n].uses().map(|value| value.vreg()));
        }
    }
    retain_params(code, |param| live[param.vreg()]);
    kept
}

/// Keeps these nodes.
pub(super) fn rebuild(code: &mut Code, kept: &[bool]) {
    let mut old: Vec<Option<Node>> = std::mem::take(&mut code.nodes)
        .into_iter()
        .zip(kept)
        .map(|(node, &kept)| kept.then_some(node))
        .collect();
    let mut nodes = vec![];
    for range in &mut code.ranges {
        let begin = nodes.len();
        nodes.extend(old[range.0..range.1].iter_mut().filter_map(Option::take));
        *range = (begin, nodes.len());
    }
    code.nodes = nodes;
}

/// An edge's block gets the number behind the block that it leaves: the allocator takes a branch to
/// a lower number for a loop's.
fn split_edges(code: &mut Code) {
    let is_split: Vec<Vec<bool>> = code
        .succs
        .iter()
        .map(|succs| {
            let joins = |to: &Block| succs.len() > 1 && code.preds[to.index()].len() > 1;
            succs.iter().map(joins).collect()
        })
        .collect();
    let mut number = 0;
    let numbers: Vec<usize> = is_split
        .iter()
        .map(|edges| {
            let own = number;
            number += 1 + edges.iter().filter(|&&split| split).count();
            own
        })
        .collect();
    let renumbered = |block: Block| Block::new(numbers[block.index()]);
    let old = std::mem::take(code);
    code.vregs = old.vregs;
    code.tables = old.tables;
    code.frames = old.frames;
    code.has_returns = old.has_returns;
    code.pinned = old.pinned;
    code.in_hart = old.in_hart;
    let entries = old.entries.into_iter();
    code.entries = entries.map(|(at, block)| (at, numbers[block])).collect();
    code.preds = vec![vec![]; number];
    if !old.names.is_empty() {
        code.names = vec![vec![]; number];
        for (block, names) in old.names.into_iter().enumerate() {
            code.names[numbers[block]] = names;
        }
    }
    let mut taken_back = TakenBack::new(&old.taken_back, &old.succs, &is_split);
    let mut nodes = old.nodes.into_iter();
    let parts = old.ranges.into_iter().zip(old.succs).zip(old.params);
    for ((((begin, end), succs), params), (args, edges)) in
        parts.zip(old.args.into_iter().zip(is_split))
    {
        let block = code.ranges.len();
        let from = code.nodes.len();
        taken_back.within(nodes.by_ref().take(end - begin), &mut code.nodes);
        code.ranges.push((from, code.nodes.len()));
        code.params.push(params);
        code.succs.push(vec![]);
        code.args.push(vec![]);
        for ((to, args), split) in succs.into_iter().zip(args).zip(edges) {
            let to = renumbered(to);
            if !split {
                code.succs[block].push(to);
                code.args[block].push(args);
                code.preds[to.index()].push(Block::new(block));
                continue;
            }
            let edge = Block::new(code.ranges.len());
            let from = code.nodes.len();
            code.nodes.extend(taken_back.next_edge());
            code.nodes.push(Node::edge());
            code.ranges.push((from, code.nodes.len()));
            code.params.push(vec![]);
            code.succs.push(vec![to]);
            code.args.push(vec![args]);
            code.succs[block].push(edge);
            code.args[block].push(vec![]);
            code.preds[edge.index()].push(Block::new(block));
            code.preds[to.index()].push(edge);
        }
    }
}

/// Nodes that take back what was counted for longer ways: in the order of blocks, at their starts, ends, and
/// in the blocks of edges.
#[derive(Default)]
struct TakenBack {
    starts: Vec<u32>,
    ends: Vec<u32>,
    edges: VecDeque<u32>,
    block: usize,
}

impl TakenBack {
    fn new(
        all: &BTreeMap<(usize, usize), u32>,
        succs: &[Vec<Block>],
        is_split: &[Vec<bool>],
    ) -> Self {
        if all.is_empty() {
            return Self::default();
        }
        let mut new = Self {
            starts: vec![0; succs.len()],
            ends: vec![0; succs.len()],
            ..Self::default()
        };
        for (block, succs) in succs.iter().enumerate() {
            for (n, to) in succs.iter().enumerate() {
                let count = all.get(&(block, n)).copied().unwrap_or(0);
                match succs.len() {
                    _ if is_split[block][n] => new.edges.push_back(count),
                    1 => new.ends[block] = count,
                    _ => new.starts[to.index()] = count,
                }
            }
        }
        new
    }

    /// The nodes of the next block, with its own.
    fn within(&mut self, nodes: impl Iterator<Item = Node>, to: &mut Vec<Node>) {
        let at = |all: &[u32]| all.get(self.block).copied().unwrap_or(0);
        let (start, end) = (at(&self.starts), at(&self.ends));
        self.block += 1;
        to.extend(taking_back(start, 0));
        to.extend(nodes);
        if end != 0
            && let Some(last) = to.pop()
        {
            to.extend(taking_back(end, last.pc));
            to.push(last);
        }
    }

    fn next_edge(&mut self) -> Option<Node> {
        taking_back(self.edges.pop_front()?, 0)
    }
}

fn taking_back(count: u32, pc: u64) -> Option<Node> {
    (count != 0).then(|| Node::new(Op::Count(-(count as i32)), pc, vec![]))
}
