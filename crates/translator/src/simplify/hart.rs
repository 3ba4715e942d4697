//! Guest registers whose place at calls is the hart.
//!
//! Callees keep these registers, so a value that was stored to the hart for a call is still there after
//! the call. Therefore:
//!
//! - a value that the hart has already is not stored again;
//! - no place in the state names it;
//! - it is loaded where it is used, and takes no register or stack slot in between.
//!
//! In a loop only the block that has made the call loads so late, because other blocks would load again
//! on each way round. If more values are live across calls than there are registers
//! ([`Code::crowded`]), all blocks load late. Otherwise these values would be moved from slot to slot
//! around the loop.
use std::collections::{BTreeMap, BTreeSet};

use regalloc2::{Operand, VReg};

use super::incoming;
use super::loops::depths;
use crate::code::{Code, Node, Op, Recipe};
use crate::lower::{register_at, slot};
use crate::registers::{ALL, Reg, Regs, SAVED, bit, class, is_float, members};

/// The value that each guest register's place in the hart has.
type Contents = [u32; 64];

const NONE: u32 = u32::MAX;
/// Changes of what a block finds, of which the last ones find less and less.
const MOST_CHANGES: u32 = 4;

pub fn registers(code: &mut Code) {
    let tracked = tracked(code);
    if tracked == 0 {
        return;
    }
    let mut flow = Flow::new(code, tracked);
    if store_before_loops(code, &flow) {
        flow = Flow::new(code, tracked);
    }
    rewrite(code, &flow);
}

/// Registers that the function loads from the hart or stores there.
fn tracked(code: &Code) -> Regs {
    let place = |node: &Node| match node.op {
        Op::LoadHart(slot)
        | Op::StoreHart(slot)
        | Op::LoadHartFloat(slot)
        | Op::StoreHartFloat(slot) => bit(register_at(slot)),
        _ => 0,
    };
    code.nodes.iter().map(place).fold(0, |all, reg| all | reg)
}

/// What the hart has behind a node.
fn execute(node: &Node, contents: &mut Contents) {
    match node.op {
        Op::LoadHart(slot)
        | Op::LoadHartFloat(slot)
        | Op::StoreHart(slot)
        | Op::StoreHartFloat(slot) => contents[register_at(slot)] = node.value(0).vreg() as u32,
        // Anybody may have come here.
        Op::Entry => *contents = [NONE; 64],
        // What a function does not keep for its caller, another may have put there.
        Op::Call { .. } | Op::CallIndirect { .. } => {
            for reg in members(!SAVED & ALL) {
                contents[reg] = NONE;
            }
        }
        _ => {}
    }
}

struct Flow {
    tracked: Regs,
    incoming: Vec<Vec<(usize, usize)>>,
    /// What the hart has where blocks start and end; `None`: nothing leads there.
    starts: Vec<Option<Contents>>,
    ends: Vec<Option<Contents>>,
    /// Of [`depths`].
    depths: Vec<u32>,
}

impl Flow {
    fn new(code: &Code, tracked: Regs) -> Self {
        let count = code.ranges.len();
        let mut flow = Self {
            tracked,
            incoming: incoming(code),
            starts: vec![None; count],
            ends: vec![None; count],
            depths: depths(code),
        };
        let mut changes = vec![0; count];
        // In order, so that the first look at a block knows most of the ways to it.
        let mut todo = BTreeSet::from([0]);
        while let Some(block) = todo.pop_first() {
            let start = flow.join(code, block, changes[block] >= MOST_CHANGES);
            if flow.starts[block] == Some(start) {
                continue;
            }
            changes[block] += 1;
            flow.starts[block] = Some(start);
            let mut now = start;
            let (begin, end) = code.ranges[block];
            for node in &code.nodes[begin..end] {
                execute(node, &mut now);
            }
            flow.ends[block] = Some(now);
            todo.extend(code.succs[block].iter().map(|to| to.index()));
        }
        flow
    }

    /// What all known ways into a block agree upon. `is_final`: what does not hold any more is
    /// nothing.
    fn join(&self, code: &Code, block: usize, is_final: bool) -> Contents {
        let mut start = [NONE; 64];
        let ways: Vec<(&Contents, &[VReg])> = self.incoming[block]
            .iter()
            .filter_map(|&(pred, n)| Some((self.ends[pred].as_ref()?, &code.args[pred][n][..])))
            .collect();
        let Some(&(first, first_args)) = ways.first() else {
            return start;
        };
        let params = &code.params[block];
        for reg in members(self.tracked) {
            let one = first[reg];
            let before = self.starts[block].as_ref().map(|start| start[reg]);
            if one == NONE || before == Some(NONE) {
                continue;
            }
            let is = |n: usize, param: &VReg| {
                let holds = ways
                    .iter()
                    .all(|(end, args)| end[reg] == args[n].vreg() as u32);
                holds.then_some(param.vreg() as u32)
            };
            // The register's own parameter comes first: two registers may have one value on the ways
            // that are known so far, and other ways part them.
            let own = (params.iter())
                .position(|param| Reg::from(code.owners[param.vreg()]) == reg)
                .into_iter();
            let value = own
                .chain(0..params.len())
                .filter(|&n| first_args[n].vreg() as u32 == one)
                .find_map(|n| is(n, &params[n]))
                .or_else(|| {
                    let same = ways.iter().all(|(end, _)| end[reg] == one);
                    // An earlier round's is another value than this one's.
                    let is_param = params.iter().any(|param| param.vreg() as u32 == one);
                    (same && !is_param).then_some(one)
                });
            start[reg] = match value {
                Some(value) if !is_final || before == Some(value) => value,
                _ => NONE,
            };
        }
        start
    }
}

