//! Addresses of the guest's module in accesses.
//!
//! Code in a module reaches the guest's memory by a displacement from the instruction pointer. Lowering
//! sees an address in its own block. Here an address from another block goes into the accesses, if
//! that leaves no other use of it.
use regalloc2::VReg;

use crate::code::{Code, Form, Node, Op};
use crate::lower::is_near;

pub fn fold(code: &mut Code) {
    let mut addresses = vec![None; code.vregs];
    for node in &code.nodes {
        if let Op::Address(at) = node.op {
            addresses[node.value(0).vreg()] = Some(at);
        }
    }
    for arg in code.args.iter().flatten().flatten() {
        addresses[arg.vreg()] = None;
    }
    for node in &code.nodes {
        let base = base(node);
        let own = node.own_uses().skip(usize::from(base.is_some()));
        for value in own {
            addresses[value.vreg()] = None;
        }
        if let Some(value) = base
            && let Some(at) = addresses[value.vreg()]
            && !is_near(accessed(node, at))
        {
            addresses[value.vreg()] = None;
        }
    }
    for node in &mut code.nodes {
        if let Some(value) = base(node)
            && let Some(at) = addresses[value.vreg()]
        {
            node.op = node.op.at_image(accessed(node, at));
            node.operands.remove(0);
        }
    }
}

/// The value from which an access counts, if there is no other part of its address.
fn base(node: &Node) -> Option<VReg> {
    (node.op.form() == Some(Form::Base)).then(|| node.value(0))
}

fn accessed(node: &Node, base: u64) -> u64 {
    base.wrapping_add_signed(node.op.offset().into())
}
