//! Liveness: the guest registers that are read later, and those that a call can pass on.
use std::ops::Range;

use crate::function::{Block, End, Flow, Function, flow};
use crate::program::Program;
use crate::registers::*;
use flick_engine::vector::is_executed_alone;
use flick_riscv::{Insn, Op};

/// What a function reads of what its caller hands over, and what it hands back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Among arguments.
    pub reads: Regs,
    /// Among results.
    pub results: Regs,
    /// Among arguments, what it hands over to functions that have not declared what they read.
    pub calls: Regs,
    /// Nothing else is ever read: its makers say so, or its code has been seen.
    pub is_certain: bool,
}

impl Summary {
    /// Of a function of which nothing is known.
    pub const UNKNOWN: Self = Self {
        reads: ARGUMENTS | HIDDEN_ARGUMENTS,
        results: RESULTS,
        calls: ARGUMENTS | HIDDEN_ARGUMENTS,
        is_certain: false,
    };

    /// Of code that is not entered by calls alone: an instruction in the middle of a function.
    pub const MIDDLE: Self = Self {
        reads: Self::UNKNOWN.reads | TEMPORARIES,
        ..Self::UNKNOWN
    };

    /// From sets of which bits 0 to 7 are a0 to a7 and bits 8 to 15 fa0 to fa7. `chain`,
    /// `calls_chain`: with t2 among the arguments, and among those of its calls.
    pub fn declared(
        [arguments, results, calls]: [u16; 3],
        [chain, calls_chain]: [bool; 2],
    ) -> Self {
        let registers = |set: u16| Regs::from(set & 0xff) << A0 | Regs::from(set >> 8) << FA0;
        Self {
            reads: registers(arguments) | if chain { bit(T2) } else { 0 },
            results: registers(results) & RESULTS,
            calls: registers(calls) | if calls_chain { HIDDEN_ARGUMENTS } else { 0 },
            is_certain: true,
        }
    }
}

/// Whether a function finds its frame by s0, not sp.
pub fn has_frame_pointer(program: &dyn Program, range: &Range<u64>) -> bool {
    let mut pc = range.start;
    while let Some(insn) = program.insn(pc).filter(|_| range.contains(&pc)) {
        if insn.op() == Op::Addi && (insn.rd(), insn.rs1()) == (S0, SP) {
            return true;
        }
        pc += insn.len();
    }
    false
}

/// The registers that are alive before instructions, within one function.
pub struct Liveness<'a> {
    pub range: &'a Range<u64>,
    pub own: Summary,
    /// Among arguments, what may have a value where the function is called.
    pub given: Regs,
    /// See [`has_frame_pointer`].
    pub frame_pointer: bool,
    /// Of functions that are called.
    pub summary: &'a dyn Fn(u64) -> Summary,
}

