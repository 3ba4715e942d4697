//! Folds constants that became visible when parameters of blocks were removed.
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
    let small =
        |value: regalloc2::VReg| known[value.vreg()].and_then(|k: i64| i32::try_from(k).ok());
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
        for place in &mut node.state {
            let Recipe::Value(value) = place.recipe else {
                continue;
            };
            if let Some(k) = known[value.vreg()] {
                place.recipe = Recipe::Const(k);
            } else if let Some(at) = addresses[value.vreg()] {
                place.recipe = Recipe::Address(at);
            }
        }
    }
}
