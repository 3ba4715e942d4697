//! Removes what nobody uses, and splits edges from a block with several successors to one with several
//! predecessors, as the register allocator wants it.
use regalloc2::Block;

use super::{definitions, phis, retain_params};
use crate::translate::code::{Code, Node, Op};

/// Whether a node has no effect but its results. Floating-point arithmetic raises flags.
fn is_pure(op: &Op) -> bool {
    matches!(
        op,
        Op::Undef
            | Op::Const(_)
            | Op::GetSp(_)
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
            | Op::Unbox
            | Op::Sign(..)
            | Op::BitsToFloat(_)
            | Op::BitsToInt
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

fn rebuild(code: &mut Code, kept: &[bool]) {
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

fn split_edges(code: &mut Code) {
    for block in 0..code.ranges.len() {
        if code.succs[block].len() < 2 {
            continue;
        }
        for n in 0..code.succs[block].len() {
            let to = code.succs[block][n];
            if code.preds[to.index()].len() < 2 {
                continue;
            }
            let edge = Block::new(code.ranges.len());
            let begin = code.nodes.len();
            code.nodes.push(Node::new(Op::Jump, 0, vec![]));
            code.ranges.push((begin, code.nodes.len()));
            code.loops.push(false);
            code.succs[block][n] = edge;
            let args = std::mem::take(&mut code.args[block][n]);
            code.succs.push(vec![to]);
            code.preds.push(vec![Block::new(block)]);
            code.params.push(vec![]);
            code.args.push(vec![args]);
            // One of perhaps several equal entries.
            if let Some(pred) = code.preds[to.index()]
                .iter_mut()
                .find(|pred| pred.index() == block)
            {
                *pred = edge;
            }
        }
    }
}
