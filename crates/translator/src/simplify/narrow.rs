//! Removes sign extensions of 32 bits whose upper half is not seen.
use regalloc2::{RegClass, VReg};

use super::{Aliases, Phi, definitions, phis};
use crate::code::*;

pub fn extensions(code: &mut Code) {
    let definitions = definitions(code);
    let phis = phis(code);
    let extended = extended(code, &definitions, &phis);
    // Comparisons of two such values look at the lower halves.
    let narrow: Vec<bool> = code
        .nodes
        .iter()
        .map(|node| {
            matches!(node.op, Op::Branch(..)) && node.own_uses().all(|v| extended[v.vreg()])
        })
        .collect();
    let needed = needed(code, &definitions, &phis, &narrow, &extended);
    let mut aliases = Aliases::new(code);
    for (n, node) in code.nodes.iter_mut().enumerate() {
        let whole = node.defs().next().is_some_and(|v| needed[v.vreg()]);
        match node.op {
            Op::Unary(Unary::Sext32) => {
                let (from, to) = (node.value(0).vreg(), node.value(1).vreg());
                if extended[from] || !needed[to] {
                    aliases.replace(to, from);
                    node.clear();
                }
            }
            Op::Branch(cc, k, _) if narrow[n] => node.op = Op::Branch(cc, k, true),
            Op::Alu(alu, false) if !whole => node.op = Op::Alu(alu, true),
            Op::AluImm(alu, k, false) if !whole => node.op = Op::AluImm(alu, k, true),
            Op::ShiftImm(Shift::Left, k @ ..32, false) if !whole => {
                node.op = Op::ShiftImm(Shift::Left, k, true);
            }
            _ => {}
        }
    }
    let unextended: Vec<bool> = extended
        .iter()
        .zip(&needed)
        .map(|(&extended, &needed)| extended && !needed)
        .collect();
    note(code, &unextended);
    for name in code.names.iter_mut().flatten() {
        if let Recipe::Value(value) = name.recipe
            && !needed[value.vreg()]
        {
            name.upper = if extended[value.vreg()] {
                Upper::Sign
            } else {
                Upper::Unknown
            };
        }
    }
    aliases.apply(code);
}

/// Tells the places of guest registers which values are to be extended there.
fn note(code: &mut Code, unextended: &[bool]) {
    for node in &mut code.nodes {
        for place in &mut node.state {
            if let Recipe::Value(value) = place.recipe
                && unextended[value.vreg()]
            {
                place.finish.sext32 = true;
            }
        }
    }
}

/// Values that are their own sign extension; optimistic for parameters.
fn extended(code: &Code, definitions: &[Option<u32>], phis: &[Phi]) -> Vec<bool> {
    let mut extended = vec![true; code.vregs];
    loop {
        let mut changed = false;
        let mut lower = |value: usize, is: bool, extended: &mut Vec<bool>| {
            if extended[value] && !is {
                extended[value] = false;
                changed = true;
            }
        };
        for (value, node) in definitions.iter().enumerate() {
            let Some(node) = node.map(|n| &code.nodes[n as usize]) else {
                continue;
            };
            let of = |k: usize| extended[node.value(k).vreg()];
            let is = match node.op {
                Op::Load(Width::B { .. } | Width::H { .. } | Width::W { signed: true }, ..)
                | Op::Unary(Unary::Sext8 | Unary::Sext16 | Unary::Sext32 | Unary::Zext16)
                | Op::Unary(
                    Unary::LeadingZeros { .. } | Unary::TrailingZeros { .. } | Unary::Ones { .. },
                )
                | Op::Set(..)
                | Op::FloatCompare(..) => true,
                Op::Other(_) => of(0) && of(1),
                Op::Call { .. } | Op::CallIndirect { .. } => {
                    let value = VReg::new(value, RegClass::Int);
                    let passed = node.passed(value);
                    passed.is_some_and(|passed| extended[passed.vreg()])
                }
                Op::Const(k) => i32::try_from(k).is_ok(),
                Op::AluImm(Alu::And, 0.., _) => true,
                Op::AluImm(Alu::And | Alu::Or | Alu::Xor, _, false) => of(0),
                Op::Alu(Alu::And | Alu::Or | Alu::Xor, false) => of(0) && of(1),
                Op::ShiftImm(Shift::Arithmetic, _, false) => of(0),
                _ => false,
            };
            lower(value, is, &mut extended);
        }
        for phi in phis {
            let is = phi.args.iter().all(|&arg| extended[arg]);
            lower(phi.param, is, &mut extended);
        }
        if !changed {
            return extended;
        }
    }
}

