//! Parameters that are one value, and registers that have not changed.
use super::{Aliases, incoming, retain_params};
use crate::translate::code::{Code, Node, Op, Recipe};
use crate::translate::lower::slot;
use crate::translate::registers::{ALL, SAVED, members};

/// Replaces parameters all of whose arguments are one value.
pub fn remove_single(code: &mut Code) {
    let incoming = incoming(code);
    let mut aliases = Aliases::new(code);
    loop {
        let mut changed = false;
        for (params, ways) in code.params.iter().zip(&incoming) {
            for (n, param) in params.iter().enumerate() {
                let param = param.vreg();
                if aliases.is_replaced(param) {
                    continue;
                }
                let mut one = None;
                let mut many = false;
                for &(pred, succ) in ways {
                    let arg = aliases.find(code.args[pred][succ][n].vreg());
                    if arg == param || one == Some(arg) {
                        continue;
                    }
                    many = one.is_some();
                    one = Some(arg);
                    if many {
                        break;
                    }
                }
                if let (Some(one), false) = (one, many) {
                    aliases.replace(param, one);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    aliases.apply(code);
    retain_params(code, |param| !aliases.is_replaced(param.vreg()));
}

/// A register without a home that nothing in the function stores another value of is in the hart
/// throughout: it needs no store, and no place of its own.
pub fn remove_unchanged(code: &mut Code) {
    let mut loaded = vec![None; code.vregs];
    let (start, end) = code.ranges[0];
    for node in &code.nodes[start..end] {
        if let Op::LoadHart(slot) | Op::LoadHartFloat(slot) = node.op {
            loaded[node.value(0).vreg()] = Some(slot);
        }
    }
    let mut changed: Vec<i32> = vec![];
    // What a function does not keep for its caller, another may have put there.
    let calls = |node: &Node| matches!(node.op, Op::Call { .. } | Op::CallIndirect { .. });
    if code.nodes.iter().any(calls) {
        changed.extend(members(!SAVED & ALL).map(slot));
    }
    for node in &code.nodes {
        if let Op::StoreHart(slot) | Op::StoreHartFloat(slot) = node.op
            && loaded[node.value(0).vreg()] != Some(slot)
        {
            changed.push(slot);
        }
    }
    for node in &mut code.nodes {
        if let Op::StoreHart(slot) | Op::StoreHartFloat(slot) = node.op
            && !changed.contains(&slot)
        {
            node.forget();
            continue;
        }
        if node.state.is_empty() {
            continue;
        }
        let mut at = node.own().len();
        let mut kept = vec![];
        for place in std::mem::take(&mut node.state) {
            let count = place.recipe.operands();
            let slot = slot(place.reg);
            let unchanged = place.recipe == Recipe::Value
                && loaded[node.value(at).vreg()] == Some(slot)
                && !changed.contains(&slot);
            if unchanged {
                node.operands.remove(at);
            } else {
                at += count;
                kept.push(place);
            }
        }
        node.state = kept;
    }
}
