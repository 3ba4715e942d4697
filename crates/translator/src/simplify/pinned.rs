//! Instructions that read and write pinned registers in place ([`Code::pinned`]).
//!
//! The lowering makes a move of each access. Here a use of a value that was read becomes an operand
//! in the register, as long as nothing has written the register since. An instruction writes its
//! result to the register if all uses of the result find it there.
use regalloc2::{Operand, OperandConstraint, OperandKind, OperandPos, PReg, VReg};

use super::finish::{is_pure, rebuild};
use super::uses;
use crate::code::{Code, Node, Op, in_pinned};

/// So many instructions may stand between one that makes a value and the write of a register.
const MOST_BETWEEN: usize = 8;

pub fn operands(code: &mut Code) {
    if code.pinned == 0 {
        return;
    }
    let mut uses = uses(code);
    let mut kept = vec![true; code.nodes.len()];
    for &(begin, end) in &code.ranges {
        let nodes = &mut code.nodes[begin..end];
        let kept = &mut kept[begin..end];
        let tied = read(nodes, &mut uses);
        for n in 0..nodes.len() {
            let Op::SetHome(place) = nodes[n].op else {
                continue;
            };
            // None: it moves from one pinned register to another.
            let moved = nodes[n].own_uses().next();
            if let Some(moved) = moved
                && let Some(maker) = maker(&nodes[..n], moved, place, &tied)
                && reaches_all(nodes, maker, n, moved, &uses)
            {
                write(&mut nodes[maker..], moved, place, &mut uses);
                kept[n] = false;
            }
        }
        for (node, kept) in nodes.iter().zip(kept) {
            if let Op::GetHome(_) = node.op {
                *kept = uses[node.value(0).vreg()] != 0;
            }
        }
    }
    rebuild(code, &kept);
}

/// Uses values in the registers from which they were read. For each node, where the operand is
/// whose register the result takes, if it is in a pinned one.
fn read(nodes: &mut [Node], uses: &mut [u32]) -> Vec<Option<PReg>> {
    // What is in its register, up to the next write.
    let mut valid: Vec<(VReg, PReg)> = vec![];
    let mut tied = vec![None; nodes.len()];
    for (node, tied) in nodes.iter_mut().zip(&mut tied) {
        let place = |value: VReg| {
            let found = valid.iter().find(|&&(known, _)| known == value);
            found.map(|&(_, place)| place)
        };
        for k in 0..node.operands.len() {
            let value = node.operands[k].vreg();
            let Some(place) = place(value) else { continue };
            if may_be_in_place(node, k) {
                uses[value.vreg()] -= 1;
                node.operands[k] = Operand::fixed_nonallocatable(place);
            } else if k == 0 && is_reused(node) {
                *tied = Some(place);
            }
        }
        for at in &mut node.state {
            for value in at.recipe.values().filter(|&value| place(value).is_some()) {
                uses[value.vreg()] -= 1;
            }
            at.recipe = at.recipe.map(|value| place(value).map_or(value, in_pinned));
        }
        match node.op {
            Op::GetHome(place) => valid.push((node.value(0), place)),
            Op::SetHome(written) => valid.retain(|&(_, place)| place != written),
            Op::Call { .. } | Op::CallIndirect { .. } => valid.clear(),
            _ => {}
        }
    }
    tied
}

/// The result takes the register of the first operand.
fn is_reused(node: &Node) -> bool {
    let reuses = |operand: &Operand| operand.constraint() == OperandConstraint::Reuse(0);
    node.operands.iter().any(reuses)
}

/// Whether operand `k` may be in a register that the allocator does not have.
fn may_be_in_place(node: &Node, k: usize) -> bool {
    let operand = node.operands[k];
    operand.kind() == OperandKind::Use
        && operand.constraint() == OperandConstraint::Reg
        && operand.pos() == OperandPos::Early
        && !(k == 0 && is_reused(node))
}

/// Which of `nodes` makes the value `moved`, if it may write the value to the register `place` before
/// the nodes behind it are executed.
fn maker(nodes: &[Node], moved: VReg, place: PReg, tied: &[Option<PReg>]) -> Option<usize> {
    let reads = |operand: &Operand| operand.as_fixed_nonallocatable() == Some(place);
    let defines = |node: &Node| node.defs().any(|value| value == moved);
    let first = nodes.len().saturating_sub(MOST_BETWEEN);
    let at = first + nodes[first..].iter().rposition(defines)?;
    // Behind it, nobody may see the register, also no fault.
    let is_blind = |node: &Node| {
        let is_move = node.op == Op::GetHome(place);
        is_pure(&node.op) && !is_move && !node.operands.iter().any(reads)
    };
    let node = &nodes[at];
    let result = node.operands.iter().find(|o| o.vreg() == moved)?;
    let is_free = match result.constraint() {
        OperandConstraint::Reg => result.pos() == OperandPos::Late,
        OperandConstraint::Reuse(0) => tied[at] == Some(place) && !node.operands.iter().any(reads),
        _ => false,
    };
    let is_simple =
        node.defs().count() == 1 && (is_pure(&node.op) || matches!(node.op, Op::Load(..)));
    let blind = nodes[at + 1..].iter().all(is_blind);
    (is_simple && is_free && blind).then_some(at)
}

/// Whether all uses of `moved`, which the node at `n` moves to a register, find it there.
fn reaches_all(nodes: &[Node], maker: usize, n: usize, moved: VReg, uses: &[u32]) -> bool {
    let next = (n + 1..nodes.len()).find(|&at| nodes[at].op == nodes[n].op);
    let end = next.map_or(nodes.len(), |at| at + 1);
    let reached = &nodes[maker + 1..end];
    let fits = |node: &Node| {
        let mut operands = 0..node.operands.len();
        operands.all(|k| node.operands[k].vreg() != moved || may_be_in_place(node, k))
    };
    let is_moved = |&value: &VReg| value == moved;
    let found: usize = (reached.iter())
        .map(|node| node.uses().filter(is_moved).count())
        .sum();
    found == uses[moved.vreg()] as usize && reached.iter().all(fits)
}

/// The first node writes the register, and all others use it there.
fn write(nodes: &mut [Node], moved: VReg, place: PReg, uses: &mut [u32]) {
    let in_place = Operand::fixed_nonallocatable(place);
    let made = &mut nodes[0];
    if is_reused(made) {
        uses[made.value(0).vreg()] -= 1;
        made.operands[0] = in_place;
    }
    for node in nodes {
        for operand in &mut node.operands {
            if operand.vreg() == moved {
                *operand = in_place;
            }
        }
        for at in &mut node.state {
            let placed = |value| match value == moved {
                true => in_pinned(place),
                false => value,
            };
            at.recipe = at.recipe.map(placed);
        }
    }
}
