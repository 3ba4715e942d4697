//! Checks for NaN of results whose bits are not seen, or are seen where code runs less often.
//!
//! RV64's arithmetic gives the canonical NaN, and the host's gives the NaN of an operand. Further
//! arithmetic and comparisons treat all quiet NaNs alike. So a result needs the check only where it
//! is stored, moved to an integer register, passed on, or joined with a value that is no such
//! result. Until then it is *unchecked*, and a fault completes it ([`Finish`]).
//!
//! Results that parameters of blocks join are checked where they are made, or where they are seen,
//! all of them alike: a sum is seen behind its loop. Only a parameter that is a result whichever
//! way control comes may be unchecked, because other values may be NaNs with bits of their own.
use std::collections::BTreeMap;

use regalloc2::{Operand, RegClass, VReg};

use super::loops::frequencies;
use super::{Aliases, definitions, insert, phis};
use crate::code::*;
use crate::lower::is_boxed;

pub fn checks(code: &mut Code) {
    let kinds = kinds(code);
    let webs = webs(code, &kinds);
    let often = frequencies(code);
    let seen = seen(code, &kinds);
    let mut gain = vec![0_i64; code.vregs];
    for (block, &(begin, end)) in code.ranges.iter().enumerate() {
        for node in &code.nodes[begin..end] {
            if let Op::Canonical(_) = node.op {
                gain[webs.of(node.value(1)).vreg()] += often[block];
            }
        }
    }
    for &(value, block) in seen.keys() {
        gain[webs.find(value)] -= often[block];
    }
    // Values of which the checks go.
    let late: Vec<Option<bool>> = (0..code.vregs)
        .map(|value| match kinds[value] {
            Of::Result(single) if gain[webs.find(value)] > 0 => Some(single),
            _ => None,
        })
        .collect();
    let mut aliases = Aliases::new(code);
    for node in &mut code.nodes {
        if let Op::Canonical(_) = node.op {
            let (from, to) = (node.value(0).vreg(), node.value(1).vreg());
            if late[to].is_some() {
                aliases.replace(to, from);
                node.clear();
            }
        }
    }
    let mut unchecked = vec![None; code.vregs];
    for (value, single) in late.iter().enumerate() {
        if single.is_some() {
            unchecked[aliases.find(value)] = *single;
        }
    }
    aliases.apply(code);
    let mut made = vec![];
    for ((value, block), first) in seen {
        if let Some(single) = late[value] {
            let value = VReg::new(aliases.find(value), RegClass::Float);
            made.push((first, check(code, value, single, block, first)));
        }
    }
    code.owners.resize(code.vregs, 0);
    for node in &mut code.nodes {
        for place in &mut node.state {
            if let Recipe::Value(value) = place.recipe
                && let Some(&Some(single)) = unchecked.get(value.vreg())
            {
                place.finish.canonical = true;
                place.finish.single = single;
            }
        }
    }
    insert(code, made);
}

/// A check in front of the node `first`. What follows in the block uses its result.
fn check(code: &mut Code, value: VReg, single: bool, block: usize, first: usize) -> Node {
    let checked = VReg::new(code.vregs, RegClass::Float);
    code.vregs += 1;
    let by = |other: VReg| if other == value { checked } else { other };
    let (_, end) = code.ranges[block];
    for node in &mut code.nodes[first..end] {
        node.substitute(by);
    }
    for arg in code.args[block].iter_mut().flatten() {
        *arg = by(*arg);
    }
    let operands = vec![Operand::reg_use(value), Operand::reg_reuse_def(checked, 0)];
    Node::new(Op::Canonical(single), code.nodes[first].pc, operands)
}

/// What a value is.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Unknown,
    /// Of arithmetic, of single precision or not, or a number. A check does not change it.
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

fn kinds(code: &Code) -> Vec<Of> {
    let definitions = definitions(code);
    let definition = |value: usize| definitions[value].map(|n| &code.nodes[n as usize]);
    let of = |value: usize| {
        let Some(node) = definition(value) else {
            return Of::Other;
        };
        match node.op {
            Op::Canonical(single) => Of::Result(single),
            Op::FromInt(FromInt { single, .. }, _) => Of::Result(single),
            Op::FloatConst(bits) if !is_boxed(bits) && !f64::from_bits(bits).is_nan() => {
                Of::Result(false)
            }
            Op::FloatConst(bits) if is_boxed(bits) && !f32::from_bits(bits as u32).is_nan() => {
                Of::Result(true)
            }
            _ => Of::Other,
        }
    };
    let mut kinds: Vec<Of> = (0..code.vregs).map(of).collect();
    let phis = phis(code);
    for phi in &phis {
        kinds[phi.param] = Of::Unknown;
    }
    loop {
        let mut changed = false;
        for phi in &phis {
            let args = phi.args.iter().map(|&arg| kinds[arg]);
            let joined = args.fold(Of::Unknown, Of::join);
            changed |= std::mem::replace(&mut kinds[phi.param], joined) != joined;
        }
        if !changed {
            return kinds;
        }
    }
}

/// Results that parameters join, by one of them.
fn webs(code: &Code, kinds: &[Of]) -> Aliases {
    let mut webs = Aliases::new(code);
    for phi in phis(code) {
        if let Of::Result(_) = kinds[phi.param] {
            for arg in phi.args {
                let (one, other) = (webs.find(phi.param), webs.find(arg));
                if one != other {
                    webs.replace(one, other);
                }
            }
        }
    }
    webs
}

/// Results and blocks in which their bits are seen, and the first node there that sees them, or in
/// front of which they are checked.
fn seen(code: &Code, kinds: &[Of]) -> BTreeMap<(usize, usize), usize> {
    let mut seen = BTreeMap::new();
    let is_result = |value: VReg| matches!(kinds[value.vreg()], Of::Result(_));
    for (block, &(begin, end)) in code.ranges.iter().enumerate() {
        for (n, node) in code.nodes[begin..end].iter().enumerate() {
            if !looks_at_bits(&node.op) {
                continue;
            }
            for value in node.own_uses().filter(|&value| is_result(value)) {
                seen.entry((value.vreg(), block)).or_insert(begin + n);
            }
        }
        for (to, args) in code.succs[block].iter().zip(&code.args[block]) {
            for (param, &arg) in code.params[to.index()].iter().zip(args) {
                if is_result(arg) && !is_result(*param) {
                    seen.entry((arg.vreg(), block)).or_insert(end - 1);
                }
            }
        }
    }
    seen
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
