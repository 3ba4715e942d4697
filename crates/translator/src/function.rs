//! A guest function: its instructions, its blocks, where control goes.
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::Program;
use crate::jumps::{Indexed, Jumps, Leads};
use crate::registers::{RA, Regs, T0};
use crate::thunk::passes_through;
use flick_engine::vector::is_executed_alone;
use flick_riscv::{Class, Insn, Op};

/// What an instruction does to control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Next,
    Branch(u64),
    Jump(u64),
    Call(u64),
    CallIndirect,
    TailCall(u64),
    /// `jr`: a jump table, a tail call, or anything.
    JumpIndirect,
    Return,
    /// Not translated: the interpreter executes it.
    Interpret,
}

pub fn flow(pc: u64, insn: Insn, range: &Range<u64>) -> Flow {
    let target = pc.wrapping_add(insn.imm());
    match insn.op() {
        Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => Flow::Branch(target),
        Op::Jal => match insn.rd() {
            0 if range.contains(&target) => Flow::Jump(target),
            0 => Flow::TailCall(target),
            RA => Flow::Call(target),
            _ => Flow::Interpret,
        },
        Op::Jalr => match (insn.rd(), insn.rs1(), insn.imm()) {
            (0, RA, 0) => Flow::Return,
            // Return from what was called with the alternate link register.
            (0, RA | T0, _) => Flow::Interpret,
            (0, ..) => Flow::JumpIndirect,
            (RA, ..) => Flow::CallIndirect,
            _ => Flow::Interpret,
        },
        // A branch or jump without an arm here would be taken for an instruction that goes on.
        op if matches!(op.class(), Class::Branch | Class::Jump) => Flow::Interpret,
        op if super::lower::is_translated(op) || is_executed_alone(insn) => Flow::Next,
        _ => Flow::Interpret,
    }
}

/// How a block ends. Numbers are blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Without an instruction of its own.
    Next(usize),
    Branch {
        taken: usize,
        next: usize,
    },
    Jump(usize),
    Return,
    TailCall(u64),
    TailCallIndirect,
    /// Through a register to anywhere, instructions of this function among it.
    Anywhere,
    /// To one of these blocks; to no other address if the function's makers have said so (`only`).
    Table {
        to: Vec<usize>,
        only: bool,
        /// Its targets are starts of blocks.
        indexed: Option<Indexed>,
    },
    /// The interpreter goes on at this address.
    Interpret(u64),
    /// Control leaves the function for this address.
    Outside(u64),
}

impl End {
    /// Leads control to another block instead of one.
    fn lead(&mut self, from: usize, to: usize) {
        let all: &mut [usize] = match self {
            End::Next(at) | End::Jump(at) => std::slice::from_mut(at),
            End::Branch { taken, next } => {
                for at in [taken, next] {
                    if *at == from {
                        *at = to;
                    }
                }
                return;
            }
            End::Table { to, .. } => to,
            End::Return
            | End::TailCall(_)
            | End::TailCallIndirect
            | End::Anywhere
            | End::Interpret(_)
            | End::Outside(_) => &mut [],
        };
        for at in all.iter_mut().filter(|at| **at == from) {
            *at = to;
        }
    }
}

pub struct Block {
    pub start: u64,
    /// The last one is that of the end, if that has one.
    pub insns: Vec<(u64, Insn)>,
    pub end: End,
    /// Which of the instructions are calls that pass through an entry of the linkage table, once they have
    /// been looked for ([`Function::find_passing`]).
    pub passing: Vec<usize>,
    pub preds: Vec<usize>,
    /// Guest registers that are read later.
    pub live_in: Regs,
    pub live_out: Regs,
}

impl Block {
    pub fn succs(&self) -> Vec<usize> {
        match &self.end {
            End::Next(to) | End::Jump(to) => vec![*to],
            End::Branch { taken, next } => vec![*taken, *next],
            End::Table { to, .. } => to.clone(),
            _ => vec![],
        }
    }
}

/// What is reached from one address of a function.
pub struct Function {
    /// Where it is entered.
    pub entry: u64,
    pub range: Range<u64>,
    /// The first is the entry's.
    pub blocks: Vec<Block>,
    /// Blocks that are entered from outside, too.
    pub entries: Vec<usize>,
}

impl Function {
    /// The blocks of each loop, up to the last that leads back to its start. Outer loops come first.
    pub fn loops(&self) -> Vec<Range<usize>> {
        let mut ends = vec![None; self.blocks.len()];
        for (at, block) in self.blocks.iter().enumerate() {
            for to in block.succs().into_iter().filter(|&to| to <= at) {
                ends[to] = Some(at);
            }
        }
        let ends = ends.into_iter().enumerate();
        ends.filter_map(|(start, end)| Some(start..end? + 1))
            .collect()
    }

