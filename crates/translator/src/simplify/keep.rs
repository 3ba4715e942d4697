//! Operands that keep the values of the state alive until the instruction that may fault.
//!
//! The allocator says where a value is for as long as the value is alive. So an instruction gets an
//! operand only for those values of its state that no later instruction uses. Each further operand
//! would count as a use, and values that are there for the state alone would take registers from values
//! of the computation.
use regalloc2::{Inst, Operand, VReg};

use crate::code::Code;

pub fn values(code: &mut Code) {
    let ends = alive_at_ends(code);
    // The block in which a value was last seen alive.
    let mut alive = vec![usize::MAX; code.vregs];
    let mut tracked = vec![None; code.vregs];
    for (block, end) in ends.into_iter().enumerate() {
        for value in end {
            alive[value as usize] = block;
        }
        for arg in code.args[block].iter().flatten() {
            alive[arg.vreg()] = block;
        }
        let (begin, end) = code.ranges[block];
        for node in code.nodes[begin..end].iter_mut().rev() {
            for value in node.own_uses() {
                alive[value.vreg()] = block;
            }
            let mut kept = vec![];
            for value in node.state_uses() {
                tracked[value.vreg()] = Some(value);
                if std::mem::replace(&mut alive[value.vreg()], block) != block {
                    kept.push(value);
                }
            }
            node.kept = kept.len();
            node.operands.extend(kept.into_iter().map(Operand::any_use));
        }
    }
    for value in code
        .names
        .iter()
        .flatten()
        .flat_map(|name| name.recipe.values())
        .chain(code.callers.into_iter().flatten())
    {
        tracked[value.vreg()] = Some(value);
    }
    let (start, end) = (Inst::new(0), Inst::new(code.nodes.len()));
    code.tracked = tracked
        .into_iter()
        .flatten()
        .map(|value| (value, start, end, value.vreg() as u32))
        .collect();
}

/// Values that blocks behind a block use, for each block. Of those that only states look at, the
/// blocks in front are left out: around a loop each look would leave it to the next to keep the
/// value.
fn alive_at_ends(code: &Code) -> Vec<Vec<u32>> {
    let mut defined = vec![0; code.vregs];
    for (block, params) in code.params.iter().enumerate() {
        let (begin, end) = code.ranges[block];
        let nodes = code.nodes[begin..end].iter();
        for value in nodes
            .flat_map(|node| node.defs())
            .chain(params.iter().copied())
        {
            defined[value.vreg()] = block;
        }
    }
    let mut uses: Vec<Vec<usize>> = vec![vec![]; code.vregs];
    let mut looks: Vec<Vec<usize>> = vec![vec![]; code.vregs];
    for (block, args) in code.args.iter().enumerate() {
        let (begin, end) = code.ranges[block];
        let nodes = || code.nodes[begin..end].iter();
        let note = |blocks: &mut Vec<Vec<usize>>, value: VReg| {
            let value = value.vreg();
            if defined[value] != block && blocks[value].last() != Some(&block) {
                blocks[value].push(block);
            }
        };
        let used = nodes().flat_map(|node| node.own_uses());
        used.chain(args.iter().flatten().copied())
            .for_each(|value| note(&mut uses, value));
        nodes()
            .flat_map(|node| node.state_uses())
            .for_each(|value| note(&mut looks, value));
    }
    let mut ends = vec![vec![]; code.ranges.len()];
    let mut known = vec![usize::MAX; code.ranges.len()];
    for (value, (uses, looks)) in uses.into_iter().zip(looks).enumerate() {
        for (mut todo, any_way) in [(uses, true), (looks, false)] {
            while let Some(block) = todo.pop() {
                let preds = code.preds[block].iter().map(|pred| pred.index());
                for pred in preds.filter(|&pred| any_way || pred < block) {
                    if std::mem::replace(&mut known[pred], value) == value {
                        continue;
                    }
                    ends[pred].push(value as u32);
                    if pred != defined[value] {
                        todo.push(pred);
                    }
                }
            }
        }
    }
    ends
}
