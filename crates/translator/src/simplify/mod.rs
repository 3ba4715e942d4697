//! Passes that make the SSA form smaller before registers are allocated.
mod address_parts;
mod bit_tests;
mod boxes;
mod constants;
mod early;
mod finish;
mod hart;
mod image;
mod keep;
mod loops;
mod nan;
mod narrow;
mod pairs;
mod params;
mod pinned;
mod stack;
mod zero_extensions;

use regalloc2::VReg;

use super::code::{Code, Node};

pub fn simplify(code: &mut Code) {
    params::remove_single(code);
    stack::loads(code);
    hart::registers(code);
    constants::fold(code);
    image::fold(code);
    narrow::extensions(code);
    boxes::boxes(code);
    nan::checks(code);
    address_parts::states(code);
    zero_extensions::extensions(code);
    finish::finish(code);
    bit_tests::branches(code);
    early::returns(code);
    pairs::pairs(code);
    pinned::operands(code);
    keep::values(code);
}

/// Values that stand for others.
struct Aliases(Vec<u32>);

impl Aliases {
    fn new(code: &Code) -> Self {
        Self((0..code.vregs as u32).collect())
    }

    fn find(&self, mut value: usize) -> usize {
        while self.0[value] as usize != value {
            value = self.0[value] as usize;
        }
        value
    }

    fn replace(&mut self, value: usize, by: usize) {
        self.0[value] = by as u32;
    }

    /// For values that were made since.
    fn grow(&mut self, vregs: usize) {
        self.0.extend(self.0.len() as u32..vregs as u32);
    }

    fn is_replaced(&self, value: usize) -> bool {
        self.0[value] as usize != value
    }

    fn of(&self, value: VReg) -> VReg {
        VReg::new(self.find(value.vreg()), value.class())
    }

    fn apply(&self, code: &mut Code) {
        for node in &mut code.nodes {
            node.substitute(|value| self.of(value));
        }
        for arg in code.args.iter_mut().flatten().flatten() {
            *arg = self.of(*arg);
        }
        for name in code.names.iter_mut().flatten() {
            name.recipe = name.recipe.map(|value| self.of(value));
        }
    }
}

/// For each block, the ways into it: predecessor and which of its successors.
fn incoming(code: &Code) -> Vec<Vec<(usize, usize)>> {
    let mut all = vec![vec![]; code.ranges.len()];
    for (pred, succs) in code.succs.iter().enumerate() {
        for (n, succ) in succs.iter().enumerate() {
            all[succ.index()].push((pred, n));
        }
    }
    all
}

/// The node that defines each value.
fn definitions(code: &Code) -> Vec<Option<u32>> {
    let mut all = vec![None; code.vregs];
    for (n, node) in code.nodes.iter().enumerate() {
        for value in node.defs() {
            all[value.vreg()] = Some(n as u32);
        }
    }
    all
}

/// How often each value is used.
fn uses(code: &Code) -> Vec<u32> {
    let mut uses = vec![0; code.vregs];
    let args = code.args.iter().flatten().flatten().copied();
    for value in code.nodes.iter().flat_map(Node::uses).chain(args) {
        uses[value.vreg()] += 1;
    }
    uses
}

/// A parameter and what it can be.
struct Phi {
    param: usize,
    args: Vec<usize>,
}

fn phis(code: &Code) -> Vec<Phi> {
    let incoming = incoming(code);
    let mut all = vec![];
    for (block, params) in code.params.iter().enumerate() {
        for (n, param) in params.iter().enumerate() {
            let arg = |&(pred, succ): &(usize, usize)| {
                let args: &Vec<VReg> = &code.args[pred][succ];
                args[n].vreg()
            };
            all.push(Phi {
                param: param.vreg(),
                args: incoming[block].iter().map(arg).collect(),
            });
        }
    }
    all
}

/// Puts nodes in front of those at their numbers.
fn insert(code: &mut Code, mut made: Vec<(usize, Node)>) {
    if made.is_empty() {
        return;
    }
    made.sort_by_key(|&(at, _)| at);
    let shift = |at: usize| at + made.partition_point(|&(before, _)| before < at);
    for (begin, end) in &mut code.ranges {
        (*begin, *end) = (shift(*begin), shift(*end));
    }
    let mut made = made.into_iter().peekable();
    let mut nodes = Vec::with_capacity(code.nodes.len() + made.len());
    for (n, node) in std::mem::take(&mut code.nodes).into_iter().enumerate() {
        while let Some((_, new)) = made.next_if(|&(at, _)| at == n) {
            nodes.push(new);
        }
        nodes.push(node);
    }
    code.nodes = nodes;
}

/// Removes the parameters that `keep` does not want, and their arguments.
fn retain_params(code: &mut Code, keep: impl Fn(VReg) -> bool) {
    let incoming = incoming(code);
    for (block, ways) in incoming.iter().enumerate() {
        let kept: Vec<bool> = code.params[block].iter().map(|&p| keep(p)).collect();
        if kept.iter().all(|&k| k) {
            continue;
        }
        let filter = |values: &mut Vec<VReg>| {
            let mut kept = kept.iter();
            values.retain(|_| *kept.next().unwrap_or(&true));
        };
        filter(&mut code.params[block]);
        for &(pred, succ) in ways {
            filter(&mut code.args[pred][succ]);
        }
    }
}