    /// Looks for calls that pass through an entry of the linkage table, whose instructions count.
    pub fn find_passing(&mut self, program: &dyn Program) {
        for block in &mut self.blocks {
            for (n, &(pc, insn)) in block.insns.iter().enumerate() {
                let target = match (flow(pc, insn, &self.range), &block.end) {
                    (Flow::Call(target), _) => target,
                    (_, &End::TailCall(target)) if n + 1 == block.insns.len() => target,
                    _ => continue,
                };
                if passes_through(program, target) {
                    block.passing.push(n);
                }
            }
        }
    }

    /// Whether a jump may lead to instructions of the function by ways that are not seen here, so
    /// that other values may arrive at an instruction than those that its blocks hand on.
    pub fn has_hidden_ways(&self, program: &dyn Program) -> bool {
        let jumps = |&pc: &u64| {
            let insn = program.insn(pc);
            insn.is_some_and(|insn| insn.op().class() == Class::Jump)
        };
        self.blocks.iter().any(|block| match &block.end {
            End::Anywhere | End::Table { only: false, .. } => true,
            End::Interpret(pc) => jumps(pc),
            _ => false,
        })
    }

    /// `range` is the whole function's and `entry` in it. `more`: with entries besides, at these
    /// addresses and behind instructions that are left to the interpreter.
    pub fn new(
        program: &dyn Program,
        range: Range<u64>,
        entry: u64,
        more: Option<Vec<u64>>,
    ) -> Self {
        let mut decoder = Decoder {
            program,
            range: range.clone(),
            seen: BTreeMap::new(),
            leaders: BTreeSet::from([entry]),
            behind_interpreted: vec![],
            jumps: Jumps::new(program, range.clone()),
        };
        decoder.reach(entry);
        let mut entries = BTreeSet::new();
        let mut todo = more.clone().unwrap_or_default();
        loop {
            if more.is_some() {
                todo.append(&mut decoder.behind_interpreted);
            }
            let Some(at) = todo.pop() else { break };
            if at != entry && decoder.fetch(at).is_some() && entries.insert(at) {
                decoder.leaders.insert(at);
                decoder.reach(at);
            }
        }
        let starts = {
            let mut all: Vec<u64> = vec![entry];
            all.extend(decoder.leaders.iter().copied().filter(|&at| at != entry));
            all
        };
        let index: BTreeMap<u64, usize> = starts.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let mut blocks: Vec<Block> = starts
            .iter()
            .map(|&start| decoder.block(start, &index))
            .collect();
        let entries = entries.iter().map(|at| index[at]).collect();
        let entries = remove_unreached(&mut blocks, entries);
        for at in 0..blocks.len() {
            for to in blocks[at].succs() {
                blocks[to].preds.push(at);
            }
        }
        split_returns(&mut blocks);
        Self {
            entry,
            range,
            blocks,
            entries,
        }
    }
}

/// Drops blocks that nothing leads to: targets of tables through which nothing jumps after all.
/// Returns the new numbers of the `entries`.
fn remove_unreached(blocks: &mut Vec<Block>, entries: Vec<usize>) -> Vec<usize> {
    let mut reached = vec![false; blocks.len()];
    let mut todo = entries.clone();
    todo.push(0);
    while let Some(at) = todo.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            todo.extend(blocks[at].succs());
        }
    }
    let mut number = vec![0; blocks.len()];
    let mut count = 0;
    for (at, &reached) in reached.iter().enumerate() {
        number[at] = count;
        count += usize::from(reached);
    }
    let mut kept = reached.into_iter();
    blocks.retain(|_| kept.next().unwrap_or(true));
    for block in blocks {
        match &mut block.end {
            End::Next(to) | End::Jump(to) => *to = number[*to],
            End::Branch { taken, next } => (*taken, *next) = (number[*taken], number[*next]),
            End::Table { to, .. } => to.iter_mut().for_each(|to| *to = number[*to]),
            End::Return
            | End::TailCall(_)
            | End::TailCallIndirect
            | End::Anywhere
            | End::Interpret(_)
            | End::Outside(_) => {}
        }
    }
    entries.into_iter().map(|at| number[at]).collect()
}

