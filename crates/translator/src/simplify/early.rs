//! Early returns without a frame.
//!
//! A function makes its guest frame, saves registers and computes for its loop before it asks
//! whether it may return at once. What the early return does not need happens behind the question,
//! on the other way. If an instruction on the early way could fault, nothing moves: its frame would
//! be missing.
use std::collections::BTreeMap;

use regalloc2::{OperandConstraint, VReg};

use super::finish::{is_pure, rebuild};
use super::insert;
use crate::code::{Code, Form, Name, Node, Op, Width};
use crate::registers::home;

pub fn returns(code: &mut Code) {
    let mut from = 0;
    while let Some(rest) = find(code, from) {
        if !code.names.is_empty() {
            code.callers = callers(code);
        }
        from = rest.block;
        move_to(code, rest);
    }
}

/// What the function's entry finds in the registers that have s0 to s3.
fn callers(code: &Code) -> [Option<VReg>; 4] {
    let (begin, end) = code.ranges[0];
    let mut entries = code.nodes[begin..end].iter();
    let entry = entries.find(|node| node.op == Op::Entry);
    [8, 9, 18, 19].map(|reg| {
        let place = home(reg).map(OperandConstraint::FixedReg);
        let operands = &entry?.operands;
        let found = operands
            .iter()
            .find(|operand| Some(operand.constraint()) == place)?;
        Some(found.vreg())
    })
}

/// Where the frame is made from now on.
struct Rest {
    block: usize,
    /// What moves there, in ascending order.
    moved: Vec<usize>,
    /// What is executed without the frame.
    without: Vec<usize>,
    /// What has taken the frame back on the early way.
    back: usize,
    /// The last of the blocks in front.
    from: usize,
}

/// Whether a node does the same in front of the frame.
fn may_stay(op: &Op) -> bool {
    let reads_sp = matches!(op, Op::GetSp(_));
    (is_pure(op) && !reads_sp) || matches!(op, Op::Jump | Op::Count(_))
}

/// Saves a register in the frame.
fn saves(op: &Op) -> bool {
    matches!(
        op,
        Op::Store(Width::D, _, Form::Sp) | Op::StoreFloat(_, Form::Sp, false)
    )
}

/// The blocks from `from` on that are executed one after the other and that nothing else leads to.
fn chain(code: &Code, from: usize) -> Vec<usize> {
    let mut blocks = vec![from];
    loop {
        let at = blocks[blocks.len() - 1];
        let next = match code.succs[at][..] {
            [next] => next.index(),
            // Others are further entries.
            [.., first] if at == 0 => first.index(),
            _ => return blocks,
        };
        if code.preds[next].len() != 1 {
            return blocks;
        }
        blocks.push(next);
    }
}

fn nodes(code: &Code, blocks: &[usize]) -> Vec<usize> {
    let of = |&block: &usize| code.ranges[block].0..code.ranges[block].1;
    blocks.iter().flat_map(of).collect()
}

/// The nodes from `from` on, if they only return or go to another function, and the one that takes a
/// frame of `size` bytes back.
fn returning(code: &Code, from: usize, size: i32) -> Option<(Vec<usize>, usize)> {
    let nodes = nodes(code, &chain(code, from));
    let mut back = None;
    for &n in &nodes {
        match code.nodes[n].op {
            Op::AddSp(k) if back.is_none() && k == size => back = Some(n),
            Op::StoreHart(_) | Op::StoreHartFloat(_) => {}
            Op::Return | Op::TailCall(_) => return Some((nodes, back?)),
            op if may_stay(&op) => {}
            _ => return None,
        }
    }
    None
}

/// The branch that ends the blocks from `from` on, if one of its ways is an early return.
fn find(code: &Code, from: usize) -> Option<Rest> {
    let blocks = chain(code, from);
    let before = nodes(code, &blocks);
    let frame = |&n: &usize| match code.nodes[n].op {
        Op::AddSp(k) if k < 0 => k.checked_neg(),
        _ => None,
    };
    let made = before.iter().position(|n| frame(n).is_some())?;
    let size = frame(&before[made])?;
    let (&branch, behind) = before[made + 1..].split_last()?;
    let ops = || behind.iter().map(|&n| &code.nodes[n].op);
    let is_branch = matches!(code.nodes[branch].op, Op::Branch(..) | Op::BranchBits(..));
    if !is_branch || !ops().all(|op| saves(op) || may_stay(op)) {
        return None;
    }
    let [one, other] = code.succs[*blocks.last()?][..] else {
        return None;
    };
    let way = |to: usize| returning(code, to, size);
    let (one, other) = (one.index(), other.index());
    let ((early, back), to, block) = match (way(one), way(other)) {
        (Some(early), None) => (early, one, other),
        (None, Some(early)) => (early, other, one),
        _ => return None,
    };
    let mut needed = vec![false; code.vregs];
    let used = early.iter().chain([&branch]);
    let used = used.flat_map(|&n| code.nodes[n].uses());
    let ways = blocks.iter().copied().chain(chain(code, to));
    let passed = ways.flat_map(|block| code.args[block].iter().flatten().copied());
    used.chain(passed)
        .for_each(|value| needed[value.vreg()] = true);
    let mut moved = vec![before[made]];
    for &n in behind.iter().rev() {
        let node = &code.nodes[n];
        let stays = match node.op {
            Op::Jump | Op::Count(_) => true,
            op => !saves(&op) && node.defs().any(|value| needed[value.vreg()]),
        };
        if stays {
            node.uses().for_each(|value| needed[value.vreg()] = true);
        } else {
            moved.push(n);
        }
    }
    moved.sort_unstable();
    let stay = behind.iter().filter(|n| moved.binary_search(n).is_err());
    let mut without: Vec<usize> = stay.copied().collect();
    without.extend(early.into_iter().filter(|&n| n != back));
    without.push(branch);
    Some(Rest {
        block,
        moved,
        without,
        back,
        from: blocks[blocks.len() - 1],
    })
}

fn move_to(code: &mut Code, rest: Rest) {
    let Rest {
        block,
        moved,
        without,
        back,
        from,
    } = rest;
    let branch = code.nodes[code.ranges[from].1 - 1].line_pc;
    let made = code.nodes[moved[0]].pc;
    for n in without {
        let node = &mut code.nodes[n];
        if !node.is_edge() {
            node.frame_pc = made;
        }
    }
    let mut kept = vec![true; code.nodes.len()];
    kept[back] = false;
    let mut all = vec![];
    for n in moved {
        kept[n] = false;
        let nothing = Node::new(Op::Undef, 0, vec![]);
        let mut node = std::mem::replace(&mut code.nodes[n], nothing);
        node.line_pc = branch;
        all.push(node);
    }
    // Up to the names of the block itself those of the blocks in front hold.
    if let Some(names) = code.names.get(from) {
        let mut last = BTreeMap::new();
        for name in names {
            last.insert(name.reg, Name { pc: 0, ..*name });
        }
        code.names[block].splice(..0, last.into_values());
    }
    rebuild(code, &kept);
    let at = code.ranges[block].0;
    insert(code, all.into_iter().map(|node| (at, node)).collect());
}
