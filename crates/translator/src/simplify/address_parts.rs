//! Sums that only states look at.
//!
//! An access has the parts of its address as operands. The guest register with the address is then
//! in the states of accesses alone, up to the last one that counts from it. That one uses the
//! parts, so they are alive as long: the states may name them, and nobody needs the sum.
use regalloc2::VReg;

use crate::code::{Code, Recipe};

pub fn states(code: &mut Code) {
    let mut sums: Vec<Option<Recipe<VReg>>> = vec![None; code.vregs];
    for node in &code.nodes {
        let Some(sum) = node.sum() else { continue };
        for value in node.defs() {
            sums[value.vreg()] = Some(sum);
        }
    }
    let used = code.nodes.iter().flat_map(|node| node.own_uses());
    let passed = code.args.iter().flatten().flatten().copied();
    for value in used.chain(passed) {
        sums[value.vreg()] = None;
    }
    // A sum that is a part of another state's stays, as a value.
    for place in code.nodes.iter().flat_map(|node| &node.state) {
        let is_whole = matches!(place.recipe, Recipe::Value(_)) && !place.finish.sext32;
        for value in place.recipe.values().filter(|_| !is_whole) {
            sums[value.vreg()] = None;
        }
    }
    for place in code.nodes.iter_mut().flat_map(|node| &mut node.state) {
        if let Recipe::Value(value) = place.recipe
            && let Some(sum) = sums[value.vreg()]
        {
            place.recipe = sum;
        }
    }
}
