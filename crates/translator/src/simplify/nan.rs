//! Checks for NaN of results whose bits are not seen.
//!
//! RV64's arithmetic gives the canonical NaN, and the host's gives the NaN of an operand. Further
//! arithmetic and comparisons treat all quiet NaNs alike. So a result needs the check only if it is
//! stored, moved to an integer register, passed on, or joined with a value that is no such result.
use super::{Aliases, definitions, phis};
use crate::code::*;

pub fn checks(code: &mut Code) {
    let definitions = definitions(code);
    let phis = phis(code);
    let of = |value: usize| match definitions[value].map(|n| code.nodes[n as usize].op) {
        Some(Op::Canonical(single)) => Of::Result(single),
        _ => Of::Other,
    };
    // A parameter may hold an unchecked value if all that it can be are results of one precision.
    let mut kinds: Vec<Of> = (0..code.vregs).map(of).collect();
    for phi in &phis {
        kinds[phi.param] = Of::Unknown;
    }
    loop {
        let mut changed = false;
        for phi in &phis {
            let joined = phi
                .args
                .iter()
                .map(|&arg| kinds[arg])
                .fold(Of::Unknown, Of::join);
            changed |= std::mem::replace(&mut kinds[phi.param], joined) != joined;
        }
        if !changed {
            break;
        }
    }
    let result: Vec<bool> = kinds
        .iter()
        .map(|kind| matches!(kind, Of::Result(_)))
        .collect();
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
                node.clear();
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
        for place in &mut node.state {
            if let Recipe::Value(value) = place.recipe
                && let Some(single) = unchecked[value.vreg()]
            {
                place.finish.canonical = true;
                place.finish.single = single;
            }
        }
    }
    aliases.apply(code);
}

/// What a value is.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Unknown,
    /// Of arithmetic, of single precision or not.
    Result(bool),
    Other,
}

impl Of {
    fn join(self, with: Self) -> Self {
        match (self, with) {
            (Of::Unknown, other) | (other, Of::Unknown) => other,
            (one, other) if one == other => one,
            _ => Of::Other,
        }
    }
}

/// Whether a node's result depends on which quiet NaN an operand is.
fn looks_at_bits(op: &Op) -> bool {
    !matches!(
        op,
        Op::Arith(..)
            | Op::Sqrt(_)
            | Op::Canonical(_)
            | Op::FloatCompare(..)
            | Op::ToInt(_)
            | Op::Narrow(_)
            | Op::Widen
    )
}
