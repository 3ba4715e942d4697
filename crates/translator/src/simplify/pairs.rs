//! Checks for NaN of two results at a time.
//!
//! The host's comparison of two values tells whether one of them is NaN. So a check may wait for the
//! next check of its block, if no instruction between uses its result. A fault between them finds
//! the unchecked value, which [`Finish`] completes.
use regalloc2::Operand;

use super::finish::rebuild;
use crate::code::*;

/// How many instructions a check may wait: each waiting value takes a register.
const LONGEST: usize = 32;

pub fn pairs(code: &mut Code) {
    let mut kept = vec![true; code.nodes.len()];
    for block in 0..code.ranges.len() {
        let (begin, end) = code.ranges[block];
        for (first, keep) in kept.iter_mut().enumerate().take(end).skip(begin) {
            let Op::Canonical(single) = code.nodes[first].op else {
                continue;
            };
            if let Some(second) = partner(code, first, end, single) {
                join(code, first, second, single);
                *keep = false;
            }
        }
    }
    rebuild(code, &kept);
}

/// The next check of the block, if the first one's result is not used before.
fn partner(code: &Code, first: usize, end: usize, single: bool) -> Option<usize> {
    let checked = code.nodes[first].value(1);
    for n in first + 1..end.min(first + LONGEST) {
        let node = &code.nodes[n];
        if node.own_uses().any(|value| value == checked) {
            return None;
        }
        if node.op == Op::Canonical(single) && node.value(0) != code.nodes[first].value(0) {
            return Some(n);
        }
    }
    None
}

fn join(code: &mut Code, first: usize, second: usize, single: bool) {
    let (raw, checked) = (code.nodes[first].value(0), code.nodes[first].value(1));
    for node in &mut code.nodes[first + 1..second] {
        for place in &mut node.state {
            if place.recipe == Recipe::Value(checked) {
                place.recipe = Recipe::Value(raw);
                place.finish.canonical = true;
                place.finish.single = single;
            }
        }
    }
    let node = &mut code.nodes[second];
    let (other, result) = (node.value(0), node.value(1));
    node.op = Op::CanonicalPair(single);
    node.operands = vec![
        Operand::reg_use(raw),
        Operand::reg_use(other),
        Operand::reg_reuse_def(checked, 0),
        Operand::reg_reuse_def(result, 1),
    ];
}