/// Gives ways to a return on which nothing was called a copy of their own: what the function has
/// saved need not be loaded again there (`simplify/stack.rs`).
fn split_returns(blocks: &mut Vec<Block>) {
    const MOST_INSNS: usize = 20;
    const MOST_COPIES: usize = 4;
    let has_called = after_calls(blocks);
    let mut copies = 0;
    for at in 0..blocks.len() {
        let block = &blocks[at];
        if block.end != End::Return || block.insns.len() > MOST_INSNS || block.preds.len() < 2 {
            continue;
        }
        let ways = |pred| block.preds.iter().filter(|&&other| other == pred).count();
        let early: Vec<usize> = (block.preds.iter().copied())
            .filter(|&pred| !has_called[pred] && ways(pred) == 1)
            .collect();
        if early.len() == block.preds.len() {
            continue;
        }
        for pred in early {
            if copies == MOST_COPIES {
                return;
            }
            copies += 1;
            let copy = blocks.len();
            let (start, insns) = (blocks[at].start, blocks[at].insns.clone());
            blocks.push(Block {
                start,
                insns,
                end: End::Return,
                passing: vec![],
                preds: vec![pred],
                live_in: 0,
                live_out: 0,
            });
            blocks[at].preds.retain(|&other| other != pred);
            blocks[pred].end.lead(at, copy);
        }
    }
}

/// Whether a call may have been made where blocks end.
fn after_calls(blocks: &[Block]) -> Vec<bool> {
    let is_call = |insn: &Insn| matches!(insn.op(), Op::Jal | Op::Jalr) && insn.rd() != 0;
    let mut after = vec![false; blocks.len()];
    let calls = |block: &Block| block.insns.iter().any(|(_, insn)| is_call(insn));
    let mut todo: Vec<usize> = (0..blocks.len()).filter(|&at| calls(&blocks[at])).collect();
    while let Some(at) = todo.pop() {
        if !std::mem::replace(&mut after[at], true) {
            todo.extend(blocks[at].succs());
        }
    }
    after
}

struct Decoder<'a> {
    program: &'a dyn Program,
    range: Range<u64>,
    /// Instructions that are reached, by address.
    seen: BTreeMap<u64, Insn>,
    leaders: BTreeSet<u64>,
    /// Addresses behind instructions that are left to the interpreter.
    behind_interpreted: Vec<u64>,
    jumps: Jumps<'a>,
}

impl Decoder<'_> {
    fn fetch(&self, pc: u64) -> Option<Insn> {
        let inside = self.range.contains(&pc);
        inside.then(|| self.program.insn(pc)).flatten()
    }

    fn reach(&mut self, entry: u64) {
        let mut todo = vec![entry];
        while let Some(mut pc) = todo.pop() {
            while !self.seen.contains_key(&pc) {
                let Some(insn) = self.fetch(pc) else { break };
                self.seen.insert(pc, insn);
                let next = pc + insn.len();
                match flow(pc, insn, &self.range) {
                    Flow::Next | Flow::Call(_) | Flow::CallIndirect => {}
                    Flow::Branch(target) => {
                        self.leaders.extend([target, next]);
                        todo.push(target);
                    }
                    Flow::Jump(target) => {
                        self.leaders.insert(target);
                        todo.push(target);
                        break;
                    }
                    Flow::JumpIndirect => {
                        let targets = self.jumps.targets(pc);
                        self.leaders.extend(&*targets);
                        todo.extend(&*targets);
                        break;
                    }
                    Flow::Interpret => {
                        self.behind_interpreted.push(next);
                        break;
                    }
                    Flow::TailCall(_) | Flow::Return => break,
                }
                pc = next;
            }
        }
    }

    fn block(&self, start: u64, index: &BTreeMap<u64, usize>) -> Block {
        let mut insns = vec![];
        let mut pc = start;
        let end = loop {
            let Some(&insn) = self.seen.get(&pc) else {
                break End::Outside(pc);
            };
            let flow = flow(pc, insn, &self.range);
            if flow == Flow::Interpret {
                break End::Interpret(pc);
            }
            insns.push((pc, insn));
            let next = pc + insn.len();
            match flow {
                Flow::Branch(target) => {
                    break End::Branch {
                        taken: index[&target],
                        next: index[&next],
                    };
                }
                Flow::Jump(target) => break End::Jump(index[&target]),
                Flow::Return => break End::Return,
                Flow::TailCall(target) => break End::TailCall(target),
                Flow::JumpIndirect => {
                    break match self.jumps.of(&insns) {
                        Leads::Out => End::TailCallIndirect,
                        Leads::OutTo(target) => End::TailCall(target),
                        Leads::Anywhere => End::Anywhere,
                        Leads::To {
                            targets,
                            only,
                            indexed,
                        } => End::Table {
                            to: targets.iter().map(|target| index[target]).collect(),
                            only,
                            indexed,
                        },
                    };
                }
                _ => {}
            }
            if let Some(&next) = index.get(&next) {
                break End::Next(next);
            }
            pc = next;
        };
        Block {
            start,
            insns,
            end,
            passing: vec![],
            preds: vec![],
            live_in: 0,
            live_out: 0,
        }
    }
}