/// Values whose upper half somebody looks at.
fn needed(
    code: &Code,
    definitions: &[Option<u32>],
    phis: &[Phi],
    narrow: &[bool],
    extended: &[bool],
) -> Vec<bool> {
    let mut needed = vec![false; code.vregs];
    let mut args: Vec<&[usize]> = vec![&[]; code.vregs];
    for phi in phis {
        args[phi.param] = &phi.args;
    }
    let mut todo = vec![];
    for (n, node) in code.nodes.iter().enumerate() {
        for (k, operand) in node.own().iter().enumerate() {
            let used = operand.kind() == regalloc2::OperandKind::Use;
            if used && wants_always(node, k, narrow[n]) {
                todo.push(operand.vreg().vreg());
            }
        }
        for place in &node.state {
            match place.recipe {
                // It can be extended there.
                Recipe::Value(value) if extended[value.vreg()] => {}
                // Sums are made of whole values.
                recipe => todo.extend(recipe.values().map(|value| value.vreg())),
            }
        }
    }
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut needed[value], true) {
            continue;
        }
        todo.extend(args[value]);
        if let Some(n) = definitions[value] {
            let node = &code.nodes[n as usize];
            for (k, operand) in node.own().iter().enumerate() {
                let used = operand.kind() == regalloc2::OperandKind::Use;
                if used && wants_if_needed(node, k, extended) {
                    todo.push(operand.vreg().vreg());
                }
            }
        }
    }
    needed
}

/// Whether operand `k` is looked at as a whole for the node's own sake.
fn wants_always(node: &Node, k: usize, narrow: bool) -> bool {
    match node.op {
        Op::Alu(..) | Op::AluImm(..) | Op::Lea(..) | Op::ShiftImm(Shift::Left, ..) => false,
        Op::Shift(Shift::Left, _) => false,
        Op::Shift(_, word) | Op::ShiftImm(_, _, word) => k == 0 && !word,
        Op::Unary(Unary::Sext8 | Unary::Sext16 | Unary::Sext32 | Unary::Zext16 | Unary::Zext32) => {
            false
        }
        Op::Unary(
            Unary::LeadingZeros { word } | Unary::TrailingZeros { word } | Unary::Ones { word },
        ) => !word,
        Op::Div { word, .. } => !word,
        Op::FromInt(conversion, _) => conversion.from != Integer::W,
        Op::BitsToFloat(single) => !single,
        Op::Atomic(_, double) => double || k == ATOMIC_ADDRESS,
        Op::StoreConditional(double) => double || k == 0,
        Op::Store(width, _, form) => k < form.operands() || width == Width::D,
        Op::Branch(..) => !narrow,
        _ => true,
    }
}

/// Whether operand `k` is looked at as a whole if the result is.
fn wants_if_needed(node: &Node, k: usize, extended: &[bool]) -> bool {
    match node.op {
        // It is the operand itself then.
        Op::Unary(Unary::Sext32) => extended[node.value(0).vreg()],
        Op::AluImm(Alu::And, 0.., _) => false,
        Op::Alu(_, word) | Op::AluImm(_, _, word) => !word,
        Op::Lea(..) => true,
        Op::ShiftImm(Shift::Left, n, false) => n < 32,
        Op::Shift(Shift::Left, false) => k == 0,
        _ => false,
    }
}

/// Which operand of an atomic read-modify-write is its address.
const ATOMIC_ADDRESS: usize = 1;
