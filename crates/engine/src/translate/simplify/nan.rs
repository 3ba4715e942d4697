//! Checks for NaN of results of which nobody sees the bits.
//!
//! RV64's arithmetic gives the canonical NaN, the host's one of an operand's. Further arithmetic and
//! comparisons treat all quiet NaNs alike, so only a value that is stored, moved to an integer register,
//! handed over or joined with one that is no such result needs the check.
use super::{Aliases, definitions, phis};
use crate::translate::code::*;

pub fn checks(code: &mut Code) {
    let definitions = definitions(code);
    let phis = phis(code);
    let is_check = |value: usize| {
        definitions[value].is_some_and(|n| matches!(code.nodes[n as usize].op, Op::Canonical(_)))
    };
    // A parameter may hold an unchecked value if all that it can be are results.
    let mut result: Vec<bool> = (0..code.vregs).map(is_check).collect();
    for phi in &phis {
        result[phi.param] = true;
    }
    loop {
        let mut changed = false;
        for phi in &phis {
            if result[phi.param] && !phi.args.iter().all(|&arg| result[arg]) {
                result[phi.param] = false;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut seen = vec![false; code.vregs];
    let mut args: Vec<&[usize]> = vec![&[]; code.vregs];
    let mut todo = vec![];
    for phi in &phis {
        args[phi.param] = &phi.args;
        if !result[phi.param] {
            todo.extend(&phi.args);
        }
    }
    for node in &code.nodes {
        if !looks_at_bits(&node.op) {
            continue;
        }
        todo.extend(node.own_uses().map(|value| value.vreg()));
    }
    while let Some(value) = todo.pop() {
        if !std::mem::replace(&mut seen[value], true) && result[value] {
            todo.extend(args[value]);
        }
    }
    let mut aliases = Aliases::new(code);
    let mut unchecked: Vec<Option<bool>> = vec![None; code.vregs];
    for node in &mut code.nodes {
        if let Op::Canonical(single) = node.op {
            let (from, to) = (node.value(0).vreg(), node.value(1).vreg());
            if !seen[to] {
                unchecked[to] = Some(single);
                aliases.replace(to, from);
                node.forget();
            }
        }
    }
    loop {
        let mut changed = false;
        for phi in &phis {
            let from = phi.args.iter().find_map(|&arg| unchecked[arg]);
            if unchecked[phi.param].is_none() && from.is_some() {
                unchecked[phi.param] = from;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for node in &mut code.nodes {
        let mut at = node.own().len();
        let operands = &node.operands;
        for place in &mut node.state {
            if place.recipe == Recipe::Value
                && let Some(single) = unchecked[operands[at].vreg().vreg()]
            {
                place.finish.canonical = true;
                place.finish.single = single;
            }
            at += place.recipe.operands();
        }
    }
    aliases.apply(code);
}

/// Whether a node's result depends on which quiet NaN an operand is.
fn looks_at_bits(op: &Op) -> bool {
    !matches!(
        op,
        Op::Arith(..)
            | Op::Sqrt(_)
            | Op::Canonical(_)
            | Op::FloatCompare(..)
            | Op::ToInt { .. }
            | Op::Narrow
            | Op::Widen
    )
}