impl Liveness<'_> {
    /// Alive before a block's `n`th instruction, of what is alive `after` it; `defined` are the
    /// registers that have a value there. What a callee keeps for its caller is in its place at
    /// every call.
    pub fn before(&self, block: &Block, n: usize, after: Regs, defined: Regs) -> Regs {
        let (pc, insn) = block.insns[n];
        match flow(pc, insn, self.range) {
            Flow::Return => SAVED | bit(RA) | self.own.results & defined,
            Flow::TailCall(target) => {
                SAVED | bit(RA) | self.handed_over((self.summary)(target)) & defined
            }
            Flow::JumpIndirect => {
                let out =
                    |callee| SAVED | bit(RA) | bit(insn.rs1()) | self.handed_over(callee) & defined;
                match block.end {
                    End::Table { only: true, .. } => after | bit(insn.rs1()),
                    End::TailCallIndirect => out(Summary::UNKNOWN),
                    End::TailCall(target) => out((self.summary)(target)),
                    // Its targets have what they read, and it may lead elsewhere.
                    _ => after | out(Summary::MIDDLE),
                }
            }
            Flow::Call(target) => SAVED | self.handed_over((self.summary)(target)) & defined,
            Flow::CallIndirect => {
                SAVED | bit(insn.rs1()) | self.handed_over(Summary::UNKNOWN) & defined
            }
            _ => {
                // Unwinders find a frame by its pointer.
                let may_stop = insn.op().may_fault() || is_executed_alone(insn);
                let frame = match self.frame_pointer && may_stop {
                    true => bit(S0),
                    false => 0,
                };
                after & !insn.writes() | insn.reads() | frame
            }
        }
    }

    /// What a function gets from this one. What its makers say of its calls is about those that
    /// they know: code that the compiler has shared between functions, and jumps to, may read
    /// anything.
    pub fn handed_over(&self, callee: Summary) -> Regs {
        if callee.is_certain || callee == Summary::MIDDLE {
            callee.reads
        } else {
            callee.reads & (self.own.calls | TEMPORARIES)
        }
    }

    /// Argument registers that have a value after an instruction.
    fn defined_after(&self, pc: u64, insn: Insn, before: Regs) -> Regs {
        match flow(pc, insn, self.range) {
            // Temporaries and arguments are nobody's after a call.
            Flow::Call(target) => SAVED | (self.summary)(target).results | bit(RA),
            Flow::CallIndirect => SAVED | RESULTS | bit(RA),
            _ => before | insn.writes(),
        }
    }

    /// Registers that may have a value before each instruction of a block, from those at its start.
    pub fn defined(&self, block: &Block, start: Regs) -> Vec<Regs> {
        let mut now = start;
        let mut all = Vec::with_capacity(block.insns.len() + 1);
        for &(pc, insn) in &block.insns {
            all.push(now);
            now = self.defined_after(pc, insn, now);
        }
        all.push(now);
        all
    }

    /// Registers that may have a value at the start of each block.
    pub fn defined_at_starts(&self, function: &Function) -> Vec<Regs> {
        let at_entry = if function.entry == self.range.start {
            SAVED | bit(RA) | self.given
        } else {
            ALL
        };
        let blocks = &function.blocks;
        let mut starts = vec![0; blocks.len()];
        starts[0] = at_entry;
        for &at in &function.entries {
            starts[at] = ALL;
        }
        let mut todo: Vec<usize> = (0..blocks.len()).rev().collect();
        while let Some(at) = todo.pop() {
            let end = *self
                .defined(&blocks[at], starts[at])
                .last()
                .unwrap_or(&starts[at]);
            for to in blocks[at].succs() {
                if end & !starts[to] != 0 {
                    starts[to] |= end;
                    todo.push(to);
                }
            }
        }
        starts
    }

    /// Fills in `live_in` and `live_out` of every block.
    pub fn compute(&self, function: &mut Function) {
        let starts = self.defined_at_starts(function);
        let defined: Vec<Vec<Regs>> = function
            .blocks
            .iter()
            .zip(&starts)
            .map(|(block, &start)| self.defined(block, start))
            .collect();
        let mut todo: Vec<usize> = (0..function.blocks.len()).collect();
        let mut waits = vec![true; function.blocks.len()];
        while let Some(at) = todo.pop() {
            waits[at] = false;
            let block = &function.blocks[at];
            let end = match block.end {
                End::Interpret(_) | End::Outside(_) => defined[at][block.insns.len()],
                _ => 0,
            };
            let out = block
                .succs()
                .into_iter()
                .fold(end, |live, to| live | function.blocks[to].live_in);
            let mut live = out;
            for n in (0..block.insns.len()).rev() {
                live = self.before(block, n, live, defined[at][n]);
            }
            let block = &mut function.blocks[at];
            let changed = block.live_in != live;
            block.live_in = live;
            block.live_out = out;
            if changed {
                for &pred in &block.preds {
                    if !waits[pred] {
                        waits[pred] = true;
                        todo.push(pred);
                    }
                }
            }
        }
    }
}
