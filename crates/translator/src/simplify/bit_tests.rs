//! Branches on bits: where a value is made of another by a mask, and a branch alone asks whether it
//! is zero, the host tests the bits of the other value.
use regalloc2::VReg;

use super::finish::rebuild;
use super::{definitions, uses};
use crate::code::{Alu, Cc, Code, Op, Shift};

pub fn branches(code: &mut Code) {
    let definitions = definitions(code);
    let uses = uses(code);
    // The node that makes a value for one use.
    let made = |value: VReg| {
        let node = definitions[value.vreg()]?;
        (uses[value.vreg()] == 1).then_some(node as usize)
    };
    let mut kept = vec![true; code.nodes.len()];
    for branch in 0..code.nodes.len() {
        let Op::Branch(cc @ (Cc::E | Cc::Ne), Some(0), word) = code.nodes[branch].op else {
            continue;
        };
        let Some(and) = made(code.nodes[branch].value(0)) else {
            continue;
        };
        let Op::AluImm(Alu::And, mut mask, narrow) = code.nodes[and].op else {
            continue;
        };
        kept[and] = false;
        let mut value = code.nodes[and].value(0);
        // One bit, which was moved to the right before.
        if let Some(shift) = made(value)
            && let Op::ShiftImm(Shift::Right, n @ ..31, false) = code.nodes[shift].op
            && mask == 1
        {
            kept[shift] = false;
            mask = 1 << n;
            value = code.nodes[shift].value(0);
        }
        let node = &mut code.nodes[branch];
        node.op = Op::BranchBits(cc, mask, word || narrow || mask >= 0);
        node.operands[0] = regalloc2::Operand::reg_use(value);
    }
    rebuild(code, &kept);
}
