//! Folds constants that became visible when parameters of blocks were removed.
use regalloc2::VReg;

use super::Aliases;
use crate::code::{Alu, Cc, Code, Op, Recipe};

pub fn fold(code: &mut Code) {
    let mut known = vec![None; code.vregs];
    let mut addresses = vec![None; code.vregs];
    for node in &code.nodes {
        match node.op {
            Op::Const(k) => known[node.value(0).vreg()] = Some(k),
            Op::Address(at) => addresses[node.value(0).vreg()] = Some(at),
            _ => {}
        }
    }
    let small = |value: VReg| known[value.vreg()].and_then(|k: i64| i32::try_from(k).ok());
    let constant = |recipe: Recipe<VReg>| {
        let Recipe::Value(value) = recipe else {
            return recipe;
        };
        let value = value.vreg();
        let address = || addresses[value].map(Recipe::Address);
        let constant = known[value].map(Recipe::Const);
        constant.or_else(address).unwrap_or(recipe)
    };
    for node in &mut code.nodes {
        let op = match node.op {
            Op::Branch(cc, None, word) => {
                small(node.value(1)).map(|k| Op::Branch(cc, Some(k), word))
            }
            Op::Set(cc, None) => small(node.value(1)).map(|k| Op::Set(cc, Some(k))),
            Op::Alu(alu, word) if alu != Alu::Sub => {
                small(node.value(1)).map(|k| Op::AluImm(alu, k, word))
            }
            _ => None,
        };
        if let Some(op) = op {
            node.op = op;
            node.operands.remove(1);
        }
        // Equality has no order of operands.
        if let Op::Branch(cc @ (Cc::E | Cc::Ne), None, word) = node.op
            && let Some(k) = small(node.value(0))
        {
            node.op = Op::Branch(cc, Some(k), word);
            node.operands.remove(0);
        }
        // k < y is y >= k + 1.
        if let Op::Branch(cc, None, word) = node.op
            && let Some(k) = small(node.value(0))
            && let Some(next) = k.checked_add(1)
            && let Some(cc) = match cc {
                Cc::L => Some(Cc::Ge),
                Cc::Ge => Some(Cc::L),
                Cc::B if k != -1 => Some(Cc::Ae),
                Cc::Ae if k != -1 => Some(Cc::B),
                _ => None,
            }
        {
            node.op = Op::Branch(cc, Some(next), word);
            node.operands.remove(0);
        }
        for place in &mut node.state {
            place.recipe = constant(place.recipe);
        }
    }
    for name in code.names.iter_mut().flatten() {
        name.recipe = constant(name.recipe);
    }
    let mut aliases = Aliases::new(code);
    for node in &mut code.nodes {
        if node.op == Op::AluImm(Alu::Add, 0, false) {
            aliases.replace(node.value(1).vreg(), node.value(0).vreg());
            node.clear();
        }
    }
    aliases.apply(code);
}