/// A register that is in the hart on every way back to a loop's start is stored in front of the
/// loop, if it is not there already: then it is there throughout.
fn store_before_loops(code: &mut Code, flow: &Flow) -> bool {
    let mut stores: BTreeMap<usize, BTreeMap<Reg, VReg>> = BTreeMap::new();
    for (block, params) in code.params.iter().enumerate() {
        for (n, param) in params.iter().enumerate() {
            let reg = Reg::from(code.owners[param.vreg()]);
            if flow.tracked & SAVED & bit(reg) == 0 {
                continue;
            }
            let has = |&&(pred, succ): &&(usize, usize)| {
                let arg = code.args[pred][succ][n].vreg() as u32;
                flow.ends[pred].is_some_and(|end| end[reg] == arg)
            };
            let (back, forward): (Vec<_>, Vec<_>) = flow.incoming[block]
                .iter()
                .partition(|&&(pred, _)| pred >= block);
            if back.is_empty() || !back.iter().all(|way| has(&way)) {
                continue;
            }
            for &(pred, succ) in forward.iter().filter(|way| !has(way)) {
                let value = code.args[pred][succ][n];
                stores.entry(pred).or_default().insert(reg, value);
            }
        }
    }
    if stores.is_empty() {
        return false;
    }
    let mut nodes = std::mem::take(&mut code.nodes).into_iter();
    for (block, range) in code.ranges.iter_mut().enumerate() {
        let begin = code.nodes.len();
        code.nodes.extend(nodes.by_ref().take(range.1 - range.0));
        if let Some(stores) = stores.get(&block)
            && let Some(end) = code.nodes.pop()
        {
            for (&reg, &value) in stores {
                let op = if is_float(reg) {
                    Op::StoreHartFloat(slot(reg))
                } else {
                    Op::StoreHart(slot(reg))
                };
                code.nodes
                    .push(Node::new(op, end.pc, vec![Operand::reg_use(value)]));
            }
            code.nodes.push(end);
        }
        *range = (begin, code.nodes.len());
    }
    true
}

/// Where values that stand in the hart are defined; `None`: others.
fn definitions(code: &Code, flow: &Flow) -> Vec<Option<usize>> {
    let mut defined = vec![None; code.vregs];
    for (block, start) in flow.starts.iter().enumerate() {
        for param in &code.params[block] {
            let value = param.vreg() as u32;
            if start.is_some_and(|start| start.contains(&value)) {
                defined[param.vreg()] = Some(block);
            }
        }
        let (begin, end) = code.ranges[block];
        for node in &code.nodes[begin..end] {
            if let Op::LoadHart(_) | Op::LoadHartFloat(_) = node.op {
                defined[node.value(0).vreg()] = Some(block);
            }
        }
    }
    defined
}

fn rewrite(code: &mut Code, flow: &Flow) {
    let defined = definitions(code, flow);
    let mut nodes = std::mem::take(&mut code.nodes).into_iter();
    for block in 0..code.ranges.len() {
        let (begin, end) = code.ranges[block];
        let from = code.nodes.len();
        let mut now = flow.starts[block].unwrap_or([NONE; 64]);
        let mut loaded: BTreeMap<usize, VReg> = BTreeMap::new();
        for mut node in nodes.by_ref().take(end - begin) {
            let before = now;
            execute(&node, &mut now);
            if let Op::StoreHart(slot) | Op::StoreHartFloat(slot) = node.op
                && before[register_at(slot)] == node.value(0).vreg() as u32
            {
                continue;
            }
            let is_there = |value: VReg, reg: Reg| before[reg] == value.vreg() as u32;
            node.state.retain(
                |place| !matches!(place.recipe, Recipe::Value(value) if is_there(value, place.reg)),
            );
            for value in node.own_uses().collect::<Vec<_>>() {
                let number = value.vreg();
                let is_near =
                    |&at: &usize| at == block || flow.depths[block] == 0 || code.crowded[at];
                if loaded.contains_key(&number) || !defined[number].iter().any(is_near) {
                    continue;
                }
                let Some(reg) = members(flow.tracked).find(|&reg| is_there(value, reg)) else {
                    continue;
                };
                let copy = VReg::new(code.vregs, class(reg));
                code.vregs += 1;
                code.owners.push(0);
                let op = if is_float(reg) {
                    Op::LoadHartFloat(slot(reg))
                } else {
                    Op::LoadHart(slot(reg))
                };
                code.nodes
                    .push(Node::new(op, node.pc, vec![Operand::reg_def(copy)]));
                loaded.insert(number, copy);
            }
            node.substitute_own(|value| *loaded.get(&value.vreg()).unwrap_or(&value));
            code.nodes.push(node);
        }
        code.ranges[block] = (from, code.nodes.len());
        for arg in code.args[block].iter_mut().flatten() {
            *arg = *loaded.get(&arg.vreg()).unwrap_or(arg);
        }
    }
}
