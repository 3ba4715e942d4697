//! NaN boxes of single-precision values: the upper half of a register, all ones, by which instructions
//! tell a single from any other value (ISA manual, chapter "D", "NaN Boxing of Narrower Values").
//!
//! An instruction that makes a single boxes it, so its users need no check. Most users look at the
//! lower half alone, so a single that no other user sees is not boxed. Only a value from elsewhere, an
//! argument or the result of a call, is checked, once for each value.
use regalloc2::{Operand, RegClass};

use super::{Aliases, Phi, definitions, insert, phis};
use crate::code::*;
use crate::lower::is_boxed;

pub fn boxes(code: &mut Code) {
    let boxed = boxed(code, &phis(code));
    drop_checks(code, &boxed);
    check_once(code);
    let phis = phis(code);
    drop_boxes(code, &phis, &boxed);
}

/// The operand of which a single-precision operation leaves the upper half in its result.
fn passes_on(op: &Op) -> bool {
    matches!(
        op,
        Op::Arith(_, true)
            | Op::Sqrt(true)
            | Op::Canonical(true)
            | Op::Sign(_, true)
            | Op::CopySign(_, true)
    )
}

/// Values that are boxed singles; optimistic for parameters.
fn boxed(code: &Code, phis: &[Phi]) -> Vec<bool> {
    let mut boxed = vec![true; code.vregs];
    let definitions = definitions(code);
    let mut is_param = vec![false; code.vregs];
    for phi in phis {
        is_param[phi.param] = true;
    }
    loop {
        let mut changed = false;
        for (value, definition) in definitions.iter().enumerate() {
            let is = match definition.map(|n| &code.nodes[n as usize]) {
                Some(node) if passes_on(&node.op) => boxed[node.value(0).vreg()],
                Some(Node {
                    op: Op::FloatConst(bits),
                    ..
                }) => is_boxed(*bits),
                Some(node) => matches!(
                    node.op,
                    Op::Box
                        | Op::Unbox
                        | Op::Narrow(_)
                        | Op::FromInt(FromInt { single: true, .. }, _)
                ),
                None => is_param[value],
            };
            changed |= boxed[value] && !is;
            boxed[value] &= is;
        }
        for phi in phis {
            let is = phi.args.iter().all(|&arg| boxed[arg]);
            changed |= boxed[phi.param] && !is;
            boxed[phi.param] &= is;
        }
        if !changed {
            return boxed;
        }
    }
}

const UNBOXED: usize = 2;

fn drop_checks(code: &mut Code, boxed: &[bool]) {
    let mut aliases = Aliases::new(code);
    for node in &mut code.nodes {
        if node.op == Op::Unbox && boxed[node.value(0).vreg()] {
            aliases.replace(node.value(UNBOXED).vreg(), node.value(0).vreg());
            node.clear();
        }
    }
    aliases.apply(code);
}

/// Of several checks of one value the first stays, or one behind its definition if they are in
/// other blocks.
fn check_once(code: &mut Code) {
    let mut block_of = vec![0; code.vregs];
    let mut checks: Vec<Vec<(usize, usize)>> = vec![vec![]; code.vregs];
    for (block, &(begin, end)) in code.ranges.iter().enumerate() {
        for param in &code.params[block] {
            block_of[param.vreg()] = block;
        }
        for (n, node) in code.nodes[begin..end].iter().enumerate() {
            for value in node.defs() {
                block_of[value.vreg()] = block;
            }
            if node.op == Op::Unbox {
                checks[node.value(0).vreg()].push((block, begin + n));
            }
        }
    }
    let definitions = definitions(code);
    let mut aliases = Aliases::new(code);
    // Behind which node, or in front of which, a check is made.
    let mut made: Vec<(usize, Node)> = vec![];
    for (value, checks) in checks.into_iter().enumerate() {
        let Some(&(_, first)) = checks.first() else {
            continue;
        };
        let home = block_of[value];
        let mut dropped = checks.as_slice();
        let kept = if checks.iter().all(|&(block, _)| block == home) {
            dropped = &dropped[1..];
            code.nodes[first].value(UNBOXED)
        } else {
            let operand = code.nodes[first].value(0);
            let pc = code.nodes[first].pc;
            let mut fresh = |class| {
                code.vregs += 1;
                regalloc2::VReg::new(code.vregs - 1, class)
            };
            let (scratch, unboxed) = (fresh(RegClass::Int), fresh(RegClass::Float));
            let operands = vec![
                Operand::reg_use(operand),
                Operand::reg_temp(scratch),
                Operand::reg_reuse_def(unboxed, 0),
            ];
            let at = definitions[value].map_or(code.ranges[home].0, |n| n as usize + 1);
            made.push((at, Node::new(Op::Unbox, pc, operands)));
            unboxed
        };
        for &(_, n) in dropped {
            aliases.grow(code.vregs);
            aliases.replace(code.nodes[n].value(UNBOXED).vreg(), kept.vreg());
            code.nodes[n].clear();
        }
    }
    aliases.grow(code.vregs);
    code.owners.resize(code.vregs, 0);
    aliases.apply(code);
    insert(code, made);
}

fn drop_boxes(code: &mut Code, phis: &[Phi], boxed: &[bool]) {
    let needed = needed(code, phis, boxed);
    let mut aliases = Aliases::new(code);
    let mut bare = vec![false; code.vregs];
    for node in &mut code.nodes {
        if node.op == Op::Box && !needed[node.value(1).vreg()] {
            bare[node.value(0).vreg()] = true;
            aliases.replace(node.value(1).vreg(), node.value(0).vreg());
            node.clear();
        }
    }
    aliases.apply(code);
    loop {
        let mut changed = false;
        for node in code.nodes.iter().filter(|node| passes_on(&node.op)) {
            if bare[node.value(0).vreg()] {
                for value in node.defs() {
                    changed |= !std::mem::replace(&mut bare[value.vreg()], true);
                }
            }
        }
        for phi in phis {
            if phi.args.iter().any(|&arg| bare[aliases.find(arg)]) {
                changed |= !std::mem::replace(&mut bare[phi.param], true);
            }
        }
        if !changed {
            break;
        }
    }
    for node in &mut code.nodes {
        for place in &mut node.state {
            if let Recipe::Value(value) = place.recipe
                && bare[value.vreg()]
            {
                place.finish.single = true;
            }
        }
    }
}

/// Values whose upper half somebody looks at.
fn needed(code: &Code, phis: &[Phi], boxed: &[bool]) -> Vec<bool> {
    let definitions = definitions(code);
    let mut needed = vec![false; code.vregs];
    let mut args: Vec<&[usize]> = vec![&[]; code.vregs];
    let mut todo = vec![];
    for phi in phis {
        if boxed[phi.param] {
            args[phi.param] = &phi.args;
        } else {
            // It may be a double as well.
            todo.extend(&phi.args);
        }
    }
    for node in code.nodes.iter().filter(|node| looks_at_upper(&node.op)) {
        todo.extend(node.own_uses().map(|value| value.vreg()));
    }
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut needed[value], true) {
            continue;
        }
        todo.extend(args[value]);
        if let Some(n) = definitions[value] {
            let node = &code.nodes[n as usize];
            if passes_on(&node.op) {
                todo.push(node.value(0).vreg());
            }
        }
    }
    needed
}

fn looks_at_upper(op: &Op) -> bool {
    !(passes_on(op)
        || matches!(
            op,
            Op::Box
                | Op::Widen
                | Op::FloatCompare(_, true)
                | Op::ToInt(ToInt { single: true, .. })
                | Op::StoreFloat(_, _, true)
                | Op::BitsToInt(true)
        ))
}
