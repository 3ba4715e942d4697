//! Zero extensions of what has no upper half: the host's operations on 32 bits set it to zero, and its
//! loads do.
use regalloc2::VReg;

use super::{Aliases, definitions};
use crate::code::{Alu, Code, Op, Unary, Width};

pub fn extensions(code: &mut Code) {
    let definitions = definitions(code);
    let is_extended = |code: &Code, value: VReg| {
        definitions[value.vreg()].is_some_and(|node| {
            matches!(
                code.nodes[node as usize].op,
                Op::Alu(_, true)
                    | Op::AluImm(_, _, true)
                    | Op::AluImm(Alu::And, 0.., false)
                    | Op::Shift(_, true)
                    | Op::ShiftImm(_, _, true)
                    | Op::Set(..)
                    | Op::Load(
                        Width::B { signed: false }
                            | Width::H { signed: false }
                            | Width::W { signed: false },
                        ..
                    )
            )
        })
    };
    let mut aliases = Aliases::new(code);
    for n in 0..code.nodes.len() {
        let node = &code.nodes[n];
        if node.op == Op::Unary(Unary::Zext32) && is_extended(code, node.value(0)) {
            aliases.replace(node.value(1).vreg(), node.value(0).vreg());
            code.nodes[n].clear();
        }
    }
    aliases.apply(code);
}
